package paging

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ErrFit is returned for points that do not determine a model.
var ErrFit = errors.New("paging: points do not determine the model")

// Quality tells how well a model meets points that were measured.
type Quality struct {
	// R2 is the share of the variance of the rates that the model explains,
	// 1 − Σ(measured − model)² / Σ(measured − mean)²: 1 if it meets every point,
	// negative if the mean would do better, NaN if all rates are equal.
	R2 float64

	// ResidualError is the residual standard error, in faults per second:
	// √(Σ(measured − model)² / (points − fitted parameters)). NaN if no more
	// points are there than parameters.
	ResidualError float64
}

// Fit is a model with the parameters that meet points best, by least squares.
type Fit[M any] struct {
	Model M

	// StandardErrors of the parameters: 0 for one that was given, NaN for one
	// at its bound, and if no more points are there than parameters. For Eq. (1)
	// they are those of its linearisation.
	StandardErrors M

	Quality
}

// Assess returns how well a model meets the rates measured at x, whoever made
// it; fitted is the number of its parameters that were fitted to these points. It
// panics if the lengths of x and rate differ. Cost O(n). Calls may run
// concurrently.
func Assess(model func(x float64) float64, fitted int, x, rate []float64) Quality {
	sameLength(x, rate)
	mean, residuals, deviations := 0.0, 0.0, 0.0
	for _, r := range rate {
		mean += r / float64(len(rate))
	}
	for i, r := range rate {
		residuals += square(r - model(x[i]))
		deviations += square(r - mean)
	}
	q := Quality{R2: math.NaN(), ResidualError: math.NaN()}
	if deviations > 0 {
		q.R2 = 1 - residuals/deviations
	}
	if len(rate) > fitted {
		q.ResidualError = math.Sqrt(residuals / float64(len(rate)-fitted))
	}
	return q
}

// FitLine fits Eq. (2) to the rates measured at x. It needs points at two
// different x at least.
//
// Points that are too few, or not finite, or whose sums overflow, are refused
// with [ErrFit]. It panics if the lengths of x and rate differ. Cost O(n). Calls
// may run concurrently. The last digits may differ between platforms.
func FitLine(x, rate []float64) (Fit[Line], error) {
	if err := enough(x, rate, 2); err != nil {
		return Fit[Line]{}, err
	}
	j := mat.NewDense(len(x), 2, nil)
	for i := range x {
		j.SetRow(i, []float64{1, x[i]})
	}
	p, scale, ok := leastSquares(j, rate, 0)
	if !ok {
		return Fit[Line]{}, fmt.Errorf("line through %d points, their x too close or too large: %w", len(x), ErrFit)
	}
	l := Line{Intercept: p[0], Slope: p[1]}
	q := Assess(l.printed, 2, x, rate)
	return Fit[Line]{l, Line{scale[0] * q.ResidualError, scale[1] * q.ResidualError}, q}, nil
}

