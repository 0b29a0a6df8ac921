package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/kit/claim"
)

// Findings puts what was supposed before the study beside what came of it.
func (s *Study) Findings() []claim.Claim {
	findings := []claim.Claim{s.rule(), s.between(), s.probing(), s.byLocality(), s.byLoad(), s.byFigure(), s.reserve(), s.theory(), s.models()}
	for i := range findings {
		if findings[i].Verdict == claim.Reproduced {
			findings[i].Why = ""
		}
	}
	return findings
}

// cellsOf calls f with every cell, of a backlog or of all other loads.
func (s *Study) cellsOf(backlog bool, f func(c Cell)) {
	for _, c := range s.Cells {
		if (c.Load == Backlog) == backlog {
			f(c)
		}
	}
}

func (s *Study) most() float64 { return s.config.Limits[len(s.config.Limits)-1] }

func (s *Study) rule() claim.Claim {
	c := claim.Claim{
		ID: "D-1", Source: "supposed", Says: "where jobs always wait, a limit is worth what the rule says: throughput goes as C/f(C)",
		Expected: "within 10 % at every limit that a thrashing machine does not make meaningless (g > 0.1)",
		Why: "jobs are of unequal size: memory is not always filled up to the limit, so that less is lost where f rises steeply, and\n" +
			"processors run out sooner than on the average, so that less is won",
	}
	worst, sum, n, far := 0., 0., 0, 0
	s.cellsOf(true, func(cell Cell) {
		for _, p := range cell.Points {
			if p.PredictedRate <= .1 {
				continue
			}
			off := math.Abs(p.Rate.Mean/p.PredictedRate - 1)
			worst, sum, n = max(worst, off), sum+off, n+1
			if off > .1 {
				far++
			}
		}
	})
	c.Measured = fmt.Sprintf("%.1f %% off in the mean of %d points, %.0f %% at most, %d of them more than 10 %%", 100*sum/float64(max(1, n)), n, 100*worst, far)
	c.Verdict = claim.Judge(far == 0, 10*far < n)
	return c
}

func (s *Study) between() claim.Claim {
	c := claim.Claim{
		ID: "D-2", Source: "supposed", Says: "the more is missing the dearer is the next page, so that the best limit lies a little above 1",
		Expected: "throughput best between C = 1 and the greatest limit, for every model",
		Why: "the costs of all three models are concave: the first pages that are missing cost the most, and the next slow everybody\n" +
			"down by less than they let in. Then a limit is best at one end or the other. Only the straight line, which ends in a\n" +
			"standstill, is convex",
	}
	counts := map[string][3]int{}
	var holds []bool
	s.cellsOf(true, func(cell Cell) {
		model := s.Costs[cell.Cost].Model
		n := counts[model]
		switch {
		case cell.Rate.Limit <= 1 || slices.Contains(cell.Rate.Ties, 1):
			n[0]++
		case slices.Contains(cell.Rate.Ties, s.most()):
			n[2]++
		default:
			n[1]++
		}
		holds = append(holds, n[1] > counts[model][1])
		counts[model] = n
	})
	for _, model := range Models {
		n := counts[model]
		c.Measured += fmt.Sprintf("%s: of its costs %d are best at C = 1 (or less, or not told from it), %d between, %d at the greatest\n", model, n[0], n[1], n[2])
	}
	c.Verdict = claim.Judge(holds...)
	return c
}

func (s *Study) probing() claim.Claim {
	c := claim.Claim{
		ID: "D-3", Source: "supposed", Says: "trying a limit a little above 1 tells whether over-commitment pays",
		Expected: fmt.Sprintf("throughput at C = %v is better than at 1 exactly where the best limit is above 1", s.config.Limits[s.one()+1]),
		Why:      "the cost is concave: the first step loses, and the gain comes later",
	}
	var wrong []string
	n := 0
	s.cellsOf(true, func(cell Cell) {
		n++
		if first := cell.Points[s.one()+1].Rate.Mean > 1; first != (cell.Rate.Limit > 1) {
			wrong = append(wrong, fmt.Sprintf("%v: × %.2f at the first step, × %.2f at C = %v", s.Costs[cell.Cost], cell.Points[s.one()+1].Rate.Mean, cell.Rate.Ratio.Mean, cell.Rate.Limit))
		}
	})
	c.Measured = fmt.Sprintf("misleading for %d of %d costs\n%s", len(wrong), n, strings.Join(wrong, "\n"))
	c.Verdict = claim.Judge(len(wrong) == 0, len(wrong) < n)
	return c
}

