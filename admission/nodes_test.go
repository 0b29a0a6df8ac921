package admission_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

func newNodes(t testing.TB, factor float64, memory ...int64) *admission.Nodes {
	n, err := admission.NewNodes(admission.NodesConfig{Memory: memory, Factor: factor})
	require.NoError(t, err)
	return n
}

func TestNodesFit(t *testing.T) {
	type decision = admission.NodeDecision
	const most = math.MaxInt64
	yes := decision{Admit: true, Node: -1}
	wait := func(node int, short int64) decision { return decision{Node: node, Short: short} }
	never := func(node int, short int64) decision { return decision{Never: true, Node: node, Short: short} }
	// Limits of 1000, 500, 0 (a byte halved) and none (down), the first half used.
	n := newNodes(t, 0.5, 2000, 1000, 1, 0)
	require.NoError(t, n.Occupy(500, 0))
	for _, tt := range []struct {
		name  string
		need  int64
		nodes []int
		want  decision
	}{
		{"exactly full", 500, []int{0}, yes},
		{"one byte over", 501, []int{0}, wait(0, 1)},
		{"one byte over its limit", 1001, []int{0}, never(0, 501)},
		{"an empty node, exactly full", 500, []int{1}, yes},
		{"an empty node, one byte over", 501, []int{1}, never(1, 1)},
		{"all nodes of a placement", 500, []int{0, 1}, yes},
		{"lacking on both alike, the first listed", 501, []int{1, 0}, never(1, 1)},
		{"lacking on both alike, in the other order", 501, []int{0, 1}, never(0, 1)},
		{"lacking more on the second", 600, []int{0, 2}, never(2, 600)},
		{"nothing needed", 0, []int{0, 1, 2}, yes},
		{"a byte more than a limit of nothing", 1, []int{2}, never(2, 1)},
		{"nothing needed of a node that is down", 0, []int{3}, never(3, 1)},
		{"most needed of a node that is down", most, []int{3}, never(3, most)},
		{"most needed", most, []int{0}, never(0, most-500)},
		{"a negative need", -1, []int{0}, never(-1, 0)},
		{"the least need", math.MinInt64, []int{0}, never(-1, 0)},
		{"no nodes", 1, nil, yes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, n.Fits(tt.need, tt.nodes...))
		})
	}

	require.NoError(t, n.Occupy(600, 0))
	assert.Equal(t, wait(0, 100), n.Fits(0, 0), "nothing needed above the limit")
	assert.Panics(t, func() { n.Fits(1, 4) })
	assert.Panics(t, func() { n.Used(-1) })
	assert.Panics(t, func() { n.Limit(4) })
}

func TestNewNodesRefusesBadInput(t *testing.T) {
	for _, tt := range []struct {
		config admission.NodesConfig
		want   string
	}{
		{admission.NodesConfig{}, "no nodes"},
		{admission.NodesConfig{Memory: []int64{1, -7}}, "-7 bytes of memory on node 1"},
		{admission.NodesConfig{Memory: []int64{math.MinInt64}}, "-9223372036854775808 bytes of memory on node 0"},
		{admission.NodesConfig{Memory: []int64{1}, Factor: -0.1}, "factor -0.1"},
		{admission.NodesConfig{Memory: []int64{1}, Factor: math.NaN()}, "factor NaN"},
		{admission.NodesConfig{Memory: []int64{1}, Factor: math.Inf(-1)}, "factor -Inf"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			n, err := admission.NewNodes(tt.config)
			require.ErrorIs(t, err, admission.ErrNodes)
			assert.EqualError(t, err, tt.want+": admission: invalid nodes")
			assert.Nil(t, n)
		})
	}
}

// floor(phys·C) in decimal, whatever the sizes.
func TestNodeLimitIsDecimal(t *testing.T) {
	for percent := range 300 {
		factor := fmt.Sprintf("%d.%02d", percent/100, percent%100)
		c, err := strconv.ParseFloat(factor, 64)
		require.NoError(t, err)
		n := newNodes(t, c, memories...)
		for i, memory := range memories {
			limit, _ := new(big.Rat).SetString(factor)
			if percent == 0 {
				limit.SetInt64(1) // the default
			}
			limit.Mul(limit, new(big.Rat).SetInt64(memory))
			floor := new(big.Int).Div(limit.Num(), limit.Denom())
			want := int64(math.MaxInt64)
			if memory == 0 {
				want = -1
			} else if floor.IsInt64() {
				want = floor.Int64()
			}
			require.Equal(t, want, n.Limit(i), "%d · %s", memory, factor)
		}
	}
	n := newNodes(t, math.Inf(1), memories...)
	for i := 1; i < n.Len(); i++ {
		require.EqualValues(t, int64(math.MaxInt64), n.Limit(i))
	}
	assert.EqualValues(t, 0, newNodes(t, math.SmallestNonzeroFloat64, 1<<40).Limit(0))
}

