package lublin

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ErrConfig is wrapped by every error of New. The message names the value.
var ErrConfig = errors.New("lublin: bad configuration")

const (
	// HalfHours is the number of steps of the daily cycle.
	HalfHours = 48

	published = 128 // processors of the machine the published values are for
	firstStep = 10  // the gamma distribution of the daily cycle begins at 5:00
	maxRun    = 12  // greatest logarithm of a run time in seconds
	maxGap    = 13  // greatest logarithm of a gap in seconds
	leastMass = .01 // least probability of a draw below those limits
)

// Gamma is a gamma distribution with mean Shape·Scale.
type Gamma struct {
	Shape, Scale float64 // .001 .. 1e6 each
}

// below returns the probability of a value of at most x.
func (g Gamma) below(x float64) float64 { return mathext.GammaIncReg(g.Shape, x/g.Scale) }

func (g Gamma) check(name string) error {
	for _, v := range [...]float64{g.Shape, g.Scale} {
		if !(v >= 1e-3 && v <= 1e6) {
			return fmt.Errorf("%s: gamma shape %v, scale %v not in [0.001, 1e6]: %w", name, g.Shape, g.Scale, ErrConfig)
		}
	}
	return nil
}

// Parameters describes one class of jobs; the package comment says how the
// values are used. Field names are the paper's and its program's. Logarithms of
// sizes are to base 2, of times in seconds to base e.
type Parameters struct {
	Serial     float64 // share of all jobs that have one processor
	PowerOfTwo float64 // share of all jobs whose size is rounded to a power of two

	ULow  float64 // least log2 of a parallel job's size, >= 0
	UMed  float64 // log2 of the size where common and rare sizes meet
	UHi   float64 // greatest log2 of a size, at most that of the machine
	UProb float64 // share of parallel jobs with log2 of size in [ULow, UMed)

	Run1, Run2 Gamma   // log of the run time, short and long jobs
	PA, PB     float64 // a job of n processors is short with probability PA·n + PB

	Gap  Gamma   // log of the gap between arrivals in the rush hours
	ARAR float64 // factor on Gap.Shape for all hours: "arrive rush all ratio"
	Day  Gamma   // density of arrivals over the day in half hours, from 0:00 and beyond 24:00
}

// Typeless returns the published values of all jobs as one class. UMed and UHi,
// published for 128 processors, move with the logarithm of the machine size:
// UHi is log2(processors), and UMed is UHi − 2.5 as the authors advise. Machines
// so small that the ranges would cross or fall below 0 get empty ranges instead.
// PA stays, although it was fitted for about 128 processors. A number of
// processors of 0 or less means 128.
func Typeless(processors int) Parameters {
	return Parameters{
		Serial: .244, PowerOfTwo: .576,
		ULow: .8, UMed: 4.5, UHi: 7, UProb: .86,
		Run1: Gamma{4.2, .94}, Run2: Gamma{312, .03},
		PA: -.0054, PB: .78,
		Gap: Gamma{10.2303, .4871}, ARAR: 1.0225,
		Day: Gamma{8.1737, 3.9631},
	}.fit(processors)
}

// Batch returns the published values of the batch class, moved to the machine
// size as those of Typeless: UHi is log2(processors), UMed is UHi − 2.
func Batch(processors int) Parameters {
	return Parameters{
		Serial: .2927, PowerOfTwo: .6686,
		ULow: 1.2, UMed: 5, UHi: 7, UProb: .875,
		Run1: Gamma{6.57, .823}, Run2: Gamma{639.1, .0156},
		PA: -.003, PB: .6986,
		Gap: Gamma{6.0415, .8531}, ARAR: 1.0519,
		Day: Gamma{6.1271, 5.2740},
	}.fit(processors)
}

// Interactive returns the published values of the interactive class, moved to
// the machine size as those of Typeless: UHi is log2(processors) − 1.5, UMed is
// UHi − 2.5.
func Interactive(processors int) Parameters {
	return Parameters{
		Serial: .1541, PowerOfTwo: .625,
		ULow: 1, UMed: 3, UHi: 5.5, UProb: .705,
		Run1: Gamma{3.8351, .6605}, Run2: Gamma{7.073, .6856},
		PA: -.0118, PB: .9156,
		Gap: Gamma{6.5510, .6621}, ARAR: .9797,
		Day: Gamma{8.9186, 3.6680},
	}.fit(processors)
}