// FitMemory fits Eq. (1) to the rates measured with memory exceeded by q > 0. The
// largest rate is fitted too if maximum is 0, and is maximum otherwise, which
// helps where few points were measured near it. As one of α, β, γ and δ is a
// matter of choice, α is 4 as in the paper. The bounds β, γ ≥ 0 see to it that the
// rate rises with q; a parameter at its bound of exactly 0 says that the points
// have another shape, or too much noise to tell.
//
// It needs points at as many different q as there are parameters, four, or three
// with the maximum given, and more to have standard errors. Points that are too
// few, or not finite, rates that are negative or all 0, a q ≤ 0 and a bad maximum
// are refused with [ErrFit]; so are points that show no largest rate, as on a
// straight line, and points that many curves fit as well, as those of one rate.
//
// It panics if the lengths of q and rate differ. It tries some 400 curves and
// improves the best of them in a hundred steps or so, each of cost O(n). Calls may
// run concurrently. The last digits may differ between platforms.
func FitMemory(q, rate []float64, maximum float64) (Fit[MemoryRate], error) {
	free := 4
	if maximum != 0 {
		free = 3
	}
	if !(maximum >= 0) || math.IsInf(maximum, 1) {
		return Fit[MemoryRate]{}, fmt.Errorf("largest rate %v given: %w", maximum, ErrFit)
	}
	if err := enough(q, rate, free); err != nil {
		return Fit[MemoryRate]{}, err
	}
	for i := range q {
		if q[i] <= 0 || rate[i] < 0 {
			return Fit[MemoryRate]{}, fmt.Errorf("rate %v at Q = %v: %w", rate[i], q[i], ErrFit)
		}
	}
	if slices.Max(rate) == 0 {
		return Fit[MemoryRate]{}, fmt.Errorf("no faults at any of %d points: %w", len(q), ErrFit)
	}
	// The best curve has all parameters within their bounds, or one of β and γ is
	// 0; both cannot be.
	var best curve
	var fitted []int
	least, unsettled := math.Inf(1), math.Inf(1)
	for _, free := range [][]int{{0, 1, 2, 3}, {1, 2, 3}, {0, 2, 3}} {
		if maximum != 0 {
			free = free[:len(free)-1]
		}
		for _, c := range starts(q, rate, free, maximum) {
			switch sum, ok := c.descend(q, rate, free); {
			case !ok:
				unsettled = min(unsettled, sum)
			case sum < least:
				best, fitted, least = c, free, sum
			}
		}
	}
	// Without a largest rate, curves get better for ever the larger it is. What
	// cannot be told from rounding is not better.
	rounding := 1e-20 * floats.Dot(rate, rate)
	if fitted == nil || unsettled < 0.999*least-rounding {
		return Fit[MemoryRate]{}, fmt.Errorf("%d points that do not rise towards a largest rate: %w", len(q), ErrFit)
	}
	j, r := best.linearise(q, rate, fitted)
	_, scale, ok := leastSquares(j, r, 0)
	if !ok {
		return Fit[MemoryRate]{}, fmt.Errorf("%d points that many curves meet as well: %w", len(q), ErrFit)
	}
	m := best.rate()
	quality := Assess(m.printed, len(fitted), q, rate)
	e := curve{math.NaN(), math.NaN(), math.NaN(), 0}
	for i, k := range fitted {
		e[k] = scale[i] * quality.ResidualError
	}
	standard := e.rate()
	standard.Alpha = 0
	return Fit[MemoryRate]{m, standard, quality}, nil
}

// curve is Eq. (1) as it is fitted: β/α, γ/α, δ/α and Max.
type curve [4]float64

func (c curve) rate() MemoryRate {
	return MemoryRate{Max: c[3], Alpha: 4, Beta: 4 * c[0], Gamma: 4 * c[1], Delta: 4 * c[2]}
}

// gap returns Max − R(q).
func (c curve) gap(q float64) float64 { return 1 / ((c[0]*q+c[1])*q + c[2]) }

// starts returns up to three curves to descend from: there are valleys beside each
// other, and the deepest is not always the best place to start. They are the best
// of a grid over the shape, which γ/δ and β/δ tell. For a given shape it is a
// linear fit to 1/(1 + γ/δ·Q + β/δ·Q²), of which Max is the intercept, or given,
// and −α/δ the slope.
func starts(q, rate []float64, free []int, maximum float64) []curve {
	gs, hs := []float64{0}, []float64{0}
	top := slices.Max(q)
	if slices.Contains(free, 1) {
		gs = powers(top)
	}
	if slices.Contains(free, 0) {
		hs = powers(top * top)
	}
	var found []curve // the best for each g
	var sums []float64
	for _, g := range gs {
		best, least := curve{}, math.Inf(1)
		for _, h := range hs {
			shape := func(x float64) float64 { return 1 / ((h*x+g)*x + 1) }
			meanShape, meanRate := 0.0, maximum
			if maximum == 0 {
				for i, x := range q {
					meanShape += shape(x) / float64(len(q))
					meanRate += rate[i] / float64(len(q))
				}
			}
			xx, xy := 0.0, 0.0
			for i, x := range q {
				xx += square(shape(x) - meanShape)
				xy += (shape(x) - meanShape) * (rate[i] - meanRate)
			}
			slope := xy / xx
			c := curve{-h / slope, -g / slope, -1 / slope, meanRate - slope*meanShape}
			if sum := c.squares(q, rate); sum < least {
				best, least = c, sum
			}
		}
		if least < math.Inf(1) {
			at, _ := slices.BinarySearch(sums, least)
			sums, found = slices.Insert(sums, at, least), slices.Insert(found, at, best)
		}
	}
	return found[:min(len(found), 3)]
}

// powers returns the powers of 2 from 1/16 to 2¹⁴ in units of 1/x.
func powers(x float64) (p []float64) {
	for k := -4; k <= 14; k++ {
		p = append(p, math.Ldexp(1, k)/x)
	}
	return p
}

