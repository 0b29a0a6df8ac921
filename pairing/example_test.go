package pairing_test

import (
	"errors"
	"fmt"

	"github.com/gangkit/gangkit/pairing"
)

// Three rounds of two gangs, each in a slot of its own. Both wait nearly all the time
// at first, and turn to computing in the last round.
func Example() {
	var gangs [2]pairing.Cautious
	var m pairing.Matcher
	predict := func() []float64 { return []float64{gangs[0].Predict(), gangs[1].Predict()} }
	for round, wanted := range []float64{.05, .05, 1} {
		// Partners are those of the round, but gangs change within it.
		partners, err := m.AppendPartners(nil, predict(), nil)
		if err != nil {
			panic(err)
		}
		for slot, partner := range partners {
			u := predict()
			fmt.Printf("round %d, quantum %d, predicted %3.0f %% and %3.0f %%: ", round, slot, 100*u[0], 100*u[1])
			if partner >= 0 && m.Fits(u[slot], u[partner]) {
				used := min(wanted, .49)
				err = errors.Join(gangs[slot].ObserveShared(used), gangs[partner].ObserveShared(used))
				fmt.Printf("both use %.0f %%\n", 100*used)
			} else {
				err = gangs[slot].Observe(wanted)
				fmt.Printf("%d alone uses %.0f %%\n", slot, 100*wanted)
			}
			if err != nil {
				panic(err)
			}
		}
	}
	// Output:
	// round 0, quantum 0, predicted 100 % and 100 %: 0 alone uses 5 %
	// round 0, quantum 1, predicted   5 % and 100 %: 1 alone uses 5 %
	// round 1, quantum 0, predicted   5 % and   5 %: both use 5 %
	// round 1, quantum 1, predicted   5 % and   5 %: both use 5 %
	// round 2, quantum 0, predicted   5 % and   5 %: both use 49 %
	// round 2, quantum 1, predicted 100 % and 100 %: 1 alone uses 100 %
}

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
	var p pairing.Cautious
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

