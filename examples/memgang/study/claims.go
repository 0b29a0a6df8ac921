package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/paging"
)

// Claims compares what the study found with what Batat & Feitelson report. Run
// comes first.
func (s *Study) Claims() ([]claim.Claim, error) {
	jumps, err := s.jumps()
	if err != nil {
		return nil, err
	}
	coverage, err := s.coverage()
	if err != nil {
		return nil, err
	}
	claims := []claim.Claim{
		jumps, coverage, s.growth(), s.neverSlower(), s.lowAndHigh(),
		s.critical(), s.responseAndSlowdown(), s.queued(), s.best(), s.skips(),
	}
	for i := range claims {
		if claims[i].Verdict == claim.Reproduced {
			claims[i].Why = ""
		}
	}
	return claims, nil
}

func (s *Study) walk(locality float64, units int, printed bool, stream uint64) (*paging.Walk, error) {
	return paging.NewWalk(paging.WalkConfig{Locality: locality, Range: units, Printed: printed}, rand.New(rand.NewPCG(s.config.Seed, stream)))
}

// jumps samples the first jump of many walks: one that goes up from 0 ends in its
// length, truncated.
func (s *Study) jumps() (claim.Claim, error) {
	c := claim.Claim{
		ID: "B-2", Source: "§4.1", Says: "at θ = 2 94 % of the jumps are shorter than 4 units, at θ = 1 75 %", Expected: ".9375 and .75, ± .005",
	}
	const units, draws = 1 << 30, 400_000
	var holds []bool
	for _, theta := range []float64{2, 1} {
		r := rand.New(rand.NewPCG(s.config.Seed, 2))
		below, up := 0., 0.
		for range draws {
			w, err := paging.NewWalk(paging.WalkConfig{Locality: theta, Range: units}, r)
			if err != nil {
				return c, err
			}
			if at := w.Next(); at < units/2 {
				up++
				if at < 4 {
					below++
				}
			}
		}
		share := below / up
		c.Measured += fmt.Sprintf("θ = %v: %.4f\n", theta, share)
		holds = append(holds, math.Abs(share-(1-math.Pow(4, -theta))) < .005)
	}
	c.Verdict = claim.Judge(holds...)
	return c, nil
}

func (s *Study) coverage() (claim.Claim, error) {
	c := claim.Claim{
		ID: "B-3", Source: "§4.1", Says: "about 100,000 accesses cover the 10 MB at θ = 2", Expected: "nearly all units touched",
		Why: "by the law of the text a walk at θ = 2 has not come so far; it has at θ = 1. The program\nof Fig. 4 raises to θ instead of −1/θ and never jumps further than one unit",
	}
	shares := map[string]float64{}
	for _, law := range []struct {
		name    string
		theta   float64
		printed bool
	}{{"text, θ = 2", 2, false}, {"text, θ = 1", 1, false}, {"printed program, θ = 2", 2, true}} {
		const walks, accesses = 20, 100_000
		for k := range uint64(walks) {
			w, err := s.walk(law.theta, processUnits, law.printed, 3<<32|k)
			if err != nil {
				return c, err
			}
			touched := make([]bool, processUnits)
			for range accesses {
				touched[w.Next()] = true
			}
			for _, yes := range touched {
				if yes {
					shares[law.name] += 1. / processUnits / walks
				}
			}
		}
		c.Measured += fmt.Sprintf("%s: %.1f %%\n", law.name, 100*shares[law.name])
	}
	c.Verdict = claim.Judge(shares["text, θ = 2"] > .9)
	return c, nil
}

// curve5 is a line of Fig. 5.
func (s *Study) curve5(locality, factor float64) (jobs, seconds []float64) {
	for _, p := range s.Figure5 {
		if p.Locality == locality && p.Factor == factor {
			jobs, seconds = append(jobs, float64(p.Jobs)), append(seconds, p.Time.Seconds())
		}
	}
	return jobs, seconds
}

