package farm_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/farm"
	"github.com/gangkit/gangkit/loadshare"
)

const (
	s  = time.Second
	ms = time.Millisecond
)

// machines returns a farm of machines with 100 bytes of memory and as much swap
// space, without the cost of switches, that asks once a second.
func machines(n int) farm.Config {
	return farm.Config{
		Machines: n, Memory: 100, Swap: 100, Slice: 10 * ms, IOTime: 10 * ms, FaultTime: 10 * ms, Period: s, Horizon: time.Hour,
		Network: loadshare.Network{Latency: 100 * ms, BitsPerSecond: 80}, // 10 bytes a second
	}
}

// program is a job of one phase, submitted at machine 0.
func program(submit, cpu time.Duration, set int64) farm.Job {
	return farm.Job{Submit: submit, Phases: []farm.Phase{{CPU: cpu, WorkingSet: set}}}
}

func run(t testing.TB, c farm.Config, jobs ...farm.Job) []farm.Outcome {
	t.Helper()
	if watch := c.Watch; watch == nil {
		c.Watch = func(now time.Duration, f *farm.Farm) { require.NoError(t, f.Check(), "at %v", now) }
	}
	outcomes, err := farm.Run(context.Background(), jobs, c)
	require.NoError(t, err)
	return outcomes
}

func policy(t testing.TB, c loadshare.Config) loadshare.Policy {
	t.Helper()
	p, err := loadshare.NewPolicy(c)
	require.NoError(t, err)
	return p
}

func assertTime(t testing.TB, want, got time.Duration, what ...any) {
	t.Helper()
	assert.InDelta(t, want.Seconds(), got.Seconds(), 2e-9, what...)
}

func TestOneJobAlone(t *testing.T) {
	job := farm.Job{Submit: s, Phases: []farm.Phase{{CPU: 3 * s, WorkingSet: 10, IO: 50}, {CPU: s, WorkingSet: 20}}}
	c := machines(1)
	c.Switch = ms // nobody to switch to
	assert.Equal(t, []farm.Outcome{{End: farm.Completed, Ended: s + 4500*ms, CPU: 4 * s, IO: 500 * ms}}, run(t, c, job))
}

// Two jobs share the processor, and a fifth of it goes to switches, as long as there
// are two.
func TestTwoJobsShare(t *testing.T) {
	c := machines(1)
	c.Switch = 2500 * time.Microsecond
	o := run(t, c, program(0, 4*s, 1), program(0, 8*s, 1))
	assertTime(t, 10*s, o[0].Ended)
	assertTime(t, 14*s, o[1].Ended)
	assertTime(t, 6*s, o[0].Ready)
	assertTime(t, 6*s, o[1].Ready)
}

// A job that reads and writes for half of its time cannot use more than half of the
// processor, which is what it gets.
func TestIOOverlapsWithOthers(t *testing.T) {
	reader := farm.Job{Phases: []farm.Phase{{CPU: s, IO: 100}}}
	o := run(t, machines(1), reader, program(0, 3*s, 1))
	assertTime(t, 2*s, o[0].Ended)
	assertTime(t, s, o[0].IO)
	assertTime(t, 4*s, o[1].Ended)
	assertTime(t, s, o[1].Ready)

	// With a third job all three want more than there is of it.
	o = run(t, machines(1), reader, program(0, 3*s, 1), program(0, 3*s, 1))
	assertTime(t, 3*s, o[0].Ended)
	assertTime(t, s, o[0].IO)
	assertTime(t, s, o[0].Ready)
}

