package policy_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kube/policy"
)

// Jobs and History may be used concurrently: the race detector looks on.

const goroutines, steps = 8, 300

// concurrently calls f in several goroutines, steps times each.
func concurrently(f func(r *rand.Rand, goroutine, step int)) {
	var wait sync.WaitGroup
	for g := range goroutines {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for i := range steps {
				f(r, g, i)
			}
		})
	}
	wait.Wait()
}

// Gangs of three, of which the pods are everybody's: what one adds another removes.
func TestJobsAreConcurrent(t *testing.T) {
	s, err := policy.NewJobs(3)
	require.NoError(t, err)
	const gangs, size = 10, 3
	concurrently(func(r *rand.Rand, g, i int) {
		if g == 0 && i == steps/10 {
			s.Settle()
		}
		n := r.IntN(gangs)
		id := gang(fmt.Sprint(n))
		uid := policy.UID(fmt.Sprintf("%v %d", id, r.IntN(size)))
		switch r.IntN(12) {
		case 0, 1, 2:
			assert.NoError(t, s.Add(policy.Process{
				UID: uid, Job: id, Size: size, Priority: int32(n % 2), Created: epoch, Placed: r.IntN(10) == 0,
			}))
		case 3, 4:
			if _, ok := s.May(id); ok {
				s.Place(uid)
			}
		case 5:
			s.Place(uid)
		case 6:
			s.Unplace(uid)
		case 7:
			s.Remove(uid)
		case 8:
			for _, lifted := range s.Lifted() {
				s.May(lifted)
			}
		case 9:
			s.SetAside(id)
			s.Return(gang(fmt.Sprint(r.IntN(gangs))))
		case 10:
			a, b := s.Position(uid), s.Position(policy.UID(fmt.Sprintf("%v %d", gang("0"), 0)))
			assert.Equal(t, a.Compare(b), -b.Compare(a))
		case 11:
			s.Gathers(id)
			s.Started(id)
			s.Skips(id)
			s.Waiting()
			assert.LessOrEqual(t, len(s.Pending(nil, id)), size)
			known, placed := s.Count(id)
			assert.LessOrEqual(t, placed, known)
		}
	})
	for n := range gangs {
		for i := range size {
			s.Remove(policy.UID(fmt.Sprintf("%v %d", gang(fmt.Sprint(n)), i)))
		}
	}
	waiting, _ := s.Waiting()
	assert.Zero(t, waiting, "all are gone")
}

// While some learn, others estimate, save and load what was saved into a history
// that others read as well.
func TestHistoryIsConcurrent(t *testing.T) {
	h, copied := newHistory(t), newHistory(t)
	const programs = 20
	concurrently(func(r *rand.Rand, g, i int) {
		j := estimate.Job{Path: fmt.Sprint("image:", r.IntN(programs)), Nodes: 1 + r.IntN(3), User: "default"}
		switch g % 4 {
		case 0, 1:
			_, err := h.Learn(j, int64(1+r.IntN(1000))*mib, epoch.Add(time.Duration(i)*time.Minute))
			assert.NoError(t, err)
		case 2:
			for _, from := range []*policy.History{h, copied} {
				e, ok := from.Estimate(j)
				assert.Equal(t, ok, e.Memory > 0)
				from.Records()
				from.Changes()
			}
		case 3:
			data, done, err := h.Save()
			assert.NoError(t, err)
			if data != nil {
				assert.NoError(t, copied.Load(data))
				done()
			}
		}
	})
	require.Equal(t, goroutines/2*steps, int(h.Changes()))
	require.True(t, learn(t, h, mib, epoch.Add(steps*time.Minute))) // so that there is something to save
	data, _, err := h.Save()
	require.NoError(t, err)
	require.NoError(t, copied.Load(data))
	require.Equal(t, h.Records(), copied.Records())
}
