package scheduler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
)

const mb = 1 << 20

func job(name string, processes int, memory int64) scheduler.Job {
	return scheduler.Job{Name: name, Command: []string{"/no/" + name}, Processes: processes, Memory: memory}
}

// A record is a line of the log.
type record struct {
	Message string `json:"msg"`
	Job     string
	Level   string
	Short   string `json:"short_of"`
	Skips   int
	Number  int
	Slot    int
	Partner int
	Gangs   []struct {
		Job   string
		Share float64
		Slot  int
	}
}

func records(t *testing.T, log []byte) (list []record) {
	t.Helper()
	for line := range strings.Lines(string(log)) {
		var r record
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		list = append(list, r)
	}
	return list
}

// quanta draws who ran in each quantum.
func quanta(list []record) (names []string) {
	for _, r := range list {
		if r.Message == "quantum" {
			name := ""
			for _, g := range r.Gangs {
				name += g.Job
			}
			if n := len(names); r.Number == n {
				names[n-1] = name // somebody came within it
			} else {
				names = append(names, name)
			}
		}
	}
	return names
}

// run runs jobs on a fake machine and returns the log.
func run(t *testing.T, f *fake, c scheduler.Config, jobs ...scheduler.Job) (*scheduler.Result, []record) {
	t.Helper()
	var log bytes.Buffer
	c.Backend, c.Log = f, slog.New(slog.NewJSONHandler(&log, nil))
	result, err := scheduler.Run(t.Context(), jobs, c)
	require.NoError(t, err)
	assert.Empty(t, f.gangs, "nothing is left on the machine")
	return result, records(t, log.Bytes())
}

func TestStrictRoundRobin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 2, 100*mb, map[string]program{
			"A": {run: 1700 * time.Millisecond}, "B": {run: 700 * time.Millisecond}, "C": {run: 200 * time.Millisecond},
		})
		f.together = 1
		result, log := run(t, f, scheduler.Config{Policy: scheduler.Strict}, job("A", 2, mb), job("B", 2, mb), job("C", 2, mb))
		assert.Equal(t, []string{"A", "B", "C", "A", "B", "A", "A"}, quanta(log))
		assert.Equal(t, 2600*time.Millisecond, result.Time, "a quantum ends with its gang: no time is lost")
		assert.Equal(t, 1200*time.Millisecond, result.Jobs[2].Ended)
		for i, want := range []int{4, 2, 1} {
			assert.Equal(t, want, result.Jobs[i].Quanta, "the last counts, too")
			assert.Zero(t, result.Jobs[i].Beside)
		}
	})
}

// A gang has its quantum however long it takes to start.
func TestStartsTakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 100*mb, map[string]program{"A": {run: 700 * time.Millisecond, slow: 2 * time.Second}, "B": {run: 700 * time.Millisecond}})
		f.together = 1
		result, log := run(t, f, scheduler.Config{Policy: scheduler.Strict}, job("A", 1, mb), job("B", 1, mb))
		assert.Equal(t, []string{"A", "B", "A", "B"}, quanta(log))
		assert.Equal(t, 3400*time.Millisecond, result.Time)
	})
}

// Compute-bound and I/O-bound jobs run alone once, are measured, and run in pairs.
func TestPairs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 2, 100*mb, map[string]program{
			"C": {run: 3 * time.Second, share: .8}, "D": {run: 3 * time.Second, share: .85},
			"I": {run: 3 * time.Second, share: .1}, "J": {run: 3 * time.Second, share: .05},
		})
		result, log := run(t, f, scheduler.Config{Policy: scheduler.Paired}, job("C", 2, mb), job("D", 2, mb), job("I", 2, mb), job("J", 2, mb))
		assert.Equal(t, []string{
			"C", "D", "I", "J", // measured
			"CI", "DJ", "IC", "JD", "CI", "DJ", "IC", "JD", // least with greatest
			"CI",
		}, quanta(log)[:13])
		assert.Equal(t, len(quanta(log))-4, result.Pairs)
		assert.InDelta(t, 7, result.Time.Seconds(), .5, "instead of 12 s")
		for _, o := range result.Jobs {
			assert.Equal(t, o.Quanta-1, o.Beside, "all but the first quantum of %s was shared", o.Job.Name)
			assert.Positive(t, o.Guest)
		}
	})
}

func TestExclusiveJobsRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 100*mb, map[string]program{"A": {run: 3 * time.Second}, "B": {run: 3 * time.Second}})
		f.together = 1
		a := job("A", 1, mb)
		a.Exclusive = true
		result, _ := run(t, f, scheduler.Config{}, a, job("B", 1, mb))
		assert.Zero(t, result.Pairs)
	})
}

func TestFCFS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := program{run: time.Second}
		f := newFake(t, 2, 100*mb, map[string]program{"A": second, "B": second, "C": second, "D": {run: 2 * time.Second}})
		f.together = 1
		result, _ := run(t, f, scheduler.Config{Policy: scheduler.FCFS}, job("A", 1, mb), job("B", 2, mb), job("C", 1, mb), job("D", 1, mb))
		starts := []time.Duration{}
		for _, o := range result.Jobs {
			starts = append(starts, o.Started)
		}
		assert.Equal(t, []time.Duration{0, time.Second, 2 * time.Second, 2 * time.Second}, starts, "nobody overtakes B")

		f = newFake(t, 4, 100*mb, map[string]program{"A": {run: 5 * time.Second}, "B": second, "C": second, "D": {run: 5 * time.Second}, "E": second})
		f.together = 1
		result, _ = run(t, f, scheduler.Config{Policy: scheduler.FCFS}, job("A", 1, mb), job("B", 1, mb), job("C", 1, mb), job("D", 1, mb), job("E", 2, mb))
		assert.Equal(t, []int{1, 2}, result.Jobs[4].Nodes)
		assert.Equal(t, time.Second, result.Jobs[4].Started, "on any two nodes that are free")
	})
}

// Alternates run where nodes are idle, and jobs that come fill nodes within a quantum.
func TestIdleNodesAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		programs := map[string]program{
			"A": {run: 2 * time.Second}, "B": {run: 300 * time.Millisecond}, "C": {run: 2 * time.Second}, "D": {run: time.Second},
		}
		f := newFake(t, 2, 100*mb, programs)
		f.together = 1
		result, log := run(t, f, scheduler.Config{Policy: scheduler.Strict, Quantum: time.Second}, job("A", 1, mb), job("B", 1, mb), job("C", 1, mb), job("D", 1, mb))
		assert.Equal(t, 300*time.Millisecond, result.Jobs[3].Started, "an alternate on B's node, at once")
		assert.Equal(t, []string{"AD", "CD"}, quanta(log)[:2])

		f = newFake(t, 2, 100*mb, programs)
		late := job("D", 1, mb)
		late.After = 100 * time.Millisecond
		result, _ = run(t, f, scheduler.Config{Policy: scheduler.Strict, MaxSlots: 1, Quantum: 10 * time.Second}, job("A", 1, mb), job("B", 1, mb), late)
		assert.Equal(t, 300*time.Millisecond, result.Jobs[2].Started, "from the queue into the slot that runs")
		assert.Equal(t, 2*time.Second, result.Time)
	})
}

// Gangs that fit beside a slot take turns at it.
func TestAlternatesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := program{run: 3 * time.Second}
		f := newFake(t, 2, 100*mb, map[string]program{"A": {run: 20 * time.Second}, "X": {run: 50 * time.Millisecond}, "B": long, "C": long, "D": long, "E": long})
		f.together = 1
		// Slots A X, C B, E D: when X has ended, B and D both fit beside A.
		result, _ := run(t, f, scheduler.Config{Policy: scheduler.Strict, Quantum: 100 * time.Millisecond},
			job("A", 1, mb), job("X", 1, mb), job("C", 1, mb), job("B", 1, mb), job("E", 1, mb), job("D", 1, mb))
		assert.InDelta(t, result.Jobs[3].Ended.Seconds(), result.Jobs[5].Ended.Seconds(), .3)
	})
}