// 50 faults a second of 10 ms take half of the time of the job that grows, and of
// both in proportion to their memory when none has grown for two periods.
func TestFaults(t *testing.T) {
	c := machines(1)
	c.Rate = func(q, io float64) float64 {
		if q > 0 {
			return 50
		}
		return 0
	}
	still := program(0, 20*s, 30)
	grows := farm.Job{Phases: []farm.Phase{{CPU: 5250 * ms, WorkingSet: 20}, {CPU: 5 * s, WorkingSet: 90}}}
	o := run(t, c, still, grows)
	// At 10.5 s job 1 grows, and 20 % are missing. Half of the time it pages until the
	// second period from then, at 12 s, and computes in the other half, as job 0
	// does. Then it pages 3/8 of the time and job 0 1/8, and both compute half of it.
	// At 20.5 s 1 is done, and 0 alone.
	assertTime(t, 20500*ms, o[1].Ended)
	assertTime(t, 1500*ms/2+8500*ms*3/8, o[1].Paging)
	assertTime(t, 8500*ms/8, o[0].Paging)
	assert.InDelta(t, 393.75, o[1].Faults, 1e-6)
	assertTime(t, 30250*ms, o[0].Ended)

	// If a fault stops the machine, both compute a quarter from 10.5 s on. Job 1 is
	// done 20 s later, and job 0 has 9.75 s to do.
	c.Stall = true
	o = run(t, c, still, grows)
	assertTime(t, 30500*ms, o[1].Ended)
	assertTime(t, 40250*ms, o[0].Ended)
	assertTime(t, 1500*ms/2+18500*ms*3/8, o[1].Paging)
}

func TestMoreFaultsThanTheDiskServes(t *testing.T) {
	c := machines(1)
	c.Rate = func(q, io float64) float64 { return math.Inf(1) }
	o := run(t, c, program(0, s, 10), program(0, s, 30))
	// Of each second, 1/4 and 3/4 are spent on pages. Both would compute half if they
	// could; the second can for a quarter.
	assertTime(t, s*4/3, o[0].Ended)
	assert.Equal(t, farm.Unfinished, o[1].End, "it only pages once it is alone")
	assert.Equal(t, time.Hour, o[1].Ended)
	c.Stall = true
	for _, x := range run(t, c, program(0, s, 10), program(0, s, 30)) {
		assert.Equal(t, farm.Unfinished, x.End)
		assert.Zero(t, x.CPU)
	}
	for _, rate := range []float64{math.NaN(), math.Inf(-1), -3, 0} {
		c.Rate = func(q, io float64) float64 { return rate }
		assertTime(t, s, run(t, c, program(0, s, 10))[0].Ended)
	}
}

// The rate is told how far memory is exceeded, and how much was read and written by
// the jobs that are there.
func TestWhatTheRateIsTold(t *testing.T) {
	c := machines(1)
	type told struct{ q, io float64 }
	seen := map[told]bool{}
	c.Rate = func(q, io float64) float64 { seen[told{q, io}] = true; return 0 }
	run(t, c, farm.Job{Phases: []farm.Phase{{CPU: s, IO: 7, WorkingSet: 50}, {CPU: s, WorkingSet: 130}}}, program(1500*ms, s, 0))
	assert.True(t, seen[told{-.5, 0}])
	assert.True(t, seen[told{.3, 7}])
	assert.True(t, seen[told{-1, 0}])
}

func TestKilledForWantOfMemory(t *testing.T) {
	c := machines(1)
	o := run(t, c, program(0, 9*s, 120), program(s, 9*s, 80), program(2*s, 9*s, 1), program(3*s, 9*s, 0))
	assert.Equal(t, farm.Completed, o[1].End, "exactly full")
	assert.Equal(t, farm.Outcome{End: farm.Killed, Ended: 2 * s}, o[2], "one byte over")
	assert.Equal(t, farm.Completed, o[3].End)

	o = run(t, c, program(0, 9*s, 201), program(0, s, 200))
	assert.Equal(t, farm.Killed, o[0].End, "larger than memory and swap space")
	assertTime(t, s, o[1].Ended)

	grows := farm.Job{Phases: []farm.Phase{{CPU: s, WorkingSet: 100}, {CPU: s, WorkingSet: 150}}}
	o = run(t, c, grows, program(s, s, 100))
	assert.Equal(t, farm.Completed, o[0].End, "who came last is killed, not who grows")
	assert.Equal(t, farm.Killed, o[1].End)
}

