package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/folding"
)

func meanAndDeviation(x []float64) (mean, sd float64) {
	if len(x) == 1 {
		return x[0], 0
	}
	return stat.MeanStdDev(x, nil)
}

// Point returns a point.
func (s *Study) Point(workload, policy, efficiency string) *Point {
	i := slices.IndexFunc(s.Points, func(p Point) bool {
		return p.Workload == workload && p.Policy == policy && p.Efficiency == efficiency
	})
	return &s.Points[i]
}

// Claims compares what the study found with what Utrera et al. report. Run comes
// first. Each is judged under every assumption of what folding costs; it is
// reproduced if it holds under all.
func (s *Study) Claims() []claim.Claim {
	claims := []claim.Claim{s.best(), s.flat(), s.waits(), s.processors(), s.bursts(), s.shortBursts()}
	for i := range claims {
		if claims[i].Verdict == claim.Reproduced {
			claims[i].Why = ""
		}
	}
	return claims
}

// each describes and judges under every assumption.
func each(describe func(e string) (string, []bool)) (measured string, verdict claim.Verdict) {
	var holds []bool
	for _, e := range Efficiencies {
		text, ok := describe(e.Name)
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		measured += fmt.Sprintf("folding %s: %s\n", e.Name, strings.Join(lines, "\n  "))
		holds = append(holds, ok...)
	}
	return measured, claim.Judge(holds...)
}

// over averages a figure over the six workloads.
func (s *Study) over(policy, efficiency string, of func(*Point) float64) float64 {
	sum := 0.
	for _, w := range Workloads {
		sum += of(s.Point(w.Name, policy, efficiency)) / float64(len(Workloads))
	}
	return sum
}

func longSlowdown(p *Point) float64  { return p.Slowdown[folding.Long] }
func shortSlowdown(p *Point) float64 { return p.Slowdown[folding.Short] }
func bothWaits(p *Point) float64     { return (p.Wait[0] + p.Wait[1]) / 2 }

func (s *Study) best() claim.Claim {
	c := claim.Claim{
		ID: "U-1", Source: "§6, Figs. 1 and 2", Says: "FJT is best for long jobs and Folding worst; for short ones all are about equal",
		Expected: "slowdown of long jobs FJT ≤ PSA ≤ Folding, mean over w1 to w6; that of short jobs within 30 %",
		Why: "how much a folded long job suffers rests on the assumed cost of folding; short jobs wait for nobody under FJT and Folding, but\n" +
			"for a whole partition under PSA",
	}
	c.Measured, c.Verdict = each(func(e string) (string, []bool) {
		text := "long"
		low, high := math.Inf(1), 0.
		for _, policy := range Policies[:5] {
			text += fmt.Sprintf(" %s %.2f", policy, s.over(policy, e, longSlowdown))
			x := s.over(policy, e, shortSlowdown)
			low, high = min(low, x), max(high, x)
		}
		fjt, psa, fold := s.over("fjt", e, longSlowdown), s.over("psa", e, longSlowdown), s.over("folding", e, longSlowdown)
		return fmt.Sprintf("%s; short from %.2f to %.2f", text, low, high), []bool{fjt <= psa, psa <= fold, high <= 1.3*low}
	})
	return c
}

func (s *Study) flat() claim.Claim {
	c := claim.Claim{ID: "U-2", Source: "§6", Says: "the slowdown of long jobs under FJT hardly depends on the mix", Expected: "highest over lowest of w1 to w6 below 1.5",
		Why: "the baseline is quicker the fewer long jobs there are, and the more short ones the longer a long one is folded. Single workloads differ\n" +
			"as much: a quarter of an hour has two to seven long jobs"}
	c.Measured, c.Verdict = each(func(e string) (string, []bool) {
		low, high := math.Inf(1), 0.
		text := ""
		for _, w := range Workloads {
			p := s.Point(w.Name, "fjt", e)
			text += fmt.Sprintf("%s %.2f ± %.2f, ", w.Name, longSlowdown(p), p.Spread[folding.Long])
			low, high = min(low, longSlowdown(p)), max(high, longSlowdown(p))
		}
		return fmt.Sprintf("%sratio %.2f", text, high/low), []bool{high < 1.5*low}
	})
	return c
}

