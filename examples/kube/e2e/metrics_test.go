package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kube/plugin"
	"github.com/gangkit/gangkit/examples/kube/scenario"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// metricsAPI has the API server store what a metrics server would measure.
const metricsAPI = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": {"name": "pods.metrics.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, test"}},
	"spec": {
		"group": "metrics.k8s.io", "scope": "Namespaced",
		"names": {"plural": "pods", "singular": "podmetrics", "kind": "PodMetrics", "listKind": "PodMetricsList"},
		"versions": [{
			"name": "v1beta1", "served": true, "storage": true,
			"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
		}]
	}
}`

// What the metrics API reports is held against estimates and learnt, but not of an
// earlier pod of the same name. The scheduler asks as the user of the manifests.
func measuredByMetricsAPI(t *testing.T, c *cluster) {
	ctx, client := context.Background(), c.Client.Discovery().RESTClient()
	require.NoError(t, client.Post().AbsPath(definitions).Body([]byte(metricsAPI)).Do(ctx).Error())
	defer func() {
		require.NoError(t, client.Delete().AbsPath(definitions, "pods.metrics.k8s.io").Do(ctx).Error())
	}()
	const pods = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods"
	scenario.Eventually(t, "the metrics API", func() bool { return client.Get().AbsPath(pods).Do(ctx).Error() == nil })
	uses := func(pod, memory string, at time.Time) {
		text := fmt.Appendf(nil, `{
			"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
			"metadata": {"name": %q}, "timestamp": %q, "window": "15s",
			"containers": [{"name": "main", "usage": {"cpu": "1", "memory": %q}}]
		}`, pod, at.UTC().Format(time.RFC3339), memory)
		require.NoError(t, client.Post().AbsPath(pods).Body(text).Do(ctx).Error())
	}

	c.Node(t, "node", "1Gi")
	s := c.startScheduler(t, setting{args: map[string]any{"measureInterval": "200ms"}})
	c.Pod(t, "grows", scenario.Job("grows"), scenario.Annotate(plugin.MemoryAnnotation, "100Mi"))
	c.AllBound(t, "grows")
	uses("grows", "300Mi", time.Now())
	s.metric(t, "gangkit_above_estimate_total 1")
	c.End(t, "grows")
	s.metric(t, "gangkit_learnt_runs_total 1")

	uses("next", "900Mi", time.Now().Add(-time.Hour))
	c.Pod(t, "filler", scenario.Annotate(plugin.MemoryAnnotation, "600Mi"))
	c.Pod(t, "next", scenario.Job("grows"), scenario.Limit("800Mi"))
	c.AllBound(t, "filler", "next")
	uses("filler", "700Mi", time.Now())
	s.metric(t, "gangkit_above_estimate_total 2") // and next is not the third
	c.Pod(t, "last", scenario.Job("grows"), scenario.Limit("800Mi"))
	c.Says(t, "last", "estimated memory of 300Mi exceeds what is free by estimates")
}