func TestBlocking(t *testing.T) {
	c := machines(2)
	c.Sharing = farm.Blocking
	o := run(t, c, program(0, 4*s, 100), program(s, 2*s, 1), program(s, 2*s, 1), program(s, 2*s, 1))
	assert.Zero(t, o[1].Blocked, "exactly full is not thrashing")
	assertTime(t, 4*s, o[2].Blocked, "until job 1 has ended")
	assertTime(t, 6*s, o[3].Blocked, "until job 0 has ended")
	for _, x := range o {
		assert.Equal(t, farm.Completed, x.End)
	}
}

// Three jobs arrive on machine 0: 60 and 60 bytes exceed it, the third is blocked and
// sent to machine 1 at once. After a second of grace the older job goes there too:
// 60 bytes in 6 s, and r = 0.1 s.
func TestMigrationAndSubmission(t *testing.T) {
	c := machines(2)
	c.Sharing = farm.On
	c.Policy = policy(t, loadshare.Config{Select: loadshare.Oldest, Grace: s})
	c.Watch = func(now time.Duration, f *farm.Farm) {
		require.NoError(t, f.Check())
		if now > s && now < 7*s {
			assert.Equal(t, loadshare.Machine{Jobs: 1, Demand: 60, Memory: 100, Free: 40}, f.Load(0))
			assert.Equal(t, loadshare.Machine{Jobs: 2, Demand: 70, Memory: 100, Free: 30}, f.Load(1))
		}
	}
	o := run(t, c, program(0, 10*s, 60), program(0, 10*s, 60), program(0, 20*s, 10))
	assertTime(t, 6100*ms, o[0].Moving)
	assert.Equal(t, 1, o[0].Migrations)
	assert.Equal(t, farm.Outcome{
		End: farm.Completed, Ended: o[2].Ended, CPU: 20 * s, Ready: o[2].Ready, Moving: 100 * ms, Submissions: 1,
	}, o[2])
	// Job 1 has half of machine 0 for a second, and then all of it.
	assertTime(t, 10500*ms, o[1].Ended)
	// Job 0 shares machine 1 from 7.1 s on, with 9.5 s to do.
	assertTime(t, 7100*ms+19*s, o[0].Ended)
	assertTime(t, 100*ms+20*s+9500*ms, o[2].Ended)
}

// As printed a machine that is a little below its threshold takes a job of any size;
// with Fit it does not.
func TestPrintedTargetPages(t *testing.T) {
	for fit, want := range map[bool]int{false: 1, true: 0} {
		c := machines(2)
		c.Sharing = farm.On
		c.Policy = policy(t, loadshare.Config{Select: loadshare.LargestWorkingSet, Fit: fit})
		other := program(0, 100*s, 90)
		other.Home = 1
		o := run(t, c, other, program(s, 30*s, 60), program(s, 30*s, 50))
		assert.GreaterOrEqual(t, o[0].Migrations+o[1].Migrations, want)
		assert.Equal(t, want == 0, o[0].Migrations+o[1].Migrations+o[2].Migrations == 0)
	}
}

// A job whose memory has moved with it has not grown: where it arrives, both page in
// proportion to their memory.
func TestArrivingIsNotGrowing(t *testing.T) {
	c := machines(2)
	c.Sharing, c.Horizon = farm.On, 7100*ms
	c.Rate = func(q, io float64) float64 { return 125 * q } // 0.4 makes 50
	c.Policy = policy(t, loadshare.Config{Select: func(jobs []loadshare.Job) (int, bool) {
		return 1, len(jobs) == 2 && jobs[0].WorkingSet == 60
	}})
	other := program(0, 100*s, 90)
	other.Home = 1
	o := run(t, c, other, program(s, 30*s, 60), program(s, 30*s, 50))
	assertTime(t, 5100*ms, o[2].Moving)
	assertTime(t, s*50/140/2, o[2].Paging)
	assertTime(t, 5100*ms/2+s*90/140/2, o[0].Paging, "alone in a memory that already counts both")
}