// Without a limit everything is admitted that can be counted.
func TestUnlimitedNodes(t *testing.T) {
	n := newNodes(t, math.Inf(1), 1)
	for range 3 {
		require.True(t, n.Fits(1<<61, 0).Admit)
		require.NoError(t, n.Occupy(1<<61, 0))
	}
	assert.True(t, n.Fits(1<<61-1, 0).Admit)
	assert.Equal(t, admission.NodeDecision{Node: 0, Short: 1}, n.Fits(1<<61, 0))
	require.ErrorIs(t, n.Occupy(1<<61, 0), admission.ErrNeed)
	assert.EqualValues(t, int64(3<<61), n.Used(0))
}

func TestNodesRefuseBadInput(t *testing.T) {
	const most = math.MaxInt64
	n := newNodes(t, 1, 100, 100, 100, 0)
	require.NoError(t, n.Occupy(60, 0, 1))
	require.NoError(t, n.Occupy(30, 1))
	for _, tt := range []struct {
		err      error
		sentinel error
		want     string
	}{
		{n.Occupy(1, 0, 4), admission.ErrNode, "occupy: node 4 of 4: admission: bad node"},
		{n.Occupy(1, 0, -1), admission.ErrNode, "occupy: node -1 of 4: admission: bad node"},
		{n.Occupy(1, 0, 2, 0), admission.ErrNode, "occupy: node 0 is listed twice: admission: bad node"},
		{n.Occupy(0, 2, 3), admission.ErrNode, "occupy: node 3 is down: admission: bad node"},
		{n.Occupy(-1, 0), admission.ErrNeed, "occupy: -1 bytes: admission: invalid need"},
		{n.Occupy(most-59, 2, 0), admission.ErrNeed, "occupy: 9223372036854775748 bytes beside 60 on node 0: admission: invalid need"},
		{n.Release(60, 0, 2), admission.ErrRelease, "release: node 2 has no process: admission: releasing what is not held"},
		{n.Release(0, 2), admission.ErrRelease, "release: node 2 has no process: admission: releasing what is not held"},
		{n.Release(60, 0, 0), admission.ErrNode, "release: node 0 is listed twice: admission: bad node"},
		{n.Release(91, 1), admission.ErrRelease, "release: 91 bytes of 90 that 2 processes use on node 1: admission: releasing what is not held"},
		{n.Release(30, 1, 0), admission.ErrRelease, "release: 30 bytes of 60 that 1 processes use on node 0: admission: releasing what is not held"},
		{n.Release(math.MinInt64, 0), admission.ErrNeed, "release: -9223372036854775808 bytes: admission: invalid need"},
		{n.Reestimate(59, 70, 0), admission.ErrRelease, "reestimate: 59 bytes of 60 that 1 processes use on node 0: admission: releasing what is not held"},
		{n.Reestimate(60, -70, 0), admission.ErrNeed, "reestimate: -70 bytes: admission: invalid need"},
		{n.Reestimate(60, most-29, 0, 1), admission.ErrNeed, "reestimate: 9223372036854775778 bytes beside 30 on node 1: admission: invalid need"},
		{n.SetMemory(5, 1), admission.ErrNode, "memory of node 5 of 4: admission: bad node"},
		{n.SetMemory(-1, 1), admission.ErrNode, "memory of node -1 of 4: admission: bad node"},
		{n.SetMemory(0, -1), admission.ErrNodes, "-1 bytes of memory on node 0: admission: invalid nodes"},
	} {
		require.ErrorIs(t, tt.err, tt.sentinel)
		assert.EqualError(t, tt.err, tt.want)
	}
	assert.Equal(t, []int64{60, 90, 0, 0}, used(n))
	require.NoError(t, n.Release(60, 1, 0))
	require.NoError(t, n.Release(30, 1))
	assert.True(t, n.Idle())
}

func used(n *admission.Nodes) (bytes []int64) {
	for i := range n.Len() {
		bytes = append(bytes, n.Used(i))
	}
	return bytes
}

