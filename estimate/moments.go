package estimate

import "math"

// maxCount is where the count of a period stops. Values from there on move the
// maximum and the last values alone.
const maxCount = 1<<30 - 1

// moments are the statistics of a set of values.
type moments struct {
	count   uint32
	mean    float64
	squares float64 // Σ(x−mean)²
	max     int64
}

// add is Welford's update: one pass, and no sum of large squares.
func (m *moments) add(x int64) {
	m.max = max(m.max, x)
	if m.count == maxCount {
		return
	}
	m.count++
	d := float64(x) - m.mean
	m.mean += d / float64(m.count)
	m.squares += float64(d * (float64(x) - m.mean))
}

// merge returns the moments of the values of a and b together, after Chan,
// Golub and LeVeque.
func merge(a, b moments) moments {
	if a.count == 0 {
		return b
	}
	if b.count == 0 {
		return a
	}
	na, nb := float64(a.count), float64(b.count)
	n, d := na+nb, b.mean-a.mean
	return moments{
		count:   a.count + b.count,
		mean:    a.mean + float64(d*nb)/n,
		squares: a.squares + b.squares + float64(float64(d*d)*na)*nb/n,
		max:     max(a.max, b.max),
	}
}

// deviation returns the standard deviation of the population.
func (m moments) deviation() float64 { return math.Sqrt(m.squares / float64(m.count)) }

// pair packs the moments of two periods, the newer first, into 56 bytes.
type pair struct {
	mean, squares [2]float64
	max           [2]int64
	count         [2]uint32
}

func (p *pair) get(i int) moments {
	return moments{count: p.count[i], mean: p.mean[i], squares: p.squares[i], max: p.max[i]}
}

func (p *pair) set(i int, m moments) {
	p.count[i], p.mean[i], p.squares[i], p.max[i] = m.count, m.mean, m.squares, m.max
}