// On probation only what a gang does alone is believed.
func ExampleCautious_ObserveShared() {
	var p pairing.Cautious
	observe := []func(float64) error{p.Observe, p.ObserveShared, p.ObserveShared, p.Observe}
	for i, measured := range []float64{.05, .49, .49, 1} {
		if err := observe[i](measured); err != nil {
			panic(err)
		}
		fmt.Printf("measured %3.0f %%, predicted %3.0f %%, on probation: %v\n", 100*measured, 100*p.Predict(), p.OnProbation())
	}
	// Output:
	// measured   5 %, predicted   5 %, on probation: false
	// measured  49 %, predicted 100 %, on probation: true
	// measured  49 %, predicted 100 %, on probation: true
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

// Gangs leave a slot until it is homogeneous, and go where their PEs are free.
func ExampleEvict() {
	slot := []pairing.Gang{{Utilisation: .30, PEs: 4}, {Utilisation: .35, PEs: 4}, {Utilisation: .50, PEs: 2}, {Utilisation: .90, PEs: 1}}
	others := [][]pairing.Gang{{{Utilisation: .10, PEs: 8}}, {{Utilisation: .60, PEs: 8}}}
	free := func(int) bool { return true }
	for {
		i := pairing.Evict(slot, pairing.Band)
		if i < 0 {
			break
		}
		gang := slot[i]
		fmt.Printf("%.0f %% leaves: ", 100*gang.Utilisation)
		if to := pairing.FirstSlot(others, gang, pairing.Band, free); to < len(others) {
			fmt.Println("slot", to)
		} else {
			fmt.Println("a new slot")
		}
		slot = append(slot[:i], slot[i+1:]...)
	}
	fmt.Printf("the slot counts as %.0f %%\n", 100*pairing.Slot(slot))
	// Output:
	// 90 % leaves: a new slot
	// 50 % leaves: slot 1
	// the slot counts as 35 %
}

func ExampleSlot() {
	fmt.Println(pairing.Slot([]pairing.Gang{{Utilisation: .3}, {Utilisation: .45}}))
	fmt.Println(pairing.Slot([]pairing.Gang{{Utilisation: .3}, {Unmeasured: true}}))
	// Output:
	// 0.45
	// 1
}

func ExampleJoins() {
	slot := []pairing.Gang{{Utilisation: .3}}
	for _, gang := range []pairing.Gang{{Utilisation: .49}, {Utilisation: .5}, {Unmeasured: true}} {
		fmt.Println(pairing.Joins(slot, gang, pairing.Band), pairing.JoinsAsAlternate(slot, gang, pairing.Band))
	}
	// Output:
	// true true
	// false false
	// true false
}

func ExampleJoinsAsAlternate() {
	slot := []pairing.Gang{{Utilisation: .9}}
	fmt.Println(pairing.JoinsAsAlternate(slot, pairing.Gang{Utilisation: .6}, pairing.Band))
	fmt.Println(pairing.JoinsAsAlternate(slot, pairing.Gang{Unmeasured: true}, pairing.Band))
	// Output:
	// false
	// true
}

// A gang of the PEs 2 and 3 looks for a slot.
func ExampleFirstSlot() {
	slots := [][]pairing.Gang{{{Utilisation: .1}}, {{Utilisation: .5}}, {{Utilisation: .5}}}
	used := []string{"A A . .", "B B B B", "C . . ."}
	to := pairing.FirstSlot(slots, pairing.Gang{Utilisation: .45}, pairing.Band, func(slot int) bool {
		return used[slot][4:] == ". ."
	})
	fmt.Println(to)
	// Output: 2
}

// Two slots whose busiest gangs do not fit, but are on different PEs.
func ExampleMaximum() {
	slots := [][]float64{
		{.9, .9, .1, .1},
		{pairing.Idle, pairing.Idle, .8, .8},
		{.5, .5, .5, .5},
	}
	var m pairing.Matcher
	partners := pairing.Maximum(nil, len(slots), func(a, b int) bool { return m.FitsEach(slots[a], slots[b]) })
	fmt.Println(partners)
	// Output: [1 0 -1]
}

func ExampleMatcher_FitsEach() {
	var m pairing.Matcher
	fmt.Println(m.FitsEach([]float64{.9, .2}, []float64{.05, .7}))
	fmt.Println(m.FitsEach([]float64{1, .2}, []float64{pairing.Idle, .7}))
	fmt.Println(m.FitsEach([]float64{1, .2}, []float64{0, .7}))
	// Output:
	// true
	// true
	// false
}

// A is alone in the quantum of its slot, but for what fits beside it.
func ExampleMatcher_AppendCompanions() {
	slot := []float64{.9, .9, .9, .9, pairing.Idle, pairing.Idle, pairing.Idle, pairing.Idle} // A
	names := "BCDE"
	gangs := []pairing.Placed{ // of other slots
		{Utilisation: .05, PEs: []int{0, 1}},
		{Utilisation: .80, PEs: []int{2, 3}}, // too busy
		{Utilisation: .70, PEs: []int{4, 5, 6, 7}},
		{Utilisation: .04, PEs: []int{2, 3, 4, 5}},
	}
	var m pairing.Matcher
	companions, err := m.AppendCompanions(nil, slot, gangs)
	if err != nil {
		panic(err)
	}
	rows := []string{"AAAA....", "........"}
	for _, i := range companions {
		for _, pe := range gangs[i].PEs {
			row := 0
			if rows[0][pe] != '.' {
				row = 1
			}
			rows[row] = rows[row][:pe] + names[i:i+1] + rows[row][pe+1:]
		}
	}
	fmt.Println(rows[0])
	fmt.Println(rows[1])
	// Output:
	// AAAADDDD
	// BBEEEE..
}

// Processor, disk and network: three gangs can keep three devices busy.
func ExampleMatcher_AppendGroups() {
	var m pairing.Matcher
	groups, err := m.AppendGroups(nil, [][]float64{
		{.90, .00, .05}, {.05, .90, .00}, {.00, .05, .85}, {.50, .50, .00}, {.02, .02, .02},
	}, 0)
	fmt.Println(groups, err)
	// Output: [0 0 0 1 1] <nil>
}

func ExampleMatcher_Fits() {
	var m pairing.Matcher
	fmt.Println(m.Fits(.40, .58), m.Fits(.40, .59))
	// Output: true false
}

// Slot 2 asked for the processors to itself.
func ExampleAppendPartners() {
	exclusive := func(slot int) bool { return slot == 2 }
	partners, err := pairing.AppendPartners(nil, []float64{.3, .5, .1, .9}, exclusive)
	fmt.Println(partners, err)
	_, err = pairing.AppendPartners(nil, []float64{.3, 1.5}, nil)
	fmt.Println(err)
	// Output:
	// [1 0 -1 -1] <nil>
	// slot 1, 1.5: pairing: utilisation is not from 0 to 1
}

func ExampleMean() {
	fmt.Println(pairing.Mean([]float64{.3, .5, .7}))
	// Output: 0.5 <nil>
}

// A predictor that has forgotten knows as much as a new one: the gang is to run alone,
// to be measured.
func ExamplePredictor() {
	for _, p := range []pairing.Predictor{
		&pairing.Weighted{}, &pairing.Window{}, &pairing.Exponential{}, &pairing.Cautious{Predictor: &pairing.Weighted{}},
	} {
		for range 5 {
			if err := p.Observe(.25); err != nil {
				panic(err)
			}
		}
		before := p.Predict()
		p.Forget()
		fmt.Printf("%T: %.2f, then %.2f\n", p, before, p.Predict())
	}
	// Output:
	// *pairing.Weighted: 0.25, then 1.00
	// *pairing.Window: 0.25, then 1.00
	// *pairing.Exponential: 0.25, then 1.00
	// *pairing.Cautious: 0.25, then 1.00
}
