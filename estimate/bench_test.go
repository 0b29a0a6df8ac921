package estimate_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
)

// site returns n different jobs and how often each ran. Its shape is the mean
// of five logs (LANL CM-5, SDSC SP2, NASA iPSC, DAS2 fs1, UniLu Gaia) seen
// through windows of two months: 0.7 paths for each record, one in six of them
// run on several numbers of nodes or by several users; of the records 58 % run
// once, 24 % two to five times, and 18 % more often.
func site(n int) (jobs []estimate.Job, runs []int) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	user := func() string { return fmt.Sprintf("user%05d", r.IntN(n/20+1)) }
	for i := 0; len(jobs) < n; i++ {
		owner := user()
		j := estimate.Job{Path: fmt.Sprintf("/home/%s/project%d/bin/program%d", owner, r.IntN(10), i), Nodes: 1 << r.IntN(8), User: owner}
		jobs = append(jobs, j)
		if r.IntN(6) == 0 {
			for range 1 + r.IntN(4) {
				if j.Nodes *= 2; r.IntN(4) == 0 {
					j.User = fmt.Sprint(user(), j.Nodes)
				}
				jobs = append(jobs, j)
			}
		}
	}
	for range n {
		switch p := r.IntN(100); {
		case p < 58:
			runs = append(runs, 1)
		case p < 82:
			runs = append(runs, 2+r.IntN(4))
		default:
			runs = append(runs, 6+r.IntN(25))
		}
	}
	return jobs[:n], runs
}

// visits returns jobs in the order in which they come. In those logs a job that
// ran before is among the last 100 different ones in five of six cases. In the
// others, or always if uniform is true, it is any job. The strings are new ones.
func visits(jobs []estimate.Job, uniform bool) []estimate.Job {
	r := rand.New(rand.NewPCG(3, 4))
	order := make([]estimate.Job, 1<<18)
	var last [100]estimate.Job
	for i := range order {
		j := last[r.IntN(len(last))]
		if uniform || i < len(last) || r.IntN(6) == 0 {
			j = jobs[r.IntN(len(jobs))]
			last[i%len(last)] = j
		}
		j.Path, j.User = strings.Clone(j.Path), strings.Clone(j.User)
		order[i] = j
	}
	return order
}

// maps is a history made of maps of all values.
type maps map[string]*onPath

type onPath struct {
	values []int64
	nodes  map[int]*onNodes
}

type onNodes struct {
	values []int64
	users  map[string]*[]int64
}

func (m maps) observe(j estimate.Job, memory int64) {
	p := m[j.Path]
	if p == nil {
		p = &onPath{nodes: map[int]*onNodes{}}
		m[j.Path] = p
	}
	n := p.nodes[j.Nodes]
	if n == nil {
		n = &onNodes{users: map[string]*[]int64{}}
		p.nodes[j.Nodes] = n
	}
	u := n.users[j.User]
	if u == nil {
		u = new([]int64)
		n.users[j.User] = u
	}
	p.values, n.values, *u = append(p.values, memory), append(n.values, memory), append(*u, memory)
}