// Without the swap space a machine below its threshold does not take a job.
func TestTargetWithoutSwapSpace(t *testing.T) {
	c := machines(2)
	c.Sharing, c.Swap, c.Horizon = farm.On, 30, 50*s
	c.Policy = policy(t, loadshare.Config{Select: loadshare.Oldest})
	other := program(0, 100*s, 90)
	other.Home = 1
	for size, want := range map[int64]int{40: 1, 41: 0} {
		o := run(t, c, other, program(s, 90*s, size), program(s, 90*s, 110-size))
		assert.Equal(t, want, min(1, o[1].Migrations), "%d bytes", size)
	}
}

// Machine 0 believes that the others are idle, as they were at the last period. What
// it submits to machine 1 waits there for news, rather than going on to machine 2.
func TestSubmissionWaitsForNews(t *testing.T) {
	c := machines(3)
	c.Sharing, c.Period = farm.On, 30*s
	var jobs []farm.Job
	for k := range 3 {
		j := program(s, 50*s, 100)
		j.Home = k
		jobs = append(jobs, j)
	}
	o := run(t, c, append(jobs, program(2*s, s, 1))...)
	assert.Equal(t, 1, o[3].Submissions)
	assertTime(t, 51*s, o[3].Ended-s)
}

// Ten machines know of one idle machine. It takes jobs only as long as it is below
// its threshold, since it looks again; submissions wait there, and go on from there.
func TestOldNews(t *testing.T) {
	c := machines(11)
	c.Sharing = farm.On
	c.Policy = policy(t, loadshare.Config{Select: loadshare.Youngest, Fit: true})
	c.Period = 30 * s
	c.Network.BitsPerSecond = 8e6
	c.Horizon = 59 * s
	var jobs []farm.Job
	for i := range 20 {
		j := program(0, 400*s, 55)
		if i >= 10 {
			j = program(31*s, 400*s, 55)
		}
		j.Home = i % 10
		jobs = append(jobs, j)
	}
	migrations := 0
	for _, x := range run(t, c, jobs...) {
		migrations += x.Migrations
	}
	assert.Equal(t, 1, migrations)

	// All memory is in use on ten, and at 31 s each sends a small job. On the idle
	// machine three may run, and seven wait for news, which are to wait on.
	c.Horizon, c.MaxJobs = time.Hour, 3
	jobs = nil
	for i := range 20 {
		j := program(0, 1000*s, 100)
		if i >= 10 {
			j = program(31*s, 1000*s, 1)
		}
		j.Home = i % 10
		jobs = append(jobs, j)
	}
	c.Watch = func(now time.Duration, f *farm.Farm) {
		require.NoError(t, f.Check())
		if now > 31100*ms && now < 1000*s {
			assert.Equal(t, 3, f.Load(10).Jobs)
			assert.Equal(t, 7, f.Waiting(10))
		}
	}
	for i, x := range run(t, c, jobs...) {
		assert.Equal(t, i/10, min(1, x.Submissions), "job %d", i)
		assert.Equal(t, farm.Completed, x.End)
	}
}

// The target fails in the middle of a migration: the job is back where it came from,
// with nothing lost but the time.
func TestTargetFails(t *testing.T) {
	for _, bus := range []bool{false, true} {
		c := machines(2)
		c.Sharing, c.Bus = farm.On, bus
		c.Policy = policy(t, loadshare.Config{Select: loadshare.Oldest, Grace: s})
		c.Failures = []farm.Failure{{Machine: 1, At: 4 * s, Duration: time.Minute}}
		o := run(t, c, program(0, 10*s, 60), program(0, 10*s, 60))
		assertTime(t, 3*s, o[0].Moving)
		assert.Equal(t, []int{1, 0}, []int{o[0].Migrations, o[0].Restarts})
		assertTime(t, 10*s, o[0].CPU)
		assertTime(t, 20*s, o[0].Ended)
		assertTime(t, 17*s, o[1].Ended)
	}
}

