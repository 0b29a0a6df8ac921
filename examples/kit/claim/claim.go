// Package claim puts what a paper says beside what was measured. A claim that
// does not reproduce is a finding and has a reason; it is not a failure of the
// program that found it.
//
// The package carries no promise of compatibility.
package claim

import (
	"fmt"
	"io"
	"strings"
)

// A Verdict says how a measurement compares with a claim.
type Verdict string

// The verdicts.
const (
	Reproduced    Verdict = "reproduced"
	Partly        Verdict = "reproduced in part"
	NotReproduced Verdict = "not reproduced"
	Reported      Verdict = "reported" // measured, but nothing to judge it by
)

// A Claim is a statement of a paper and what came of it.
type Claim struct {
	ID       string  `json:"id"`
	Source   string  `json:"source"`   // section, figure or table of the paper
	Says     string  `json:"claim"`    // what the paper says
	Expected string  `json:"expected"` // what that means for the experiment
	Measured string  `json:"measured"` // lines
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why,omitempty"` // the reason, where it is not Reproduced
}

// Judge is Reproduced if every part holds, NotReproduced if none does, and
// Partly otherwise. It panics if there are no parts.
func Judge(holds ...bool) Verdict {
	if len(holds) == 0 {
		panic("claim: nothing to judge")
	}
	n := 0
	for _, ok := range holds {
		if ok {
			n++
		}
	}
	switch n {
	case len(holds):
		return Reproduced
	case 0:
		return NotReproduced
	}
	return Partly
}

// WriteText writes claims for a terminal.
func WriteText(w io.Writer, claims []Claim) error {
	var b strings.Builder
	for _, c := range claims {
		fmt.Fprintf(&b, "\n%-4s  %s: %s\n", c.ID, c.Source, c.Says)
		for _, part := range []struct{ name, text string }{
			{"expected", c.Expected}, {"measured", c.Measured}, {"verdict", string(c.Verdict)}, {"why", c.Why},
		} {
			if part.text == "" {
				continue
			}
			for i, line := range strings.Split(strings.TrimRight(part.text, "\n"), "\n") {
				if i > 0 {
					part.name = ""
				}
				fmt.Fprintf(&b, "      %-8s  %s\n", part.name, line)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
