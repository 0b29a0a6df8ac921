package pairing_test

import (
	"fmt"

	"github.com/gangkit/gangkit/pairing"
)

// A round over five slots: two that mostly wait, three that mostly compute.
func ExampleMatcher_AppendPartners() {
	utilisations := []float64{.05, .96, .20, .78, .60}
	var m pairing.Matcher
	partners, err := m.AppendPartners(nil, utilisations, nil)
	if err != nil {
		panic(err)
	}
	for slot, partner := range partners {
		switch {
		case partner < 0:
			fmt.Printf("quantum %d: slot %d alone\n", slot, slot)
		default:
			fmt.Printf("quantum %d: slots %d and %d, %.0f %% of the processor\n", slot, slot, partner, 100*(utilisations[slot]+utilisations[partner]))
		}
	}
	// Output:
	// quantum 0: slots 0 and 3, 83 % of the processor
	// quantum 1: slot 1 alone
	// quantum 2: slots 2 and 4, 80 % of the processor
	// quantum 3: slots 3 and 0, 83 % of the processor
	// quantum 4: slots 4 and 2, 80 % of the processor
}

func ExampleParseRule() {
	rule, err := pairing.ParseRule("best-fit")
	fmt.Println(rule, err)
	_, err = pairing.ParseRule("worst")
	fmt.Println(err)
	// Output:
	// best-fit <nil>
	// rule "worst", want fair, best-fit or printed: pairing: invalid configuration
}

// A gang that computes 45 % of the time, and then all of it.
func ExampleCautious() {
	p := &pairing.Cautious{Predictor: &pairing.Weighted{}}
	fmt.Printf("new: %.0f %%\n", 100*p.Predict())
	for _, measured := range []float64{.45, .46, .90, 1, 1} {
		if err := p.Observe(measured); err != nil {
			panic(err)
		}
		fmt.Printf("measured %3.0f %%, predicted %3.0f %%, on probation: %v\n", 100*measured, 100*p.Predict(), p.OnProbation())
	}
	// Output:
	// new: 100 %
	// measured  45 %, predicted  45 %, on probation: false
	// measured  46 %, predicted  46 %, on probation: false
	// measured  90 %, predicted 100 %, on probation: true
	// measured 100 %, predicted 100 %, on probation: false
	// measured 100 %, predicted 100 %, on probation: false
}

func ExampleWeighted() {
	var p pairing.Weighted
	for _, measured := range []float64{.90, .80, .10, .20, .30} {
		if err := p.Observe(measured); err != nil {
			panic(err)
		}
		fmt.Printf("%.1f ", 100*p.Predict())
	}
	fmt.Println(p.Observe(1.2))
	// Output: 90.0 84.3 51.1 36.0 28.0 1.2: pairing: utilisation is not from 0 to 1
}

func ExampleWindow() {
	p := pairing.Window{Quanta: 2}
	for _, measured := range []float64{.90, .80, .10} {
		_ = p.Observe(measured)
		fmt.Printf("%.0f ", 100*p.Predict())
	}
	// Output: 90 85 45
}

func ExampleExponential() {
	p := pairing.Exponential{Alpha: .25}
	for _, measured := range []float64{.90, .80, .10} {
		_ = p.Observe(measured)
		fmt.Printf("%.1f ", 100*p.Predict())
	}
	// Output: 90.0 87.5 68.1
}

func ExampleEffective() {
	fmt.Printf("%.2f of what a partner of 60 %% left\n", pairing.Effective(.3, .6))
	// Output: 0.75 of what a partner of 60 % left
}

// Gangs leave a slot until it is homogeneous.
func ExampleEvict() {
	slot := []pairing.Gang{{Utilisation: .30, PEs: 4}, {Utilisation: .35, PEs: 4}, {Utilisation: .50, PEs: 2}, {Utilisation: .90, PEs: 1}}
	for {
		i := pairing.Evict(slot, pairing.Band)
		if i < 0 {
			break
		}
		fmt.Printf("%.0f %% leaves\n", 100*slot[i].Utilisation)
		slot = append(slot[:i], slot[i+1:]...)
	}
	fmt.Printf("the slot counts %.0f %%; 49 %% joins: %v; 50 %% joins: %v\n", 100*pairing.Slot(slot),
		pairing.Joins(slot, pairing.Gang{Utilisation: .49}, pairing.Band), pairing.Joins(slot, pairing.Gang{Utilisation: .50}, pairing.Band))
	// Output:
	// 90 % leaves
	// 50 % leaves
	// the slot counts 35 %; 49 % joins: true; 50 % joins: false
}

func ExampleSlot() {
	fmt.Println(pairing.Slot([]pairing.Gang{{Utilisation: .3}, {Utilisation: .45}}))
	// Output: 0.45
}

func ExampleJoins() {
	slot := []pairing.Gang{{Utilisation: .3}}
	fmt.Println(pairing.Joins(slot, pairing.Gang{Utilisation: .6}, pairing.Band), pairing.Joins(slot, pairing.Gang{Unmeasured: true}, pairing.Band))
	// Output: false true
}

// Two slots whose busiest gangs do not fit, but are on different PEs.
func ExampleMaximum() {
	u := [][]float64{ // by slot and PE
		{.9, .9, .1, .1},
		{.0, .0, .8, .8},
		{.5, .5, .5, .5},
	}
	partners := pairing.Maximum(nil, len(u), func(a, b int) bool {
		for pe := range u[a] {
			if u[a][pe]+u[b][pe]+.01 >= 1 {
				return false
			}
		}
		return true
	})
	fmt.Println(partners)
	// Output: [1 0 -1]
}

// Processor, disk and network: four gangs can keep three devices busy.
func ExampleGroups() {
	groups, err := pairing.Groups(nil, [][]float64{
		{.9, .0, .05}, {.05, .9, .0}, {.0, .05, .85}, {.5, .5, .0}, {.02, .02, .02},
	}, 4, .01)
	fmt.Println(groups, err)
	// Output: [0 0 0 1 0] <nil>
}
