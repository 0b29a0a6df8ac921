package study_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/memestimate/study"
)

var paper = []study.Bound{{Name: "paper", Of: estimate.Paper}}

var several = []study.Bound{
	{Name: "paper", Of: estimate.Paper}, {Name: "adaptive", Of: estimate.Adaptive}, {Name: "max", Of: estimate.Max}, {Name: "last", Of: estimate.Last},
}

func newState(t *testing.T) *study.State {
	t.Helper()
	s, err := study.NewState()
	require.NoError(t, err)
	return s
}

func judge(t *testing.T, l *study.Log, s *study.State, bounds []study.Bound) []study.Quality {
	t.Helper()
	from, to := study.Always(l)
	list, err := study.Judge(context.Background(), l, s, bounds, from, to, nil)
	require.NoError(t, err)
	return list
}

func read(t *testing.T, text string) (*study.Log, error) {
	t.Helper()
	r, err := swf.NewReader(strings.NewReader(text))
	require.NoError(t, err)
	return study.Read("log", r)
}

// twin estimates by the paper's bound, from all jobs anew for every job: those that
// had ended, this month or last month.
func twin(l *study.Log) study.Quality {
	q := study.Quality{Bound: "paper"}
	month := func(d time.Duration) int { t := l.Start.Add(d); return 12*t.Year() + int(t.Month()) }
	for i, j := range l.Jobs {
		q.Jobs++
		var values []float64
		for _, same := range []func(estimate.Job) bool{
			func(o estimate.Job) bool { return o == j.Job },
			func(o estimate.Job) bool { return o.Path == j.Path && o.Nodes == j.Nodes },
			func(o estimate.Job) bool { return o.Path == j.Path },
		} {
			for k, o := range l.Jobs {
				if k < i && o.End <= j.Submit && month(o.End) >= month(j.Submit)-1 && same(o.Job) {
					values = append(values, float64(o.Memory))
				}
			}
			if values != nil {
				break
			}
		}
		if values == nil {
			continue
		}
		most, sum, squares := 0., 0., 0.
		for _, x := range values {
			most, sum = max(most, x), sum+x
		}
		mean := sum / float64(len(values))
		for _, x := range values {
			squares += (x - mean) * (x - mean)
		}
		e := min(most, mean+3*math.Sqrt(squares/float64(len(values)))) - float64(j.Memory)
		q.Predicted++
		if math.Abs(e) < study.MB {
			q.Within1MB++
		}
		if math.Abs(e) < 5*study.MB {
			q.Within5MB++
		}
		if e < 0 {
			q.Under++
		}
		q.Over += max(e, 0)
		q.Megabytes[min(max(int(math.Floor(e/study.MB)), study.FirstMB), study.LastMB)-study.FirstMB]++
		q.Percent[min(max(int(math.Floor(100*e/float64(j.Memory)/50)), study.FirstPercent), study.LastPercent)-study.FirstPercent]++
	}
	return q
}

func TestJudgeAgainstItsTwin(t *testing.T) {
	for seed := range uint64(4) {
		l, err := study.Generate(1000, seed)
		require.NoError(t, err)
		if seed%2 == 1 { // over seven months
			for i := range l.Jobs {
				l.Jobs[i].Submit *= 12
				l.Jobs[i].End *= 12
			}
		}
		got, want := judge(t, l, newState(t), paper)[0], twin(l)
		assert.InDelta(t, want.Over, got.Over, float64(got.Predicted), "estimates are whole bytes")
		want.Over = got.Over
		assert.Equal(t, want, got)
	}
}

