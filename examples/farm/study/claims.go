package study

import (
	"fmt"
	"math"
	"strings"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/paging"
)

// Claims compares the study with what Chen et al. report. Run comes first. Formulas
// are judged once; what was simulated under both readings, each with a claim of its
// own. Figures are means over the seeds.
func (s *Study) Claims() []claim.Claim {
	claims := []claim.Claim{constants(), fit(), thrashing()}
	for _, of := range []func(reading string) claim.Claim{
		s.best, s.blocking, s.relative, s.breakdown, s.threshold, s.signs, s.network, s.killed,
	} {
		for _, reading := range ReadingNames {
			c := of(reading)
			c.ID += reading[:1]
			c.Source += "; " + reading + " reading"
			c.Measured = strings.TrimRight(c.Measured, "\n ;")
			if c.Verdict == claim.Reproduced {
				c.Why = ""
			}
			claims = append(claims, c)
		}
	}
	return claims
}

func constants() claim.Claim {
	m := paging.ChenXiaoZhang()
	sum := m.IO.Intercept + m.Memory.Max
	// Far beyond any number of reads and writes, the printed sum shows Eq. (1) as is.
	const n = 1e6
	zero := m.Printed(0, n) - m.IO.Rate(n)
	return claim.Claim{
		ID: "C-1", Source: "§3.2, Eqs. (1)-(4)", Says: "the constants of Eqs. (1) and (2) add up to those of Eq. (4)", Expected: "-54.98; Eq. (1) is 2.35 at Q = 0",
		Measured: fmt.Sprintf("%.2f; %.2f", sum, zero),
		Verdict:  claim.Judge(math.Abs(sum+54.98) < .005, math.Abs(zero-2.353) < .0005),
	}
}

// groups are those of Table 2.
var groups = []struct {
	oversize, rate float64
	io             float64 // reads and writes in all
}{{.0534, 12.52, 22}, {.2475, 44.12, 3568}, {.6495, 102.03, 256}}

func fit() claim.Claim {
	m := paging.ChenXiaoZhang()
	c := claim.Claim{
		ID: "C-1b", Source: "§3.2, Fig. 1", Says: "Eq. (1) characterises the measured rates, and Eq. (4) is the model of the simulation",
		Expected: "within 10 % of the rates of Table 2",
		Why: "the fit is said to be to many more runs than the three that are printed; these are on a straight line.\n" +
			"Eq. (4) is negative below 1000 to 2800 reads and writes, which few of the groups have",
	}
	var holds []bool
	var q, rates []float64
	for _, g := range groups {
		one, four := m.Memory.Rate(g.oversize), m.Printed(g.oversize, g.io)
		c.Measured += fmt.Sprintf("Q = %.4f: %.1f by Eq. (1), %.1f by Eq. (4), %.1f measured\n", g.oversize, one, four, g.rate)
		for _, x := range []float64{one, four} {
			holds = append(holds, math.Abs(x/g.rate-1) < .1)
		}
		q, rates = append(q, g.oversize), append(rates, g.rate)
	}
	printed := paging.Assess(m.Memory.Rate, 0, q, rates)
	c.Measured += fmt.Sprintf("Eq. (1) errs by %.1f a second (root mean square), ", printed.ResidualError)
	switch line, err := paging.FitLine(q, rates); {
	case err != nil:
		c.Measured += err.Error()
	default:
		c.Measured += fmt.Sprintf("a fitted line, %.2f + %.1f Q, by %.1f\n", line.Model.Intercept, line.Model.Slope,
			paging.Assess(line.Model.Rate, 0, q, rates).ResidualError)
	}
	if _, err := paging.FitMemory(q, rates, 0); err != nil {
		c.Measured += "Eq. (1) fitted to them: " + err.Error()
	}
	c.Verdict = claim.Judge(holds...)
	return c
}

func thrashing() claim.Claim {
	m := paging.ChenXiaoZhang().Memory
	low, high := 0., 1.
	for range 50 {
		if q := (low + high) / 2; paging.Lost(m.Rate(q), paging.FaultTime) < 1 {
			low = q
		} else {
			high = q
		}
	}
	return claim.Claim{
		ID: "C-2", Source: "§3.2", Says: "from about 65 % of oversizing on there is little useful execution", Expected: "the share that faults of 10 ms leave is 0 from Q = .6 to .7 on",
		Measured: fmt.Sprintf("0 from Q = %.3f on", high),
		Verdict:  claim.Judge(high >= .6 && high <= .7),
		Why: "if a fault stops all jobs, Eq. (1) reaches 100 a second too early. It cannot stop all: the jobs that Table 2 measured at\n" +
			"102 a second computed, and so faults stop only the job that has them here, unless a variant says otherwise",
	}
}

// at returns a point on the slow network with MT = 0.
func (s *Study) at(reading, trace, policy string) *Point {
	return s.Point(Case{reading, trace, policy, 0, 10})
}

