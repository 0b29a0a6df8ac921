package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gangkit/gangkit/examples/kube/scenario"
)

// BenchmarkPodsBound has schedulers with and without the plugin bind 5,000 pods to
// 1,000 nodes, by turns, and reports how many a second each does, and their ratio.
func BenchmarkPodsBound(b *testing.B) {
	const nodes, pods = 1000, 5000
	c := start(b)
	each(b, nodes, func(i int) { c.Node(b, fmt.Sprintf("node-%04d", i), "64Gi") })
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
// from the first to the last. The pods are of fifty programs.
func bind(b *testing.B, c *cluster, plain bool, pods int) float64 {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	each(b, pods, func(i int) {
		c.Pod(b, fmt.Sprintf("pod-%05d", i), scenario.Job(fmt.Sprint(i%50)), scenario.Request("100Mi"), scenario.Limit("200Mi"))
	})
	list, err := c.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	require.NoError(b, err)
	watch, err := c.Client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{
		ResourceVersion: list.ResourceVersion, FieldSelector: "spec.nodeName!=",
	})
	require.NoError(b, err)
	defer watch.Stop()
	s := c.startScheduler(b, setting{plain: plain})
	bound := map[string]bool{}
	var first, last time.Time
	for len(bound) < pods {
		select {
		case e, ok := <-watch.ResultChan():
			require.True(b, ok, "the watch has ended")
			if pod, ok := e.Object.(*v1.Pod); ok && !bound[pod.Name] {
				if last = time.Now(); len(bound) == 0 {
					first = last
				}
				bound[pod.Name] = true
			}
		case <-time.After(time.Minute):
			require.FailNow(b, "not bound", "%d of %d", len(bound), pods)
		}
	}
	s.kill()
	rate := float64(pods-1) / last.Sub(first).Seconds()
	b.Logf("plain %v: %.0f pods/s", plain, rate)
	now := int64(0)
	require.NoError(b, c.Client.CoreV1().Pods("default").DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}))
	require.NoError(b, c.Client.EventsV1().Events("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	return rate
}
