package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gangkit/gangkit/examples/kit/lublin"
)

// The model of [Generate].
const (
	users    = 60
	programs = 200

	newProgram = 1. / 60 // chance at each submission that the user takes up another program,
	newSize    = 1. / 30 // another number of nodes,
	newInput   = 1. / 15 // another input
	spread     = .6      // sd of the logarithm of memory over the inputs of a program
	failure    = .1      // chance that a run ends early, with less than its memory
	page       = 4 << 10
	jitter     = 16 // pages, by which the memory of equal runs differs
)

// Generate returns n jobs of users who run the same thing again and again, which
// is what an estimate from earlier runs lives on. When jobs arrive, on how many
// nodes they may run, how long, and how much memory a program takes is the
// Lublin-Feitelson model (see package lublin). Who runs what is an invention:
//
//   - the k-th of 60 users submits in proportion to 1/k;
//   - a user goes on with the same program, input and number of nodes, but takes up
//     another of 200 programs with chance 1/60 at each submission, another number of
//     nodes with chance 1/30, and another input with chance 1/15;
//   - the memory of a program's inputs is lognormal around that of the program, with
//     a standard deviation of the logarithm of .6;
//   - equal runs differ by up to 15 pages of 4 KiB, and one run in ten fails early,
//     with 10 to 60 % of the memory.
//
// Jobs start when they arrive. The same seed gives the same jobs.
//
// Errors: [ErrEmpty] if n is not positive.
func Generate(n int, seed uint64) (*Log, error) {
	if n <= 0 {
		return nil, fmt.Errorf("%d jobs: %w", n, ErrEmpty)
	}
	model, err := lublin.New(lublin.Config{}, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 2))
	var base [programs]int64
	for i := range base {
		base[i] = model.Next().Memory
	}
	var weights [users]float64
	total := 0.
	for i := range weights {
		total += 1 / float64(i+1)
		weights[i] = total
	}
	type work struct {
		program, nodes int
		memory         float64
	}
	var doing [users]work
	l := &Log{
		Name:  fmt.Sprintf("generated jobs, seed %d", seed),
		Start: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		Jobs:  make([]Job, n),
	}
	begin := time.Duration(-1)
	for i := range l.Jobs {
		j := model.Next()
		if begin < 0 {
			begin = j.Submit
		}
		j.Submit -= begin
		user := 0
		for x := r.Float64() * total; user < users-1 && x >= weights[user]; {
			user++
		}
		w := &doing[user]
		fresh := w.nodes == 0
		if fresh || r.Float64() < newProgram {
			w.program, fresh = r.IntN(programs), true
		}
		if fresh || r.Float64() < newSize {
			w.nodes = j.Processors
		}
		if fresh || r.Float64() < newInput {
			w.memory = float64(base[w.program]) * math.Exp(spread*r.NormFloat64())
		}
		pages := math.Ceil(w.memory/page) + float64(r.IntN(jitter))
		if r.Float64() < failure {
			pages = math.Ceil(pages * (.1 + float64(.5*r.Float64())))
		}
		l.Jobs[i] = Job{
			Job:    identity(int64(w.program), w.nodes, int64(user)),
			Submit: j.Submit, End: j.Submit + j.Run,
			Memory: int64(pages) * page,
		}
	}
	return l, nil
}
