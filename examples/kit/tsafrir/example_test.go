package tsafrir_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/kit/lublin"
	"github.com/gangkit/gangkit/examples/kit/tsafrir"
)

// Five thousand generated jobs get estimates of at most 36 hours: the limit cuts
// the runs, and a draw that does not suffice is repeated.
func ExampleEstimates() {
	const limit = 36 * time.Hour
	r := rand.New(rand.NewPCG(1, 2))
	m, err := lublin.New(lublin.Config{}, r)
	if err != nil {
		panic(err)
	}
	runs := make([]time.Duration, 5000)
	for i := range runs {
		runs[i] = min(m.Next().Run, limit)
	}
	estimates, err := tsafrir.Estimates(runs, limit, r)
	for try := 1; errors.Is(err, tsafrir.ErrShort) && try < 10; try++ {
		estimates, err = tsafrir.Estimates(runs, limit, r)
	}
	if err != nil {
		panic(err)
	}

	jobs := map[time.Duration]int{}
	for _, e := range estimates {
		jobs[e]++
	}
	var values []time.Duration
	for e := range jobs {
		values = append(values, e)
	}
	slices.SortFunc(values, func(a, b time.Duration) int { return jobs[b] - jobs[a] })
	fmt.Println(len(values), "different estimates, the most popular:")
	for _, e := range values[:6] {
		fmt.Printf("%8v %4d %s\n", e, jobs[e], strings.Repeat("#", jobs[e]/25))
	}
	// Output:
	// 59 different estimates, the most popular:
	//  36h0m0s 1086 ###########################################
	//   1h0m0s  515 ####################
	//  18h0m0s  436 #################
	//  12h0m0s  368 ##############
	//   4h0m0s  312 ############
	//  30h0m0s  265 ##########
}

func ExampleValues() {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		fmt.Println(n, "jobs have", tsafrir.Values(n), "different estimates")
	}
	// Output:
	// 100 jobs have 14 different estimates
	// 1000 jobs have 35 different estimates
	// 10000 jobs have 90 different estimates
	// 100000 jobs have 378 different estimates
}