// fit moves the upper ranges of sizes from 128 processors to another number.
func (p Parameters) fit(processors int) Parameters {
	if processors <= 0 {
		processors = published
	}
	move := math.Log2(float64(processors)) - math.Log2(published)
	p.UHi = max(p.UHi+move, 0)
	p.ULow = min(p.ULow, p.UHi)
	p.UMed = max(p.UMed+move, p.ULow)
	return p
}

// DailyCycle returns the rate of arrivals in each half hour of the day relative
// to the day's mean; element 0 begins at midnight, and the elements sum to 48.
// The cycle's gamma distribution is cut into half hours that begin at 5:00. Cost
// is that of 49 values of the incomplete gamma function. The result is not
// meaningful if New would refuse p.
func (p Parameters) DailyCycle() [HalfHours]float64 {
	var w [HalfHours]float64
	sum := 0.0
	lo := p.Day.below(firstStep + .5)
	for i := firstStep; i < firstStep+HalfHours; i++ {
		hi := p.Day.below(float64(i) + 1.5)
		w[i%HalfHours] = hi - lo
		sum += hi - lo
		lo = hi
	}
	for b := range w {
		w[b] *= HalfHours / sum
	}
	return w
}

func (p Parameters) check(name string, processors int) error {
	refuse := func(format string, v ...any) error {
		return fmt.Errorf("%s: %s: %w", name, fmt.Sprintf(format, v...), ErrConfig)
	}
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	const slack = 1e-9 // of sums and logarithms
	switch largest := math.Log2(float64(processors)); {
	case !share(p.Serial) || !share(p.PowerOfTwo) || p.Serial+p.PowerOfTwo > 1+slack:
		return refuse("shares Serial %v, PowerOfTwo %v not in [0, 1] together", p.Serial, p.PowerOfTwo)
	case !share(p.UProb):
		return refuse("UProb %v not in [0, 1]", p.UProb)
	case !(0 <= p.ULow && p.ULow <= p.UMed && p.UMed <= p.UHi && p.UHi <= largest+slack):
		return refuse("not 0 <= ULow %v <= UMed %v <= UHi %v <= log2 of %d processors = %v",
			p.ULow, p.UMed, p.UHi, processors, largest)
	case math.IsNaN(p.PA) || math.IsInf(p.PA, 0) || math.IsNaN(p.PB) || math.IsInf(p.PB, 0):
		return refuse("PA %v or PB %v not finite", p.PA, p.PB)
	case !(p.ARAR > 0 && p.ARAR <= 1e6):
		return refuse("ARAR %v not in (0, 1e6]", p.ARAR)
	}
	gap := p.gap()
	err := errors.Join(p.Run1.check(name+", Run1"), p.Run2.check(name+", Run2"),
		p.Gap.check(name+", Gap"), gap.check(name+", Gap with ARAR"), p.Day.check(name+", Day"))
	if err != nil {
		return err
	}
	// Draws above the limits are repeated: their end must be near.
	switch {
	case !(p.Run1.below(maxRun) >= leastMass):
		return refuse("Run1 %v is hardly ever below %d, the log of the longest run", p.Run1, maxRun)
	case !(p.Run2.below(maxRun) >= leastMass):
		return refuse("Run2 %v is hardly ever below %d, the log of the longest run", p.Run2, maxRun)
	case !(gap.below(maxGap) >= leastMass):
		return refuse("Gap %v with ARAR %v is hardly ever below %d, the log of the longest gap", p.Gap, p.ARAR, maxGap)
	case !(p.Day.below(firstStep+HalfHours+.5)-p.Day.below(firstStep+.5) >= leastMass):
		return refuse("Day %v has hardly any arrivals between 5:00 and 5:00", p.Day)
	}
	return nil
}

// gap returns the distribution of the log of the gap over all hours.
func (p Parameters) gap() Gamma { return Gamma{p.ARAR * p.Gap.Shape, p.Gap.Scale} }
