package gang_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/gang"
)

const ms = time.Millisecond

func local(programs ...gang.Program) *gang.Local {
	return &gang.Local{Program: func(job int) gang.Program { return programs[job] }, Rand: rand.New(rand.NewPCG(1, 2))}
}

func TestProgramAlone(t *testing.T) {
	p := &partners{cpu: map[int][]float64{}}
	r := run(t, []gang.Job{{Nodes: 3}}, gang.Config{
		Nodes: 4, Quantum: s, Partner: p, Machine: local(gang.Program{Compute: 30 * ms, IO: 20 * ms, Barriers: 50}),
	})
	assert.InDelta(t, 2500*ms, r.Jobs[0].End, 1)
	assert.InDeltaSlice(t, []float64{.6, .6, .3}, p.cpu[0], 1e-9)
}

// Two that compute all the time get half each; one that hardly computes loses
// next to nothing beside one that does, and takes next to nothing from it.
func TestProgramsShareAProcessor(t *testing.T) {
	for _, c := range []struct {
		name          string
		programs      [2]gang.Program
		first, second float64 // barriers a second
		streams       int
	}{
		{name: "two that compute", programs: [2]gang.Program{{Compute: 50 * ms}, {Compute: 50 * ms}}, first: 10, second: 10},
		{name: "long computation beside short", programs: [2]gang.Program{{Compute: s}, {Compute: 10 * ms}}, first: .5, second: 50},
		{name: "computation beside I/O", programs: [2]gang.Program{{Compute: 50 * ms}, {IO: 50 * ms}}, first: 20, second: 20},
		{name: "I/O beside I/O", programs: [2]gang.Program{{IO: 50 * ms}, {IO: 50 * ms}}, first: 20, second: 20},
		{name: "the same on one server", programs: [2]gang.Program{{IO: 50 * ms}, {IO: 50 * ms}}, first: 10, second: 10, streams: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := local(c.programs[:]...)
			m.Streams = c.streams
			var first, second int
			_, err := gang.Run(t.Context(), []gang.Job{{Nodes: 2}, {Nodes: 2}}, gang.Config{
				Nodes: 2, Quantum: s, Partner: &partners{cpu: map[int][]float64{}}, Machine: m, Until: 20 * s,
				Watch: func(time.Duration, *gang.Cluster) { first, second = m.Barriers(0), m.Barriers(1) },
			})
			require.NoError(t, err)
			// The last watch is before the last quantum.
			assert.InDelta(t, c.first, float64(first)/19, .6)
			assert.InDelta(t, c.second, float64(second)/19, .6)
		})
	}
}

// Processes of different lengths wait for the slowest: n uniform times on [½, 1½]
// have a mean maximum of ½ + n/(n+1).
func TestBarrierWaitsForTheSlowest(t *testing.T) {
	for _, n := range []int{1, 4, 16} {
		m := local(gang.Program{Compute: 10 * ms, Spread: .5, Barriers: 3000})
		r := run(t, []gang.Job{{Nodes: n}}, gang.Config{Nodes: n, Quantum: s, Machine: m})
		want := 3000 * .010 * (.5 + float64(n)/float64(n+1))
		assert.InEpsilon(t, want, r.Jobs[0].End.Seconds(), .02, "%d processes", n)
	}
}

// No processor computes more than there is time, and what is measured adds up to
// the barriers passed.
func TestProcessorTimeIsConserved(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		programs := []gang.Program{
			{Compute: 1 + time.Duration(r.Int64N(int64(40*ms))), IO: time.Duration(r.Int64N(int64(40 * ms))), Spread: r.Float64(), Barriers: 100},
			{Compute: 1 + time.Duration(r.Int64N(int64(40*ms))), IO: time.Duration(r.Int64N(int64(40 * ms))), Spread: r.Float64(), Barriers: 100},
		}
		p := &partners{cpu: map[int][]float64{}}
		m := local(programs...)
		m.Streams = r.IntN(4)
		run(t, []gang.Job{{Nodes: 3}, {Nodes: 3}}, gang.Config{Nodes: 3, Quantum: s, Partner: p, Machine: m})
		for job, list := range p.cpu {
			sum := 0.
			for q, cpu := range list {
				sum += cpu
				if other := p.cpu[1-job]; q < len(other) {
					require.LessOrEqual(t, cpu+other[q], 1+1e-9)
				}
			}
			assert.InEpsilon(t, 100*programs[job].Compute.Seconds(), sum, .25*programs[job].Spread+1e-9)
		}
	}
}

func TestProgramsThatCannotBe(t *testing.T) {
	for _, p := range []gang.Program{
		{}, {Compute: -1}, {Compute: 1, IO: -1}, {Compute: 1, Spread: 2}, {Compute: 1, Spread: math.NaN()}, {Compute: 1, Barriers: -1},
	} {
		_, err := gang.Run(t.Context(), []gang.Job{{Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: local(p)})
		require.ErrorIs(t, err, gang.ErrJob, "%+v", p)
	}
	for _, m := range []*gang.Local{{Streams: -1}, {Slice: -1}} {
		m.Program = func(int) gang.Program { return gang.Program{Compute: 1} }
		_, err := gang.Run(t.Context(), []gang.Job{{Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: m})
		require.ErrorIs(t, err, gang.ErrConfig)
	}
}
