package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
)

var (
	// ErrConfig is returned for a limit that a History cannot have.
	ErrConfig = errors.New("estimate: invalid limit")

	// ErrJob is returned for a job without a path, with too long a path or user, or
	// without nodes.
	ErrJob = errors.New("estimate: invalid job")

	// ErrMemory is returned for memory below 0 or above MaxMemory.
	ErrMemory = errors.New("estimate: invalid memory")
)

// What can be observed.
const (
	MaxPath   = 2047      // bytes of a path
	MaxUser   = 255       // bytes of a user's name
	MaxNodes  = 1<<31 - 1 // nodes of a job
	MaxMemory = 1<<48 - 1 // bytes of a process
)

// What a [History] can keep.
const (
	DefaultPaths   = 2048
	DefaultRecords = 4096
	MaxRecords     = 1 << 22
)

// Config says how a [History] estimates and how much it keeps. The zero value
// is the paper's system.
type Config struct {
	// Bound makes an estimate of past values; nil means [Paper].
	Bound Bound

	// Paths and Records limit how many different paths, and how many different
	// (path, nodes, user) are kept, each from 1 to MaxRecords. 0 means
	// DefaultPaths and DefaultRecords.
	Paths, Records int
}

// History estimates the memory of jobs by what earlier runs needed. It
// implements [Estimator]. The zero value is ready, and is that of a zero
// [Config].
//
// It has no lock. Estimate, Past, Snapshot, Paths and Records only read, and may
// be called concurrently with each other, but not with Observe, Rotate and
// Restore. Take a sync.RWMutex where both happen. A History must not be copied
// once it was used.
type History struct {
	config Config

	nodes  slab[node]
	longer slab[pair]
	names  names
	index  index
	seed   maphash.Seed

	paths, records int
	oldest, newest uint32 // records, by their last observations
	period         uint8  // parity of the number of rotations
}

// NewHistory returns an empty History. Limits below 0 or above MaxRecords are
// refused with [ErrConfig].
func NewHistory(c Config) (*History, error) {
	if c.Paths < 0 || c.Paths > MaxRecords || c.Records < 0 || c.Records > MaxRecords {
		return nil, fmt.Errorf("%d paths, %d records: %w", c.Paths, c.Records, ErrConfig)
	}
	return &History{config: c}, nil
}

// Paths returns how many different paths are known.
func (h *History) Paths() int { return h.paths }

// Records returns how many different (path, nodes, user) are known.
func (h *History) Records() int { return h.records }

// Observe tells h that the job has run, and how much memory its largest process
// used, which is per node, in bytes. It may evict records.
//
// A job that is invalid is refused with [ErrJob], memory below 0 or above
// MaxMemory with [ErrMemory]; h is then as before. Cost O(1), amortised over the
// growth of h; for a job that has a record, only that growth allocates.
func (h *History) Observe(j Job, memory int64) error {
	if err := j.check(); err != nil {
		return err
	}
	if memory < 0 || memory > MaxMemory {
		return fmt.Errorf("%d bytes: %w", memory, ErrMemory)
	}
	if h.index.slots == nil {
		h.seed = maphash.MakeSeed()
		h.index.grow(nil)
	}
	at := h.find(&j)
	if at[ByPathNodesUser] == 0 {
		at = h.insert(&j, at)
	}
	for level := ByPathNodesUser; level <= ByPath; {
		n := h.nodes.at(at[level])
		h.add(n, memory)
		level = n.coarsest() + 1
	}
	if record := at[ByPathNodesUser]; record != h.newest {
		h.unlink(record)
		h.link(record)
	}
	h.trim()
	return nil
}

// Estimate returns what the Bound makes of the past runs of the finest level
// that has any. A job that Observe would refuse has none. Cost O(1); it
// allocates nothing.
func (h *History) Estimate(j Job) (Estimate, bool) {
	s, level := h.Past(j)
	if level == None {
		return Estimate{}, false
	}
	bound := h.config.Bound
	if bound == nil {
		bound = Paper
	}
	return Estimate{Memory: max(bound(s), 0), Level: level, Samples: s.Count}, true
}