// Slots that have become disjoint are united at the next round.
func TestSlotsAreUnited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, long := program{run: 100 * time.Millisecond}, program{run: 5 * time.Second}
		f := newFake(t, 2, 100*mb, map[string]program{"W": long, "A": short, "B": long, "C": long, "D": short})
		f.together = 1
		united := false
		run(t, f, scheduler.Config{Policy: scheduler.Strict, Watch: func(s *scheduler.Status) {
			united = united || slices.ContainsFunc(s.Slots, func(row []string) bool { return slices.Equal(row, []string{"C", "B"}) })
		}}, job("W", 2, mb), job("A", 1, mb), job("B", 1, mb), job("C", 1, mb), job("D", 1, mb))
		assert.True(t, united)
	})
}

// A job that waits for a slot has it as soon as two are united, not when the next job ends.
func TestRoomOfUnitedSlotsIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, long := program{run: 100 * time.Millisecond}, program{run: 10 * time.Second}
		f := newFake(t, 2, 100*mb, map[string]program{"A": long, "C": short, "D": short, "B": long, "W": short})
		f.together = 1
		// Slots A C and D B: when C and D have ended, A and B fit into one, and W into the other.
		result, _ := run(t, f, scheduler.Config{Policy: scheduler.Strict, MaxSlots: 2},
			job("A", 1, mb), job("C", 1, mb), job("D", 1, mb), job("B", 1, mb), job("W", 2, mb))
		assert.True(t, result.Jobs[4].Queued)
		assert.Less(t, result.Jobs[4].Started, 3*time.Second, "it does not wait for A or B to end")
	})
}

// What a gang computes is measured over the time that it ran, again in every quantum.
func TestSharesAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 100*mb, map[string]program{"A": {run: 6 * time.Second, share: .3, then: .45}, "B": {run: 6 * time.Second, share: .9}})
		var shares []float64
		_, log := run(t, f, scheduler.Config{Policy: scheduler.Strict}, job("A", 1, mb), job("B", 1, mb))
		for _, r := range log {
			if r.Message == "quantum" && r.Gangs[0].Job == "A" {
				shares = append(shares, math.Round(1000*r.Gangs[0].Share)/1000)
			}
		}
		assert.Equal(t, []float64{1, .3, .3, .3, .3, .36, .405, .435, .45, .45, .45, .45}, shares)
	})
}

// What a new gang computes beside one that could not be stopped, or that takes its time to
// end, proves nothing: it runs alone once more.
func TestNewGangsAreMeasuredAlone(t *testing.T) {
	for name, neighbour := range map[string]program{"cannot be stopped": {run: 3 * time.Second, sticky: 1}, "ends slowly": {}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t, 1, 100*mb, map[string]program{"A": neighbour, "B": {run: 3 * time.Second, share: .4}})
			a := job("A", 1, mb)
			if neighbour.run == 0 {
				a.Limit = 100 * time.Millisecond // and it takes half of the grace to end
			}
			_, log := run(t, f, scheduler.Config{Policy: scheduler.Strict, Grace: 800 * time.Millisecond}, a, job("B", 1, mb))
			var shares []float64 // of B, as predicted when its quanta began
			for _, r := range log {
				if r.Message == "quantum" && r.Gangs[0].Job == "B" {
					shares = append(shares, math.Round(1000*r.Gangs[0].Share)/1000)
				}
			}
			assert.Equal(t, []float64{1, 1, .4}, shares[:3], name)
		})
	}
}

