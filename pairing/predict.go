package pairing

import "fmt"

// A Predictor foretells what share of its next quantum a gang computes, from the
// quanta in which it ran. It is of one gang.
type Predictor interface {
	// Predict returns the share, 1 for a gang that has not been measured.
	Predict() float64

	// Observe tells what share it computed of a quantum in which it ran: the mean
	// over its processes, see [Mean]. What is not from 0 to 1 is refused with
	// [ErrUtilisation], and changes nothing.
	Observe(utilisation float64) error

	// Forget makes the gang a new one.
	Forget()
}

// quanta is how far eq. (1) looks back.
const quanta = 4

// Weighted predicts by eq. (1): the last four quanta count 4, 3, 2 and 1 tenths,
// the newest most. The zero value is ready. It takes 40 bytes; no method allocates.
type Weighted struct {
	// Prefill takes the quanta that a new gang has not had for such in which it
	// computed all the time. Otherwise the weights of those there are, are made to
	// sum up to 1.
	Prefill bool

	measured uint8
	recent   [quanta]float64 // newest first
}

// Predict implements [Predictor].
func (w *Weighted) Predict() float64 {
	if w.measured == 0 {
		return 1
	}
	sum, weights := 0., 0.
	for i := range quanta {
		weight := float64(quanta - i)
		switch {
		case i < int(w.measured):
			sum += float64(weight * w.recent[i])
		case w.Prefill:
			sum += weight
		default:
			continue
		}
		weights += weight
	}
	return sum / weights
}

// Observe implements [Predictor].
func (w *Weighted) Observe(utilisation float64) error {
	if err := check(utilisation); err != nil {
		return err
	}
	copy(w.recent[1:], w.recent[:])
	w.recent[0] = utilisation
	w.measured = min(w.measured+1, quanta)
	return nil
}

// Forget implements [Predictor].
func (w *Weighted) Forget() { w.measured = 0 }

// MaxWindow is the longest window of a [Window].
const MaxWindow = 16

// Window predicts the mean of the last Quanta quanta, or of those there are
// (§2.3). The zero value is ready, with a window of 4. No method allocates.
type Window struct {
	Quanta int // 1 to MaxWindow, or Observe answers [ErrConfig]; 0 means 4

	measured int
	recent   [MaxWindow]float64 // newest first
}

// Predict implements [Predictor].
func (w *Window) Predict() float64 {
	n := w.Quanta
	if n == 0 {
		n = quanta
	}
	n = min(w.measured, n)
	if n <= 0 {
		return 1
	}
	sum := 0.
	for _, u := range w.recent[:n] {
		sum += u
	}
	return sum / float64(n)
}

// Observe implements [Predictor].
func (w *Window) Observe(utilisation float64) error {
	if w.Quanta < 0 || w.Quanta > MaxWindow {
		return fmt.Errorf("window of %d quanta: %w", w.Quanta, ErrConfig)
	}
	if err := check(utilisation); err != nil {
		return err
	}
	copy(w.recent[1:], w.recent[:])
	w.recent[0] = utilisation
	w.measured = min(w.measured+1, MaxWindow)
	return nil
}

// Forget implements [Predictor].
func (w *Window) Forget() { w.measured = 0 }

// Exponential predicts by smoothing, τ ← α·t + (1 − α)·τ, from the first
// measurement on (§2.3). It never quite forgets one. The zero value is ready, with
// α = ½. No method allocates.
type Exponential struct {
	Alpha float64 // above 0, at most 1, or Observe answers [ErrConfig]; 0 means ½

	measured bool
	value    float64
}

// Predict implements [Predictor].
func (e *Exponential) Predict() float64 {
	if !e.measured {
		return 1
	}
	return e.value
}

// Observe implements [Predictor].
func (e *Exponential) Observe(utilisation float64) error {
	alpha := e.Alpha
	if alpha == 0 {
		alpha = .5
	}
	if !(alpha > 0 && alpha <= 1) {
		return fmt.Errorf("alpha %v: %w", alpha, ErrConfig)
	}
	if err := check(utilisation); err != nil {
		return err
	}
	if e.measured {
		e.value = float64(alpha*utilisation) + float64((1-alpha)*e.value)
	} else {
		e.measured, e.value = true, utilisation
	}
	return nil
}

// Forget implements [Predictor].
func (e *Exponential) Forget() { e.measured = false }
