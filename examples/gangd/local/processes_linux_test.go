package local

import (
	"testing"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
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