// The source fails in the middle of a migration: both jobs start again when it is
// back.
func TestSourceFails(t *testing.T) {
	for _, bus := range []bool{false, true} {
		c := machines(2)
		c.Sharing, c.Bus = farm.On, bus
		c.Policy = policy(t, loadshare.Config{Select: loadshare.Oldest, Grace: s})
		c.Failures = []farm.Failure{{Machine: 0, At: 4 * s, Duration: 10 * s}, {Machine: 1, At: 5 * s, Duration: time.Minute}}
		o := run(t, c, program(0, 10*s, 60), program(0, 10*s, 60), program(5*s, s, 1))
		assert.Equal(t, []int{1, 1, 0}, []int{o[0].Restarts, o[1].Restarts, o[2].Restarts})
		assertTime(t, 3*s, o[0].Moving)
		assertTime(t, 500*ms+10*s, o[0].CPU)
		assertTime(t, 3500*ms+10*s, o[1].CPU)
		assertTime(t, 10*s, o[0].Blocked)
		assertTime(t, 9*s+20*s, o[2].Blocked, "behind the two, one of which has to end")
	}
}

// A submission to a machine that fails is back, and one to a machine that is out of
// order is not sent.
func TestSubmissionToFailedMachine(t *testing.T) {
	c := machines(2)
	c.Sharing = farm.On
	c.Failures = []farm.Failure{{Machine: 1, At: 1050 * ms, Duration: 5 * s}}
	o := run(t, c, program(0, 10*s, 100), program(s, s, 1))
	assert.Equal(t, 2, o[1].Submissions)
	assertTime(t, 50*ms+100*ms, o[1].Moving)
	assertTime(t, 7*s-1050*ms, o[1].Blocked, "until the first period after its return")
	assertTime(t, 8100*ms, o[1].Ended)
}

// Two jobs of 40 and 50 bytes migrate at the same time. Over a bus the first takes
// twice as long, and the second goes on alone from there.
func TestBusIsShared(t *testing.T) {
	c := machines(3)
	c.Sharing = farm.On
	c.Policy = policy(t, loadshare.Config{Select: loadshare.Youngest, Fit: true})
	jobs := []farm.Job{program(0, time.Minute, 70), program(0, time.Minute, 60), program(s, time.Minute, 40), program(s, time.Minute, 50)}
	jobs[1].Home, jobs[3].Home = 1, 1
	o := run(t, c, jobs...)
	assertTime(t, 4100*ms, o[2].Moving)
	assertTime(t, 5100*ms, o[3].Moving)
	c.Bus = true
	o = run(t, c, jobs...)
	assertTime(t, 8100*ms, o[2].Moving)
	assertTime(t, 9100*ms, o[3].Moving)
}

func TestUnfinishedAtTheHorizon(t *testing.T) {
	c := machines(2)
	c.Sharing = farm.On
	c.Policy = policy(t, loadshare.Config{Select: loadshare.Oldest})
	c.Horizon = 3 * s
	o := run(t, c, program(0, 10*s, 60), program(0, 10*s, 60), program(0, 10*s, 1), program(2*s, 10*s, 80), program(4*s, s, 1))
	assert.Equal(t, time.Duration(0), o[4].Total())
	assert.Equal(t, 4*s, o[4].Ended)
	for _, x := range o[:4] {
		assert.Equal(t, farm.Unfinished, x.End)
		assert.Equal(t, 3*s, x.Ended)
	}
	assert.Positive(t, o[0].Moving)
}