func (s *Study) best(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-3", Source: "§6.1, Fig. 2", Says: "the combined index is best on all traces, and each policy 3 to 10 times better than blocking",
		Expected: "least slowdown of four in each trace; blocking over each policy from 3 to 10",
		Why: "in trace 1 there is work for three hours in 23 minutes: whoever shares it, jobs wait to start, and the gain is twofold.\n" +
			"In trace 3 nobody waits who is sent on, and it is twelvefold. Which job migrates matters less than the seed: see ±",
	}
	var holds []bool
	for _, t := range Traces {
		blocking := s.at(reading, t.Name, "blocking").Slowdown
		combined := s.at(reading, t.Name, "combined").Slowdown
		c.Measured += fmt.Sprintf("%s:", t.Name)
		least, low, high := true, math.Inf(1), 0.
		for _, policy := range Sharers {
			p := s.at(reading, t.Name, policy)
			c.Measured += fmt.Sprintf(" %s %.2f ± %.2f,", policy, p.Slowdown, p.Spread)
			least = least && combined <= p.Slowdown
			low, high = min(low, blocking/p.Slowdown), max(high, blocking/p.Slowdown)
			holds = append(holds, blocking/p.Slowdown >= 3 && blocking/p.Slowdown <= 10)
		}
		holds = append(holds, least)
		c.Measured += fmt.Sprintf(" blocking %.1f to %.1f times as much\n", low, high)
	}
	c.Verdict = claim.Judge(holds...)
	return c
}

func (s *Study) blocking(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-4", Source: "§6.1", Says: "slowdowns under blocking are 37.88, 25.58 and 22.25", Expected: "in this order; the values are the traces', which are not available",
	}
	var x []float64
	for _, t := range Traces {
		p := s.at(reading, t.Name, "blocking")
		x = append(x, p.Slowdown)
		c.Measured += fmt.Sprintf("%.2f ± %.2f; ", p.Slowdown, p.Spread)
	}
	c.Verdict = claim.Judge(x[0] > x[1], x[1] > x[2])
	return c
}

func (s *Study) relative(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-5", Source: "§6.1", Says: "above the combined index are pf-rate by 100, 30 and 10 %, worksize by 30, 30 and over 60 %, age by 10 to 30 %",
		Expected: "pf-rate worst of four on trace 1, worksize on trace 3",
		Why:      "the paper's are single runs of single traces; differences here are within the spread between seeds, see C-3",
	}
	if reading == Literal {
		c.Why = "age is worst: it asks for an age above what moving costs, where the others send any job to a machine a little below MT,\n" +
			"and so does most of the waiting. The others differ by less than the seeds do, see C-3"
	}
	worst := map[string]string{}
	for _, t := range Traces {
		base := s.at(reading, t.Name, "combined").Slowdown
		c.Measured += t.Name + ":"
		most := 0.
		for _, policy := range Sharers {
			x := s.at(reading, t.Name, policy).Slowdown
			if x > most {
				most, worst[t.Name] = x, policy
			}
			if policy != "combined" {
				c.Measured += fmt.Sprintf(" %s %+.0f %%,", policy, 100*(x/base-1))
			}
		}
		c.Measured = strings.TrimSuffix(c.Measured, ",") + "\n"
	}
	c.Verdict = claim.Judge(worst["trace 1"] == "pf-rate", worst["trace 3"] == "worksize")
	return c
}

func (s *Study) breakdown(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-6", Source: "§6.1, Fig. 2", Says: "on trace 1 worksize queues least and migrates for longest; age and pf-rate migrate for shortest and queue for longer; pf-rate pages most",
		Expected: "queueing and migration of worksize and combined against age and pf-rate, and paging of pf-rate, in this order",
		Why:      "with room asked for, few large jobs find a target: those with small working sets migrate, and often; all page alike",
	}
	if reading == Literal {
		c.Why = "that any machine below MT is target enough makes three of four policies alike; only age asks more of a migration"
	}
	p := map[string]*Point{}
	for _, policy := range Sharers {
		x := s.at(reading, Traces[0].Name, policy)
		p[policy] = x
		c.Measured += fmt.Sprintf("%-8s queueing %.0f s, migration %.1f s, paging %.0f s\n", policy, x.Queueing, x.Migration, x.Paging)
	}
	worksize, combined, age, faults := p["worksize"], p["combined"], p["age"], p["pf-rate"]
	c.Verdict = claim.Judge(
		worksize.Queueing <= min(combined.Queueing, age.Queueing, faults.Queueing),
		worksize.Migration >= max(combined.Migration, age.Migration, faults.Migration),
		max(age.Migration, faults.Migration) <= min(worksize.Migration, combined.Migration),
		min(age.Queueing, faults.Queueing) >= max(worksize.Queueing, combined.Queueing),
		faults.Paging >= max(worksize.Paging, combined.Paging, age.Paging),
	)
	return c
}

// sweep returns a figure of trace 1 over MT.
func (s *Study) sweep(reading, policy string, of func(*Point) float64) []float64 {
	var x []float64
	for _, mt := range MTs {
		x = append(x, of(s.Point(Case{reading, Traces[0].Name, policy, mt, 10})))
	}
	return x
}

