package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gangkit/gangkit/examples/kube/scenario"
)

// BenchmarkPodsBound has schedulers with and without the plugin bind 5,000 pods to
// 1,000 nodes, by turns, and reports how many a second each does, and their ratio.
func BenchmarkPodsBound(b *testing.B) {
	const nodes, pods = 1000, 5000
	c := start(b)
	each(b, nodes, func(i int) { c.Node(b, fmt.Sprintf("node-%04d", i), "64Gi") })
	bind(b, c, true, pods) // the first is faster, whoever it is: the API server is empty
	var ratios, with, without []float64
	turn := 0
	for b.Loop() {
		order := []bool{turn%2 == 0, turn%2 != 0}
		rate := map[bool]float64{}
		for _, plain := range order {
			rate[plain] = bind(b, c, plain, pods)
		}
		turn++
		with, without = append(with, rate[false]), append(without, rate[true])
		ratios = append(ratios, rate[false]/rate[true])
	}
	b.ReportMetric(stat.Mean(with, nil), "pods/s")
	b.ReportMetric(stat.Mean(without, nil), "plain-pods/s")
	b.ReportMetric(stat.Mean(ratios, nil), "ratio")
	if len(ratios) > 1 {
		b.ReportMetric(stat.StdDev(ratios, nil), "±ratio")
	}
}

// each runs f for 0 to n−1, sixteen at once.
func each(t testing.TB, n int, f func(int)) {
	t.Helper()
	var wait sync.WaitGroup
	for w := range 16 {
		wait.Go(func() {
			for i := w; i < n; i += 16 {
				f(i)
			}
		})
	}
	wait.Wait()
}

// bind submits pods, then starts a scheduler, and returns how many it binds a second,
// as it says itself: a watch of all that happens would take its share of the processors.
// The pods are of fifty programs.
func bind(b *testing.B, c *cluster, plain bool, pods int) float64 {
	each(b, pods, func(i int) {
		c.Pod(b, fmt.Sprintf("pod-%05d", i), scenario.Job(fmt.Sprint(i%50)), scenario.Request("100Mi"), scenario.Limit("200Mi"))
	})
	s := c.startScheduler(b, setting{plain: plain})
	var first, last time.Time
	begin, bound := 0, 0
	scenario.Within(b, 5*time.Minute, "all bound", func() bool {
		time.Sleep(200 * time.Millisecond)
		bound, last = s.bound(), time.Now()
		if first.IsZero() && bound > 0 {
			begin, first = bound, last
		}
		return bound == pods
	})
	s.kill()
	rate := float64(bound-begin) / last.Sub(first).Seconds()
	used := s.command.ProcessState.UserTime() + s.command.ProcessState.SystemTime()
	b.Logf("plain %v: %.0f pods/s, %.1f s of processor time of the scheduler", plain, rate, used.Seconds())
	ctx, now := context.Background(), int64(0)
	require.NoError(b, c.Client.CoreV1().Pods("default").DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}))
	require.NoError(b, c.Client.EventsV1().Events("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	scenario.Eventually(b, "all deleted", func() bool { return len(c.All(b)) == 0 })
	time.Sleep(2 * time.Second) // for what the API server does about it
	return rate
}

var scheduled = regexp.MustCompile(`(?m)^scheduler_schedule_attempts_total\{.*result="scheduled".*\} (\S+)$`)

// bound returns how many pods the scheduler says it has bound.
func (s *scheduler) bound() int {
	m := scheduled.FindStringSubmatch(s.metrics())
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	return int(n)
}
