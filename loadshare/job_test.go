package loadshare_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/loadshare"
)

var selectors = map[string]loadshare.Selector{
	"most faults": loadshare.MostFaults, "largest working set": loadshare.LargestWorkingSet, "most I/O": loadshare.MostIO,
	"oldest": loadshare.Oldest, "youngest": loadshare.Youngest,
	"highest weight": loadshare.HighestWeight, "lowest weight": loadshare.LowestWeight,
}

func TestSelectors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		jobs []loadshare.Job
		want map[string]int // 0 where missing
	}{
		{"one job", []loadshare.Job{{Faults: 1}}, nil},
		{"equal jobs", []loadshare.Job{{1, 2, 3, 4}, {1, 2, 3, 4}}, nil},
		{"jobs that did nothing", []loadshare.Job{{}, {}, {}}, nil},
		{"one job in all", []loadshare.Job{{}, {1, 1, 1, 1}, {}}, map[string]int{"most faults": 1, "largest working set": 1, "most I/O": 1, "oldest": 1, "highest weight": 1}},
		{"different jobs", []loadshare.Job{{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}}, map[string]int{"largest working set": 1, "most I/O": 2, "oldest": 3}},
		{"negative amounts and NaN count as 0", []loadshare.Job{{}, {nan, -1, -1, -1}, {-1, 0, 0, 0}}, nil},
		{"an infinite rate is the highest", []loadshare.Job{{math.MaxFloat64 / 2, 1, 1, 1}, {inf, 1, 1, 1}}, map[string]int{"most faults": 1, "highest weight": 1}},
		{"the largest numbers", []loadshare.Job{{}, {math.MaxFloat64, math.MaxInt64, math.MaxInt64, math.MaxInt64}}, map[string]int{"most faults": 1, "largest working set": 1, "most I/O": 1, "oldest": 1, "highest weight": 1}},
		{"lowest weight is not the youngest", []loadshare.Job{{9, 9, 9, 1}, {0, 0, 0, 2}}, map[string]int{"oldest": 1, "lowest weight": 1}},
	} {
		for name, selector := range selectors {
			i, ok := selector(c.jobs)
			assert.True(t, ok)
			assert.Equal(t, c.want[name], i, "%s: %s", c.name, name)
			_, ok = selector(nil)
			assert.False(t, ok, "no job")
		}
		for _, w := range loadshare.AppendWeights(nil, c.jobs) {
			assert.True(t, w >= 0 && w <= 1, "%s: %v", c.name, w)
		}
	}
}

// Each selector against sorting the jobs by what it is named for.
func TestSelectorsAgainstSorting(t *testing.T) {
	weight := func(jobs []loadshare.Job) []float64 {
		most := func(value func(loadshare.Job) float64) float64 {
			m := 0.
			for _, j := range jobs {
				m = max(m, value(j))
			}
			return m
		}
		w := make([]float64, len(jobs))
		for _, value := range []func(loadshare.Job) float64{
			func(j loadshare.Job) float64 { return float64(j.Age) },
			func(j loadshare.Job) float64 { return j.Faults },
			func(j loadshare.Job) float64 { return float64(j.WorkingSet) },
			func(j loadshare.Job) float64 { return float64(j.IO) },
		} {
			for i, j := range jobs {
				if m := most(value); m > 0 {
					w[i] += value(j) / m
				}
			}
		}
		for i := range w {
			w[i] /= 4
		}
		return w
	}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		jobs := make([]loadshare.Job, 1+r.IntN(8))
		for i := range jobs {
			jobs[i] = loadshare.Job{Faults: float64(r.IntN(3)), WorkingSet: r.Int64N(3), IO: r.Int64N(3), Age: time.Duration(r.IntN(3))}
		}
		weights := weight(jobs)
		assert.Equal(t, weights, loadshare.AppendWeights(nil, jobs))
		order := make([]int, len(jobs))
		for name, key := range map[string]func(i int) float64{
			"most faults":         func(i int) float64 { return -jobs[i].Faults },
			"largest working set": func(i int) float64 { return -float64(jobs[i].WorkingSet) },
			"most I/O":            func(i int) float64 { return -float64(jobs[i].IO) },
			"oldest":              func(i int) float64 { return -float64(jobs[i].Age) },
			"youngest":            func(i int) float64 { return float64(jobs[i].Age) },
			"highest weight":      func(i int) float64 { return -weights[i] },
			"lowest weight":       func(i int) float64 { return weights[i] },
		} {
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int {
				switch {
				case key(a) < key(b):
					return -1
				case key(a) > key(b):
					return 1
				}
				return 0
			})
			i, _ := selectors[name](jobs)
			require.Equal(t, order[0], i, "%s of %+v", name, jobs)
		}
	}
}

func TestMigrationCost(t *testing.T) {
	forever := time.Duration(math.MaxInt64)
	for _, c := range []struct {
		n    loadshare.Network
		size int64
		want time.Duration
	}{
		{loadshare.Network{BitsPerSecond: 8}, 3, 3 * time.Second},
		{loadshare.Network{Latency: time.Second, BitsPerSecond: 8}, 0, time.Second},
		{loadshare.Network{BitsPerSecond: 3}, 1, 2666666667},
		{loadshare.Network{BitsPerSecond: math.MaxInt64}, 1, 1},
		{loadshare.Network{BitsPerSecond: math.MaxInt64}, math.MaxInt64, 8 * time.Second},
		{loadshare.Network{Latency: -time.Second, BitsPerSecond: 8}, -3, 0},
		{loadshare.Network{Latency: time.Second}, 0, forever},
		{loadshare.Network{Latency: time.Second, BitsPerSecond: -8}, 5, forever},
		{loadshare.Network{BitsPerSecond: 1}, math.MaxInt64, forever},
		{loadshare.Network{Latency: forever, BitsPerSecond: 8}, 1, forever},
		{loadshare.Network{Latency: forever - time.Second, BitsPerSecond: 8}, 1, forever},
		{loadshare.Network{Latency: forever - time.Second + 1, BitsPerSecond: 8}, 1, forever},
		{loadshare.Network{BitsPerSecond: 8e9}, math.MaxInt64, forever},
		{loadshare.Network{BitsPerSecond: 8e9 - 1}, math.MaxInt64, forever},
	} {
		assert.Equal(t, c.want, c.n.Migration(c.size), "%+v, %d bytes", c.n, c.size)
	}
}

func TestWorthwhile(t *testing.T) {
	for _, c := range []struct {
		age, cost   time.Duration
		here, there int
		want        bool
	}{
		{10, 10, 2, 1, false},
		{11, 10, 2, 1, true},
		{5, 10, 3, 1, false},
		{6, 10, 3, 1, true},
		{100, 1, 2, 2, false},
		{100, 1, 1, 2, false},
		{0, 0, 3, 1, false},
		{1, 0, 3, 1, true},
		{-1, -5, 3, 1, false},
		{math.MaxInt64, math.MaxInt64, 3, 1, true},
		{math.MaxInt64, math.MaxInt64, 2, 1, false},
		{math.MaxInt64, math.MaxInt64, math.MaxInt, math.MinInt, true},
	} {
		assert.Equal(t, c.want, loadshare.Worthwhile(c.age, c.cost, c.here, c.there), "%+v", c)
	}
}
