package admission

import (
	"errors"
	"fmt"
	"math"
)

// ErrPool is returned for a pool that cannot exist.
var ErrPool = errors.New("admission: invalid pool")

// PoolConfig describes the pool of processors and memory that jobs share.
type PoolConfig struct {
	Processors int   // P; required, > 0
	Memory     int64 // M, usable by jobs, in bytes; ≥ 0

	// Excess is C in Eq. (2): by how much the jobs may exceed Memory once the
	// limit is relaxed, as a share of Memory. 0 means not at all; +Inf means
	// that a relaxed limit is no limit. It must not be negative or NaN. It is
	// taken as the shortest decimal that denotes the float64: 0.1 is one tenth.
	//
	// Papers that multiply the memory by a factor mean 1 + Excess.
	Excess float64
}

// Pool decides whether jobs fit by Eqs. (1) and (2). It holds the limits alone,
// not the jobs: the caller adds up what is used. A Pool is a value that never
// changes, so calls may run concurrently. The zero Pool has nothing to give.
type Pool struct {
	processors int
	strict     int64 // M
	relaxed    int64 // floor(M·(1+C))
}

// NewPool returns the pool that c describes. No processors, a negative memory
// and an excess that is negative or NaN are refused with [ErrPool]. Cost O(1).
func NewPool(c PoolConfig) (Pool, error) {
	switch {
	case c.Processors <= 0:
		return Pool{}, fmt.Errorf("%d processors: %w", c.Processors, ErrPool)
	case c.Memory < 0:
		return Pool{}, fmt.Errorf("%d bytes of memory: %w", c.Memory, ErrPool)
	case !(c.Excess >= 0):
		return Pool{}, fmt.Errorf("excess %v: %w", c.Excess, ErrPool)
	}
	excess, _ := multiply(c.Memory, c.Excess)
	if math.IsInf(c.Excess, 1) {
		excess = math.MaxInt64 // of no memory at all, too
	}
	return Pool{
		processors: c.Processors,
		strict:     c.Memory,
		relaxed:    add(c.Memory, excess),
	}, nil
}

// Limit returns the memory that jobs may use together, in bytes: M, or
// floor(M·(1 + C)) if relaxed, at most the largest int64. Cost O(1).
func (p Pool) Limit(relaxed bool) int64 {
	if relaxed {
		return p.relaxed
	}
	return p.strict
}

// Usage is what the running jobs hold together, or what one job needs in total.
type Usage struct {
	Processors int
	Memory     int64 // bytes
}

// Decision is the answer to whether a job fits. The zero value is a no.
type Decision struct {
	// Admit tells that the job may start now.
	Admit bool

	// Never tells that the job does not fit in the empty pool either, not even
	// with the limit relaxed: waiting is in vain. It depends on the pool and the
	// job alone, and never goes with Admit.
	Never bool

	// Short is what is missing for the job to start now: 0 for a resource that
	// suffices, at most the largest value of its type.
	Short Usage
}

// Fits decides whether a job that needs need may start beside jobs that hold
// used, by Eqs. (1) and (2) with C applied if relaxed. A pool that is exactly
// full afterwards admits.
//
// Where relaxed jobs hold more than M already, Eq. (2) admits nothing under the
// strict limit, not even a job that needs no memory.
//
// A negative need is no job, and Never fits; of what is used, a negative amount
// counts as nothing. Cost O(1).
func (p Pool) Fits(used, need Usage, relaxed bool) Decision {
	short := Usage{
		Processors: int(min(math.MaxInt, missing(int64(p.processors), int64(used.Processors), int64(need.Processors)))),
		Memory:     missing(p.Limit(relaxed), used.Memory, need.Memory),
	}
	never := need.Processors < 0 || need.Memory < 0 || need.Processors > p.processors || need.Memory > p.relaxed
	return Decision{
		Admit: short == Usage{} && !never,
		Never: never,
		Short: short,
	}
}

// missing returns by how much used + need exceeds limit ≥ 0, at most the
// largest int64; negative amounts count as 0.
func missing(limit, used, need int64) int64 {
	used, need = max(used, 0), max(need, 0)
	if free := limit - used; need > free {
		return add(need, -free)
	}
	return 0
}

// add returns a + b for a ≥ 0, at most the largest int64.
func add(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
