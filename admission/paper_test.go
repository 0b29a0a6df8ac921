package admission_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

// Wang, Chien, Chang, Tien: "Memory consideration for parallel job scheduling on
// SMP clusters", 2007. Sections, equations and figures are theirs.

// Figure 2: two SMP nodes of 64 processors and 1 GB, taken as one pool.
const (
	figure2Processors = 128
	figure2Memory     = 2 << 30
)

// Eq. (1): required ≤ physical − used processors.
func TestPaperEquation1(t *testing.T) {
	pool := newPool(t, figure2Processors, figure2Memory, 0)
	for used := 0; used <= figure2Processors; used++ {
		for need := 1; need <= figure2Processors; need++ {
			d := pool.Fits(admission.Usage{Processors: used}, admission.Usage{Processors: need}, false)
			require.Equal(t, need <= figure2Processors-used, d.Admit)
			require.Equal(t, max(0, need-(figure2Processors-used)), d.Short.Processors)
			require.False(t, d.Never)
		}
	}
}

// Eq. (2): required ≤ physical·(1 + C) − used memory, C ≥ 0, for the memory sizes
// and the range of C of §5, Figs. 3-6: 1, 1.5 and 2 GB, up to 60 per cent.
func TestPaperEquation2(t *testing.T) {
	for _, memory := range []int64{1 << 30, 3 << 29, 2 << 30} {
		for percent := int64(0); percent <= 60; percent += 2 {
			pool := newPool(t, figure2Processors, memory, float64(percent)/100)
			for used := int64(0); used < memory; used += memory/8 - 1 {
				fits := memory + memory*percent/100 - used
				usage := admission.Usage{Memory: used}
				d := pool.Fits(usage, admission.Usage{Processors: 1, Memory: fits}, true)
				require.True(t, d.Admit, "C = %d %%, %d used, exactly full", percent, used)
				d = pool.Fits(usage, admission.Usage{Processors: 1, Memory: fits + 1}, true)
				require.False(t, d.Admit, "C = %d %%, %d used, one byte over", percent, used)
				require.EqualValues(t, 1, d.Short.Memory)
			}
		}
	}
}

// "Only when (1) and (2) both hold may the job run", §3.
func TestPaperBothEquationsMustHold(t *testing.T) {
	pool := newPool(t, 10, 1000, 0)
	used := admission.Usage{Processors: 6, Memory: 700}
	for _, processors := range []int{4, 5} {
		for _, memory := range []int64{300, 301} {
			d := pool.Fits(used, admission.Usage{Processors: processors, Memory: memory}, false)
			assert.Equal(t, processors == 4 && memory == 300, d.Admit)
		}
	}
}

// §3.2, the example in the text: the limit may be exceeded by 60 %, and a job
// that starts exceeds it by exactly 50 %.
func TestPaperExampleOf60Percent(t *testing.T) {
	pool := newPool(t, figure2Processors, 1<<30, 0.6)
	used := admission.Usage{Processors: 1, Memory: 1 << 30}
	need := admission.Usage{Processors: 1, Memory: 1 << 29}
	assert.True(t, pool.Fits(used, need, true).Admit)
	assert.False(t, pool.Fits(used, need, false).Admit)
}

// Eq. (3), threshold = run time · T, with the values of T in Figs. 5 and 6; T = 0
// is the control group without a threshold.
func TestPaperEquation3(t *testing.T) {
	const submit, run = 1000 * time.Second, 90 * time.Second
	for _, row := range []struct {
		multiple float64
		want     time.Duration
	}{
		{0, submit},
		{25, submit + 2250*time.Second},
		{50, submit + 4500*time.Second},
		{75, submit + 6750*time.Second},
		{100, submit + 9000*time.Second},
	} {
		got, err := admission.Threshold(submit, run, row.multiple)
		require.NoError(t, err)
		assert.Equal(t, row.want, got, "T = %v", row.multiple)
	}
}

// Eqs. (1)-(3) together. P = 10, M = 1000, C = 0.5, T = 0.5. From 0 a job holds 4
// processors and 700, from 2 another 2 and 200, from 3 a third 1 and 100. The job
// submitted at 1 needs 2 processors and 500 for 60 s: the limit is relaxed for it
// at 31, and its 1500 are exactly full.
func TestPaperEquationsTogether(t *testing.T) {
	pool := newPool(t, 10, 1000, 0.5)
	used := admission.Usage{Processors: 7, Memory: 1000}
	need := admission.Usage{Processors: 2, Memory: 500}
	threshold, err := admission.Threshold(1*time.Second, 60*time.Second, 0.5)
	require.NoError(t, err)
	assert.Equal(t, 31*time.Second, threshold)
	for now := time.Duration(0); now < time.Minute; now += time.Second {
		d := pool.Fits(used, need, now >= threshold)
		assert.Equal(t, now >= 31*time.Second, d.Admit, "at %v", now)
	}
	used.Memory++
	assert.False(t, pool.Fits(used, need, true).Admit)
}