func numbers(format string, x []float64) string {
	var b strings.Builder
	for _, v := range x {
		fmt.Fprintf(&b, " "+format, v)
	}
	return b.String()
}

func (s *Study) threshold(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-7", Source: "§6.2, Fig. 3", Says: "the best MT is near 0: combined is flat from -5 to 5 %, age best at -5, worksize at 5 %; 15 % is worse",
		Expected: "least slowdown of each within -5 to 5 %, and more at 15 %",
		Why: "at 15 % more jobs start, and wait less for that. That they page costs them little as long as others can compute meanwhile;\n" +
			"what it costs is jobs: those that exhaust memory and swap space are killed",
	}
	var holds []bool
	c.Measured = "MT   " + strings.TrimSpace(numbers("%.2f", MTs)) + "\n"
	for _, policy := range Sharers {
		x := s.sweep(reading, policy, func(p *Point) float64 { return p.Slowdown })
		k := s.sweep(reading, policy, func(p *Point) float64 { return p.Killed })
		c.Measured += fmt.Sprintf("%-8s%s; killed%s\n", policy, numbers("%.1f", x), numbers("%.1f", k))
		if policy == "pf-rate" {
			continue // irregular by the paper
		}
		least := min(x[1], x[2], x[3])
		holds = append(holds, least <= min(x[0], x[4]), x[4] > least)
	}
	c.Verdict = claim.Judge(holds...)
	return c
}

func (s *Study) signs(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-8", Source: "§6.2, Figs. 3 and 4", Says: "with MT paging grows, but for pf-rate, and most from 5 to 15 %; migration of worksize and combined falls; queueing is flat",
		Expected: "paging at 15 % above 5 % above -15 %; migration at 15 % below -15 %; queueing within 20 %",
		Why:      "queueing is mostly the wait to start, which MT rules",
	}
	var holds []bool
	for _, policy := range Sharers {
		pages := s.sweep(reading, policy, func(p *Point) float64 { return p.Paging })
		moves := s.sweep(reading, policy, func(p *Point) float64 { return p.Migration })
		queue := s.sweep(reading, policy, func(p *Point) float64 { return p.Queueing })
		c.Measured += fmt.Sprintf("%-8s paging%s; migration%s; queueing%s\n", policy, numbers("%.0f", pages), numbers("%.1f", moves), numbers("%.0f", queue))
		if policy != "pf-rate" {
			holds = append(holds, pages[4] > pages[3], pages[3] > pages[0])
		}
		if policy == "worksize" || policy == "combined" {
			holds = append(holds, moves[4] < moves[0])
		}
		low, high := math.Inf(1), 0.
		for _, q := range queue {
			low, high = min(low, q), max(high, q)
		}
		holds = append(holds, high <= 1.2*low)
	}
	c.Verdict = claim.Judge(holds...)
	return c
}

func (s *Study) network(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-9", Source: "§6.3, Fig. 5", Says: "100 Mbps helps worksize much, combined a little, and age and pf-rate not",
		Expected: "mean gain in slowdown over the traces of worksize above combined above the others",
		Why:      "all save nine tenths of their migration, but that is little of what jobs wait for, and less than the seeds differ by",
	}
	if reading == Literal {
		c.Why = "as any job goes to a machine a little below MT, it overloads that, and a faster network sends it back sooner"
	}
	gain := map[string]float64{}
	for _, policy := range Sharers {
		var slow, fast float64
		for _, t := range Traces {
			a, b := s.at(reading, t.Name, policy), s.Point(Case{reading, t.Name, policy, 0, 100})
			gain[policy] += (1 - b.Slowdown/a.Slowdown) / float64(len(Traces))
			slow, fast = slow+a.Migration/float64(len(Traces)), fast+b.Migration/float64(len(Traces))
		}
		c.Measured += fmt.Sprintf("%-8s gains %+.1f %%, migration %.1f s instead of %.1f\n", policy, 100*gain[policy], fast, slow)
	}
	c.Verdict = claim.Judge(gain["worksize"] > gain["combined"], gain["combined"] > gain["age"], gain["combined"] > gain["pf-rate"])
	return c
}

func (s *Study) killed(reading string) claim.Claim {
	c := claim.Claim{
		ID: "C-10", Source: "§6.1", Says: "without load sharing 363 of 503, 390 of 420 and 341 of 359 jobs complete: memory and swap space run out",
		Expected: "72, 93 and 95 %, in this order",
	}
	var share []float64
	for _, t := range Traces {
		p := s.at(reading, t.Name, "no-LS")
		share = append(share, p.Completed/float64(t.Jobs))
		c.Measured += fmt.Sprintf("%.0f of %d (%.0f %%), ", p.Completed, t.Jobs, 100*share[len(share)-1])
	}
	c.Measured = strings.TrimSuffix(c.Measured, ", ")
	c.Verdict = claim.Judge(share[0] < share[1], share[1] < share[2])
	return c
}
