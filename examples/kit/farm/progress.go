package farm

import (
	"math"
	"time"
)

// proceed lets the jobs of a machine go on at their rates up to now.
func (f *Farm) proceed(m *machine, now time.Duration) {
	dt := now - m.updated
	if dt <= 0 {
		return
	}
	m.updated = now
	for _, i := range m.running {
		t := &f.tasks[i]
		cpu := min(part(t.cpu, dt), t.left)
		io := min(part(t.ios, dt), dt-cpu)
		paging := min(part(t.paging, dt), dt-cpu-io)
		t.left -= cpu
		t.age += cpu
		t.CPU += cpu
		t.IO += io
		t.Paging += paging
		t.Ready += dt - cpu - io - paging
		t.Faults += float64(t.faults * dt.Seconds())
	}
}

func part(share float64, of time.Duration) time.Duration {
	return time.Duration(float64(share*float64(of)) + .5)
}

// apportion gives the jobs of a machine their shares of time until something changes.
func (f *Farm) apportion(m *machine) {
	m.next = never
	n := len(m.running)
	if n == 0 {
		return
	}
	var io, grown, set float64
	for _, i := range m.running {
		t := &f.tasks[i]
		io += float64(t.done())
		grown += float64(t.grown())
		set += float64(t.set)
	}
	rate, lost := 0., 0.
	if f.config.Rate != nil && f.config.FaultTime > 0 {
		q := float64(m.demand-f.config.Memory) / float64(f.config.Memory)
		if r := f.config.Rate(q, io); r > 0 {
			rate = min(r, 1/f.config.FaultTime.Seconds())
			lost = min(1, float64(rate*f.config.FaultTime.Seconds()))
		}
	}
	capacity := 1.
	if n > 1 {
		capacity = float64(f.config.Slice) / float64(f.config.Slice+f.config.Switch)
	}
	if f.config.Stall {
		capacity *= 1 - lost
	}
	f.order = f.order[:0]
	for _, i := range m.running {
		t := &f.tasks[i]
		share := 0.
		switch {
		case grown > 0:
			share = float64(t.grown()) / grown
		case set > 0:
			share = float64(t.set) / set
		}
		t.faults, t.paging = float64(share*rate), float64(share*lost)
		p := t.current()
		t.ios = float64(float64(p.IO)*float64(f.config.IOTime)) / float64(p.CPU) // per CPU time, at first
		t.most = (1 - t.paging) / (1 + t.ios)
		if f.config.Stall {
			t.most = (1 - lost) / (1 + t.ios)
		}
		f.order = append(f.order, i)
		for k := len(f.order) - 1; k > 0 && f.tasks[f.order[k-1]].most > t.most; k-- {
			f.order[k], f.order[k-1] = f.order[k-1], f.order[k]
		}
	}
	// The jobs that can use the least first: what they leave is for the others.
	for k, i := range f.order {
		t := &f.tasks[i]
		t.cpu = max(0, min(t.most, capacity/float64(n-k)))
		t.ios = float64(t.ios * t.cpu)
		capacity -= t.cpu
		if t.cpu > 0 {
			if d := math.Ceil(float64(t.left) / t.cpu); d < float64(latest) {
				m.next = min(m.next, m.updated+time.Duration(d))
			}
		}
	}
}
