package paging

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

var (
	// ErrLocality is returned for a locality θ outside [1, 2], or NaN.
	ErrLocality = errors.New("paging: locality must be from 1 to 2")

	// ErrSize is returned for a number of units, pages or frames that is too
	// small or too large.
	ErrSize = errors.New("paging: size out of range")
)

// WalkConfig describes a [Walk].
type WalkConfig struct {
	// Locality is θ, from 1, the least local, to 2, the most.
	Locality float64

	// Range is the number of units of memory that the process uses, from 1 to
	// 2⁵³. The paper's unit is 1 KB, so that its 10 MB are 10,240 units and a
	// page of 4 KB is four.
	Range int

	// Printed takes the jumps of the program in Fig. 4 instead of those of the
	// text. They are r^θ for r uniform in (0, 1], one unit at most, and hardly
	// depend on θ: the exponent ought to be −1/θ.
	Printed bool
}

// Walk is the stream of memory references of one process after the fractal
// model: a random walk whose jumps follow
//
//	Pr[X > u] = u^−θ     u ≥ 1 unit
//
// up or down with equal probability, over a memory whose ends are joined. The
// position is a real number that starts at 0 and is truncated to a unit.
//
// All of its bits are the same on every platform, for the same bits from the
// random source. A Walk must not be used concurrently; separate ones with
// separate sources may.
type Walk struct {
	random   *rand.Rand
	exponent float64 // a jump is v^exponent, v uniform in (0, 1]
	units    float64
	position float64 // in [0, units)
}

// NewWalk returns the walk that c describes, at position 0, driven by random,
// which must not be nil. It refuses a bad locality with [ErrLocality] and a bad
// range with [ErrSize].
func NewWalk(c WalkConfig, random *rand.Rand) (*Walk, error) {
	if !(c.Locality >= 1 && c.Locality <= 2) {
		return nil, fmt.Errorf("walk of locality %v: %w", c.Locality, ErrLocality)
	}
	if c.Range < 1 || int64(c.Range) > 1<<53 {
		return nil, fmt.Errorf("walk over %d units: %w", c.Range, ErrSize)
	}
	if random == nil {
		panic("paging: walk without a random source")
	}
	w := &Walk{random: random, exponent: -1 / c.Locality, units: float64(c.Range)}
	if c.Printed {
		w.exponent = c.Locality
	}
	return w, nil
}

// Next jumps and returns the unit referred to, from 0 to Range − 1. It draws one
// number from the random source. Cost O(1); it does not allocate.
func (w *Walk) Next() int {
	draw := w.random.Uint64()
	jump := power(float64(draw>>11+1)*0x1p-53, w.exponent) // < 2⁵⁴
	if draw&1 != 0 {
		jump = -jump
	}
	x := w.position + jump
	if x < 0 || x >= w.units {
		// Reduced as a real number: a jump may exceed an int.
		if x = math.Mod(x, w.units); x < 0 {
			x += w.units
		}
		if x == w.units { // rounded up, from just below 0
			x = 0
		}
	}
	w.position = x
	return int(x)
}