func (m maps) estimate(j estimate.Job) (int64, bool) {
	p := m[j.Path]
	if p == nil {
		return 0, false
	}
	values := p.values
	if n := p.nodes[j.Nodes]; n != nil {
		values = n.values
		if u := n.users[j.User]; u != nil {
			values = *u
		}
	}
	var sum, most float64
	for _, x := range values {
		sum += float64(x)
		most = max(most, float64(x))
	}
	mean := sum / float64(len(values))
	var squares float64
	for _, x := range values {
		squares += (float64(x) - mean) * (float64(x) - mean)
	}
	return int64(min(most, mean+3*math.Sqrt(squares/float64(len(values))))), true
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// stringBytes is the length of the strings that a history of these jobs has to
// keep: each path once, and the user of each record.
func stringBytes(jobs []estimate.Job) (sum int) {
	paths := map[string]bool{}
	for _, j := range jobs {
		if !paths[j.Path] {
			paths[j.Path] = true
			sum += len(j.Path)
		}
		sum += len(j.User)
	}
	return sum
}

func full(tb testing.TB, jobs []estimate.Job, runs []int) *estimate.History {
	h, err := estimate.NewHistory(estimate.Config{Paths: len(jobs), Records: len(jobs)})
	require.NoError(tb, err)
	r := rand.New(rand.NewPCG(1, 2))
	for period := range 2 {
		for i, j := range jobs {
			for k := range runs[i] {
				if k%2 == period {
					observe(tb, h, j, r.Int64N(1<<30))
				}
			}
		}
		if period == 0 {
			h.Rotate()
		}
	}
	require.Equal(tb, len(jobs), h.Records())
	return h
}

// An estimate and an observation of a job that has a record. bytes/record is the
// heap of the history, nodes of coarser levels and index included, without the
// strings; x-twin is how many times as long maps take.
func BenchmarkHistory(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000, 4_000_000} {
		if testing.Short() && n > 10_000 {
			break
		}
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			jobs, runs := site(n)
			before := heap()
			h := full(b, jobs, runs)
			size := float64(heap()-before-stringBytes(jobs)) / float64(n)
			twin := maps{}
			for i, j := range jobs {
				for range runs[i] {
					twin.observe(j, 1<<29)
				}
			}
			for _, uniform := range []bool{false, true} {
				order, name := visits(jobs, uniform), "any"
				if !uniform {
					name = "recent"
				}
				compare := func(b *testing.B, f, twin func(j estimate.Job, i int)) {
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						f(order[i%len(order)], i)
						i++
					}
					fast := float64(b.Elapsed().Nanoseconds()) / float64(i)
					start := time.Now()
					count := min(i, len(order))
					for i := range count {
						twin(order[i], i)
					}
					b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(count)/fast, "x-twin")
					b.ReportMetric(size, "bytes/record")
				}
				b.Run("jobs="+name+"/estimate", func(b *testing.B) {
					compare(b, func(j estimate.Job, _ int) {
						if e, _ := h.Estimate(j); e.Level != estimate.ByPathNodesUser {
							b.Fatal("a job must have its record")
						}
					}, func(j estimate.Job, _ int) {
						if _, ok := twin.estimate(j); !ok {
							b.Fatal("a job must have its record")
						}
					})
				})
				b.Run("jobs="+name+"/observe", func(b *testing.B) {
					compare(b, func(j estimate.Job, i int) {
						if err := h.Observe(j, int64(i)<<20&(1<<30-1)); err != nil {
							b.Fatal(err)
						}
					}, func(j estimate.Job, i int) {
						twin.observe(j, int64(i)<<20&(1<<30-1))
					})
				})
			}
			runtime.KeepAlive(jobs)
		})
	}
}

// An observation of a job that is new, while the history is full.
func BenchmarkEvict(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		if testing.Short() && n > 10_000 {
			break
		}
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			jobs, runs := site(n)
			h := full(b, jobs, runs)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := h.Observe(estimate.Job{Path: jobs[i%n].Path, Nodes: 1000 + i, User: "u"}, int64(i)); err != nil {
					b.Fatal(err)
				}
				i++
			}
			require.Equal(b, n, h.Records())
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		if testing.Short() && n > 10_000 {
			break
		}
		jobs, runs := site(n)
		h := full(b, jobs, runs)
		saved := snapshot(b, h)
		b.Run(fmt.Sprintf("records=%d/write", n), func(b *testing.B) {
			b.SetBytes(int64(len(saved)))
			for b.Loop() {
				if err := h.Snapshot(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(saved))/float64(n), "bytes/record")
		})
		b.Run(fmt.Sprintf("records=%d/restore", n), func(b *testing.B) {
			b.SetBytes(int64(len(saved)))
			for b.Loop() {
				if err := h.Restore(bytes.NewReader(saved)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStaticSize(b *testing.B) {
	for _, name := range []string{"OMAGIC", "ELF, 64 bits", "PE", "Mach-O", "Mach-O, three images"} {
		b.Run("format="+strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			r := bytes.NewReader(executables[name].image)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := estimate.StaticSize(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
