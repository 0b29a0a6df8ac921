package lublin

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Job is one job of the stream.
type Job struct {
	Submit      time.Duration // arrival since the start of the clock, in whole seconds
	Run         time.Duration // run time, in whole seconds, 1 .. 162,754
	Processors  int           // 1 .. Config.Processors
	Memory      int64         // bytes per process, which is per processor; > 0; synthetic
	Utilisation float64       // CPU utilisation, in (0, 1]; synthetic
	Interactive bool          // of the interactive class; always false in typeless mode
}

// Config chooses a workload. The zero value is the published typeless model of a
// machine with 128 processors.
type Config struct {
	Processors int  // of the machine; 0 means 128; at most 1<<30
	Typed      bool // a batch and an interactive class instead of one class

	Typeless    Parameters // zero means Typeless(Processors); unused if Typed
	Batch       Parameters // zero means Batch(Processors); used if Typed
	Interactive Parameters // zero means Interactive(Processors); used if Typed

	Start int // hour of day at which the clock starts, 0 .. 23

	MedianMemory int64   // bytes per process; 0 means 3.1 MB (MB = 1<<20)
	P99Memory    int64   // 99th percentile, >= MedianMemory; 0 means 24 MB; equal to the median: constant
	Utilisation  float64 // the same for all jobs, in (0, 1]; 0 means uniform on (0, 1]
}

// Model is an unending stream of jobs in order of arrival. A Model must not be
// used concurrently; separate Models may.
type Model struct {
	processors  int
	classes     []class
	memory      *rand.Rand
	median      float64 // of memory
	sigma       float64 // standard deviation of the log of memory
	utilisation *rand.Rand
	constant    float64 // utilisation of all jobs, or 0
}

// class is one kind of jobs and the clock of its arrivals.
type class struct {
	Parameters
	rand       *rand.Rand // of sizes and run times
	run1, run2 distuv.Gamma

	gap       distuv.Gamma
	weights   [HalfHours]float64
	halfHours int64   // whole half hours since the start of the clock
	bucket    int     // the half hour of the day
	points    float64 // position in it, in (0, weights[bucket]]
}

// New returns the model c, seeded from r. It draws twelve numbers from r, the
// same for every Config, and does not keep r. They seed six independent PCG
// streams: the arrivals and the sizes with run times of either class, memory,
// and utilisation. So a change of the attributes changes neither arrivals nor
// sizes nor run times, and the same seed on another machine size has the same
// arrivals.
//
// The error wraps ErrConfig and names the value.
func New(c Config, r *rand.Rand) (*Model, error) {
	if c.Processors == 0 {
		c.Processors = published
	}
	if c.MedianMemory == 0 {
		c.MedianMemory = 31 << 20 / 10
	}
	if c.P99Memory == 0 {
		c.P99Memory = 24 << 20
	}
	switch {
	case c.Processors < 0 || c.Processors > 1<<30:
		return nil, fmt.Errorf("%d processors, not in 1 .. 1<<30: %w", c.Processors, ErrConfig)
	case c.Start < 0 || c.Start > 23:
		return nil, fmt.Errorf("start at hour %d, not in 0 .. 23: %w", c.Start, ErrConfig)
	case c.MedianMemory < 0 || c.P99Memory < c.MedianMemory:
		return nil, fmt.Errorf("memory: not 0 < median %d <= 99th percentile %d bytes: %w",
			c.MedianMemory, c.P99Memory, ErrConfig)
	case !(c.Utilisation >= 0 && c.Utilisation <= 1):
		return nil, fmt.Errorf("utilisation %v not in [0, 1]: %w", c.Utilisation, ErrConfig)
	}

	type set struct {
		name      string
		given     Parameters
		published func(processors int) Parameters
	}
	sets := []set{{"typeless", c.Typeless, Typeless}}
	if c.Typed {
		sets = []set{{"batch", c.Batch, Batch}, {"interactive", c.Interactive, Interactive}}
	}
	for i := range sets {
		if sets[i].given == (Parameters{}) {
			sets[i].given = sets[i].published(c.Processors)
		}
		if err := sets[i].given.check(sets[i].name, c.Processors); err != nil {
			return nil, err
		}
	}

	var streams [6]*rand.Rand
	for i := range streams {
		streams[i] = rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
	}
	m := &Model{
		processors:  c.Processors,
		memory:      streams[4],
		median:      float64(c.MedianMemory),
		sigma:       math.Log(float64(c.P99Memory)/float64(c.MedianMemory)) / distuv.UnitNormal.Quantile(.99),
		utilisation: streams[5],
		constant:    c.Utilisation,
	}
	for i, set := range sets {
		p := set.given
		arrivals, jobs := streams[2*i], streams[2*i+1]
		k := class{
			Parameters: p,
			rand:       jobs,
			run1:       p.Run1.source(jobs),
			run2:       p.Run2.source(jobs),
			gap:        p.gap().source(arrivals),
			weights:    p.DailyCycle(),
			bucket:     2 * c.Start,
		}
		k.advance()
		m.classes = append(m.classes, k)
	}
	return m, nil
}

