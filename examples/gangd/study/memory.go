package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/kit/report"
)

// A Memory is a run of six jobs of two processes, all of which use more memory than the
// user says, on nodes that have room for two such processes. Amounts are bytes.
type Memory struct {
	Run    int   `json:"run"`
	Limit  int64 `json:"limit"`  // of each node
	Most   int64 `json:"most"`   // that was resident on a node, whenever it was looked at
	TooLow int64 `json:"errors"` // by how much the estimates of processes on a node were too low, together, at most
	Beyond int64 `json:"beyond"` // what was resident less the limit and these errors, at most: positive if eq. (1) was broken
	Beside int   `json:"beside"` // processes on a node, at most
	Learnt int   `json:"learnt"` // jobs whose estimate was from history
	Queued int   `json:"queued"` // jobs that waited
}

// By what users say three processes fit on a node, by what they use two.
const (
	limit = 100 << 20
	said  = 30 << 20
	fills = 32 << 20 // and the program takes some itself
)

// Memories runs the jobs twice, with a history that is saved and read in between.
func Memories(ctx context.Context, c Config) ([]Memory, error) {
	folder, err := os.MkdirTemp("", "gangd-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "history")
	var list []Memory
	for run := 1; run <= 2; run++ {
		history := &estimate.History{}
		if run > 1 {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			err = errors.Join(history.Restore(f), f.Close())
			if err != nil {
				return nil, err
			}
		}
		m, err := memory(ctx, c, history)
		if err != nil {
			return nil, err
		}
		m.Run = run
		list = append(list, *m)
		if err := report.WriteFile(path, history.Snapshot); err != nil {
			return nil, err
		}
		c.progress()
	}
	return list, nil
}

func memory(ctx context.Context, c Config, history *estimate.History) (*Memory, error) {
	inner, err := c.Open(limit)
	if err != nil {
		return nil, err
	}
	defer inner.Close()
	b := &watched{Backend: inner, gangs: map[string]counted{}, memory: Memory{Limit: limit, Beyond: math.MinInt64}}
	var jobs []scheduler.Job
	for i := range 6 {
		j := c.job(fmt.Sprintf("stream-%d", i), "", "stream", "-memory", fmt.Sprint(fills), "-fill", "-n", fmt.Sprint(int64(5e7*max(c.Repeat, .2))))
		j.Memory = said
		jobs = append(jobs, j)
	}
	looking, done := context.WithCancel(ctx)
	defer done()
	var looker sync.WaitGroup
	looker.Go(func() {
		for looking.Err() == nil {
			b.look(looking)
			time.Sleep(20 * time.Millisecond)
		}
	})
	result, err := scheduler.Run(ctx, jobs, scheduler.Config{Backend: b, Policy: scheduler.Strict, Quantum: c.Quantum, History: history, Log: c.Log})
	done()
	looker.Wait()
	if err != nil {
		return nil, err
	}
	for _, o := range result.Jobs {
		if o.Err != nil {
			return nil, fmt.Errorf("%s: %w", o.Job.Name, o.Err)
		}
		if o.Level != "job file" {
			b.memory.Learnt++
		}
		if o.Queued {
			b.memory.Queued++
		}
	}
	return &b.memory, inner.Close()
}

// watched is a back end that is looked at from beside.
type watched struct {
	backend.Backend
	mu     sync.Mutex
	gangs  map[string]counted
	memory Memory
}

type counted struct {
	nodes    []int
	estimate int64
}

func (b *watched) Start(ctx context.Context, id string, nodes []int, estimate int64) error {
	b.mu.Lock()
	b.gangs[id] = counted{nodes, estimate}
	b.mu.Unlock()
	return b.Backend.Start(ctx, id, nodes, estimate)
}

// look looks how much memory the nodes' processes have.
func (b *watched) look(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	nodes := len(b.Nodes())
	resident, low, beside := make([]int64, nodes), make([]int64, nodes), make([]int, nodes)
	for id, g := range b.gangs {
		u, err := b.Usage(ctx, id)
		if err != nil {
			continue // it is about to start, or has ended
		}
		for rank := range u.Resident {
			n := g.nodes[rank]
			resident[n] += u.Resident[rank]
			low[n] += max(0, u.Resident[rank]-g.estimate)
			beside[n]++
		}
	}
	m := &b.memory
	for n := range nodes {
		m.Most, m.TooLow, m.Beside = max(m.Most, resident[n]), max(m.TooLow, low[n]), max(m.Beside, beside[n])
		m.Beyond = max(m.Beyond, resident[n]-m.Limit-low[n])
	}
}