// rank orders advice by how much may be over-committed.
func (a Advice) rank() int { return slices.Index([]Advice{Delay, Either, Page}, a) }

// figures are the best limits by response and by slowdown.
func figures(c Cell) [2]Best { return [2]Best{c.Response, c.Slowdown} }

func (s *Study) byLocality() claim.Claim {
	c := claim.Claim{
		ID: "D-4", Source: "supposed", Says: "the higher the locality, the more may be over-committed", Expected: "from delay to either to page with θ, never back, at any fault time and load, by response and by slowdown",
		Why: "differences that cannot be told from chance",
	}
	falls, n := 0, 0
	for _, fault := range s.config.LocalityFaults {
		for load := range s.config.Loads {
			for figure := range 2 {
				last := Delay
				for cost, x := range s.Costs {
					if x.Model != LocalityModel || x.Fault != fault {
						continue
					}
					advice := figures(s.Cells[cost*len(s.loads())+load])[figure].Advice
					n++
					if advice.rank() < last.rank() {
						falls++
					}
					last = advice
				}
			}
		}
	}
	c.Measured = fmt.Sprintf("back %d times in %d\n", falls, n)
	for _, t := range s.Thresholds {
		if t.Model == LocalityModel {
			c.Measured += fmt.Sprintf("throughput gains at C = %v if a fault takes less than %v (θ = %v)\n", t.Limit, round(t.Fault), t.Locality)
		}
	}
	if n == 0 {
		c.Verdict = claim.Reported
		return c
	}
	c.Verdict = claim.Judge(falls == 0, falls < n)
	return c
}

func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit)
}

func (s *Study) byLoad() claim.Claim {
	c := claim.Claim{
		ID: "D-5", Source: "supposed", Says: "the higher the load, the less should be over-committed: when the machine is full everybody pays",
		Expected: "from page to either to delay with the load, never back, for any cost, by response and by slowdown",
		Why: "load lets the rule decide. Where C/f(C) > 1 a high load makes over-commitment the only way to keep up, and where it is\n" +
			"below 1, ruin. At a low load there is little to gain or lose by either, for the mean response. Only where the cost is\n" +
			"convex, so that the best limit lies between, does it fall",
	}
	names := [2]string{"response", "slowdown"}
	rises := 0
	var lower []string
	for figure, name := range names {
		up, down, same := 0, 0, 0
		for cost := range s.Costs {
			cells := s.Cells[cost*len(s.loads()):][:len(s.config.Loads)]
			if len(cells) == 0 {
				continue
			}
			switch first, last := figures(cells[0])[figure].Advice.rank(), figures(cells[len(cells)-1])[figure].Advice.rank(); {
			case last > first:
				up++
			case last < first:
				down++
			default:
				same++
			}
			if figure == 0 && cells[len(cells)-1].Response.Limit < cells[0].Response.Limit {
				limits := make([]string, len(cells))
				for i, cell := range cells {
					limits[i] = fmt.Sprint(cell.Response.Limit)
				}
				lower = append(lower, fmt.Sprintf("%v: %s", s.Costs[cost], strings.Join(limits, ", ")))
			}
		}
		rises += up
		c.Measured += fmt.Sprintf("by %s, from the lowest load to the highest: towards page for %d costs, towards delay for %d, as it was for %d\n", name, up, down, same)
	}
	c.Measured += "C* by response falls with the load for: " + strings.Join(append(lower, fmt.Sprintf("%d in all", len(lower))), "; ")
	c.Verdict = claim.Judge(rises == 0, rises < len(s.Costs))
	return c
}

