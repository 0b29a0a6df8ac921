// Package molding simulates a machine whose jobs are moldable and fold: how fast a
// job runs on its partition, and what a policy of package folding makes of a
// workload. The package carries no promise of compatibility.
package molding

import (
	"errors"
	"fmt"
)

// Sentinels of this package. They are wrapped with the numbers.
var (
	ErrSpeedup   = errors.New("molding: invalid speedup")
	ErrConfig    = errors.New("molding: invalid configuration")
	ErrJob       = errors.New("molding: invalid job")
	ErrInvariant = errors.New("molding: invariant broken")
)

// A Speedup says how many times as fast as on one processor a job runs on p of them,
// with a process on each. It is 1 for p = 1 and never falls.
type Speedup func(p int) float64

// Linear is p.
func Linear(p int) float64 { return float64(p) }

// Amdahl returns the speedup of a program of which a share is serial,
//
//	S(p) = 1 / (s + (1 − s)/p)
//
// It refuses a share that is not from 0 to 1 with [ErrSpeedup].
func Amdahl(serial float64) (Speedup, error) {
	if !(serial >= 0 && serial <= 1) {
		return nil, fmt.Errorf("serial share %v: %w", serial, ErrSpeedup)
	}
	return func(p int) float64 { return 1 / (serial + (1-serial)/float64(p)) }, nil
}

// Downey returns the speedup of a program of average parallelism A, whose
// parallelism has the variance σ (A. Downey, "A model for speedup of parallel
// programs", UCB CSD-97-933, 1997): for σ = 0 it is linear up to A.
//
// It refuses A < 1, σ < 0 and what is no number with [ErrSpeedup].
func Downey(a, sigma float64) (Speedup, error) {
	if !(a >= 1 && a <= 1e9) || !(sigma >= 0 && sigma <= 1e9) {
		return nil, fmt.Errorf("average parallelism %v, variance %v: %w", a, sigma, ErrSpeedup)
	}
	return func(p int) float64 {
		n := float64(p)
		if sigma <= 1 {
			switch {
			case n <= a:
				return a * n / (a + float64(sigma/2*(n-1)))
			case n <= 2*a-1:
				return a * n / (float64(sigma*(a-.5)) + float64(n*(1-sigma/2)))
			}
			return a
		}
		if n <= a+float64(a*sigma)-sigma {
			return n * a * (sigma + 1) / (float64(sigma*(n+a-1)) + a)
		}
		return a
	}, nil
}

// Sharing is what is left of a partition's speed when each of its processors has two
// or four processes of the job. What it is in truth depends on program and system;
// Utrera et al. do not tell.
type Sharing struct{ Two, Four float64 }

// Sharings to begin with: processes that yield while they are blocked, so that others
// of the job run, and plain time slices. They are assumptions, to be varied.
var (
	CoScheduling = Sharing{.95, .90}
	TimeSharing  = Sharing{.80, .60}
	Free         = Sharing{1, 1}
)

// at returns what is left at f processes a processor.
func (s Sharing) at(f int) float64 {
	switch {
	case f <= 1:
		return 1
	case f == 2:
		return s.Two
	}
	return s.Four
}