func TestWorkedLog(t *testing.T) {
	l, err := read(t, `; Computer: toy
; UnixStartTime: 0
; TimeZoneString: UTC
1   0 -1 10 4 -1 1024 4 -1 -1 1 1 1 1 1 1 -1 -1
2   5 -1 10 4 -1 2048 4 -1 -1 1 1 1 1 1 1 -1 -1
3  10 -1  0 4 -1 4096 4 -1 -1 1 1 1 1 1 1 -1 -1
4  10  5  5 4 -1 8192 4 -1 -1 1 2 1 1 1 1 -1 -1
5  11 -1  1 8 -1  512 8 -1 -1 1 3 1 1 1 1 -1 -1
6  12 -1  1 8 -1  512 8 -1 -1 1 3 1 2 1 1 -1 -1
7  13 -1  1 4 -1    0 4 -1 -1 1 3 1 2 1 1 -1 -1
8  13 -1  1 4 -1 1024 4 -1 -1 1 3 1 -1 1 1 -1 -1
9  13 -1 -1 4 -1 1024 4 -1 -1 5 3 1 1 1 1 -1 -1
10 13 -1  1 -1 -1 1024 -1 -1 -1 1 3 1 1 1 1 -1 -1
11 2678399 -1 1 4 -1 1024 4 -1 -1 1 1 1 1 1 1 -1 -1
12 5097600 -1 1 4 -1 1024 4 -1 -1 1 1 1 1 1 1 -1 -1
13 7776000 -1 1 4 -1 1024 4 -1 -1 1 1 1 1 1 1 -1 -1
`)
	require.NoError(t, err)
	assert.Len(t, l.Jobs, 9)
	assert.Equal(t, 4, l.Dropped)
	assert.Equal(t, "toy", l.Machine)
	// 3: estimated at 10 s from 1, which ends then, 3 MB too low, and not from itself.
	// 4: at the same instant from 1 and 3 of another user, the maximum 4 MB: 4 too low.
	// 5: on other nodes, also from 1 and 3, 3.5 MB too high. 6: nothing known.
	// 11: on 31 January, from 1, 2, 3: 3 MB too high. It ends in February, so 12, on
	// 1 March, knows it, to the byte. 13, on 1 April, knows 12, to the byte.
	q := judge(t, l, newState(t), paper)[0]
	want := study.Quality{Bound: "paper", Jobs: 9, Predicted: 6, Within1MB: 2, Within5MB: 6, Under: 2, Over: 6.5 * study.MB}
	want.Megabytes[-3-study.FirstMB]++
	want.Megabytes[-4-study.FirstMB]++
	want.Megabytes[3-study.FirstMB] += 2
	want.Megabytes[0-study.FirstMB] += 2
	want.Percent[-2-study.FirstPercent]++ // -75 %
	want.Percent[-1-study.FirstPercent]++ // -50 %
	want.Percent[14-study.FirstPercent]++ // 700 %
	want.Percent[6-study.FirstPercent]++  // 300 %
	want.Percent[0-study.FirstPercent] += 2
	assert.Equal(t, want, q)
	assert.InDelta(t, 6.5/6, q.MeanOver(), 1e-12)
	assert.InDelta(t, 1./3, q.Share(q.Within1MB), 1e-12)
}

// What is judged depends on the time, what is learned does not.
func TestWindow(t *testing.T) {
	l, err := study.Generate(2000, 1)
	require.NoError(t, err)
	whole := judge(t, l, newState(t), several)
	from, to := study.Always(l)
	middle := l.Start.Add(l.Jobs[1200].Submit)
	for i := range whole {
		whole[i].Over = 0 // a sum that depends on the order of its terms
	}
	sum := make([]study.Quality, len(whole))
	for _, part := range [][2]time.Time{{from, middle}, {middle, to}} {
		list, err := study.Judge(context.Background(), l, newState(t), several, part[0], part[1], nil)
		require.NoError(t, err)
		for i, q := range list {
			sum[i].Bound = q.Bound
			sum[i].Jobs += q.Jobs
			sum[i].Predicted += q.Predicted
			sum[i].Within1MB += q.Within1MB
			sum[i].Within5MB += q.Within5MB
			sum[i].Under += q.Under
			for k := range q.Megabytes {
				sum[i].Megabytes[k] += q.Megabytes[k]
			}
			for k := range q.Percent {
				sum[i].Percent[k] += q.Percent[k]
			}
		}
	}
	assert.Equal(t, whole, sum)

	_, err = study.Judge(context.Background(), l, newState(t), several, to, to.AddDate(1, 0, 0), nil)
	require.ErrorIs(t, err, study.ErrEmpty)
}

func TestReadRefuses(t *testing.T) {
	line := "1 0 -1 10 4 -1 1024 4 -1 -1 1 1 1 1 1 1 -1 -1\n"
	for _, c := range []struct {
		old, new, message string
		err               error
	}{
		{"1024", "-1", "log: no job", study.ErrEmpty},
		{"1024", "1e13", "line 1: used memory 10000000000000", study.ErrRange},
		{"1 0 ", "1 -1e12 ", "line 1: submit time 1000000000000", study.ErrRange},
		{" -1 10 ", " 1e12 10 ", "line 1: wait time", study.ErrRange},
		{" -1 10 ", " -1 1e12 ", "line 1: run time", study.ErrRange},
		{" 4 -1 1024", " 1e12 -1 1024", "line 1: processors", study.ErrRange},
		{" 4 -1 1024", " x -1 1024", "line 1", swf.ErrNumber},
	} {
		_, err := read(t, strings.Replace(line, c.old, c.new, 1))
		require.ErrorIs(t, err, c.err)
		assert.ErrorContains(t, err, c.message)
	}
	for _, header := range []string{"; UnixStartTime: -5", "; UnixStartTime: 1e300", "; TimeZoneString: Local", "; TimeZoneString: ../etc", "; TimeZoneString:"} {
		l, err := read(t, header+"\n"+line)
		require.NoError(t, err)
		assert.Equal(t, time.Unix(0, 0).UTC(), l.Start, header)
	}
	_, err := study.Generate(0, 1)
	require.ErrorIs(t, err, study.ErrEmpty)
}

