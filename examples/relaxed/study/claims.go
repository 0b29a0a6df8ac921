package study

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
func (s *Study) judge(holds []bool) (claim.Verdict, string) {
	var failed []string
	for m, ok := range holds {
		if !ok {
			wait := s.Mean(m, EASY, 0, func(p Point) float64 { return p.Wait })
			failed = append(failed, fmt.Sprintf("%s: there EASY's mean wait at C = 0 is %.0f s of a response of %.0f s",
				humanize.IBytes(uint64(s.Memories[m])), wait, s.Mean(m, EASY, 0, Response)))
		}
	}
	return claim.Judge(holds...), strings.Join(failed, "\n")
}

// Claims compares the study with what Wang et al. report. Figures are means over
// the workloads.
func (s *Study) Claims() []claim.Claim {
	return []claim.Claim{s.factor(), s.easyWins(), s.minimum(), s.bump(), s.steadier(), s.noWorse(), s.gain()}
}

func (s *Study) factor() claim.Claim {
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
func (s *Study) each(describe func(memory int) (string, bool)) (measured string, verdict claim.Verdict, why string) {
	var parts []string
	var holds []bool
	for m, size := range s.Memories {
		text, ok := describe(m)
		parts = append(parts, fmt.Sprintf("%s: %s", humanize.IBytes(uint64(size)), text))
		holds = append(holds, ok)
	}
	verdict, why = s.judge(holds)
	return strings.Join(parts, "\n"), verdict, why
}

func (s *Study) easyWins() claim.Claim {
	c := claim.Claim{ID: "W-2", Source: "§5, Fig. 3", Says: "EASY has a lower mean response than FCFS at every memory size (C = 0)", Expected: "FCFS − EASY > 0"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		least, sum := math.Inf(1), 0.
		for k := range s.Workloads {
			d := s.points[s.index(m, FCFS, 0, k)].Response - s.points[s.index(m, EASY, 0, k)].Response
			least, sum = min(least, d), sum+d
		}
		return fmt.Sprintf("%.0f s (least %.0f)", sum/float64(len(s.Workloads)), least), sum > 0
	})
	return c
}

// best returns the C at which a curve's mean response is least.
func (s *Study) best(memory, curve int) int {
	best := 0
	for e := range s.Excesses {
		if s.Mean(memory, curve, e, Response) < s.Mean(memory, curve, best, Response) {
			best = e
		}
	}
	return best
}

func (s *Study) minimum() claim.Claim {
	c := claim.Claim{
		ID: "W-3", Source: "§5, Fig. 3", Says: "relaxing the limit by up to 10 % lowers the mean response, more costs more than it gains (EASY, T = 0)",
		Expected: "least at 0 < C ≤ 10 %, and at 60 % above C = 0",
	}
	last := len(s.Excesses) - 1
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		best := s.best(m, EASY)
		strict := s.Mean(m, EASY, 0, Response)
		end := s.Mean(m, EASY, last, Response)
		return fmt.Sprintf("least at %.0f %% (× %.2f), × %.2f at %.0f %%", 100*s.Excesses[best], s.Mean(m, EASY, best, Response)/strict, end/strict, 100*s.Excesses[last]),
			best > 0 && s.Excesses[best] <= .1 && end > strict
	})
	return c
}

// bump is about places that depend on the log; it is reported, not judged.
func (s *Study) bump() claim.Claim {
	c := claim.Claim{ID: "W-4", Source: "§5", Says: "FCFS's response rises at C = 26 % and falls again from 28 % on (1.5 and 2 GB)", Expected: "not monotone between 20 and 40 %; the place is the log's"}
	c.Measured, _, _ = s.each(func(m int) (string, bool) {
		up, down := 0, 0
		for e := 1; e < len(s.Excesses); e++ {
			if s.Excesses[e-1] < .2 || s.Excesses[e] > .4 {
				continue
			}
			switch step := s.Mean(m, FCFS, e, Response) - s.Mean(m, FCFS, e-1, Response); {
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

func (s *Study) steadier() claim.Claim {
	c := claim.Claim{ID: "W-5a", Source: "§5, Figs. 4-6", Says: "a threshold of 25 makes the gain steady", Expected: "sd of the response over C smaller with T = 25 than with T = 0"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		sd := func(curve int) float64 {
			var x []float64
			for e := range s.Excesses {
				x = append(x, s.Mean(m, curve, e, Response))
			}
			return stat.StdDev(x, nil)
		}
		return fmt.Sprintf("%.0f against %.0f s", sd(EASY25), sd(EASY)), sd(EASY25) < sd(EASY)
	})
	return c
}

func (s *Study) noWorse() claim.Claim {
	c := claim.Claim{ID: "W-5b", Source: "§5, Figs. 4-6", Says: "beyond C = 10 %, T = 25 responds no slower than T = 0", Expected: "at every C > 10 %"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		worse, all := 0, 0
		for e, excess := range s.Excesses {
			if excess > .1 {
				all++
				if s.Mean(m, EASY25, e, Response) > s.Mean(m, EASY, e, Response) {
					worse++
				}
			}
		}
		return fmt.Sprintf("at %d of %d", all-worse, all), worse == 0
	})
	return c
}

func (s *Study) gain() claim.Claim {
	c := claim.Claim{ID: "W-6", Source: "§6", Says: "FCFS gains most", Expected: "best relative gain of FCFS above EASY's"}
	c.Measured, c.Verdict, c.Why = s.each(func(m int) (string, bool) {
		gain := func(curve int) float64 {
			return 100 * (1 - s.Mean(m, curve, s.best(m, curve), Response)/s.Mean(m, curve, 0, Response))
		}
		return fmt.Sprintf("FCFS %.1f %%, EASY %.1f %%", gain(FCFS), gain(EASY)), gain(FCFS) > gain(EASY)
	})
	return c
}
