package metrics

import (
	"time"

	"gonum.org/v1/gonum/stat"
)

// A Saturation says whether a run kept up with its arrivals. In one that did
// not, waits grow with the length of the run, and their mean means nothing.
type Saturation struct {
	// Growth is by how many jobs the system grew over the last 80 % of the
	// submissions, by the least squares line through the number in the system
	// at each of them. Mean is the mean of these numbers.
	Growth, Mean float64

	// Offered is the load offered and Utilisation the useful work done, both
	// between the first and the last submission: the drain of the queue
	// afterwards would lower them. A job that runs past the end of the window,
	// or that is stretched, counts in proportion.
	Offered, Utilisation float64

	// Saturated is Growth ≥ Mean, or Offered − Utilisation > .02. From a few
	// hundred jobs it says little: the work in the system as the window closes
	// is then a large part of all.
	Saturated bool
}

// CheckSaturation looks for the two signs of an overloaded run: a system that
// fills and fills, and work done falling short of work offered. With all the
// submissions at one instant there is no window, and it finds neither; of no
// jobs it returns the zero Saturation. O(n log n).
func CheckSaturation(jobs []Job, machine Machine) (Saturation, error) {
	if err := machine.check(); err != nil {
		return Saturation{}, err
	}
	if err := check(jobs); err != nil {
		return Saturation{}, err
	}
	if len(jobs) == 0 {
		return Saturation{}, nil
	}
	submit := order(jobs, submission)
	end := order(jobs, func(j *Job) time.Duration { return j.End })
	first, last := submit[0].time, submit[len(submit)-1].time

	var s Saturation
	var times, inSystem []float64
	ended := 0
	for k, e := range submit {
		for ended < len(end) && end[ended].time <= e.time {
			ended++
		}
		if k >= len(submit)/5 {
			times = append(times, (e.time - first).Seconds())
			// A job that ends as it is submitted may be counted before it came.
			inSystem = append(inSystem, float64(max(0, k+1-ended)))
		}
	}
	s.Mean = stat.Mean(inSystem, nil)
	if span := times[len(times)-1] - times[0]; span > 0 {
		_, slope := stat.LinearRegression(times, inSystem, nil, false)
		s.Growth = slope * span
	}
	if window := last - first; window > 0 {
		capacity := float64(machine.Processors) * window.Seconds()
		for _, j := range jobs {
			s.Offered += j.Area() / capacity
			if inside := min(j.End, last) - j.Start; inside > 0 {
				s.Utilisation += j.Area() / capacity * (float64(inside) / float64(j.RunningTime()))
			}
		}
		s.Saturated = s.Growth > 0 && s.Growth >= s.Mean || s.Offered-s.Utilisation > .02
	}
	return s, nil
}
