package admission_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/gangkit/gangkit/admission"
)

func ExampleNewPool() {
	for _, excess := range []float64{0, 0.1, 0.26, 0.5} {
		pool, err := admission.NewPool(admission.PoolConfig{Processors: 128, Memory: 1 << 30, Excess: excess})
		if err != nil {
			panic(err)
		}
		fmt.Printf("C = %.2f: %d bytes, relaxed %d\n", excess, pool.Limit(false), pool.Limit(true))
	}
	_, err := admission.NewPool(admission.PoolConfig{Processors: 128, Memory: 1 << 30, Excess: -0.1})
	fmt.Println(err, errors.Is(err, admission.ErrPool))
	// Output:
	// C = 0.00: 1073741824 bytes, relaxed 1073741824
	// C = 0.10: 1073741824 bytes, relaxed 1181116006
	// C = 0.26: 1073741824 bytes, relaxed 1352914698
	// C = 0.50: 1073741824 bytes, relaxed 1610612736
	// excess -0.1: admission: invalid pool true
}

// A pool of 10 processors and 1000 MB that may be exceeded by half. Jobs hold 6
// processors and 900 MB.
func ExamplePool_Fits() {
	const mb = 1_000_000
	pool, err := admission.NewPool(admission.PoolConfig{Processors: 10, Memory: 1000 * mb, Excess: 0.5})
	if err != nil {
		panic(err)
	}
	used := admission.Usage{Processors: 6, Memory: 900 * mb}
	for _, need := range []admission.Usage{
		{Processors: 4, Memory: 100 * mb},
		{Processors: 5, Memory: 100 * mb},
		{Processors: 2, Memory: 600 * mb},
		{Processors: 2, Memory: 1200 * mb},
		{Processors: 2, Memory: 1501 * mb},
	} {
		fmt.Printf("%d processors, %4d MB:", need.Processors, need.Memory/mb)
		for _, relaxed := range []bool{false, true} {
			d := pool.Fits(used, need, relaxed)
			switch {
			case d.Admit:
				fmt.Print("  start")
			case d.Never:
				fmt.Print("  never")
			default:
				fmt.Printf("  wait for %d processors, %d MB", d.Short.Processors, d.Short.Memory/mb)
			}
		}
		fmt.Println()
	}
	// Output:
	// 4 processors,  100 MB:  start  start
	// 5 processors,  100 MB:  wait for 1 processors, 0 MB  wait for 1 processors, 0 MB
	// 2 processors,  600 MB:  wait for 0 processors, 500 MB  start
	// 2 processors, 1200 MB:  wait for 0 processors, 1100 MB  wait for 0 processors, 600 MB
	// 2 processors, 1501 MB:  never  never
}

// A caller that would rather run a job too big for the memory than refuse it
// starts it alone. Too many processors cannot be helped.
func ExampleDecision() {
	pool, err := admission.NewPool(admission.PoolConfig{Processors: 10, Memory: 1000})
	if err != nil {
		panic(err)
	}
	start := func(used, need admission.Usage) bool {
		d := pool.Fits(used, need, false)
		alone := d.Never && used == admission.Usage{} && d.Short.Processors == 0
		return d.Admit || alone
	}
	nothing, something := admission.Usage{}, admission.Usage{Processors: 1, Memory: 1}
	fmt.Println(start(something, admission.Usage{Processors: 1, Memory: 1200}))
	fmt.Println(start(nothing, admission.Usage{Processors: 1, Memory: 1200}))
	fmt.Println(start(nothing, admission.Usage{Processors: 11, Memory: 1200}))
	// Output:
	// false
	// true
	// false
}

// A job of one minute, submitted at 9:00, with T = 25.
func ExampleThreshold() {
	submit := 9 * time.Hour
	threshold, err := admission.Threshold(submit, time.Minute, 25)
	if err != nil {
		panic(err)
	}
	fmt.Println("schedule a pass at", threshold)
	for _, now := range []time.Duration{submit, threshold - 1, threshold} {
		fmt.Println(now, now >= threshold)
	}
	// Output:
	// schedule a pass at 9h25m0s
	// 9h0m0s false
	// 9h24m59.999999999s false
	// 9h25m0s true
}
