package local

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// An identity is a process, and no later one of the same number.
type identity struct {
	pid   int
	start uint64 // in clock ticks since the machine was booted
}

func alive(s procfs.ProcStat) bool { return s.State != "Z" && s.State != "X" }

// stopped says whether a process does not run, and will not before it is continued.
// A process that waits for a disk stops as soon as it comes back.
func stopped(s procfs.ProcStat) bool { return s.State != "R" && s.State != "S" }

// short says whether an error tells nothing but that files or memory are short. Any other
// means that the process is no more, or nobody's business.
func short(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}

// lookup returns the state of a process, if it is still the same. As long as that cannot
// be known it is taken to be, and to be as it was.
func lookup(fs procfs.FS, id identity, was procfs.ProcStat) (procfs.ProcStat, bool) {
	p, err := fs.Proc(id.pid)
	s := was
	if err == nil {
		s, err = p.Stat()
	}
	if short(err) {
		return was, true
	}
	return s, err == nil && s.Starttime == id.start
}

// snapshot returns all processes of the machine, by number.
func snapshot(fs procfs.FS) ([]procfs.ProcStat, error) {
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, err
	}
	list := make([]procfs.ProcStat, 0, len(procs))
	for _, p := range procs {
		s, err := p.Stat()
		if short(err) {
			return nil, err
		}
		if err == nil {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b procfs.ProcStat) int { return cmp.Compare(a.PID, b.PID) })
	return list, nil
}

// A tree is what has come of one process of a gang: itself, its session and all
// descendants.
type tree struct {
	leader  identity
	members map[identity]procfs.ProcStat // as last seen, those that have ended left out
	lost    time.Duration                // processor time of those that nobody of the tree waited for
}

// grow finds the members of trees in a snapshot. What was a member stays one, whoever
// its parent is now.
func grow(trees []*tree, all []procfs.ProcStat) {
	sessions := map[int]*tree{}
	owner := map[int]*tree{}
	for _, t := range trees {
		sessions[t.leader.pid] = t
		for id, s := range t.members {
			sessions[s.Session], owner[id.pid] = t, t
		}
	}
	starts := map[int]uint64{}
	for _, t := range trees {
		for id := range t.members {
			starts[id.pid] = id.start
		}
	}
	for _, s := range all {
		if known, ok := starts[s.PID]; ok && known != s.Starttime {
			delete(owner, s.PID)    // another process of the same number,
			delete(sessions, s.PID) // with a session of its own, if any
		}
	}
	for changed := true; changed; {
		changed = false
		for _, s := range all {
			if owner[s.PID] != nil {
				continue
			}
			t := sessions[s.Session]
			if t == nil {
				t = owner[s.PPID]
			}
			if t == nil || s.Starttime < t.leader.start {
				continue
			}
			owner[s.PID], sessions[s.Session], changed = t, t, true
		}
	}
	before := map[*tree]map[identity]procfs.ProcStat{}
	for _, t := range trees {
		before[t], t.members = t.members, map[identity]procfs.ProcStat{}
	}
	for _, s := range all {
		if t := owner[s.PID]; t != nil && alive(s) {
			t.members[identity{s.PID, s.Starttime}] = s
		}
	}
	for _, t := range trees {
		for id, s := range before[t] {
			if _, ok := t.members[id]; !ok && starts[s.PPID] == 0 {
				t.lost += ticked(s.UTime+s.STime) + ticked(uint(s.CUTime+s.CSTime))
			}
		}
	}
}

// sessions are those of the members, but for the leader's. One whose first process is no
// more is known by its number alone: nothing of it is older than the tree.
func (t *tree) sessions(all []procfs.ProcStat) map[identity]bool {
	list := map[identity]bool{}
	for _, s := range t.members {
		if s.Session == t.leader.pid {
			continue
		}
		id := identity{s.Session, t.leader.start}
		if i, ok := slices.BinarySearchFunc(all, s.Session, func(p procfs.ProcStat, pid int) int { return p.PID - pid }); ok {
			id.start = all[i].Starttime
		}
		list[id] = true
	}
	return list
}

// signal signals all process groups of the tree. held says that the leader's number
// cannot have been reused.
func (t *tree) signal(fs procfs.FS, held bool, signals ...unix.Signal) {
	groups := map[int]bool{}
	send := func(group int) {
		groups[group] = true
		for _, s := range signals {
			_ = unix.Kill(-group, s) // fails if nobody is left
		}
	}
	if held {
		send(t.leader.pid)
	}
	for id, s := range t.members {
		if groups[s.PGRP] {
			continue
		}
		if now, ok := lookup(fs, id, s); ok && now.PGRP == s.PGRP {
			send(s.PGRP)
		}
	}
}

// runs returns the number of a member that is not stopped, or 0.
func (t *tree) runs(fs procfs.FS) int {
	for id, was := range t.members {
		if s, ok := lookup(fs, id, was); ok && !stopped(s) {
			return id.pid
		}
	}
	return 0
}

// exitStatus says how a process failed that has ended, but was not waited for; it is
// empty if it did not fail, or that cannot be known yet.
func exitStatus(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) == 0 {
		return ""
	}
	n, err := strconv.ParseUint(fields[len(fields)-1], 10, 32)
	status := unix.WaitStatus(n)
	switch {
	case err != nil:
		return ""
	case status.Signaled():
		return "signal: " + status.Signal().String()
	case status.ExitStatus() != 0:
		return fmt.Sprint("exit status ", status.ExitStatus())
	}
	return ""
}

// ticks a second are what /proc counts times in.
const ticks = 100

func ticked(n uint) time.Duration { return time.Duration(n) * (time.Second / ticks) }

// cpu is the processor time of the members, and of those that have ended.
func (t *tree) cpu() time.Duration {
	sum := t.lost
	for id, s := range t.members {
		own := ticked(s.UTime + s.STime)
		var clock unix.Timespec
		if unix.ClockGettime(processClock(id.pid), &clock) == nil {
			own = time.Duration(clock.Nano())
		}
		sum += own + ticked(uint(s.CUTime+s.CSTime))
	}
	return sum
}

// processClock is the clock of the processor time of a process, of all its threads:
// see clock_getcpuclockid(3), which has the same from the C library.
func processClock(pid int) int32 { return ^int32(pid)<<3 | 2 }

// memory is what is resident now, and the most that was of one of the processes.
func (t *tree) memory(fs procfs.FS) (resident, peak int64) {
	for id, was := range t.members {
		s, ok := lookup(fs, id, was)
		if !ok {
			continue
		}
		resident += int64(s.ResidentMemory())
		if p, err := fs.Proc(id.pid); err == nil {
			if status, err := p.NewStatus(); err == nil {
				peak = max(peak, int64(status.VmHWM))
			}
		}
	}
	return resident, max(resident, peak)
}
