package scheduler

import (
	"slices"
	"time"
)

// logQuantum tells which gangs run, and beside whom.
func (s *scheduler) logQuantum() {
	type member struct {
		Job   string  `json:"job"`
		Share float64 `json:"share"` // predicted
		Slot  int     `json:"slot"`
	}
	var members []member
	for _, g := range s.runs {
		slot, _ := s.slots.Slot(g)
		members = append(members, member{g.Job.Name, g.predictor.Predict(), slot})
	}
	s.Log.Info("quantum", "number", s.result.Quanta, "slot", s.slot, "partner", s.partner, "gangs", members)
}

// watch tells the state.
func (s *scheduler) watch() {
	if s.Watch == nil {
		return
	}
	now := time.Now()
	v := &Status{
		Time: now, Elapsed: now.Sub(s.began), Policy: s.Policy, Quantum: s.Quantum, Quanta: s.result.Quanta,
		Slot: s.slot, Partner: s.partner, Partners: slices.Clone(s.partners), ToCome: len(s.to),
	}
	for i, n := range s.Backend.Nodes() {
		v.Nodes = append(v.Nodes, NodeStatus{n.Name, s.nodes.Limit(i), s.nodes.Used(i)})
	}
	for slot := range s.slots.Slots() {
		row := make([]string, len(v.Nodes))
		for node, g := range s.slots.Row(slot) {
			row[node] = g.Job.Name
		}
		v.Slots = append(v.Slots, row)
		for g := range s.slots.Gangs(slot) {
			v.Gangs = append(v.Gangs, GangStatus{
				Name: g.Job.Name, Slot: slot, Nodes: g.Nodes, State: string(g.state), Share: g.predictor.Predict(),
				Measured: !g.predictor.OnProbation(), Memory: g.need.Memory, Peak: g.Peak,
			})
		}
	}
	for g, need := range s.queue.All() {
		skips, _ := s.queue.Skips(g)
		v.Queue = append(v.Queue, QueueStatus{g.Job.Name, need.Nodes, need.Memory, skips, v.Elapsed - g.Submitted})
	}
	for _, o := range s.result.Jobs {
		if o.Ended > 0 || o.Err != nil {
			v.Ended++
			if o.Err != nil || o.Killed {
				v.Failed++
			}
		}
	}
	s.Watch(v)
}
