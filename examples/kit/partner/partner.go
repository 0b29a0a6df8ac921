// Package partner decides which slots of a simulated gang-scheduled cluster run
// together, and measures how well: the policies of Y. Wiseman & D. G. Feitelson,
// "Paired gang scheduling", IEEE TPDS 14(6), 2003, and some beside them, made of
// package pairing.
//
// The package carries no promise of compatibility.
package partner

import (
	"fmt"
	"math"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/matrix"
	"github.com/gangkit/gangkit/pairing"
)

// Policy is a way to share quanta.
type Policy string

// The policies.
const (
	Strict  Policy = "strict"   // gang scheduling: one slot a quantum
	Paired  Policy = "paired"   // paired gang scheduling, as in the paper but for the band
	Band    Policy = "band"     // the same, with homogeneous slots (§2.6)
	BestFit Policy = "best-fit" // matching by best fit
	PerNode Policy = "per-node" // slots are paired if on every node the two processes fit
	Trust   Policy = "trusting" // paired, without the rule for sharp changes
)

// A Partner is a policy at work, a [gang.Partner], and what was seen of it.
type Partner struct {
	policy     Policy
	matcher    pairing.Matcher
	predictors []pairing.Predictor // by job
	predicted  []float64           // by job, at the beginning of the round

	Rounds int
	Chosen []int     // by slot, how often it was the partner of another
	Errors []float64 // how far predictions of measured gangs were off, in points
	Both   int       // gangs' quanta in which a gang shared a processor that both wanted whole
}

// New returns a policy for jobs 0 to jobs − 1.
func New(policy Policy, jobs int) *Partner {
	p := &Partner{policy: policy, predictors: make([]pairing.Predictor, jobs), predicted: make([]float64, jobs)}
	if policy == BestFit {
		p.matcher.Rule = pairing.BestFit
	}
	for i := range p.predictors {
		p.predictors[i] = &pairing.Weighted{}
		if policy != Trust {
			p.predictors[i] = &pairing.Cautious{Predictor: p.predictors[i]}
		}
	}
	return p
}

// margin is m of the paper.
const margin = .01

// Match implements [gang.Partner].
func (p *Partner) Match(m *matrix.Matrix[int]) []int {
	for s := range m.Slots() {
		for job := range m.Gangs(s) {
			p.predicted[job] = p.predictors[job].Predict()
		}
	}
	if p.policy == Band {
		p.arrange(m)
	} else {
		m.Unify()
	}
	slots := m.Slots()
	p.Rounds++
	for len(p.Chosen) < slots {
		p.Chosen = append(p.Chosen, 0)
	}
	var partners []int
	switch p.policy {
	case Strict:
		return nil
	case PerNode:
		partners = p.perNode(m)
	default:
		busy := make([]float64, slots)
		for s := range slots {
			for job := range m.Gangs(s) {
				busy[s] = max(busy[s], p.predicted[job])
			}
		}
		var err error
		if partners, err = p.matcher.AppendPartners(nil, busy, nil); err != nil {
			panic(fmt.Sprintf("partner: %v", err)) // predictions are utilisations
		}
	}
	for _, b := range partners {
		if b >= 0 {
			p.Chosen[b]++
		}
	}
	return partners
}

// perNode pairs slots that fit on every node.
func (p *Partner) perNode(m *matrix.Matrix[int]) []int {
	busy := make([]map[int]float64, m.Slots())
	for s := range busy {
		busy[s] = map[int]float64{}
		for node, job := range m.Row(s) {
			busy[s][node] = p.predicted[job]
		}
	}
	return pairing.Maximum(nil, len(busy), func(a, b int) bool {
		for node, u := range busy[a] {
			if v, ok := busy[b][node]; ok && u+v+margin >= 1 {
				return false
			}
		}
		return true
	})
}

// gangs is what the rules for the band look at.
func (p *Partner) gangs(m *matrix.Matrix[int], slot int) (jobs []int, list []pairing.Gang) {
	for job := range m.Gangs(slot) {
		jobs, list = append(jobs, job), append(list, p.gang(m, job))
	}
	return jobs, list
}

func (p *Partner) gang(m *matrix.Matrix[int], job int) pairing.Gang {
	pes := 0
	for range m.PEs(job) {
		pes++
	}
	c, ok := p.predictors[job].(*pairing.Cautious)
	return pairing.Gang{Utilisation: p.predicted[job], PEs: pes, Unmeasured: ok && c.OnProbation()}
}

// arrange makes slots homogeneous: who does not belong goes to the first slot where
// its nodes are free and it does, else to a new one. Then slots are unified as far
// as they stay homogeneous.
func (p *Partner) arrange(m *matrix.Matrix[int]) {
	m.DropEmpty()
	for slot := 0; slot < m.Slots(); slot++ {
		for {
			jobs, list := p.gangs(m, slot)
			i := pairing.Evict(list, pairing.Band)
			if i < 0 {
				break
			}
			p.settle(m, jobs[i], slot, m.Slots())
		}
	}
	m.DropEmpty()
	for slot := m.Slots() - 1; slot > 0; slot-- {
		jobs, _ := p.gangs(m, slot)
		for _, job := range jobs {
			p.settle(m, job, slot, slot-1)
		}
	}
	m.DropEmpty()
}

// settle moves a gang from its slot to the first other one up to last that takes it,
// if there is one.
func (p *Partner) settle(m *matrix.Matrix[int], job, from, last int) {
	for slot := 0; slot <= last; slot++ {
		if slot == from {
			continue
		}
		if slot < m.Slots() {
			if _, list := p.gangs(m, slot); !pairing.Joins(list, p.gang(m, job), pairing.Band) {
				continue
			}
		}
		if ok, err := m.Move(job, slot); err != nil {
			panic(fmt.Sprintf("partner: %v", err)) // job and slot are of the matrix
		} else if ok {
			return
		}
	}
}

// Observe implements [gang.Partner].
func (p *Partner) Observe(job int, u gang.Usage, alone bool) {
	if u.Ended {
		return // measured over a part of the quantum
	}
	if before := p.predicted[job]; before < 1 {
		p.Errors = append(p.Errors, 100*math.Abs(u.CPU-before))
	}
	if !alone && u.CPU > .45 && u.CPU < .5 {
		p.Both++
	}
	observe := p.predictors[job].Observe
	if c, ok := p.predictors[job].(*pairing.Cautious); ok && !alone {
		observe = c.ObserveShared
	}
	if err := observe(min(u.CPU, 1)); err != nil {
		panic(fmt.Sprintf("partner: %v", err)) // a share
	}
}
