package loadshare

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrPolicy is returned for a policy that cannot exist.
var ErrPolicy = errors.New("loadshare: invalid policy")

// Config describes a policy. The zero Config shares load by submitting blocked
// arrivals elsewhere, and migrates nothing.
type Config struct {
	// Select identifies the job that migrates. nil means that none does.
	Select Selector

	// Cost, if set, is how long it takes to move a working set of so many bytes,
	// such as [Network.Migration]: a job then migrates only if that is
	// [Worthwhile]. The paper asks for it with Oldest.
	Cost func(workingSet int64) time.Duration

	// Internal is the paper's internal threshold: at this Q memory is short
	// enough for a migration. Below MT or 0 it has no effect.
	Internal float64

	// Grace is how long memory has to be short before a job migrates for it. The
	// paper has a short time without a number where MT = 0, else none.
	Grace time.Duration

	// Fit lets a machine take a migrating job only if it is below MT and also
	// has the room. As printed one of these is enough.
	Fit bool

	// InLoop submits blocked arrivals elsewhere only while MT ≤ Q ≤ 0, as in the
	// printed loop.
	InLoop bool
}

// Policy decides how a machine shares its load. It is a value that never changes;
// calls may run concurrently if the functions of its [Config] allow it. The zero
// Policy is that of the zero Config.
type Policy struct{ config Config }

// NewPolicy returns the policy that c describes. An internal threshold that is NaN
// and a negative grace are refused with [ErrPolicy]. Cost O(1).
func NewPolicy(c Config) (Policy, error) {
	switch {
	case math.IsNaN(c.Internal):
		return Policy{}, fmt.Errorf("internal threshold %v: %w", c.Internal, ErrPolicy)
	case c.Grace < 0:
		return Policy{}, fmt.Errorf("grace %v: %w", c.Grace, ErrPolicy)
	}
	return Policy{c}, nil
}

// State is what a machine knows of itself when it decides.
type State struct {
	Machine Machine

	// Running are the jobs that can be migrated: not those on their way here.
	Running []Job

	// Waiting tells that a submission waits here.
	Waiting bool

	// Migrating tells that a job is on its way from here to another machine.
	Migrating bool

	// Short is for how long [Policy.Short] has held without a break.
	Short time.Duration
}

// Decision is what a machine is to do now. The zero value is to block submissions
// and to go on.
type Decision struct {
	// Accept tells that submissions may start here.
	Accept bool

	// Submit tells that the submission that waits longest goes to machine
	// SubmitTo.
	Submit   bool
	SubmitTo int

	// Migrate tells that Job, an index of State.Running, goes to machine To. It may
	// be the same machine as SubmitTo.
	Migrate bool
	Job, To int
}

// Short tells whether the machine's memory is so short that a job is to migrate:
// Q > 0, Q ≥ MT and Q ≥ the internal threshold. It is for the caller to know since
// when, see State.Short. Cost O(1).
func (p Policy) Short(m Machine) bool {
	q := m.Oversize()
	return q > 0 && q >= m.Threshold && q >= p.config.Internal
}

// Takes tells whether the machine takes a job with this working set that migrates:
// it has fewer jobs than its bound, and Q < MT, or the job fits, both of which
// [Config].Fit requires:
//
//	FM + FB > WS
//
// Cost O(1).
func (p Policy) Takes(m Machine, workingSet int64) bool {
	below, fits := m.Oversize() < m.Threshold, m.available() > max(0, workingSet)
	if p.config.Fit {
		return m.hasSlot() && below && fits
	}
	return m.hasSlot() && (below || fits)
}

// Decide runs the body of the paper's loop once, as the table in the package
// comment has it. The target of both submission and migration is what candidate
// returns, normally [Index.Candidate] or [Candidate] without the machine itself; it
// is called at most once, and only if there is something to send. What it knows may
// be old; the target should look again, with [Machine.Accepts] and [Policy.Takes].
//
// Cost O(n) in jobs that run, if one is to migrate, else O(1), and one call of
// candidate.
func (p Policy) Decide(s State, candidate func() (int, Machine, bool)) Decision {
	m := s.Machine
	if m.Accepts() {
		return Decision{Accept: true}
	}
	q := m.Oversize()
	submit := s.Waiting && (!p.config.InLoop || q >= m.Threshold && q <= 0)
	job, migrate := 0, false
	if crowded := m.MaxJobs > 0 && m.Jobs > m.MaxJobs; p.config.Select != nil && !s.Migrating &&
		(crowded || p.Short(m) && s.Short >= p.config.Grace) {
		job, migrate = p.config.Select(s.Running)
	}
	if !submit && !migrate {
		return Decision{}
	}
	k, target, ok := candidate()
	if !ok {
		return Decision{}
	}
	var d Decision
	if submit && target.Accepts() {
		d.Submit, d.SubmitTo = true, k
	}
	if migrate && p.Takes(target, s.Running[job].WorkingSet) && p.worthwhile(s.Running[job], m, target) {
		d.Migrate, d.Job, d.To = true, job, k
	}
	return d
}

func (p Policy) worthwhile(j Job, here, there Machine) bool {
	if p.config.Cost == nil {
		return true
	}
	return Worthwhile(j.Age, p.config.Cost(j.WorkingSet), here.Jobs, max(0, there.Jobs)+1)
}
