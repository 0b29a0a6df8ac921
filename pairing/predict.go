package pairing

import "fmt"

// A Predictor foretells what share of its next quantum a gang computes, from the
// quanta in which it ran. It is of one gang.
type Predictor interface {
	// Predict returns the share, 1 for a gang that has not been measured.
	Predict() float64

	// Observe tells what share it computed of a quantum in which it ran: the mean
	// over its processes, each of which is in [0, 1]. What is not is refused with
	// [ErrUtilisation], and changes nothing.
	Observe(utilisation float64) error

	// Forget makes the gang a new one.
	Forget()
}

// quanta is how far eq. (1) looks back.
const quanta = 4

// Weighted predicts by eq. (1): the last four quanta count 4, 3, 2 and 1 tenths,
// the newest most. The zero value is ready. It takes 48 bytes; no method allocates.
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

// Window predicts the mean of the last Quanta quanta. The zero value is ready, with
// a window of 4.
type Window struct {
	Quanta int // 1 to MaxWindow, else the nearest of these; 0 means 4

	measured, next int
	recent         [MaxWindow]float64 // a ring
}

func (w *Window) length() int {
	if w.Quanta == 0 {
		return quanta
	}
	return min(max(w.Quanta, 1), MaxWindow)
}

// Predict implements [Predictor].
func (w *Window) Predict() float64 {
	n := min(w.measured, w.length())
	if n == 0 {
		return 1
	}
	sum := 0.
	for i := 1; i <= n; i++ {
		sum += w.recent[(w.next-i+MaxWindow)%MaxWindow]
	}
	return sum / float64(n)
}

// Observe implements [Predictor].
func (w *Window) Observe(utilisation float64) error {
	if err := check(utilisation); err != nil {
		return err
	}
	w.recent[w.next] = utilisation
	w.next = (w.next + 1) % MaxWindow
	w.measured = min(w.measured+1, MaxWindow)
	return nil
}

// Forget implements [Predictor].
func (w *Window) Forget() { w.measured = 0 }

// Exponential predicts by smoothing, τ ← α·t + (1 − α)·τ, from the first
// measurement on. The zero value is ready, with α = ½.
type Exponential struct {
	Alpha float64 // in (0, 1]; anything else means ½

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
	if err := check(utilisation); err != nil {
		return err
	}
	alpha := e.Alpha
	if !(alpha > 0 && alpha <= 1) {
		alpha = .5
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

// Cautious answers a sharp change of a gang (§4.2.3): it forgets the gang, so that
// it runs alone once and is measured truly. What it measures then is believed,
// whatever came before; so as long as it is on probation, do not tell of quanta that
// it shared, as happens if partners hold for a round. It costs little: 1 % of
// response time in the paper.
type Cautious struct {
	Predictor // of the same gang

	// Change is how sharp a change must be, a difference of utilisations that is
	// exceeded; 0 means .20, a negative one or NaN that nothing is.
	Change float64

	// GrowthOnly leaves gangs alone that compute less than before.
	GrowthOnly bool

	// ByPrediction compares a measurement with what was predicted. Otherwise it is
	// compared with the measurement before.
	ByPrediction bool

	measured bool
	last     float64
}

// Observe implements [Predictor]. It is the measurement that shows the change
// which makes it forget.
func (c *Cautious) Observe(utilisation float64) error {
	if err := check(utilisation); err != nil {
		return fmt.Errorf("cautious: %w", err)
	}
	before := c.last
	if c.ByPrediction {
		before = c.Predict()
	}
	if c.measured && c.isSharp(billionths(utilisation)-billionths(min(max(before, 0), 1))) {
		c.Forget()
		return nil
	}
	c.measured, c.last = true, utilisation
	return c.Predictor.Observe(utilisation)
}

func (c *Cautious) isSharp(change int64) bool {
	if change < 0 {
		if c.GrowthOnly {
			return false
		}
		change = -change
	}
	switch {
	case c.Change == 0:
		return change > paperChange
	case c.Change > 0:
		return float64(change) > c.Change*billion
	}
	return false
}

// OnProbation tells whether the gang is new, or was forgotten, and has not been
// measured since.
func (c *Cautious) OnProbation() bool { return !c.measured }

// Forget implements [Predictor].
func (c *Cautious) Forget() {
	c.measured = false
	c.Predictor.Forget()
}

// Effective returns what a gang would compute of the processor time that its
// partner leaves, u/(1 − partner), at most 1. It judges a gang by a quantum that
// it shared. The paper mentions it and prefers plain utilisations, since it is
// wrong when the two together want a little less than all. It is 1 for a partner
// that leaves nothing.
func Effective(u, partner float64) float64 {
	if !(partner < 1) {
		return 1
	}
	return min(u/(1-partner), 1)
}
