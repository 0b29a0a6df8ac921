package study

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/partner"
	"github.com/gangkit/gangkit/pairing"
)

// Claims compares what the study found with what Wiseman & Feitelson report. Run
// comes first.
func (s *Study) Claims() ([]claim.Claim, error) {
	claims := []claim.Claim{s.shares(), s.oneIO(), s.fourIO(), s.response(), s.saturation(), s.heterogeneous(), s.sharpChange(), s.qcrd()}
	for _, c := range []func() (claim.Claim, error){s.maximum, s.stuck} {
		x, err := c()
		if err != nil {
			return nil, err
		}
		claims = append(claims, x)
	}
	for i := range claims {
		if claims[i].Verdict == claim.Reproduced {
			claims[i].Why = ""
		}
	}
	return claims, nil
}

func (s *Study) mix(io int, policy partner.Policy) Mix {
	for _, p := range s.Figure7 {
		if p.IO == io && p.Policy == policy {
			return p
		}
	}
	return Mix{}
}

func (s *Study) shares() claim.Claim {
	c := claim.Claim{
		ID: "F-1", Source: "Fig. 7, bottom", Says: "best fit chooses partners unevenly, the matching of Fig. 4 evenly",
		Expected: "share of quanta in which a slot is the partner; 3 + 1: .25 spread over the compute-bound, .75; 2 + 2 and 1 + 3: .25 each, under best fit .75 to one; none: 0 0 .25 .75 against .25 each",
	}
	near := func(got []float64, want ...float64) bool {
		for i := range want {
			if math.Abs(got[i]-want[i]) > .03 {
				return false
			}
		}
		return true
	}
	for io := range mixJobs + 1 {
		c.Measured += fmt.Sprintf("%d compute-bound, %d I/O-bound: Fig. 4 %s, best fit %s\n", mixJobs-io, io, two(s.mix(io, partner.Paired).Chosen), two(s.mix(io, partner.BestFit).Chosen))
	}
	three, fair := s.mix(1, partner.Paired).Chosen, true
	for _, io := range []int{2, 3, 4} {
		fair = fair && near(s.mix(io, partner.Paired).Chosen, .25, .25, .25, .25)
	}
	worst := s.mix(4, partner.BestFit).Chosen
	c.Verdict = claim.Judge(
		near(s.mix(0, partner.Paired).Chosen, 0, 0, 0, 0),
		math.Abs(three[0]+three[1]+three[2]-.25) < .03 && math.Abs(three[3]-.75) < .03,
		fair,
		near(s.mix(3, partner.BestFit).Chosen[:1], .75),
		math.Max(math.Max(worst[0], worst[1]), math.Max(worst[2], worst[3])) > .4,
	)
	c.Why = "the I/O-bound jobs compute a little, so that their utilisations are not all equal: best fit takes the one that\n" +
		"computes most, which changes from round to round, instead of the last one every time"
	return c
}

func two(x []float64) string {
	text := ""
	for i, v := range x {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("%.2f", v)
	}
	return text
}

func (s *Study) oneIO() claim.Claim {
	c := claim.Claim{
		ID: "F-2", Source: "§4.1.2, Fig. 7", Says: "one I/O-bound job among three others runs almost four times as fast as under strict gang scheduling, and does not hurt them",
		Expected: "≥ 3.8 times; the others ≥ 1.0 times",
	}
	strict, paired := s.mix(1, partner.Strict), s.mix(1, partner.Paired)
	io, compute := paired.Bound/strict.Bound, paired.Compute/strict.Compute
	c.Measured = fmt.Sprintf("I/O-bound %.2f to %.2f barriers a second, %.2f times; compute-bound %.2f to %.2f, %.2f times",
		strict.Bound, paired.Bound, io, strict.Compute, paired.Compute, compute)
	c.Verdict = claim.Judge(io >= 3.8, compute >= .995)
	c.Why = "nodes give slices of 10 ms: a process that comes back from I/O waits for the rest of one, on every node, and the job for the slowest"
	return c
}

func (s *Study) fourIO() claim.Claim {
	c := claim.Claim{ID: "F-3", Source: "§4.1.2, Fig. 7", Says: "four I/O-bound jobs gain little, as the disk is the bottleneck", Expected: "< 1.3 times, with one file server"}
	gain := s.mix(4, partner.Paired).Bound / s.mix(4, partner.Strict).Bound
	c.Measured = fmt.Sprintf("%.2f times", gain)
	c.Verdict = claim.Judge(gain < 1.3)
	return c
}

// ratio is strict's mean response over a policy's.
func (s *Study) ratio(kind Kind, load float64, policy partner.Policy, alternates bool) float64 {
	return s.Mean(kind, load, partner.Strict, alternates, Response) / s.Mean(kind, load, policy, alternates, Response)
}

