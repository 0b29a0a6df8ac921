package loadshare_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gangkit/gangkit/loadshare"
)

// Chen, Xiao, Zhang: "Dynamic load sharing with unknown memory demands in
// clusters". Sections, equations and tables are theirs.

const mb = 1 << 20

// bytes of so many MB.
func bytes(megabytes float64) int64 { return int64(megabytes * mb) }

// Table 2: the working sets of each group (Table 1) exceed the memory that jobs can
// use, some 122 MB of the 128, by the share that was measured.
func TestPaperTable2Oversizing(t *testing.T) {
	for _, c := range []struct {
		workingSets []float64
		percent     float64
	}{
		{[]float64{66.37, 64.27}, 5.34},
		{[]float64{64.22, 64.27, 23.39}, 24.75},
		{[]float64{64.22, 66.37, 64.27, 4.64}, 64.95},
	} {
		m := loadshare.Machine{Memory: 122 * mb}
		for _, ws := range c.workingSets {
			m.Demand += bytes(ws)
		}
		assert.InDelta(t, c.percent/100, m.Oversize(), .025)
	}
}

// Eq. (5) for three jobs like t-sim's and r-wing's of Table 1.
func TestPaperEquation5(t *testing.T) {
	jobs := []loadshare.Job{
		{Age: 100 * time.Second, Faults: 0, WorkingSet: bytes(64), IO: 18},
		{Age: 50 * time.Second, Faults: 20, WorkingSet: bytes(23), IO: 3541},
		{Age: 10 * time.Second, Faults: 5, WorkingSet: bytes(4.6), IO: 225},
	}
	assert.InDeltaSlice(t, []float64{.5013, .7148, .1214}, loadshare.AppendWeights(nil, jobs), .00005)
	for name, want := range map[string]int{
		"most faults": 1, "largest working set": 0, "most I/O": 1, "oldest": 0, "youngest": 2, "highest weight": 1, "lowest weight": 2,
	} {
		i, ok := selectors[name](jobs)
		assert.True(t, ok)
		assert.Equal(t, want, i, name)
	}
}

// §4.2, finding a machine: with MT = 0 a machine of 122 MB that lacks 10 MB to be
// full takes a job of 64 MB by the printed "or", and is then 44 % over.
func TestPaperFinders(t *testing.T) {
	k := loadshare.Machine{Jobs: 2, Memory: 122 * mb, Demand: bytes(112.24), Free: 10 * mb, Cache: 5 * mb}
	assert.InDelta(t, -.08, k.Oversize(), .0005)
	assert.True(t, k.Accepts())
	assert.True(t, newPolicy(t, loadshare.Config{}).Takes(k, 64*mb))
	assert.False(t, newPolicy(t, loadshare.Config{Fit: true}).Takes(k, 64*mb))
	k.Demand += 64 * mb
	assert.InDelta(t, .44, k.Oversize(), .005)
	assert.True(t, newPolicy(t, loadshare.Config{}).Short(k), "it migrates again")
}

// §5.1, the cost r + D/B for Ethernets of 10 and 100 Mbps, of working sets of Table
// 1; 1 MB is 2^20 bytes.
func TestPaperMigrationCost(t *testing.T) {
	slow := loadshare.Network{Latency: 100 * time.Millisecond, BitsPerSecond: 10e6}
	fast := loadshare.Network{Latency: 50 * time.Millisecond, BitsPerSecond: 100e6}
	for _, c := range []struct{ size, slow, fast float64 }{
		{4.64, 3.992, .439}, {23.39, 19.721, 2.012}, {39.66, 33.369, 3.377}, {66.37, 55.775, 5.618}, {128, 107.474, 10.787},
	} {
		assert.InDelta(t, c.slow, slow.Migration(bytes(c.size)).Seconds(), .0006)
		assert.InDelta(t, c.fast, fast.Migration(bytes(c.size)).Seconds(), .0006)
	}
}
