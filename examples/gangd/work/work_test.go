package work_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/work"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
	"github.com/gangkit/gangkit/paging"
)

var program = commandtest.Program{Name: "work", Run: work.Program}

func address(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// Nobody passes a barrier before all have come to it.
func TestBarriers(t *testing.T) {
	const size, n = 4, 20
	place := work.Place{Size: size, Address: address(t)}
	var outputs [size]bytes.Buffer
	var processes sync.WaitGroup
	began := time.Now()
	for rank := range size {
		c := work.LoopConfig{Place: place, Compute: time.Microsecond, Barriers: n}
		c.Rank = rank
		if rank == 2 {
			c.IO = 5 * time.Millisecond // all are as slow as the slowest
		}
		processes.Go(func() { assert.NoError(t, work.Loop(t.Context(), c, &outputs[rank])) })
	}
	processes.Wait()
	assert.GreaterOrEqual(t, time.Since(began), n*5*time.Millisecond)
	var barriers int
	var seconds, rate float64
	_, err := fmt.Sscanf(outputs[0].String(), "barriers %d seconds %f rate %f\n", &barriers, &seconds, &rate)
	require.NoError(t, err, outputs[0].String())
	assert.Equal(t, n, barriers)
	assert.InEpsilon(t, n/seconds, rate, .02)
	for _, o := range outputs[1:] {
		assert.Empty(t, o.String())
	}
}

func TestEveryoneEndsWhenOneIsTold(t *testing.T) {
	place := work.Place{Size: 2, Address: address(t)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	longer, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var out bytes.Buffer
	var processes sync.WaitGroup
	processes.Go(func() {
		c := work.LoopConfig{Place: place, Compute: time.Millisecond}
		assert.NoError(t, work.Loop(ctx, c, &out))
	})
	processes.Go(func() {
		c := work.LoopConfig{Place: place, Compute: time.Millisecond}
		c.Rank = 1
		assert.Error(t, work.Loop(longer, c, io.Discard), "the other is gone")
	})
	processes.Wait()
	assert.True(t, strings.HasPrefix(out.String(), "barriers "), out.String())
	cancel()
	out.Reset()
	require.NoError(t, work.Loop(ctx, work.LoopConfig{Place: place}, &out), "nobody comes")
	assert.True(t, strings.HasPrefix(out.String(), "barriers 0 "), out.String())
}

func TestFilesAreWritten(t *testing.T) {
	folder := t.TempDir()
	out := program.Succeeds(t, "loop", "-compute", "1ms", "-files", "3", "-bytes", "1000", "-folder", folder, "-n", "4", "-memory", "100000")
	assert.True(t, strings.HasPrefix(out, "barriers 4 "), out)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left, "they are taken away")
	status, _, stderr := program.Call(t, "loop", "-files", "1", "-folder", filepath.Join(folder, "none"))
	assert.Equal(t, 1, status, stderr)
}

func TestComputingTakesTheTimeAskedFor(t *testing.T) {
	steps := work.Steps(10 * time.Millisecond)
	assert.Positive(t, steps)
	assert.InEpsilon(t, 2, float64(work.Steps(20*time.Millisecond))/float64(steps), .7)
}

// The region is really in memory, and a local walk touches less of it.
func TestStreamTouchesMemory(t *testing.T) {
	touch := func(locality string, more ...string) (pages, of int) {
		out := program.Succeeds(t, append([]string{"stream", "-memory", "20000000", "-n", "300000", "-locality", locality}, more...)...)
		var n int
		var seconds, rate float64
		_, err := fmt.Sscanf(out, "touches %d pages %d of %d seconds %f rate %f\n", &n, &pages, &of, &seconds, &rate)
		require.NoError(t, err, out)
		assert.Equal(t, 300000, n)
		return pages, of
	}
	wide, of := touch("1")
	narrow, _ := touch("2")
	assert.Equal(t, 4883, of)
	assert.Greater(t, wide, of*9/10)
	assert.Less(t, narrow, of/2)
	if runtime.GOOS == "linux" {
		touch("2", "-fill")
		status, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		var peak int
		for line := range strings.Lines(string(status)) {
			_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &peak)
		}
		assert.Greater(t, peak, 19000)
	}
}

func TestBadWorkIsRefused(t *testing.T) {
	for _, args := range []string{"", "sleep", "loop x", "loop -io -1s", "loop -files -1", "loop -n -1", "loop -spread 2", "loop -spread NaN", "loop -steps -1", "loop -memory -1", "loop -memory 99999999999999",
		"stream -memory 10", "stream -memory 99999999999999", "stream -locality 3", "stream -locality NaN", "stream -n -1"} {
		program.Refuses(t, strings.Fields(args)...)
	}
	for _, place := range [][3]string{{"1", "1", "x"}, {"-1", "2", "x"}, {"0", "2", ""}, {"a", "2", "x"}, {"0", "0", "x"}} {
		t.Setenv("GANGD_RANK", place[0])
		t.Setenv("GANGD_SIZE", place[1])
		t.Setenv("GANGD_ADDRESS", place[2])
		program.Refuses(t, "loop")
	}
	require.ErrorIs(t, work.Stream(t.Context(), work.StreamConfig{Memory: 1 << 20}, &bytes.Buffer{}), paging.ErrLocality)
}

func TestHelpTeaches(t *testing.T) {
	assert.Contains(t, program.Succeeds(t, "-h"), "work stream")
	assert.Contains(t, program.Succeeds(t, "loop", "-h"), "Wiseman")
	assert.Contains(t, program.Succeeds(t, "stream", "-h"), "Batat")
}
