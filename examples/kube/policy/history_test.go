package policy_test

import (
	"bytes"
	"compress/gzip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kube/policy"
)

const mib = 1 << 20

func newHistory(t *testing.T) *policy.History {
	t.Helper()
	h, err := policy.NewHistory(estimate.Config{}, 24*time.Hour)
	require.NoError(t, err)
	return h
}

func learn(t *testing.T, h *policy.History, memory int64, ended time.Time) bool {
	t.Helper()
	ok, err := h.Learn(job, memory, ended)
	require.NoError(t, err)
	return ok
}

var job = estimate.Job{Path: "image:a", Nodes: 4, User: "default"}

func memoryOf(h *policy.History) int64 {
	e, _ := h.Estimate(job)
	return e.Memory
}

func TestLoadedHistoryKnowsWhatItLearnt(t *testing.T) {
	h := newHistory(t)
	require.True(t, learn(t, h, 300*mib, epoch))
	require.True(t, learn(t, h, 200*mib, epoch.Add(time.Minute)))
	require.True(t, learn(t, h, 100*mib, epoch.Add(time.Second)), "told late")
	require.EqualValues(t, 300*mib, memoryOf(h))
	data, saved, err := h.Save()
	require.NoError(t, err)
	saved()

	again := newHistory(t)
	before := again.Changes()
	require.NoError(t, again.Load(data))
	require.NotEqual(t, before, again.Changes(), "estimates are others")
	require.EqualValues(t, 300*mib, memoryOf(again))
	require.False(t, learn(t, again, 500*mib, epoch.Add(time.Minute)), "it ended before the history was saved")
	require.EqualValues(t, 300*mib, memoryOf(again))
	require.True(t, learn(t, again, 500*mib, epoch.Add(time.Minute+time.Second)))
	require.EqualValues(t, 500*mib, memoryOf(again))
	require.True(t, learn(t, again, 500*mib, epoch.Add(time.Minute+time.Second)), "two may end in the same second")
}

func TestSaveOnlyWhatChanged(t *testing.T) {
	h := newHistory(t)
	data, _, err := h.Save()
	require.NoError(t, err)
	require.Nil(t, data)
	learn(t, h, mib, epoch)
	before := h.Changes()
	data, _, err = h.Save()
	require.NoError(t, err)
	require.NotNil(t, data)
	again, saved, err := h.Save()
	require.NoError(t, err)
	require.Equal(t, data, again, "until it is said to be safe; the same bytes")
	learn(t, h, 2*mib, epoch.Add(time.Hour))
	require.Greater(t, h.Changes(), before)
	saved()
	data, saved, err = h.Save()
	require.NoError(t, err)
	require.NotNil(t, data, "what was learnt while it was being saved")
	saved()
	data, _, err = h.Save()
	require.NoError(t, err)
	require.Nil(t, data)
}

// Batat & Feitelson, §2.1.2: estimates rest on this period and the one before.
func TestPeriods(t *testing.T) {
	day := 24 * time.Hour
	h := newHistory(t)
	learn(t, h, 900*mib, epoch)
	learn(t, h, 100*mib, epoch.Add(day))
	require.EqualValues(t, 900*mib, memoryOf(h))
	learn(t, h, 100*mib, epoch.Add(2*day-time.Second))
	require.EqualValues(t, 900*mib, memoryOf(h))
	learn(t, h, 100*mib, epoch.Add(2*day))
	require.EqualValues(t, 100*mib, memoryOf(h))

	learn(t, h, 900*mib, epoch.Add(2*day))
	learn(t, h, 50*mib, epoch.Add(1000*day))
	require.EqualValues(t, 50*mib, memoryOf(h), "all is forgotten after a long time without runs")
	learn(t, h, 60*mib, epoch.Add(1000*day+23*time.Hour))
	learn(t, h, 10*mib, epoch.Add(1001*day))
	require.EqualValues(t, 60*mib, memoryOf(h))
}

func TestBadHistory(t *testing.T) {
	_, err := policy.NewHistory(estimate.Config{}, -time.Second)
	require.ErrorIs(t, err, policy.ErrHistory)
	_, err = policy.NewHistory(estimate.Config{Records: -1}, 0)
	require.ErrorIs(t, err, estimate.ErrConfig)

	h := newHistory(t)
	learn(t, h, mib, epoch)
	data, _, err := h.Save()
	require.NoError(t, err)
	zip := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.Bytes()
	}
	for name, bad := range map[string][]byte{
		"empty":      {},
		"text":       []byte("history"),
		"truncated":  data[:len(data)-9],
		"no JSON":    zip("x"),
		"version":    zip(`{"format":"gangkit kube history 9"}`),
		"no history": zip(`{"format":"gangkit kube history 1","estimates":"AAAA"}`),
		"too long":   zip(string(make([]byte, policy.MaxSaved+1))),
	} {
		require.ErrorIs(t, h.Load(bad), policy.ErrHistory, name)
		require.EqualValues(t, mib, memoryOf(h), name)
	}

	ok, err := h.Learn(estimate.Job{}, 1, epoch.Add(time.Second))
	require.ErrorIs(t, err, estimate.ErrJob)
	require.False(t, ok)
	_, err = h.Learn(job, -1, epoch.Add(time.Second))
	require.ErrorIs(t, err, estimate.ErrMemory)
	require.Equal(t, 1, h.Records())
}

func FuzzLoad(f *testing.F) {
	h, _ := policy.NewHistory(estimate.Config{}, 0)
	_, _ = h.Learn(job, mib, epoch)
	data, _, _ := h.Save()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		h := newHistory(t)
		if h.Load(data) == nil {
			learn(t, h, mib, epoch.Add(1e6*time.Hour))
		}
	})
}