// squares returns the sum of what c misses squared, +Inf for a curve that is out
// of bounds.
func (c curve) squares(q, rate []float64) (sum float64) {
	if !(c[0] >= 0 && c[1] >= 0 && c[2] > 0) {
		return math.Inf(1)
	}
	for i, x := range q {
		sum += square(rate[i] - (c[3] - c.gap(x)))
	}
	return sum
}

// descend improves the free parameters of c until the sum of squares, which it
// returns, is at a minimum: the method of Levenberg and Marquardt.
func (c *curve) descend(q, rate []float64, free []int) (sum float64, ok bool) {
	sum = c.squares(q, rate)
	damping := 1e-3
	for range 200 {
		j, r := c.linearise(q, rate, free)
		step, _, ok := leastSquares(j, r, damping)
		if !ok {
			return math.Inf(1), false
		}
		next, converged := *c, true
		for i, k := range free {
			next[k] += step[i]
			converged = converged && math.Abs(step[i]) <= 1e-10*math.Abs(c[k])
		}
		if s := next.squares(q, rate); s < sum {
			*c, sum = next, s
			damping = max(damping/10, 1e-16)
		} else {
			damping *= 10
		}
		if converged {
			return sum, true
		}
	}
	return sum, false
}

// linearise returns the derivatives of c by its free parameters, and what it
// misses at each point.
func (c curve) linearise(q, rate []float64, free []int) (j *mat.Dense, r []float64) {
	j, r = mat.NewDense(len(q), len(free), nil), make([]float64, len(q))
	for i, x := range q {
		gap := c.gap(x)
		r[i] = rate[i] - (c[3] - gap)
		row := curve{gap * gap * x * x, gap * gap * x, gap * gap, 1}
		for column, k := range free {
			j.Set(i, column, row[k])
		}
	}
	return j, r
}

// leastSquares returns the x that minimises |jx − r|² + damping·|norm·x|² with the
// norms of j's columns, and the standard error of each x for residuals of
// standard error 1. !ok if x is not determined.
func leastSquares(j *mat.Dense, r []float64, damping float64) (x, scale []float64, ok bool) {
	n, m := j.Dims()
	a, b := mat.NewDense(n+m, m, nil), mat.NewVecDense(n+m, nil)
	norm := make([]float64, m)
	for k := range m {
		norm[k] = mat.Norm(j.ColView(k), 2)
		if !(norm[k] > 0) || math.IsInf(norm[k], 1) {
			return nil, nil, false
		}
		for i := range n {
			a.Set(i, k, j.At(i, k)/norm[k])
		}
		a.Set(n+k, k, math.Sqrt(damping))
	}
	for i := range n {
		b.SetVec(i, r[i])
	}
	var qr mat.QR
	qr.Factorize(a)
	if !(qr.Cond() < 1e13) {
		return nil, nil, false
	}
	var solution mat.VecDense
	if qr.SolveVecTo(&solution, false, b) != nil {
		return nil, nil, false
	}
	// The variances are on the diagonal of (aᵀa)⁻¹ = R⁻¹R⁻ᵀ, for a = QR.
	var full mat.Dense
	qr.RTo(&full)
	upper := mat.NewTriDense(m, mat.Upper, nil)
	for i := range m {
		for k := i; k < m; k++ {
			upper.SetTri(i, k, full.At(i, k))
		}
	}
	var inverse mat.TriDense
	if inverse.InverseTri(upper) != nil {
		return nil, nil, false
	}
	x, scale = make([]float64, m), make([]float64, m)
	for k := range m {
		x[k] = solution.AtVec(k) / norm[k]
		scale[k] = floats.Norm(mat.Row(nil, k, &inverse), 2) / norm[k]
		if math.IsNaN(x[k]) || math.IsInf(x[k], 0) {
			return nil, nil, false
		}
	}
	return x, scale, true
}

// enough refuses points that are not finite, or at fewer different x than
// parameters have to be found.
func enough(x, rate []float64, parameters int) error {
	sameLength(x, rate)
	for i := range x {
		if !(math.Abs(x[i]) <= math.MaxFloat64 && math.Abs(rate[i]) <= math.MaxFloat64) {
			return fmt.Errorf("rate %v at %v: %w", rate[i], x[i], ErrFit)
		}
	}
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	if different := len(slices.Compact(sorted)); different < parameters {
		return fmt.Errorf("points at %d different x, %d parameters: %w", different, parameters, ErrFit)
	}
	return nil
}

func sameLength(x, rate []float64) {
	if len(x) != len(rate) {
		panic("paging: as many rates as x are needed")
	}
}

func square(x float64) float64 { return x * x }