func (g Gamma) source(r *rand.Rand) distuv.Gamma {
	return distuv.Gamma{Alpha: g.Shape, Beta: 1 / g.Scale, Src: r}
}

// Next returns the next job. Jobs come in order of Submit; of two in the same
// second batch precedes interactive. The clock itself is exact; only its value
// in the job is cut to whole seconds, as run times are, so that a job survives
// the Standard Workload Format unchanged. (The authors' program cuts the clock
// itself at every job and so drifts from the daily cycle, by some 14 hours in
// 100,000 jobs.) From the 292nd year on, which is about ten million jobs, Submit
// stays at the last second that a time.Duration can hold.
//
// Next is O(1). It may differ from platform to platform only where the last bit
// of an exponential decides a whole second or byte, once in about 10⁹ jobs.
func (m *Model) Next() Job {
	i := 0
	if len(m.classes) == 2 && m.classes[1].seconds() < m.classes[0].seconds() {
		i = 1
	}
	c := &m.classes[i]
	const last = math.MaxInt64 / int64(time.Second)
	submit := time.Duration(min(c.seconds(), last)) * time.Second
	c.advance()

	size := c.size(m.processors)
	run := c.run(size)

	memory := m.median * math.Exp(m.sigma*m.memory.NormFloat64())
	utilisation := m.constant
	if utilisation == 0 {
		utilisation = 1 - m.utilisation.Float64()
	}
	return Job{
		Submit:      submit,
		Run:         run,
		Processors:  size,
		Memory:      int64(min(max(memory, 1), 1<<62)),
		Utilisation: utilisation,
		Interactive: i == 1,
	}
}

// advance moves the clock to the next arrival.
func (c *class) advance() {
	g := c.gap.Rand()
	for g > maxGap {
		g = c.gap.Rand()
	}
	c.points += math.Exp(g) / 1800
	for c.points > c.weights[c.bucket] {
		c.points -= c.weights[c.bucket]
		c.bucket = (c.bucket + 1) % HalfHours
		c.halfHours++
	}
}

// seconds returns the time of the next arrival, cut to a whole second.
func (c *class) seconds() int64 {
	return c.halfHours*1800 + int64(1800*(c.points/c.weights[c.bucket]))
}

// size draws a job's number of processors.
func (c *class) size(processors int) int {
	u := c.rand.Float64()
	if u < c.Serial {
		return 1
	}
	lo, hi := c.ULow, c.UMed
	if c.rand.Float64() >= c.UProb {
		lo, hi = c.UMed, c.UHi
	}
	x := lo + float64(c.rand.Float64()*(hi-lo))
	if u < c.Serial+c.PowerOfTwo {
		// On a machine of 100 processors the greatest power is 64, not 128.
		return 1 << min(int(x+.5), bits.Len(uint(processors))-1)
	}
	return min(int(math.Exp2(x)+.5), processors)
}

// run draws the run time of a job of the given size.
func (c *class) run(size int) time.Duration {
	p := float64(c.PA*float64(size)) + c.PB // below 0 is never, above 1 always
	for {
		gamma := &c.run2
		if c.rand.Float64() < p {
			gamma = &c.run1
		}
		if g := gamma.Rand(); g <= maxRun {
			return time.Duration(math.Exp(g)) * time.Second
		}
	}
}