func (s *Study) waits() claim.Claim {
	c := claim.Claim{
		ID: "U-3", Source: "§6, Figs. 3 and 4", Says: "Folding has the least wait; FJT waits more, most with many long jobs",
		Expected: "wait of Folding least, in the mean over w1 to w6; FJT's longest in w1 to w3",
	}
	c.Measured, c.Verdict = each(func(e string) (string, []bool) {
		text := ""
		least := true
		for _, policy := range Policies[:5] {
			w := s.over(policy, e, bothWaits)
			text += fmt.Sprintf("%s %.1f s, ", policy, w)
			least = least && (policy == "folding" || s.over("folding", e, bothWaits) <= w)
		}
		many, few := 0., 0.
		for i, w := range Workloads {
			if x := s.Point(w.Name, "fjt", e).Wait[folding.Long] / 3; i < 3 {
				many += x
			} else {
				few += x
			}
		}
		return fmt.Sprintf("%slong jobs under FJT %.1f s in w1 to w3, %.1f s in w4 to w6", text, many, few), []bool{least, many >= few}
	})
	c.Why = "under FJT a long job waits as long as a short one runs and no other long one waits: many short jobs make that last"
	return c
}

func (s *Study) processors() claim.Claim {
	c := claim.Claim{
		ID: "U-4", Source: "§6, Fig. 5", Says: "at bursts of 9 long jobs have more processors under FJT than under Folding, PSA and ASP60",
		Expected: "mean processors of long jobs, FJT highest",
		Why:      "under ASP60 whoever comes first has 60 of 64 processors, and a long job that waits for it has them after it",
	}
	c.Measured, c.Verdict = each(func(e string) (string, []bool) {
		text := ""
		var holds []bool
		fjt := s.Point(burst(9), "fjt", e).Processors[folding.Long]
		for _, policy := range []string{"fjt", "folding", "psa", "asp60"} {
			x := s.Point(burst(9), policy, e).Processors[folding.Long]
			text += fmt.Sprintf("%s %.1f ", policy, x)
			if policy != "fjt" {
				holds = append(holds, fjt > x)
			}
		}
		return text, holds
	})
	return c
}

func (s *Study) bursts() claim.Claim {
	c := claim.Claim{
		ID: "U-5", Source: "Fig. 6, §7", Says: "the slowdown of long jobs stays at 1.15 to 1.33 for bursts of 3 to 9 under FJT; under PSA it grows from 1 to 4.38",
		Expected: "FJT's range over the sizes below .5; PSA's grows; at 9 PSA's over FJT's above 2",
		Why:      "a third of a burst is long here; what it was in the paper is not told",
	}
	c.Measured, c.Verdict = each(func(e string) (string, []bool) {
		text := ""
		values := map[string][]float64{}
		for _, policy := range []string{"fjt", "psa"} {
			text += policy
			for _, n := range Bursts {
				p := s.Point(burst(n), policy, e)
				values[policy] = append(values[policy], longSlowdown(p))
				text += fmt.Sprintf(" %.2f ± %.2f", longSlowdown(p), p.Spread[folding.Long])
			}
			text += "; "
		}
		fjt, psa := values["fjt"], values["psa"]
		return strings.TrimSuffix(text, "; "), []bool{slices.Max(fjt)-slices.Min(fjt) < .5, slices.IsSorted(psa), psa[2] > 2*fjt[2]}
	})
	return c
}

func (s *Study) shortBursts() claim.Claim {
	c := claim.Claim{ID: "U-6", Source: "Fig. 6", Says: "ASP60 is best for short jobs in bursts", Expected: "least slowdown of short jobs in bursts of 3, 6 and 9",
		Why: "a short job behind a long one waits for it under ASP60, unless it is among the first two"}
	c.Measured, c.Verdict = each(func(e string) (string, []bool) {
		text := ""
		var holds []bool
		for _, n := range Bursts {
			text += fmt.Sprintf("%d jobs:", n)
			asp, best := shortSlowdown(s.Point(burst(n), "asp60", e)), true
			for _, policy := range []string{"fjt", "folding", "psa", "asp60"} {
				x := shortSlowdown(s.Point(burst(n), policy, e))
				text += fmt.Sprintf(" %s %.2f", policy, x)
				best = best && asp <= x
			}
			text += "\n"
			holds = append(holds, best)
		}
		return text, holds
	})
	return c
}
