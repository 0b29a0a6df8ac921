package lublin_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gangkit/gangkit/examples/kit/lublin"
)

func ExampleModel_Next() {
	m, err := lublin.New(lublin.Config{Processors: 64, Start: 8}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		panic(err)
	}
	for range 8 {
		j := m.Next()
		fmt.Printf("%8v  %2d processors for %9v, %5.1f MB each, %3.0f %% CPU\n",
			j.Submit, j.Processors, j.Run, float64(j.Memory)/(1<<20), 100*j.Utilisation)
	}
	// Output:
	//   24m56s   2 processors for  2h29m56s,   3.5 MB each,  71 % CPU
	//   35m19s   2 processors for        2s,   3.6 MB each,  75 % CPU
	//  2h0m57s   4 processors for 10h38m43s,   6.7 MB each,  40 % CPU
	//  2h1m40s   2 processors for       55s,   1.0 MB each,  62 % CPU
	//  2h2m22s   4 processors for   5h7m26s,   1.5 MB each,  86 % CPU
	//   2h5m8s   1 processors for      6m4s,  11.1 MB each,  79 % CPU
	//  2h7m26s   2 processors for      3m0s,   2.9 MB each,  89 % CPU
	//  2h8m47s   2 processors for   6h46m1s,   6.9 MB each,  67 % CPU
}

// The day that the arrivals follow, one bar an hour.
func ExampleParameters_DailyCycle() {
	cycle := lublin.Typeless(128).DailyCycle()
	for hour := 1; hour < 24; hour += 2 {
		fmt.Printf("%2d h %.2f %s\n", hour, cycle[2*hour], strings.Repeat("#", int(20*cycle[2*hour]+.5)))
	}
	// Output:
	//  1 h 0.41 ########
	//  3 h 0.26 #####
	//  5 h 0.16 ###
	//  7 h 0.55 ###########
	//  9 h 1.10 ######################
	// 11 h 1.58 ################################
	// 13 h 1.82 ####################################
	// 15 h 1.78 ####################################
	// 17 h 1.55 ###############################
	// 19 h 1.23 #########################
	// 21 h 0.90 ##################
	// 23 h 0.62 ############
}
