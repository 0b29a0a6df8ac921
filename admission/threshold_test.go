package admission_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

func TestThreshold(t *testing.T) {
	const forever time.Duration = math.MaxInt64
	for _, tt := range []struct {
		name        string
		submit, run time.Duration
		multiple    float64
		want        time.Duration
	}{
		{"control group, relaxed at once", 5 * time.Second, time.Hour, 0, 5 * time.Second},
		{"control group, run time unknown", 5 * time.Second, forever, 0, 5 * time.Second},
		{"as long as it runs", time.Second, time.Minute, 1, 61 * time.Second},
		{"a tenth of 10 s is a second", 0, 10 * time.Second, 0.1, time.Second},
		{"0.29 of 100 ns are 29 ns", 0, 100, 0.29, 29},
		{"rounded up", 0, 1, 0.001, 1},
		{"rounded up above a whole", 0, 3, 0.5, 2},
		{"the smallest multiple", 0, 1, math.SmallestNonzeroFloat64, 1},
		{"no run time", time.Second, 0, 25, time.Second},
		{"no run time, endless multiple", time.Second, 0, math.Inf(1), time.Second},
		{"never relaxed", time.Second, 1, math.Inf(1), forever},
		{"run time unknown", time.Second, forever, 25, forever},
		{"the sum exceeds a Duration", forever - 59, 60, 1, forever},
		{"the sum is just a Duration", forever - 60, 60, 1, forever},
		{"the sum is below", forever - 61, 60, 1, forever - 1},
		{"the product exceeds a Duration", 0, forever / 2, 3, forever},
		{"the largest multiple", 0, 1, math.MaxFloat64, forever},
		{"submitted before the epoch", -time.Hour, time.Minute, 1, -59 * time.Minute},
		{"submitted as early as can be", math.MinInt64, 1, 1, math.MinInt64 + 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := admission.Threshold(tt.submit, tt.run, tt.multiple)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestThresholdRefusesBadInput(t *testing.T) {
	for _, tt := range []struct {
		run      time.Duration
		multiple float64
		want     string
	}{
		{-time.Second, 1, "run time -1s times 1"},
		{time.Second, -1, "run time 1s times -1"},
		{time.Second, math.NaN(), "run time 1s times NaN"},
		{time.Second, math.Inf(-1), "run time 1s times -Inf"},
		{0, math.NaN(), "run time 0s times NaN"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			_, err := admission.Threshold(0, tt.run, tt.multiple)
			require.ErrorIs(t, err, admission.ErrThreshold)
			assert.EqualError(t, err, tt.want+": admission: invalid threshold")
		})
	}
}

// The threshold is the first instant t with t − submit ≥ T·run.
func FuzzThresholdIsTheFirstInstant(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 0))
	for range 3000 {
		f.Add(r.Int64()>>r.IntN(63), r.Int64()>>r.IntN(63), float64(r.IntN(1000))/math.Pow10(r.IntN(5)))
		f.Add(-r.Int64()>>r.IntN(63), r.Int64()>>r.IntN(63), r.ExpFloat64())
	}
	f.Fuzz(func(t *testing.T, submit, run int64, multiple float64) {
		if run < 0 || !(multiple >= 0) || math.IsInf(multiple, 0) {
			return // not an input
		}
		threshold, err := admission.Threshold(time.Duration(submit), time.Duration(run), multiple)
		require.NoError(t, err)
		if threshold == math.MaxInt64 {
			end := product(run, multiple)
			end.Add(end, big.NewRat(max(submit, 0), 1)) // a product that saturates is enough
			require.Positive(t, end.Cmp(big.NewRat(math.MaxInt64-1, 1)))
			return
		}
		waited := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(int64(threshold)), big.NewInt(submit)))
		wait := product(run, multiple)
		require.GreaterOrEqual(t, waited.Cmp(wait), 0, "too early")
		require.Negative(t, waited.Sub(waited, big.NewRat(1, 1)).Cmp(wait), "too late")
	})
}

// product is T·run with T as the decimal it is written.
func product(run int64, multiple float64) *big.Rat {
	wait, _ := new(big.Rat).SetString(strconv.FormatFloat(multiple, 'e', -1, 64))
	return wait.Mul(wait, new(big.Rat).SetInt64(run))
}
