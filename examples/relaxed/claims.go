package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/paging"
)

// judge says whether a claim held at all memory sizes, and how much there was to
// gain where it did not.
func (s *study) judge(holds []bool) (claim.Verdict, string) {
	var failed []string
	for m, ok := range holds {
		if !ok {
			wait := s.mean(m, easy, 0, func(p point) float64 { return p.Wait })
			failed = append(failed, fmt.Sprintf("%s: there EASY's mean wait at C = 0 is %.0f s of a response of %.0f s",
				humanize.IBytes(uint64(s.memories[m])), wait, s.mean(m, easy, 0, response)))
		}
	}
	return claim.Judge(holds...), strings.Join(failed, "\n")
}

// claims compares the study with what Wang et al. report. Figures are means over
// the workloads.
func (s *study) claims() []claim.Claim {
	return []claim.Claim{s.factor(), s.easyWins(), s.minimum(), s.bump(), s.steadier(), s.noWorse(), s.gain()}
}

func (s *study) factor() claim.Claim {
	c := claim.Claim{ID: "W-1", Source: "Table 1", Says: "N = .37, .72, 1 for M*/M = 1.1, 1.3, 1.5", Expected: ".37 .72 1.00"}
	var n []string
	for _, demand := range []int64{11, 13, 15} {
		n = append(n, strings.TrimPrefix(fmt.Sprintf("%.2f", paging.TayZou(demand, 10)-1), "0"))
	}
	c.Measured = strings.Join(n, " ")
	c.Verdict = claim.Judge(c.Measured == c.Expected)
	return c
}

// each describes every memory size, and judges the claim.
func (s *study) each(describe func(memory int) (string, bool)) (measured string, verdict claim.Verdict, why string) {
	var parts []string
	var holds []bool
	for m, size := range s.memories {
		text, ok := describe(m)
		parts = append(parts, fmt.Sprintf("%s: %s", humanize.IBytes(uint64(size)), text))
		holds = append(holds, ok)
	}
	verdict, why = s.judge(holds)
	return strings.Join(parts, "\n"), verdict, why
}

func (s *study) easyWins() claim.Claim {
	c := claim.Claim{ID: "W-2", Source: "§5, Fig. 3", Says: "EASY has a lower mean response than FCFS at every memory size (C = 0)", Expected: "FCFS − EASY > 0"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		least, sum := math.Inf(1), 0.
		for k := range s.workloads {
			d := s.points[s.index(m, fcfs, 0, k)].Response - s.points[s.index(m, easy, 0, k)].Response
			least, sum = min(least, d), sum+d
		}
		return fmt.Sprintf("%.0f s (least %.0f)", sum/float64(len(s.workloads)), least), sum > 0
	})
	return c
}

// best returns the C at which a curve's mean response is least.
func (s *study) best(memory, curve int) int {
	best := 0
	for e := range s.excesses {
		if s.mean(memory, curve, e, response) < s.mean(memory, curve, best, response) {
			best = e
		}
	}
	return best
}

func (s *study) minimum() claim.Claim {
	c := claim.Claim{
		ID: "W-3", Source: "§5, Fig. 3", Says: "relaxing the limit by up to 10 % lowers the mean response, more costs more than it gains (EASY, T = 0)",
		Expected: "least at 0 < C ≤ 10 %, and at 60 % above C = 0",
	}
	last := len(s.excesses) - 1
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		best := s.best(m, easy)
		strict := s.mean(m, easy, 0, response)
		end := s.mean(m, easy, last, response)
		return fmt.Sprintf("least at %.0f %% (× %.2f), × %.2f at %.0f %%", 100*s.excesses[best], s.mean(m, easy, best, response)/strict, end/strict, 100*s.excesses[last]),
			best > 0 && s.excesses[best] <= .1 && end > strict
	})
	return c
}

// bump is about places that depend on the log; it is reported, not judged.
func (s *study) bump() claim.Claim {
	c := claim.Claim{ID: "W-4", Source: "§5", Says: "FCFS's response rises at C = 26 % and falls again from 28 % on (1.5 and 2 GB)", Expected: "not monotone between 20 and 40 %; the place is the log's"}
	c.Measured, _, _ = s.each(func(m int) (string, bool) {
		up, down := 0, 0
		for e := 1; e < len(s.excesses); e++ {
			if s.excesses[e-1] < .2 || s.excesses[e] > .4 {
				continue
			}
			switch step := s.mean(m, fcfs, e, response) - s.mean(m, fcfs, e-1, response); {
			case step > 0:
				up++
			case step < 0:
				down++
			}
		}
		return fmt.Sprintf("%d steps up, %d down", up, down), up > 0 && down > 0
	})
	c.Verdict = claim.Reported
	return c
}

func (s *study) steadier() claim.Claim {
	c := claim.Claim{ID: "W-5a", Source: "§5, Figs. 4-6", Says: "a threshold of 25 makes the gain steady", Expected: "sd of the response over C smaller with T = 25 than with T = 0"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		sd := func(curve int) float64 {
			var x []float64
			for e := range s.excesses {
				x = append(x, s.mean(m, curve, e, response))
			}
			return stat.StdDev(x, nil)
		}
		return fmt.Sprintf("%.0f against %.0f s", sd(easy25), sd(easy)), sd(easy25) < sd(easy)
	})
	return c
}

func (s *study) noWorse() claim.Claim {
	c := claim.Claim{ID: "W-5b", Source: "§5, Figs. 4-6", Says: "beyond C = 10 %, T = 25 responds no slower than T = 0", Expected: "at every C > 10 %"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		worse, all := 0, 0
		for e, excess := range s.excesses {
			if excess > .1 {
				all++
				if s.mean(m, easy25, e, response) > s.mean(m, easy, e, response) {
					worse++
				}
			}
		}
		return fmt.Sprintf("at %d of %d", all-worse, all), worse == 0
	})
	return c
}

func (s *study) gain() claim.Claim {
	c := claim.Claim{ID: "W-6", Source: "§6", Says: "FCFS gains most", Expected: "best relative gain of FCFS above EASY's"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		gain := func(curve int) float64 {
			return 100 * (1 - s.mean(m, curve, s.best(m, curve), response)/s.mean(m, curve, 0, response))
		}
		return fmt.Sprintf("FCFS %.1f %%, EASY %.1f %%", gain(fcfs), gain(easy)), gain(fcfs) > gain(easy)
	})
	return c
}
