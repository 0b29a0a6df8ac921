package pairing

import "fmt"

// Cautious answers a sharp change of a gang (§2.2, §4.2.3): it forgets what was
// measured, and the gang is on probation, predicted to compute all the time like a
// new one, so that it runs alone once and is measured truly. What it measures then
// is believed, whatever came before. It costs little: 1 % of response time in the
// paper. The zero value is ready and is the paper's. No method allocates.
//
// A gang on probation may still share a quantum, or the rule may come to nothing.
// Partners are those of a round, so that of a mutual pair both slots run together
// twice: if two gangs turn to computing, the first quantum puts them on probation,
// and if they run together in the second and its measurements, a little less than
// half a processor each, are believed, they are partners again in the next round,
// for ever. A caller who tests [Matcher.Fits] again before each quantum runs them
// alone at once. A caller who does not must call [Cautious.ObserveShared].
type Cautious struct {
	Predictor Predictor // of the same gang; nil means a [Weighted]

	// Change is how sharp a change must be, a difference of utilisations that is
	// exceeded; 0 means .20, a negative one that nothing is. With NaN Observe
	// answers [ErrConfig].
	Change float64

	// GrowthOnly leaves gangs alone that compute less than before.
	GrowthOnly bool

	// ByPrediction compares a measurement with what was predicted. Otherwise it is
	// compared with the measurement before.
	ByPrediction bool

	// SharedOnly believes a sharp change at once that [Cautious.Observe] tells of:
	// what was measured before is forgotten, but the gang has been alone already.
	// Otherwise any sharp change is followed by a quantum alone.
	SharedOnly bool

	own      Weighted
	measured bool
	last     float64
}

func (c *Cautious) predictor() Predictor {
	if c.Predictor == nil {
		return &c.own
	}
	return c.Predictor
}

// Predict implements [Predictor].
func (c *Cautious) Predict() float64 {
	if !c.measured {
		return 1
	}
	return c.predictor().Predict()
}

// Observe implements [Predictor], for a quantum in which the gang shared no
// processor, or if the caller does not tell. A measurement that shows a sharp
// change makes it forget, and is forgotten with the others.
func (c *Cautious) Observe(utilisation float64) error { return c.observe(utilisation, false) }

// ObserveShared is Observe for a quantum in which the gang shared a processor. On
// probation that proves nothing, and changes nothing.
func (c *Cautious) ObserveShared(utilisation float64) error { return c.observe(utilisation, true) }

func (c *Cautious) observe(utilisation float64, shared bool) error {
	if c.Change != c.Change {
		return fmt.Errorf("change of %v: %w", c.Change, ErrConfig)
	}
	if err := check(utilisation); err != nil {
		return err
	}
	if shared && !c.measured {
		return nil
	}
	if c.measured && c.isSharp(utilisation) {
		c.Forget()
		if shared || !c.SharedOnly {
			return nil
		}
	}
	if err := c.predictor().Observe(utilisation); err != nil {
		return err
	}
	c.measured, c.last = true, utilisation
	return nil
}

func (c *Cautious) isSharp(utilisation float64) bool {
	before := c.last
	if c.ByPrediction {
		before = c.Predict()
	}
	change := billionths(utilisation) - billionths(before)
	if change < 0 && !c.GrowthOnly {
		change = -change
	}
	switch {
	case c.Change == 0:
		return change > paperChange
	case c.Change < 0:
		return false
	}
	return change > billionths(min(c.Change, 1))
}

// OnProbation tells whether the gang is new, or was forgotten, and has not been
// measured since.
func (c *Cautious) OnProbation() bool { return !c.measured }

// Forget implements [Predictor].
func (c *Cautious) Forget() {
	c.measured = false
	c.predictor().Forget()
}
