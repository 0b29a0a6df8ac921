package folding

import (
	"fmt"
	"time"
)

// Classes learns the classes of jobs from how long they ran, for systems without
// queues for long and short ones. K identifies what runs again, an executable and its
// user, say. The zero value holds everything for short. It must not be used
// concurrently.
type Classes[K comparable] struct {
	// Threshold is the mean run time from which on a job is long.
	Threshold time.Duration

	runs map[K]run
}

type run struct {
	count int64
	mean  float64
}

// Observe tells how long a job ran. A negative time is refused with [ErrState]. O(1).
func (c *Classes[K]) Observe(key K, ran time.Duration) error {
	if ran < 0 {
		return fmt.Errorf("run time %v: %w", ran, ErrState)
	}
	if c.runs == nil {
		c.runs = map[K]run{}
	}
	r := c.runs[key]
	r.count++
	r.mean += (float64(ran) - r.mean) / float64(r.count)
	c.runs[key] = r
	return nil
}

// Class returns the class of a job by the mean of its runs; [Short] if it never ran,
// or there is no threshold. O(1).
func (c *Classes[K]) Class(key K) Class {
	if r, ok := c.runs[key]; ok && c.Threshold > 0 && r.mean >= float64(c.Threshold) {
		return Long
	}
	return Short
}