// Past returns the past runs that an estimate of the job rests on, and their
// level, or None. Several bounds can be tried on one History by it. Cost O(1);
// it allocates nothing.
func (h *History) Past(j Job) (Sample, Level) {
	if h.records == 0 || j.check() != nil {
		return Sample{}, None
	}
	at := h.find(&j)
	for level := ByPathNodesUser; level <= ByPath; level++ {
		if at[level] != 0 {
			return h.sample(h.nodes.at(at[level])), level
		}
	}
	return Sample{}, None
}

// Rotate ends the period, a month in the paper; the caller's clock says when.
// The current period becomes the previous one, and what the previous one held
// is forgotten, with the records that did not run in the current one: a record
// goes at the second rotation after its last run. Cost O(1) for each record that
// goes, amortised; what stays costs nothing.
func (h *History) Rotate() {
	h.period ^= 1
	// What is left was observed in the period before, or the one before that.
	for h.oldest != 0 && h.nodes.at(h.oldest).period() == h.period {
		h.forget(h.oldest)
	}
	h.tidy()
}

// trim evicts records until the limits hold.
func (h *History) trim() {
	for h.records > cmp.Or(h.config.Records, DefaultRecords) || h.paths > cmp.Or(h.config.Paths, DefaultPaths) {
		h.forget(h.oldest)
	}
	h.tidy()
}

func (j *Job) check() error {
	switch {
	case j.Path == "" || len(j.Path) > MaxPath:
		return fmt.Errorf("path of %d bytes: %w", len(j.Path), ErrJob)
	case len(j.User) > MaxUser:
		return fmt.Errorf("user of %d bytes: %w", len(j.User), ErrJob)
	case j.Nodes < 1 || j.Nodes > MaxNodes:
		return fmt.Errorf("%d nodes: %w", j.Nodes, ErrJob)
	}
	return nil
}

// add adds a value to a node.
func (h *History) add(n *node, x int64) {
	current, previous := n.kept(h.period)
	if n.longer != 0 && n.period() != h.period {
		// The first value of a period.
		all := h.longer.at(n.longer)
		all.set(1, all.get(0))
		all.set(0, moments{})
		if int(all.count[1]) == previous {
			h.longer.give(n.longer)
			n.longer = 0
		}
	}
	if current+previous > 0 {
		var miss float32
		if x > n.largest(current+previous)+Margin {
			miss = 1
		}
		n.missed += (miss - n.missed) / 32
	}
	if current+previous == RecentValues {
		if n.longer == 0 {
			n.longer = h.longer.take()
			all := h.longer.at(n.longer)
			for i, m := range n.moments(current, previous) {
				all.set(i, m)
			}
		}
		if previous > 0 {
			previous--
		} else {
			current--
		}
	}
	if n.longer != 0 {
		all := h.longer.at(n.longer)
		m := all.get(0)
		m.add(x)
		all.set(0, m)
	}
	n.push(x)
	n.setKept(current+1, previous, h.period)
}

// periods returns what a node holds of the current period and of the previous one.
func (h *History) periods(n *node) [2]moments {
	current, previous := n.kept(h.period)
	if n.longer != 0 {
		all := h.longer.at(n.longer)
		m := [2]moments{all.get(0), all.get(1)}
		if n.period() != h.period {
			m = [2]moments{1: m[0]}
		}
		if int(m[0].count+m[1].count) > current+previous {
			return m
		}
	}
	return n.moments(current, previous)
}

// sample returns both periods together.
func (h *History) sample(n *node) (s Sample) {
	current, previous := n.kept(h.period)
	var all moments
	if n.longer == 0 {
		all = n.some(0, current+previous)
	} else {
		m := h.periods(n)
		all = merge(m[1], m[0])
	}
	s.Count, s.Mean, s.Deviation, s.Max, s.Missed = int(all.count), all.mean, all.deviation(), all.max, float64(n.missed)
	for i := range current + previous {
		s.Recent[i] = n.value(i)
	}
	return s
}