func (s *Study) byFigure() claim.Claim {
	c := claim.Claim{
		ID: "D-6", Source: "supposed", Says: "slowdown is for paging, where response is for waiting: a short job suffers more from waiting than from running slower",
		Expected: "the best limit by bounded slowdown is not below that by response, within what can be told apart",
		Why:      "differences that cannot be told from chance",
	}
	below, above, n := 0, 0, 0
	s.cellsOf(false, func(cell Cell) {
		n++
		if cell.Slowdown.Ties[len(cell.Slowdown.Ties)-1] < cell.Response.Ties[0] {
			below++
		}
		if cell.Slowdown.Advice.rank() > cell.Response.Advice.rank() {
			above++
		}
	})
	c.Measured = fmt.Sprintf("lower in %d of %d cells; the advice by slowdown is closer to page in %d\n"+
		"a mean run time of waiting adds %.0f to the mean slowdown, one of running longer adds 1", below, n, above, s.shape.short)
	c.Verdict = claim.Judge(below == 0)
	return c
}

func (s *Study) reserve() claim.Claim {
	c := claim.Claim{
		ID: "D-7", Source: "supposed", Says: "if memory is known exactly a reserve (C < 1) only wastes it", Expected: "no limit below 1 is best in any cell",
		Why: "what jobs use is not what they ask for, so that C = 1 pages, too; a reserve is the dearer paging is the larger",
	}
	n, best := 0, 0
	least, most := math.Inf(1), 0.
	for _, cell := range s.Cells {
		for _, b := range figures(cell) {
			if cell.Load == Backlog {
				continue
			}
			n++
			if b.Limit < 1 {
				best++
			}
			least, most = min(least, b.Limit), max(most, b.Limit)
		}
	}
	c.Measured = fmt.Sprintf("best in %d of %d; best limits from %v to %v", best, n, least, most)
	c.Verdict = claim.Judge(best == 0)
	return c
}

func (s *Study) theory() claim.Claim {
	c := claim.Claim{
		ID: "D-8", Source: "supposed", Says: "a queue of equal jobs that share the machine at speed 1/f predicts the best limit",
		Expected: "the predicted limit cannot be told from the best one, in nine of ten cells",
		Why:      "backfilling, jobs of unequal memory and a sample's end are not in the theory",
	}
	var agree [2]int
	n := 0
	s.cellsOf(false, func(cell Cell) {
		n++
		for i, b := range figures(cell) {
			if b.Agrees() {
				agree[i]++
			}
		}
	})
	c.Measured = fmt.Sprintf("by response in %d of %d, by slowdown in %d", agree[0], n, agree[1])
	c.Verdict = claim.Judge(10*agree[0] >= 9*n, 10*agree[1] >= 9*n)
	return c
}

// models says in which cells the models disagree that know the time of a fault, and
// what they have in common with the one that does not.
func (s *Study) models() claim.Claim {
	c := claim.Claim{
		ID: "D-9", Source: "supposed", Says: "the models agree on whether to delay or to page", Expected: "at equal fault times and loads, all that decide say the same, by response",
		Why: "what they make of much missing memory: f of Chen et al.'s Eq. (1) is bounded, by 1/(1 − 120·fault), and so in the end it\n" +
			"always pays if 120 faults take less than a second; a straight line through the same measurements ends in a standstill;\n" +
			"f of Tay and Zou grows as C itself, so that nothing is to be gained, ever; f of a locality is bounded by its rate\n" +
			"of faults without any memory",
	}
	same := true
	faults := slices.Clone(s.config.ChenFaults)
	for load, at := range s.config.Loads {
		for _, fault := range append(faults, 0) {
			var says []string
			seen := map[Advice]bool{}
			for cost, x := range s.Costs {
				if x.Fault != fault {
					continue
				}
				advice := s.Cells[cost*len(s.loads())+load].Response.Advice
				name := x.Model
				if x.Locality > 0 {
					name = fmt.Sprintf("θ=%v", x.Locality)
				}
				says = append(says, fmt.Sprintf("%s %s", name, advice))
				seen[advice] = true
			}
			if seen[Delay] && seen[Page] {
				same = false
			}
			label := "any fault"
			if fault > 0 {
				label = "fault " + fault.String()
			}
			c.Measured += fmt.Sprintf("load %v, %s: %s\n", at, label, strings.Join(says, ", "))
		}
	}
	c.Verdict = claim.Judge(same)
	return c
}
