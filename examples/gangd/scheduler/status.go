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

// watch tells the state. With a long queue that takes a while, and is not done at every
// change.
func (s *scheduler) watch() {
	now := time.Now()
	if s.Watch == nil || s.queue.Len() > 1000 && now.Sub(s.watched) < 100*time.Millisecond {
		return
	}
	s.watched = now
	v := &Status{
		Time: now, Elapsed: now.Sub(s.began), Policy: s.Policy, Quantum: s.Quantum, Quanta: s.result.Quanta,
		Slot: s.slot, Partner: s.partner, Partners: slices.Clone(s.partners), ToCome: len(s.to), Ended: s.ended, Failed: s.failed,
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
	s.Watch(v)
}