func TestRefused(t *testing.T) {
	for text, spoil := range map[string]func(*farm.Config, *farm.Job){
		"0 machines":                 func(c *farm.Config, j *farm.Job) { c.Machines = 0 },
		"-1 bytes of memory":         func(c *farm.Config, j *farm.Job) { c.Memory = -1 },
		"-2 of swap":                 func(c *farm.Config, j *farm.Job) { c.Swap = -2 },
		"9223372036854775807 of swa": func(c *farm.Config, j *farm.Job) { c.Swap = math.MaxInt64 },
		"slice 0s":                   func(c *farm.Config, j *farm.Job) { c.Slice = 0 },
		"switch -1ns":                func(c *farm.Config, j *farm.Job) { c.Switch = -1 },
		"I/O -1ns":                   func(c *farm.Config, j *farm.Job) { c.IOTime = -1 },
		"fault -1ns":                 func(c *farm.Config, j *farm.Job) { c.FaultTime = -1 },
		"sharing 3":                  func(c *farm.Config, j *farm.Job) { c.Sharing = 3 },
		"thresholds NaN":             func(c *farm.Config, j *farm.Job) { c.Threshold = math.NaN() },
		"and -4":                     func(c *farm.Config, j *farm.Job) { c.MaxJobs = -4 },
		"latency 0s":                 func(c *farm.Config, j *farm.Job) { c.Sharing, c.Network.Latency = farm.On, 0 },
		"0 bit/s":                    func(c *farm.Config, j *farm.Job) { c.Sharing, c.Network.BitsPerSecond = farm.On, 0 },
		"period 0s":                  func(c *farm.Config, j *farm.Job) { c.Period = 0 },
		"horizon 0s":                 func(c *farm.Config, j *farm.Job) { c.Horizon = 0 },
		"failure 0 of machine 1":     func(c *farm.Config, j *farm.Job) { c.Failures = []farm.Failure{{1, 0, s}} },
		"at 0s for 0s":               func(c *farm.Config, j *farm.Job) { c.Failures = []farm.Failure{{0, 0, 0}} },
		"failure 1 of machine 0":     func(c *farm.Config, j *farm.Job) { c.Failures = []farm.Failure{{0, 0, s}, {0, s, s}} },
		"submitted at -1ns":          func(c *farm.Config, j *farm.Job) { j.Submit = -1 },
		"submitted at 0s after 1ns":  func(c *farm.Config, j *farm.Job) { j.Submit = 0 },
		"machine 7":                  func(c *farm.Config, j *farm.Job) { j.Home = 7 },
		"machine -1":                 func(c *farm.Config, j *farm.Job) { j.Home = -1 },
		"0 phases":                   func(c *farm.Config, j *farm.Job) { j.Phases = nil },
		"CPU 0s":                     func(c *farm.Config, j *farm.Job) { j.Phases[0].CPU = 0 },
		"CPU 2562047h47m16.854775807s": func(c *farm.Config, j *farm.Job) {
			j.Phases[0].CPU = math.MaxInt64
		},
		"-5 bytes, 0 reads":     func(c *farm.Config, j *farm.Job) { j.Phases[0].WorkingSet = -5 },
		"-6 reads and writes":   func(c *farm.Config, j *farm.Job) { j.Phases[0].IO = -6 },
		"9223372036854775807 b": func(c *farm.Config, j *farm.Job) { j.Phases[0].WorkingSet = math.MaxInt64 },
	} {
		c := machines(1)
		jobs := []farm.Job{program(1, s, 1), program(1, s, 1)}
		spoil(&c, &jobs[1])
		_, err := farm.Run(context.Background(), jobs, c)
		assert.ErrorContains(t, err, text)
		assert.True(t, is(err, farm.ErrConfig) != is(err, farm.ErrJob), text)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := machines(1)
	c.Watch = func(now time.Duration, f *farm.Farm) {
		if now == 10*s {
			cancel()
		}
	}
	_, err := farm.Run(ctx, []farm.Job{program(0, time.Hour, 1)}, c)
	require.ErrorIs(t, err, context.Canceled)
}