func TestInterrupt(t *testing.T) {
	l, err := study.Generate(2000, 1)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	from, to := study.Always(l)
	n := 0
	_, err = study.Judge(ctx, l, newState(t), paper, from, to, func() {
		if n++; n == 10 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, n, 2000)
}

// A log in two parts, the second with what the first has taught, is as good as one.
func TestStateOutlastsARun(t *testing.T) {
	l, err := study.Generate(3000, 5)
	require.NoError(t, err)
	for i := range l.Jobs { // so that none runs past the end of its part, over some months
		l.Jobs[i].Submit *= 6
		l.Jobs[i].End = l.Jobs[i].Submit + 1
	}
	whole := judge(t, l, newState(t), paper)[0]
	for _, cut := range []int{1, 1000, 2999} {
		first, second := *l, *l
		first.Jobs, second.Jobs = l.Jobs[:cut], l.Jobs[cut:]
		s := newState(t)
		a := judge(t, &first, s, paper)[0]
		var file bytes.Buffer
		require.NoError(t, s.Save(&file))
		s = newState(t)
		require.NoError(t, s.Load(&file))
		b := judge(t, &second, s, paper)[0]
		assert.Equal(t, [4]int{whole.Predicted, whole.Within1MB, whole.Within5MB, whole.Under},
			[4]int{a.Predicted + b.Predicted, a.Within1MB + b.Within1MB, a.Within5MB + b.Within5MB, a.Under + b.Under}, cut)
	}
}

// Months pass between logs, too, but only forwards.
func TestStateForgets(t *testing.T) {
	january, err := read(t, "1 0 -1 10 4 -1 1024 4 -1 -1 1 1 1 1 1 1 -1 -1\n")
	require.NoError(t, err)
	for later, want := range map[int]int{-24: 1, -1: 1, 0: 1, 1: 1, 2: 0, 240: 0} {
		s := newState(t)
		judge(t, january, s, paper)
		var file bytes.Buffer
		require.NoError(t, s.Save(&file))
		s = newState(t)
		require.NoError(t, s.Load(&file))
		other := *january
		other.Start = january.Start.AddDate(0, later, 0)
		assert.Equal(t, want, judge(t, &other, s, paper)[0].Predicted, later)
		if later < 0 {
			assert.Equal(t, 1, judge(t, january, s, paper)[0].Predicted, later)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	l, err := study.Generate(100, 5)
	require.NoError(t, err)
	s := newState(t)
	judge(t, l, s, paper)
	var file bytes.Buffer
	require.NoError(t, s.Save(&file))
	good := file.String()
	_, body, _ := strings.Cut(good, "\n")
	for _, c := range []struct {
		text string
		err  error
	}{
		{"", study.ErrState}, {"\n", study.ErrState}, {strings.Repeat("x", 1<<20), study.ErrState}, {body, study.ErrState},
		{"memestimate, month -1\n" + body, study.ErrState}, {"memestimate, month 1e9\n" + body, study.ErrState},
		{"memestimate, month 99999999999999999999\n" + body, study.ErrState}, {"memestimate, month 1000000\n" + body, study.ErrState},
		{good[:len(good)-1], estimate.ErrSnapshot}, {good + "x", estimate.ErrSnapshot}, {"memestimate, month 24000\n", estimate.ErrSnapshot},
	} {
		require.ErrorIs(t, s.Load(strings.NewReader(c.text)), c.err)
		file.Reset()
		require.NoError(t, s.Save(&file))
		require.Equal(t, good, file.String(), "the state stays")
	}
}

// The generated users are what the model says.
func TestGenerate(t *testing.T) {
	const n = 20_000
	l, err := study.Generate(n, 3)
	require.NoError(t, err)
	again, err := study.Generate(n, 3)
	require.NoError(t, err)
	assert.Equal(t, l, again)
	other, err := study.Generate(n, 4)
	require.NoError(t, err)
	assert.NotEqual(t, l, other)

	jobs := map[string]int{}
	last := map[string]study.Job{}
	programs, sizes, repeats := 0, 0, 0
	for i, j := range l.Jobs {
		require.Positive(t, j.Memory)
		require.Positive(t, j.Nodes)
		require.Greater(t, j.End, j.Submit)
		if i > 0 {
			require.GreaterOrEqual(t, j.Submit, l.Jobs[i-1].Submit)
		}
		if before, ok := last[j.User]; ok {
			repeats++
			if before.Path != j.Path {
				programs++
			} else if before.Nodes != j.Nodes {
				sizes++
			}
		}
		last[j.User] = j
		jobs[j.User]++
	}
	assert.Len(t, jobs, 60)
	assert.InDelta(t, 2, float64(jobs["0"])/float64(jobs["1"]), .15)
	assert.InDelta(t, 10, float64(jobs["0"])/float64(jobs["9"]), 2)
	assert.InDelta(t, 1./60, float64(programs)/float64(repeats), .004)
	assert.Less(t, float64(sizes)/float64(repeats), 1./30)
	assert.Greater(t, float64(sizes)/float64(repeats), 1./60)
}

func TestClaimOfAnotherLogIsNotJudged(t *testing.T) {
	l, err := study.Generate(500, 1)
	require.NoError(t, err)
	claims, err := study.Claims(context.Background(), l)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	assert.Equal(t, "reported", string(claims[0].Verdict))
	assert.Equal(t, "not the paper's log", claims[0].Why)
}