func (s *Study) response() claim.Claim {
	c := claim.Claim{
		ID: "F-4", Source: "§4.2.1, Fig. 10", Says: "response is about 2 times better at load .5 and nearly 6 times at .95",
		Expected: "1.5 to 3 times at the lowest load, 4 to 7 at the highest, and rising between",
	}
	var holds []bool
	for _, alternates := range []bool{false, true} {
		c.Measured += with(alternates) + "\n"
		rising, last := true, 0.
		for _, load := range s.config.Loads {
			r := s.ratio(Homogeneous, load, partner.Paired, alternates)
			c.Measured += fmt.Sprintf("  load %v: %.0f s strict, %.0f s paired, %.2f times\n", load,
				s.Mean(Homogeneous, load, partner.Strict, alternates, Response), s.Mean(Homogeneous, load, partner.Paired, alternates, Response), r)
			rising = rising && r >= last*.98
			last = r
		}
		first := s.ratio(Homogeneous, s.config.Loads[0], partner.Paired, alternates)
		holds = append(holds, first >= 1.5 && first <= 3, last >= 4 && last <= 7, rising)
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "pairs do not disturb each other here and the fluid cluster loses nothing to switching: strict gang scheduling is nearer to\n" +
		"saturation at load .5 than the paper's, and alternates relieve it at high loads"
	return c
}

func with(alternates bool) string {
	if alternates {
		return "with alternates"
	}
	return "without alternates"
}

func (s *Study) saturation() claim.Claim {
	high := s.config.Loads[len(s.config.Loads)-1]
	c := claim.Claim{
		ID: "F-5", Source: "§4.2.1, Fig. 11", Says: "strict gang scheduling is saturated at loads of .9 and more, paired is not at .95",
		Expected: fmt.Sprintf("at load %v strict's backlog at the last submission at least 5 times that of paired; only strict saturated", high),
	}
	backlog := func(p *Dynamic) float64 { return float64(p.Backlog) }
	saturated := func(p *Dynamic) float64 {
		if p.Saturated {
			return 1
		}
		return 0
	}
	var holds []bool
	for _, alternates := range []bool{false, true} {
		strict, paired := s.Mean(Homogeneous, high, partner.Strict, alternates, backlog), s.Mean(Homogeneous, high, partner.Paired, alternates, backlog)
		drain := func(p *Dynamic) float64 { return p.Drain }
		a, b := s.Mean(Homogeneous, high, partner.Strict, alternates, saturated), s.Mean(Homogeneous, high, partner.Paired, alternates, saturated)
		c.Measured += fmt.Sprintf("%s: backlog %.0f against %.0f jobs, drained in %.0f against %.0f s; saturated in %.0f %% against %.0f %% of the workloads\n",
			with(alternates), strict, paired, s.Mean(Homogeneous, high, partner.Strict, alternates, drain), s.Mean(Homogeneous, high, partner.Paired, alternates, drain), 100*a, 100*b)
		holds = append(holds, strict >= 5*paired, a > .5 && b < .5)
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "a thousand jobs are few: bursts of long jobs late in a workload leave a backlog under any policy, and look like saturation"
	return c
}

func (s *Study) heterogeneous() claim.Claim {
	c := claim.Claim{
		ID: "F-6", Source: "§4.2.2, Figs. 10, 12", Says: "with utilisations uniform from 0 to 100 % paired gang scheduling performs like in the homogeneous case",
		Expected: "response within 1.3 times of the homogeneous case, at every load",
		Why: "a slot of several gangs counts as busy as its busiest, which is close to 1 more often than not, so few slots can be paired.\n" +
			"Nodes of slots that could share are left alone: pairing slots that fit on every node (per-node) recovers a part of it",
	}
	similar := true
	for _, alternates := range []bool{false, true} {
		c.Measured += with(alternates) + ": heterogeneous, seconds under strict, paired, band, per-node; homogeneous under paired\n"
		for _, load := range s.config.Loads {
			c.Measured += fmt.Sprintf("  load %v:", load)
			for _, policy := range []partner.Policy{partner.Strict, partner.Paired, partner.Band, partner.PerNode} {
				c.Measured += fmt.Sprintf(" %.0f", s.Mean(Heterogeneous, load, policy, alternates, Response))
			}
			same := s.Mean(Homogeneous, load, partner.Paired, alternates, Response)
			c.Measured += fmt.Sprintf("; %.0f\n", same)
			similar = similar && s.Mean(Heterogeneous, load, partner.Paired, alternates, Response) <= 1.3*same
		}
	}
	c.Verdict = claim.Judge(similar)
	return c
}

func (s *Study) sharpChange() claim.Claim {
	c := claim.Claim{
		ID: "F-7", Source: "§4.2.3, Fig. 13", Says: "running a gang alone after a sharp change costs about 1 % of response time, and finds the phases of computation",
		Expected: "at most 3 % longer; at most one quantum a phase in which two computing gangs share",
	}
	var plain, ruled Copies
	for _, p := range s.Copies {
		switch p.Policy {
		case partner.Trust:
			plain = p
		case partner.Paired:
			ruled = p
		}
	}
	longer := 100 * (ruled.Response/plain.Response - 1)
	c.Measured = fmt.Sprintf("%.1f %% longer (%.0f s; %.0f s without the rule, %.0f s strict)\ntwo computing gangs shared %d quanta with the rule and %d without, in %d phases of each of four gangs",
		longer, ruled.Response, plain.Response, s.Copies[0].Response, ruled.Both, plain.Both, ruled.Phases)
	c.Verdict = claim.Judge(longer <= 3, ruled.Both <= 4*ruled.Phases)
	c.Why = "what the rule costs depends on how many quanta a phase has: each change costs about one"
	return c
}

func (s *Study) qcrd() claim.Claim {
	load := s.config.Loads[min(3, len(s.config.Loads)-1)]
	c := claim.Claim{ID: "F-8", Source: "§4.2.3, Fig. 14", Says: "with QCRD-like jobs at load .8 response is halved", Expected: "strict / paired from 1.5 to 3"}
	var holds []bool
	for _, alternates := range []bool{false, true} {
		r := s.ratio(QCRD, load, partner.Paired, alternates)
		c.Measured += fmt.Sprintf("%s, load %v: %.0f s strict, %.0f s paired, %.2f times; %.2f times by pairing per node\n", with(alternates), load,
			s.Mean(QCRD, load, partner.Strict, alternates, Response), s.Mean(QCRD, load, partner.Paired, alternates, Response), r, s.ratio(QCRD, load, partner.PerNode, alternates))
		holds = append(holds, r >= 1.5 && r <= 3)
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "most of QCRD's time here is computation, and most slots have a gang that computes; phases of short jobs are shorter than a quantum"
	return c
}

// maximum compares the matching with trying all.
func (s *Study) maximum() (claim.Claim, error) {
	c := claim.Claim{ID: "F-9", Source: "§2.4", Says: "the matching finds as many disjoint pairs as there can be", Expected: "as many as by trying all, always"}
	r := rand.New(rand.NewPCG(s.config.Seed, 9))
	const instances = 20_000
	var m pairing.Matcher
	wrong := 0
	for range instances {
		u := make([]float64, r.IntN(11))
		for i := range u {
			u[i] = float64(r.IntN(101)) / 100
		}
		partners, err := m.AppendPartners(nil, u, nil)
		if err != nil {
			return c, err
		}
		found := 0
		for a, b := range partners {
			if b > a && partners[b] == a {
				found++
			}
		}
		most := make([]int, 1<<len(u))
		for set := 1; set < len(most); set++ {
			a := bits.TrailingZeros(uint(set))
			rest := set &^ (1 << a)
			most[set] = most[rest]
			for b := a + 1; b < len(u); b++ {
				if rest>>b&1 == 1 && math.Round(100*(u[a]+u[b])) < 99 {
					most[set] = max(most[set], 1+most[rest&^(1<<b)])
				}
			}
		}
		if found != most[len(most)-1] {
			wrong++
		}
	}
	c.Measured = fmt.Sprintf("fewer in %d of %d random instances of up to 10 slots", wrong, instances)
	c.Verdict = claim.Judge(wrong == 0)
	return c, nil
}

// stuck lets two gangs turn from waiting to computing at the same time.
func (s *Study) stuck() (claim.Claim, error) {
	c := claim.Claim{
		ID: "F-10", Source: "§2.2", Says: "without the rule for sharp changes two gangs that turn to computing stay paired",
		Expected: "for ever without; one quantum with it",
	}
	const quanta = 100
	together := func(half float64, predictors ...pairing.Predictor) (n int, err error) {
		var m pairing.Matcher
		for q := range quanta + 10 {
			partners, err := m.AppendPartners(nil, []float64{predictors[0].Predict(), predictors[1].Predict()}, nil)
			if err != nil {
				return 0, err
			}
			used := 1.
			switch {
			case q < 10:
				used = .05
			case partners[0] >= 0:
				used = half
				n++
			}
			for _, p := range predictors {
				if err := p.Observe(used); err != nil {
					return 0, err
				}
			}
		}
		return n, nil
	}
	var holds []bool
	for _, half := range []float64{.5 / (1 + switching), .5} {
		without, err := together(half, &pairing.Weighted{}, &pairing.Weighted{})
		if err != nil {
			return c, err
		}
		with, err := together(half, &pairing.Cautious{Predictor: &pairing.Weighted{}}, &pairing.Cautious{Predictor: &pairing.Weighted{}})
		if err != nil {
			return c, err
		}
		c.Measured += fmt.Sprintf("%.1f %% each when they share: %d of %d quanta without, %d with the rule\n", 100*half, without, quanta, with)
		holds = append(holds, without == quanta, with == 1)
	}
	c.Verdict = claim.Judge(holds...)
	c.Why = "if sharing cost nothing, two halves and the margin would be a little too much, and the pair would part once four quanta say so"
	return c, nil
}