// What ran for less than half a quantum is measured together with the next one.
func TestShortRunsAreNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 2, 100*mb, map[string]program{"A": {run: 5 * time.Second, share: .9}, "D": {run: 4 * time.Second, share: .3}})
		late := job("D", 1, mb)
		late.After = 800 * time.Millisecond // beside A, for the last fifth of its quantum
		_, log := run(t, f, scheduler.Config{Policy: scheduler.Strict, Quantum: time.Second}, job("A", 1, mb), late)
		shares := map[int]float64{} // by quantum
		for _, r := range log {
			for _, g := range r.Gangs {
				if r.Message == "quantum" && g.Job == "D" {
					shares[r.Number] = math.Round(1000*g.Share) / 1000
				}
			}
		}
		assert.Equal(t, []float64{1, 1, .3}, []float64{shares[1], shares[2], shares[3]})
	})
}

// Where the machine does not answer, a gang is not thought idle.
func TestAnOldMeasurementIsNotOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 100*mb, map[string]program{"A": {run: 4 * time.Second, share: .8, old: 3}, "B": {run: 4 * time.Second, share: .9}})
		_, log := run(t, f, scheduler.Config{Policy: scheduler.Strict}, job("A", 1, mb), job("B", 1, mb))
		for _, r := range log {
			if r.Message == "quantum" && r.Number > 2 && r.Gangs[0].Job == "A" {
				assert.InDelta(t, .8, r.Gangs[0].Share, 1e-9)
			}
		}
	})
}

// Memory is estimated from the history before all else, and eq. (1) holds.
func TestMemoryDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		history := &estimate.History{}
		second := program{run: time.Second, memory: 60 * mb}
		jobs := []scheduler.Job{job("A", 1, 30*mb), job("B", 1, 30*mb), job("C", 1, 0)}
		for i := range jobs {
			jobs[i].Command, jobs[i].User = []string{"/no/program"}, "ada"
		}
		for attempt, want := range []struct {
			levels    []string
			together  bool
			overshoot bool
		}{
			{[]string{"job file", "job file", "constant"}, true, true},
			{slices.Repeat([]string{"path, nodes, user"}, 3), false, false},
		} {
			f := newFake(t, 1, 100*mb, map[string]program{"A": second, "B": second, "C": second})
			result, log := run(t, f, scheduler.Config{Policy: scheduler.Strict, History: history, Memory: 10 * mb, Quantum: 100 * time.Millisecond}, jobs...)
			for i, o := range result.Jobs {
				assert.Equal(t, want.levels[i], o.Level)
				assert.Equal(t, int64(60*mb), o.Peak)
			}
			assert.Equal(t, want.together, result.Jobs[1].Started < result.Jobs[0].Ended, "run %d", attempt+1)
			assert.Equal(t, want.overshoot, slices.ContainsFunc(log, func(r record) bool { return r.Message == "memory over estimate" }), "run %d", attempt+1)
			assert.Equal(t, !want.together, slices.ContainsFunc(log, func(r record) bool { return r.Message == "queued" && r.Short == "memory" }))
		}
	})
}

// On an idle machine nodes on which a job fits are preferred to others.
func TestNodesOfDifferentMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := program{run: time.Second}
		f := newFake(t, 4, 100*mb, map[string]program{"A": second, "B": second, "C": second, "D": second})
		f.nodes[0].Memory, f.nodes[2].Memory, f.nodes[3].Memory = 10*mb, 10*mb, 0
		result, _ := run(t, f, scheduler.Config{Policy: scheduler.Strict},
			job("A", 1, 50*mb), job("B", 1, 200*mb), job("C", 3, 5*mb), job("D", 2, 200*mb))
		assert.Equal(t, []int{1}, result.Jobs[0].Nodes)
		assert.Equal(t, []int{0}, result.Jobs[1].Nodes, "it fits nowhere, and waits until nothing else runs")
		assert.Equal(t, []int{0, 1, 2}, result.Jobs[2].Nodes)
		assert.Equal(t, []int{0, 1}, result.Jobs[3].Nodes)
	})
}

func TestRefusedAndFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 2, 100*mb, map[string]program{
			"broken": {fault: errors.New("no such program")}, "fails": {run: time.Second, memory: mb, status: errors.New("exit status 1")},
			"slow": {}, "fine": {run: time.Second, memory: mb},
		})
		slow := job("slow", 1, 0)
		slow.Limit = 2 * time.Second
		history := &estimate.History{}
		result, _ := run(t, f, scheduler.Config{History: history, MaxSlots: 2}, job("wide", 3, 0), job("broken", 2, 0), job("fails", 2, 0), slow, job("fine", 1, 1000*mb))
		require.ErrorIs(t, result.Jobs[0].Err, scheduler.ErrRefused)
		require.ErrorContains(t, result.Jobs[1].Err, "no such program")
		require.ErrorContains(t, result.Jobs[2].Err, "exit status 1")
		assert.True(t, result.Jobs[3].Killed)
		require.NoError(t, result.Jobs[4].Err, "a job larger than the memory runs when nothing else does")
		assert.Equal(t, 1, history.Records(), "only who ends well teaches the history")
	})
}

func TestWhoCannotBeStoppedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 100*mb, map[string]program{"A": {run: 5 * time.Second, sticky: 2}, "B": {run: time.Second}, "C": {run: time.Second}})
		f.together = 2
		_, log := run(t, f, scheduler.Config{Policy: scheduler.Strict}, job("A", 1, mb), job("B", 1, mb), job("C", 1, mb))
		assert.Equal(t, []string{"A", "B", "C", "A"}, quanta(log)[:4])
		assert.Equal(t, "+A +B -B +C -C -A +B", strings.Join(f.trace[:7], " "), "it runs on beside B and C, and is stopped when B comes again")
		assert.Equal(t, 2, len(slices.DeleteFunc(log, func(r record) bool { return r.Message != "fault" })))
	})
}

// The state of a long queue is not copied for each of many short jobs.
func TestLongQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		programs, jobs := map[string]program{}, []scheduler.Job(nil)
		for i := range 2000 {
			j := job(fmt.Sprint("j", i), 1, mb)
			jobs, programs[j.Name] = append(jobs, j), program{run: 10 * time.Millisecond}
		}
		long, all := 0, 0
		result, _ := run(t, newFake(t, 1, 100*mb, programs), scheduler.Config{Policy: scheduler.FCFS, Watch: func(s *scheduler.Status) {
			if all = s.Ended; len(s.Queue) > 1000 {
				long++
			}
		}}, jobs...)
		assert.Equal(t, 20*time.Second, result.Time)
		assert.InDelta(t, 100, long, 10, "of 10 s")
		assert.Equal(t, 2000, all)
	})
}

// The last gang is not stopped for ever after a call that failed.
func TestWhoMayBeStoppedIsContinuedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		program
		end time.Duration
	}{
		"stopped, and the answer lost": {program{half: 1}, 2300 * time.Millisecond},
		"not continued":                {program{deaf: 1}, 2800 * time.Millisecond},
		"both":                         {program{half: 1, deaf: 2}, 3300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.run, c.share = 2*time.Second, .9
				f := newFake(t, 1, 100*mb, map[string]program{"A": c.program, "B": {run: 300 * time.Millisecond}})
				f.together = 1
				a := job("A", 1, mb)
				a.Limit = time.Minute // else the test would not end
				var shares []float64
				result, log := run(t, f, scheduler.Config{Policy: scheduler.Strict}, a, job("B", 1, mb))
				assert.Equal(t, c.end, result.Jobs[0].Ended)
				for _, r := range log {
					if r.Message == "quantum" && r.Gangs[0].Job == "A" {
						shares = append(shares, r.Gangs[0].Share)
					}
				}
				assert.InDelta(t, .9, slices.Min(shares[1:]), 1e-9, "what did not run was not measured")
			})
		})
	}
}

