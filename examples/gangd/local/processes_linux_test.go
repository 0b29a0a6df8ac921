package local

import (
	"os"
	"testing"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestNumbersAreReused(t *testing.T) {
	leader, child := procfs.ProcStat{PID: 10, Session: 10, Starttime: 100}, procfs.ProcStat{PID: 11, PPID: 10, Session: 11, Starttime: 101}
	mine := &tree{leader: identity{10, 100}}
	grow([]*tree{mine}, []procfs.ProcStat{leader, child})
	assert.Len(t, mine.members, 2)
	grow([]*tree{mine}, []procfs.ProcStat{
		leader,
		{PID: 11, PPID: 1, Session: 11, Starttime: 200}, // a stranger, which began a session, too
		{PID: 12, PPID: 1, Session: 11, Starttime: 201},
		{PID: 13, PPID: 12, Session: 11, Starttime: 202},
	})
	assert.Contains(t, mine.members, identity{10, 100})
	assert.Len(t, mine.members, 1)
}

// Time of a process that somebody of the tree waits for is in that one's, other time is lost
// to the kernel's sums.
func TestTimeOfThoseWhoEnded(t *testing.T) {
	const far = 1 << 23 // beyond all processes
	process := func(pid, parent int, own uint, children int) procfs.ProcStat {
		return procfs.ProcStat{PID: far + pid, PPID: far + parent, Session: far + 1, Starttime: 100, UTime: own, CUTime: children, State: "S"}
	}
	mine := &tree{leader: identity{far + 1, 100}}
	for _, step := range []struct {
		ticks uint
		all   []procfs.ProcStat
	}{
		{100, []procfs.ProcStat{process(1, -1, 10, 0), process(2, 1, 20, 0), process(3, 0, 70, 0)}},
		{105, []procfs.ProcStat{process(1, -1, 10, 25), process(3, 0, 70, 0)}}, // 2 was waited for
		{105, []procfs.ProcStat{process(1, -1, 10, 25)}},                       // 3 was not
		{120, []procfs.ProcStat{process(1, -1, 10, 25), process(4, 0, 15, 0)}},
		{120, []procfs.ProcStat{process(4, 0, 15, 0)}},
	} {
		grow([]*tree{mine}, step.all)
		assert.Equal(t, ticked(step.ticks), mine.cpu())
	}
}

// Who cannot be read because files are short has not ended.
func TestWithoutFiles(t *testing.T) {
	fs, err := procfs.NewDefaultFS()
	require.NoError(t, err)
	list, err := snapshot(fs)
	require.NoError(t, err)
	for _, s := range list {
		if s.PID != os.Getpid() {
			continue
		}
		id := identity{s.PID, s.Starttime}
		var limit unix.Rlimit
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: limit.Max}))
		_, here := lookup(fs, id, s)
		_, err := snapshot(fs)
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
		assert.True(t, here)
		require.ErrorIs(t, err, unix.EMFILE)
		_, here = lookup(fs, identity{s.PID, s.Starttime + 1}, s)
		assert.False(t, here, "another process")
		return
	}
	assert.Fail(t, "this process is not there")
}