// The exception: a job larger than the memory starts when nothing else runs, not
// even processes without memory.
func TestJobLargerThanTheMemory(t *testing.T) {
	n := newNodes(t, 1, 64, 32, 0, 64)
	big := admission.Need{Nodes: 2, Memory: 65}
	on, ok := n.AppendNodes(nil, big)
	require.True(t, ok)
	assert.Equal(t, []int{0, 1}, on, "not the one that is down")
	assert.True(t, n.Fits(big.Memory, on...).Never)

	require.NoError(t, n.Occupy(0, 3))
	assert.False(t, n.Enough(big))
	got, ok := n.AppendNodes(on, big)
	assert.False(t, ok)
	assert.Equal(t, on, got)
	require.NoError(t, n.Release(0, 3))
	require.True(t, n.Enough(big))
	require.NoError(t, n.Occupy(65, on...))
	assert.Equal(t, []int64{65, 65, 0, 0}, used(n))

	assert.False(t, n.Fits(0, 0).Admit)
	on, ok = n.AppendNodes(nil, admission.Need{Nodes: 1, Memory: 64})
	assert.True(t, ok, "others may still start beside it")
	assert.Equal(t, []int{3}, on)
	require.NoError(t, n.Release(65, 0, 1))

	// It is an exception: an idle system has a node that is large enough.
	on, _ = n.AppendNodes(nil, admission.Need{Nodes: 1, Memory: 33})
	assert.Equal(t, []int{0}, on)
	on, _ = n.AppendNodes(nil, admission.Need{Nodes: 2, Memory: 33})
	assert.Equal(t, []int{0, 3}, on)
	assert.False(t, n.Enough(admission.Need{Nodes: 4, Memory: 1}), "wider than the machine that is up")
}

func TestBestFit(t *testing.T) {
	n, err := admission.NewNodes(admission.NodesConfig{Memory: []int64{100, 60, 80, 60, 0, 100}, BestFit: true})
	require.NoError(t, err)
	for _, tt := range []struct {
		need admission.Need
		want []int
	}{
		{admission.Need{Nodes: 1, Memory: 50}, []int{1}},
		{admission.Need{Nodes: 3, Memory: 50}, []int{1, 2, 3}},
		{admission.Need{Nodes: 2, Memory: 70}, []int{0, 2}},
		{admission.Need{Nodes: 2, Memory: 90}, []int{0, 5}},
		{admission.Need{Nodes: 3, Memory: 90}, []int{0, 2, 5}}, // idle: where least is lacking
		{admission.Need{Nodes: 1, Memory: 1000}, []int{0}},
		{admission.Need{Nodes: 4, Memory: 1000}, []int{0, 1, 2, 5}},
	} {
		got, ok := n.AppendNodes([]int{7}, tt.need)
		require.True(t, ok)
		assert.Equal(t, append([]int{7}, tt.want...), got, tt.need)
	}
	require.NoError(t, n.Occupy(55, 0))
	for _, tt := range []struct {
		need admission.Need
		want []int
	}{
		{admission.Need{Nodes: 1, Memory: 45}, []int{0}},
		{admission.Need{Nodes: 1, Memory: 46}, []int{1}},
		{admission.Need{Nodes: 3, Memory: 90}, []int{}},
	} {
		got, ok := n.AppendNodes([]int{}, tt.need)
		assert.Equal(t, len(tt.want) > 0, ok)
		assert.Equal(t, tt.want, got, tt.need)
	}
}

func TestNodesComeAndGo(t *testing.T) {
	n := newNodes(t, 0.5, 100)
	require.NoError(t, n.SetMemory(1, 200))
	assert.Equal(t, 2, n.Len())
	assert.EqualValues(t, 100, n.Limit(1), "with the same factor")
	require.NoError(t, n.Occupy(50, 0, 1))
	require.NoError(t, n.SetMemory(1, 0))
	assert.EqualValues(t, 50, n.Used(1))
	assert.True(t, n.Fits(0, 1).Never)
	assert.False(t, n.Idle(), "until the process is taken off")
	require.NoError(t, n.Release(50, 1))
	require.NoError(t, n.SetMemory(1, 1))
	assert.True(t, n.Fits(0, 1).Admit)
	assert.EqualValues(t, 0, n.Limit(1))
}

// slowNodes is the twin of Nodes: jobs in a list, sums anew each time.
type slowNodes struct {
	limits  []*big.Int // nil where down
	bestFit bool
	jobs    []resident
}

type resident struct {
	need int64
	on   []int
}

func (n *slowNodes) left(i int, need int64) *big.Int {
	left := new(big.Int).Set(n.limits[i])
	for _, j := range n.jobs {
		if slices.Contains(j.on, i) {
			left.Sub(left, big.NewInt(j.need))
		}
	}
	return left.Sub(left, big.NewInt(need))
}