func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 100*mb, map[string]program{"A": {}, "B": {}, "C": {}})
		late := job("C", 1, 0)
		late.After = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		result, err := scheduler.Run(ctx, []scheduler.Job{job("A", 1, 60*mb), job("B", 1, 60*mb), late}, scheduler.Config{Backend: f})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, f.gangs)
		assert.True(t, result.Jobs[0].Killed, "it ran")
		assert.True(t, result.Jobs[1].Killed, "it waited")
		assert.False(t, result.Jobs[2].Killed, "it had not come")
	})
}

func TestAllAreAskedToEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := program{polite: 50 * time.Second}
		f := newFake(t, 1, 100*mb, map[string]program{"A": busy, "B": busy, "C": busy})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		result, err := scheduler.Run(ctx, []scheduler.Job{job("A", 1, mb), job("B", 1, mb), job("C", 1, mb)}, scheduler.Config{Backend: f})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, f.gangs)
		assert.Less(t, result.Time, time.Minute)
	})
}

func TestBadInput(t *testing.T) {
	f := newFake(t, 1, mb, nil)
	good := job("a", 1, 0)
	for name, c := range map[string]scheduler.Config{
		"no back end": {}, "policy": {Backend: f, Policy: "fair"}, "quantum": {Backend: f, Quantum: 1}, "negative quantum": {Backend: f, Quantum: -1},
		"factor": {Backend: f, Factor: -1}, "NaN": {Backend: f, Factor: math.NaN()}, "grace": {Backend: f, Grace: -1}, "skips": {Backend: f, Skips: -7},
		"memory": {Backend: f, Memory: -1}, "slots": {Backend: f, MaxSlots: -1}, "no nodes": {Backend: newFake(t, 0, 0, nil)},
	} {
		_, err := scheduler.Run(t.Context(), []scheduler.Job{good}, c)
		require.ErrorIs(t, err, scheduler.ErrConfig, name)
	}
	for name, change := range map[string]func(*scheduler.Job){
		"no name": func(j *scheduler.Job) { j.Name = "" }, "name": func(j *scheduler.Job) { j.Name = "a/b" },
		"no command": func(j *scheduler.Job) { j.Command = nil }, "processes": func(j *scheduler.Job) { j.Processes = 0 },
		"memory": func(j *scheduler.Job) { j.Memory = -1 }, "after": func(j *scheduler.Job) { j.After = -1 }, "limit": func(j *scheduler.Job) { j.Limit = -1 },
	} {
		bad := good
		change(&bad)
		_, err := scheduler.Run(t.Context(), []scheduler.Job{bad}, scheduler.Config{Backend: f})
		require.ErrorIs(t, err, scheduler.ErrJob, name)
	}
	_, err := scheduler.Run(t.Context(), []scheduler.Job{good, good}, scheduler.Config{Backend: f})
	require.ErrorIs(t, err, scheduler.ErrJob)
}

// Whatever jobs do, each ends once, memory is accounted for, and nobody is skipped more
// often than allowed.
func FuzzNothingIsLost(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { random(t, rand.New(rand.NewPCG(seed, 1))) })
	})
}