func (s *Study) growth() claim.Claim {
	c := claim.Claim{
		ID: "B-4", Source: "Fig. 5", Says: "with a limit the time to finish grows linearly with the number of jobs, without faster, the more so the lower the locality",
		Expected: "R² of a line > .99 with C = 1; slope of log time over log jobs > 1.1 without a limit at θ ≤ 1.25",
	}
	var holds []bool
	for _, theta := range s.config.Localities {
		jobs, limited := s.curve5(theta, 1)
		a, b := stat.LinearRegression(jobs, limited, nil, false)
		r2 := stat.RSquared(jobs, limited, nil, a, b)
		_, unlimited := s.curve5(theta, Unlimited)
		x, y := make([]float64, len(jobs)), make([]float64, len(jobs))
		for i := range jobs {
			x[i], y[i] = math.Log(jobs[i]), math.Log(unlimited[i])
		}
		_, slope := stat.LinearRegression(x, y, nil, false)
		c.Measured += fmt.Sprintf("θ = %v: R² %.4f, slope %.2f (%.0f s for %v jobs with the limit, %.0f without)\n",
			theta, r2, slope, limited[len(limited)-1], jobs[len(jobs)-1], unlimited[len(unlimited)-1])
		holds = append(holds, r2 > .99)
		if theta <= 1.25 {
			holds = append(holds, slope > 1.1)
		}
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "with C = 1 five processes of 10 MB share the 45 MB that are really free; runs of a few dozen turns are too short for\n" +
		"the paging among them to be the same in every batch of five"
	return c
}

func (s *Study) neverSlower() claim.Claim {
	c := claim.Claim{ID: "B-5", Source: "§4.2, Fig. 5", Says: "for a given θ the time is consistently smaller with the limit", Expected: "at every point, within 2 %"}
	slower, points := 0, 0
	worst := 0.
	for _, theta := range s.config.Localities {
		_, unlimited := s.curve5(theta, Unlimited)
		for _, factor := range s.config.Limits {
			_, limited := s.curve5(theta, factor)
			for i := range limited {
				points++
				ratio := limited[i] / unlimited[i]
				worst = max(worst, ratio)
				if ratio > 1.02 {
					slower++
				}
			}
		}
	}
	c.Measured = fmt.Sprintf("%d of %d points slower; the limited time is at most %.2f of the other", slower, points, worst)
	c.Verdict = claim.Judge(slower == 0)
	return c
}

func (s *Study) lowAndHigh() claim.Claim {
	c := claim.Claim{
		ID: "B-6", Source: "Fig. 6", Says: "only low locality together with overallocation makes times long; otherwise they remain low",
		Expected: "longest at the lowest θ and the highest C; flat within 10 % over C at θ = 2, and over θ at C = .8",
	}
	at := func(theta, factor float64) float64 {
		for _, p := range s.Figure6 {
			if p.Locality == theta && p.Factor == factor {
				return p.Time.Seconds()
			}
		}
		return math.NaN()
	}
	span := func(values []float64) float64 {
		low, high := math.Inf(1), 0.
		for _, v := range values {
			low, high = min(low, v), max(high, v)
		}
		return high / low
	}
	localities, factors := s.config.Localities, s.config.Factors
	corner, longest := at(localities[0], factors[len(factors)-1]), 0.
	var overLocality, overFactor []float64
	for _, theta := range localities {
		line := make([]string, len(factors))
		for i, factor := range factors {
			longest = max(longest, at(theta, factor))
			line[i] = fmt.Sprintf("%.0f", at(theta, factor))
		}
		c.Measured += fmt.Sprintf("θ = %v: %s s for C = %v\n", theta, strings.Join(line, ", "), list(factors))
		overLocality = append(overLocality, at(theta, factors[0]))
	}
	for _, factor := range factors {
		overFactor = append(overFactor, at(localities[len(localities)-1], factor))
	}
	c.Measured += fmt.Sprintf("highest over lowest: %.2f at θ = %v, %.2f at C = %v", span(overFactor), localities[len(localities)-1], span(overLocality), factors[0])
	c.Verdict = claim.Judge(corner == longest, span(overFactor) < 1.1, span(overLocality) < 1.1)
	c.Why = "with least recent use, processes that have their memory run fast and keep it, while the others fault slowly and\n" +
		"take little away; the lower the locality the slower, so that the longest time is not always at the lowest θ.\n" +
		"At θ = 2 faults are few, but one takes as long as thousands of references"
	return c
}

// pick returns the point of Fig. 7.
func (s *Study) pick(load, theta, factor float64, eldest bool) Dynamic {
	i := slices.IndexFunc(s.Figure7, func(p Dynamic) bool {
		return p.Load == load && p.Locality == theta && p.Factor == factor && p.Eldest == eldest
	})
	return s.Figure7[i]
}

// saturates returns the lowest load at which a cluster saturates, +Inf if none.
func (s *Study) saturates(theta, factor float64, eldest bool) float64 {
	for _, load := range s.config.Loads {
		if s.pick(load, theta, factor, eldest).Saturated {
			return load
		}
	}
	return math.Inf(1)
}

// rules names the two ways to share memory that bracket the real one.
var rules = []struct {
	eldest bool
	name   string
}{{true, "the eldest keep their memory"}, {false, "fair shares"}}

func (s *Study) critical() claim.Claim {
	c := claim.Claim{
		ID: "B-7", Source: "§4.3, Fig. 7", Says: "without a limit the system saturates at a critical load, later if locality is high; with the limit it handles higher loads",
		Expected: fmt.Sprintf("critical load not falling with θ, and below that with the limit at what is really free, C = %v", Free),
	}
	var holds []bool
	for _, rule := range rules {
		c.Measured += rule.name + ": the lowest load that saturates without limit, with C = 1, with C = .8\n"
		ordered, later := true, true
		last := 0.
		for _, theta := range s.config.Localities {
			unlimited, limited := s.saturates(theta, Unlimited, rule.eldest), s.saturates(theta, Free, rule.eldest)
			c.Measured += fmt.Sprintf("  θ = %v: %v, %v, %v\n", theta, unlimited, s.saturates(theta, 1, rule.eldest), limited)
			ordered = ordered && unlimited >= last
			later = later && (limited > unlimited || math.IsInf(unlimited, 1))
			last = unlimited
		}
		holds = append(holds, ordered, later)
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "at high locality paging costs little, so there is little to gain by the limit; then, and with the limit, it is the packing\n" +
		"of gangs into slots that saturates the machine"
	return c
}

func (s *Study) responseAndSlowdown() claim.Claim {
	c := claim.Claim{
		ID: "B-8", Source: "§4.3, Fig. 7", Says: "limiting lowers the mean response and raises the mean slowdown, by that of short jobs",
		Expected: fmt.Sprintf("both at loads of .6 and more, with C = %v", Free),
	}
	var holds []bool
	for _, rule := range rules {
		c.Measured += rule.name + "\n"
		response, slowdown, points := 0, 0, 0
		for _, theta := range s.config.Localities {
			for _, load := range s.config.Loads {
				if load < .6 {
					continue
				}
				with, without := s.pick(load, theta, Free, rule.eldest), s.pick(load, theta, Unlimited, rule.eldest)
				points++
				if with.Response < without.Response {
					response++
				}
				if with.Slowdown > without.Slowdown {
					slowdown++
				}
				if load == .6 {
					c.Measured += fmt.Sprintf("  θ = %v, load %v: response %.0f against %.0f s, slowdown %.1f against %.1f, of the shorter half of the jobs %.1f against %.1f\n",
						theta, load, with.Response, without.Response, with.Slowdown, without.Slowdown, with.Short, without.Short)
				}
			}
		}
		c.Measured += fmt.Sprintf("  response lower at %d of %d points, slowdown higher at %d\n", response, points, slowdown)
		holds = append(holds, response == points, slowdown == points)
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "slowdown: a machine that pages so much that it breaks down slows short jobs down more than any queue; it is where paging\n" +
		"costs little (fair shares, θ = 2) that waiting is worse for them. There the response is lower without a limit, too"
	return c
}

func (s *Study) queued() claim.Claim {
	c := claim.Claim{ID: "B-9", Source: "§4.3", Says: "the share of queued jobs grows from load .5 on, to 80 % at .8", Expected: "< 20 % at .4, 60 to 95 % at .8"}
	var holds []bool
	theta := s.config.Localities[len(s.config.Localities)-1]
	for _, factor := range []float64{Free, 1} {
		c.Measured += fmt.Sprintf("C = %v, θ = %v:", factor, theta)
		for _, load := range s.config.Loads {
			q := s.pick(load, theta, factor, true).Queued
			c.Measured += fmt.Sprintf(" %.0f %% at %v,", 100*q, load)
			switch load {
			case .4:
				holds = append(holds, q < .2)
			case .8:
				holds = append(holds, q >= .6 && q <= .95)
			}
		}
		c.Measured = strings.TrimSuffix(c.Measured, ",") + "\n"
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "the share grows from about the same load on, but less steeply: it depends on how much of the load falls into bursts"
	return c
}

func (s *Study) best() claim.Claim {
	c := claim.Claim{
		ID: "B-10", Source: "§5", Says: "performance is best with the limit at exactly the physical memory",
		Expected: fmt.Sprintf("least mean response at C in [.8, 1], load %v", s.config.SweepLoad),
	}
	var holds []bool
	for _, rule := range rules {
		c.Measured += fmt.Sprintf("%s: C = %s\n", rule.name, list(s.config.Sweep))
		for _, theta := range s.config.Localities {
			best := Dynamic{Response: math.Inf(1)}
			var line []string
			for _, p := range s.Sweep {
				if p.Locality != theta || p.Eldest != rule.eldest {
					continue
				}
				line = append(line, fmt.Sprintf("%.0f", p.Response))
				if p.Response < best.Response {
					best = p
				}
			}
			c.Measured += fmt.Sprintf("  θ = %v: %s s, best at C = %v\n", theta, strings.Join(line, ", "), best.Factor)
			holds = append(holds, best.Factor >= .8 && best.Factor <= 1)
		}
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "C = .8 is what is really free, C = 1 the memory without the kernel. Only where locality is high and every process\n" +
		"keeps a fair share is it better to let jobs page than to make them wait"
	return c
}

func list(x []float64) string { return strings.Trim(fmt.Sprint(x), "[]") }

func (s *Study) skips() claim.Claim {
	c := claim.Claim{ID: "B-11", Source: "§3.2", Says: "no job in the queue is skipped more than 15 times", Expected: "≤ 15 in every run"}
	most := 0
	for _, list := range [][]Static{s.Figure5, s.Figure6, s.Printed} {
		for _, p := range list {
			most = max(most, p.MaxSkips)
		}
	}
	for _, list := range [][]Dynamic{s.Figure7, s.Sweep} {
		for _, p := range list {
			most = max(most, p.MaxSkips)
		}
	}
	c.Measured = fmt.Sprintf("%d at most, in %d runs", most, s.Size())
	c.Verdict = claim.Judge(most <= 15)
	return c
}