func (n *slowNodes) choose(need admission.Need) []int {
	if need.Nodes <= 0 || need.Memory < 0 {
		return nil
	}
	var fit, not []int
	for i := range n.limits {
		if n.limits[i] == nil {
			continue
		}
		if n.left(i, need.Memory).Sign() >= 0 {
			fit = append(fit, i)
		} else {
			not = append(not, i)
		}
	}
	by := func(sign int) func(a, b int) int {
		return func(a, b int) int { return sign * n.left(a, need.Memory).Cmp(n.left(b, need.Memory)) }
	}
	if n.bestFit {
		slices.SortStableFunc(fit, by(1))
		slices.SortStableFunc(not, by(-1))
	}
	if len(fit) < need.Nodes && len(n.jobs) == 0 {
		fit = append(fit, not...)
		if !n.bestFit {
			slices.Sort(fit)
		}
	}
	if len(fit) < need.Nodes {
		return nil
	}
	slices.Sort(fit[:need.Nodes])
	return fit[:need.Nodes]
}

// Random jobs, hostile ones among them, come and go on Nodes and its twin.
func FuzzNodesEqualTwin(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint8(seed), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, shift uint8, bestFit bool) {
		r := rand.New(rand.NewPCG(seed, 21))
		scale := int64(1) << (3 + shift%60)
		amount := func() int64 { return r.Int64N(scale) }
		memory := make([]int64, 1+r.IntN(6))
		for i := range memory {
			memory[i] = amount()
		}
		percent := int64(1 + r.IntN(250))
		n, err := admission.NewNodes(admission.NodesConfig{Memory: memory, Factor: float64(percent) / 100, BestFit: bestFit})
		require.NoError(t, err)
		limit := func(memory int64) *big.Int {
			if memory == 0 {
				return nil
			}
			x := new(big.Int).Mul(big.NewInt(memory), big.NewInt(percent))
			if x.Div(x, big.NewInt(100)); !x.IsInt64() {
				x.SetInt64(math.MaxInt64)
			}
			return x
		}
		twin := &slowNodes{bestFit: bestFit}
		for _, m := range memory {
			twin.limits = append(twin.limits, limit(m))
		}
		for range 60 {
			switch r.IntN(6) {
			case 0: // one ends
				if len(twin.jobs) > 0 {
					k := r.IntN(len(twin.jobs))
					j := twin.jobs[k]
					require.NoError(t, n.Release(j.need, j.on...))
					twin.jobs = slices.Delete(twin.jobs, k, k+1)
				}
			case 1: // one was estimated wrongly
				if len(twin.jobs) > 0 {
					j := &twin.jobs[r.IntN(len(twin.jobs))]
					need := amount()
					if n.Reestimate(j.need, need, j.on...) == nil {
						j.need = need
					}
				}
			case 2: // a node comes, goes or changes
				if i, m := r.IntN(n.Len()+1), amount(); r.IntN(4) == 0 && n.Len() < 8 {
					if r.IntN(2) == 0 {
						m = 0
					}
					require.NoError(t, n.SetMemory(i, m))
					twin.limits = append(twin.limits[:i], append([]*big.Int{limit(m)}, twin.limits[min(i+1, len(twin.limits)):]...)...)
				}
			case 3: // nonsense
				before := used(n)
				on := []int{r.IntN(n.Len()), r.IntN(n.Len()+2) - 1, r.IntN(n.Len())}
				require.Error(t, n.Occupy(-1-amount(), on...))
				require.Error(t, n.Occupy(amount(), append(on, on[0])...))
				require.Error(t, n.Release(amount(), append(on, -1)...))
				require.Error(t, n.Reestimate(amount(), math.MinInt64, on[0]))
				require.Equal(t, before, used(n))
			}
			need := admission.Need{Nodes: r.IntN(n.Len()+3) - 1, Memory: amount() >> r.IntN(4)}
			if r.IntN(20) == 0 {
				need.Memory = r.Int64() - r.Int64()
			}
			want := twin.choose(need)
			got, ok := n.AppendNodes(nil, need)
			require.Equal(t, want, got)
			require.Equal(t, want != nil, ok)
			require.Equal(t, ok, n.Enough(need))
			require.Equal(t, len(twin.jobs) == 0, n.Idle())
			all := make([]int, n.Len())
			for i := range all {
				all[i] = i
				sum := new(big.Int)
				for _, j := range twin.jobs {
					if slices.Contains(j.on, i) {
						sum.Add(sum, big.NewInt(j.need))
					}
				}
				require.Equal(t, sum.Int64(), n.Used(i))
				d := n.Fits(need.Memory, i)
				if twin.limits[i] == nil || need.Memory < 0 {
					require.False(t, d.Admit)
					require.True(t, d.Never)
					continue
				}
				left := twin.left(i, need.Memory)
				require.Equal(t, left.Sign() >= 0, d.Admit)
				require.Equal(t, big.NewInt(need.Memory).Cmp(twin.limits[i]) > 0, d.Never)
				if left.Sign() < 0 {
					if left.Neg(left); !left.IsInt64() {
						left.SetInt64(math.MaxInt64)
					}
					require.Equal(t, left.Int64(), d.Short)
				} else {
					require.Zero(t, d.Short)
				}
			}
			// All nodes together say what the worst of them says.
			together, worst := n.Fits(need.Memory, all...), admission.NodeDecision{Admit: true, Node: -1}
			for i := range all {
				d := n.Fits(need.Memory, i)
				worst.Admit, worst.Never = worst.Admit && d.Admit, worst.Never || d.Never
				if d.Short > worst.Short {
					worst.Node, worst.Short = i, d.Short
				}
			}
			require.Equal(t, worst, together)

			if ok && n.Occupy(need.Memory, got...) == nil {
				twin.jobs = append(twin.jobs, resident{need.Memory, got})
			}
		}
	})
}