func random(t *testing.T, r *rand.Rand) {
	policy := []scheduler.Policy{scheduler.FCFS, scheduler.Strict, scheduler.Paired}[r.IntN(3)]
	programs := map[string]program{}
	var jobs []scheduler.Job
	nodes, skips := 1+r.IntN(6), 1+r.IntN(3)
	grows := r.IntN(2) == 0
	for i := range 1 + r.IntN(30) {
		j := job(fmt.Sprint("j", i), 1+r.IntN(nodes+nodes/4), int64(r.IntN(60))*mb+1)
		j.After = time.Duration(r.IntN(6000)) * time.Millisecond
		j.Exclusive = r.IntN(10) == 0
		p := program{run: time.Duration(1+r.IntN(4000)) * time.Millisecond, share: r.Float64(), memory: r.Int64N(j.Memory + 1)}
		if grows {
			p.memory *= 2
		}
		switch r.IntN(12) {
		case 0:
			p.fault = errors.New("does not start")
		case 1:
			p.status = errors.New("fails")
		case 2:
			j.Limit = time.Second
		case 3:
			p.run = 1 // ends at once
		case 4:
			j.Memory = 150 * mb // more than there is
		}
		jobs, programs[j.Name] = append(jobs, j), p
	}
	machine := newFake(t, nodes, 100*mb, programs)
	if policy != scheduler.Paired {
		machine.together = 1
	}
	ends := map[string]int{}
	result, log := run(t, machine, scheduler.Config{
		Policy: policy, Skips: skips, MaxSlots: r.IntN(5), Quantum: time.Duration(50+r.IntN(500)) * time.Millisecond,
		Exited: func(o *scheduler.Outcome) { ends[o.Job.Name]++ },
		Watch: func(s *scheduler.Status) {
			used, load := make([]int64, nodes), make([]int, nodes)
			for _, g := range s.Gangs {
				for _, n := range g.Nodes {
					used[n] += g.Memory
					load[n]++
				}
			}
			for i, n := range s.Nodes {
				assert.Equal(t, used[i], n.Used, "node %d", i)
				if !grows && load[i] > 1 {
					assert.LessOrEqual(t, used[i], n.Limit, "eq. (1) on node %d", i)
				}
			}
			for _, q := range s.Queue {
				assert.LessOrEqual(t, q.Skips, skips, q.Name)
			}
			assert.Equal(t, len(ends), s.Ended)
			if len(s.Gangs) == 0 {
				assert.Empty(t, s.Queue, "somebody waits for an idle machine")
			}
		},
	}, jobs...)
	for i, o := range result.Jobs {
		assert.Equal(t, 1, ends[o.Job.Name], "%s ends once", o.Job.Name)
		p := programs[o.Job.Name]
		switch {
		case jobs[i].Processes > nodes:
			assert.ErrorIs(t, o.Err, scheduler.ErrRefused)
		case p.fault != nil:
			assert.ErrorIs(t, o.Err, p.fault)
		case !o.Killed:
			assert.Equal(t, p.status, o.Err)
			assert.GreaterOrEqual(t, o.Ended-o.Started, p.run)
			assert.GreaterOrEqual(t, o.Started, o.Submitted)
			assert.GreaterOrEqual(t, o.Submitted, jobs[i].After)
		default:
			assert.Positive(t, jobs[i].Limit, "%s was killed for nothing", o.Job.Name)
		}
	}
	exclusive := map[string]bool{}
	for _, j := range jobs {
		exclusive[j.Name] = j.Exclusive
	}
	number := 0
	for _, r := range log {
		if r.Message != "quantum" || r.Number == number { // somebody came within it
			continue
		}
		number = r.Number
		shares := map[int]float64{} // by slot
		for _, g := range r.Gangs {
			shares[g.Slot] = max(shares[g.Slot], g.Share)
			if r.Partner >= 0 && (g.Slot == r.Slot || g.Slot == r.Partner) {
				assert.False(t, exclusive[g.Job], "%s is beside others in quantum %d", g.Job, number)
			}
		}
		if r.Partner >= 0 {
			assert.Less(t, shares[r.Slot]+shares[r.Partner], .99, "quantum %d", number)
		}
	}
	overtaken := map[string]int{}
	for _, r := range log {
		if r.Message == "admitted" {
			overtaken[r.Job] = r.Skips
		}
	}
	for name, n := range overtaken {
		assert.LessOrEqual(t, n, skips, name)
	}
}
