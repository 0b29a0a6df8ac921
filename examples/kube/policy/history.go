package policy

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gangkit/gangkit/estimate"
)

// ErrHistory is returned for bytes that are no saved history, wrapped with why.
var ErrHistory = errors.New("policy: not a saved history")

// MaxSaved is the largest history that [History.Load] reads, in bytes as they are
// after decompression.
const MaxSaved = 64 << 20

// History is an estimate.History that may be used concurrently, turns its periods
// by itself and knows up to when it has learnt. Use [NewHistory].
type History struct {
	mu       sync.RWMutex
	config   estimate.Config
	past     *estimate.History
	period   time.Duration
	began    time.Time // when the period did; zero before anything was learnt
	until    time.Time // end of the latest run learnt
	loaded   time.Time // until, as it was loaded
	changes  int64     // runs learnt and histories loaded
	recorded int64     // changes that were saved
}

// NewHistory returns a history without runs. A period is how long it takes until
// runs begin to be forgotten, see package estimate; 0 means 30 days. Errors are
// those of estimate.NewHistory, and ErrHistory for a negative period.
func NewHistory(c estimate.Config, period time.Duration) (*History, error) {
	if period < 0 {
		return nil, fmt.Errorf("%w: period %v", ErrHistory, period)
	}
	if period == 0 {
		period = 30 * 24 * time.Hour
	}
	past, err := estimate.NewHistory(c)
	if err != nil {
		return nil, err
	}
	return &History{config: c, past: past, period: period}, nil
}

// Estimate implements estimate.Estimator.
func (h *History) Estimate(j estimate.Job) (estimate.Estimate, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.past.Estimate(j)
}

// Learn says that a run of the job ended, and how much memory, in bytes, its
// largest process used. It tells whether that was new: a run that ended before the
// loaded history was saved is in it already, if it was learnt in time.
//
// The first run that ends a period or more after the present one began begins
// another; after two without any run all is forgotten. ended must not lie in the
// future, or what ends before then is taken as learnt.
func (h *History) Learn(j estimate.Job, memory int64, ended time.Time) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !ended.After(h.loaded) {
		return false, nil
	}
	if h.began.IsZero() {
		h.began = ended
	}
	for turns := 0; ended.Sub(h.began) >= h.period; turns++ {
		if turns < 2 {
			h.past.Rotate()
			h.began = h.began.Add(h.period)
		} else {
			h.began = ended
		}
	}
	if err := h.past.Observe(j, memory); err != nil {
		return false, err
	}
	if ended.After(h.until) {
		h.until = ended
	}
	h.changes++
	return true, nil
}

// saved is what Save writes, as JSON in gzip.
type saved struct {
	Format    string    `json:"format"`
	Until     time.Time `json:"until"`
	Began     time.Time `json:"began"`
	Estimates []byte    `json:"estimates"` // of estimate.History.Snapshot
}

const format = "gangkit kube history 1"

// Save returns the history as bytes for Load, and a function to be called when they
// are safe. If nothing was learnt since that was called last, it returns nil.
// O(records).
func (h *History) Save() (data []byte, done func(), err error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.changes == h.recorded {
		return nil, nil, nil
	}
	var estimates bytes.Buffer
	if err := h.past.Snapshot(&estimates); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if err := json.NewEncoder(w).Encode(saved{format, h.until, h.began, estimates.Bytes()}); err != nil {
		return nil, nil, err
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	changes := h.changes
	return b.Bytes(), func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.recorded = max(h.recorded, changes)
	}, nil
}

// Load replaces the history by one that was saved. Bytes that are none are refused
// with ErrHistory, and the history is as before.
func (h *History) Load(data []byte) error {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHistory, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxSaved+1))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHistory, err)
	}
	if len(text) > MaxSaved {
		return fmt.Errorf("%w: more than %d bytes", ErrHistory, MaxSaved)
	}
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%w: %w", ErrHistory, err)
	}
	if s.Format != format {
		return fmt.Errorf("%w: format %.40q, want %q", ErrHistory, s.Format, format)
	}
	past, err := estimate.NewHistory(h.config)
	if err != nil {
		return err
	}
	if err := past.Restore(bytes.NewReader(s.Estimates)); err != nil {
		return fmt.Errorf("%w: %w", ErrHistory, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.past, h.until, h.loaded, h.began = past, s.Until, s.Until, s.Began
	h.changes++
	h.recorded = h.changes
	return nil
}

// Changes returns a number that increases whenever estimates may change.
func (h *History) Changes() int64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.changes
}

// Records returns how many different jobs are known.
func (h *History) Records() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.past.Records()
}