// Whatever helps never turns an admitted job away, and the unit does not matter.
func FuzzMoreMemoryAdmitsMore(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 22))
		memory := make([]int64, 1+r.IntN(8))
		for i := range memory {
			memory[i] = 4 * r.Int64N(1000)
		}
		n := newNodes(t, 1.25, memory...)
		larger := newNodes(t, 1.5, memory...)
		pages := make([]int64, len(memory))
		for i := range memory {
			pages[i] = memory[i] << 12
		}
		inPages := newNodes(t, 1.25, pages...)
		for range 20 {
			need := admission.Need{Nodes: 1 + r.IntN(len(memory)), Memory: r.Int64N(1000)}
			on, ok := n.AppendNodes(nil, need)
			if !ok {
				require.False(t, n.Enough(admission.Need{Nodes: need.Nodes + r.IntN(3), Memory: need.Memory + r.Int64N(100)}), "a larger job")
				continue
			}
			require.True(t, n.Enough(admission.Need{Nodes: 1 + r.IntN(need.Nodes), Memory: r.Int64N(need.Memory + 1)}), "a smaller job")
			require.True(t, larger.Enough(need), "a larger factor")
			paged, ok := inPages.AppendNodes(nil, admission.Need{Nodes: need.Nodes, Memory: need.Memory << 12})
			require.True(t, ok)
			require.Equal(t, on, paged, "another unit")
			for _, n := range []*admission.Nodes{n, larger} {
				require.NoError(t, n.Occupy(need.Memory, on...))
			}
			require.NoError(t, inPages.Occupy(need.Memory<<12, on...))
		}
	})
}

// A caller that places gangs by a test per node needs one closure for all, and
// nothing is allocated from there on.
func TestNodesDoNotAllocate(t *testing.T) {
	memory := make([]int64, 1000)
	for i := range memory {
		memory[i] = 1000 + int64(i*37%101)
	}
	for _, bestFit := range []bool{false, true} {
		n, err := admission.NewNodes(admission.NodesConfig{Memory: memory, BestFit: bestFit})
		require.NoError(t, err)
		var need int64
		fits := func(node int) bool { return n.Fits(need, node).Admit }
		place := func(dst []int, count int, fits func(node int) bool) []int {
			for i := 0; i < n.Len() && len(dst) < count; i++ {
				if fits(i) {
					dst = append(dst, i)
				}
			}
			return dst
		}
		on := make([]int, 0, n.Len())
		yes, no := 0, 0
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for need = 400; need < 1300; need += 200 {
				on = place(on[:0], 200, fits)
				if len(on) < 200 {
					no++
					continue
				}
				yes++
				if n.Occupy(need, on...) != nil || n.Reestimate(need, need+1, on...) != nil || n.Release(need+1, on...) != nil {
					t.Fatal("refused")
				}
				var ok bool
				on, ok = n.AppendNodes(on[:0], admission.Need{Nodes: 30, Memory: need})
				if !ok || !n.Enough(admission.Need{Nodes: 30, Memory: need}) {
					t.Fatal("no place")
				}
			}
		}))
		require.NotZero(t, yes)
		require.NotZero(t, no)
	}
}
