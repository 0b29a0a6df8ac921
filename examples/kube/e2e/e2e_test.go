package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	scheduling "k8s.io/api/scheduling/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/gangkit/gangkit/examples/kube/plugin"
	"github.com/gangkit/gangkit/examples/kube/scenario"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	c := start(t)
	s := c.startScheduler(t, setting{})
	s.metric(t, `gangkit_history_saves_total{result="failed"} 0`) // not only after the first
	for _, test := range scenario.All {
		t.Run(test.Name, func(t *testing.T) { test.Run(t, c.Cluster) })
	}
	text := s.metrics()
	for _, name := range []string{
		"gangkit_estimates_total{level=\"path-size-user\"}", "gangkit_refusals_total{reason=\"held\"}", "gangkit_refusals_total{reason=\"gang\"}",
		"gangkit_started_jobs_total{kind=\"gang\"}", "gangkit_learnt_runs_total", "gangkit_above_estimate_total", "gangkit_history_saves_total{result=\"done\"}",
		"gangkit_history_records",
	} {
		assert.True(t, regexp.MustCompile("\n"+regexp.QuoteMeta(name)+" [1-9]").MatchString(text), "metric %s is 0, or not there", name)
	}
	says := func(reason, note string) {
		scenario.Eventually(t, "event "+reason, func() bool {
			list, err := c.Client.EventsV1().Events("default").List(context.Background(), metav1.ListOptions{})
			require.NoError(t, err)
			return slices.ContainsFunc(list.Items, func(e events.Event) bool {
				return e.Reason == reason && strings.Contains(e.Note, note)
			})
		})
	}
	says("AboveEstimate", "uses 700Mi, estimated were 100Mi")
	for i := range 3 {
		c.Pod(t, fmt.Sprint("g-", i), scenario.Gang("incomplete", 4))
	}
	says("GangIncomplete", "3 of the 4 pods of the gang exist")
	says("InvalidGang", `annotation gangkit.github.io/gang-size is "-1", want the number of its pods`)
	says("FailedScheduling", "which was passed over 5 times and starts first")
}

const (
	gates     = "GenericWorkload=true,GangScheduling=true"
	podGroups = "scheduling.k8s.io/v1alpha2=true"
)

// podGroup makes a PodGroup, unless it is there, and pods its members.
func (c *cluster) podGroup(t testing.TB, name string, size int) scenario.Option {
	t.Helper()
	_, err := c.Client.SchedulingV1alpha2().PodGroups(c.Namespace).Create(context.Background(), &scheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: scheduling.PodGroupSpec{SchedulingPolicy: scheduling.PodGroupSchedulingPolicy{
			Gang: &scheduling.GangSchedulingPolicy{MinCount: int32(size)},
		}},
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		require.NoError(t, err)
	}
	return func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name} }
}

// Gangs that are PodGroups are held to memory, to the bounded skip and to what was
// learnt, too. Without the plugin they starve in the same test, though all pods ask
// for the memory that they need.
func TestPodGroups(t *testing.T) {
	t.Parallel()
	c := start(t, "-feature-gates", gates, "-runtime-config", podGroups)
	flags := []string{"--feature-gates=" + gates}
	t.Run("starves without the plugin", func(t *testing.T) {
		defer c.Clear(t)
		c.startScheduler(t, setting{plain: true, flags: flags})
		c.Gangs = func(t testing.TB, name string, size int) scenario.Option { return c.podGroup(t, "plain", size) }
		passed, started := scenario.Stream(t, c.Cluster, 3*scenario.K)
		require.False(t, started)
		require.Greater(t, passed, 2*scenario.K)
	})
	s := c.startScheduler(t, setting{flags: flags})
	c.Gangs = func(t testing.TB, name string, size int) scenario.Option { return c.podGroup(t, name, size) }
	t.Run("whole", func(t *testing.T) { scenario.Whole(t, c.Cluster) })
	t.Run("bounded", func(t *testing.T) { scenario.Bounded(t, c.Cluster) })
	t.Run("learnt", func(t *testing.T) {
		defer c.Clear(t)
		for _, name := range []string{"node-0", "node-1", "node-2", "node-3"} {
			c.Node(t, name, "1Gi")
		}
		g := c.Gang(t, "first", 4, scenario.Job("native"), scenario.Limit("600Mi"))
		c.AllBound(t, g...)
		h := c.Gang(t, "second", 4, scenario.Job("native"), scenario.Limit("600Mi"))
		c.Says(t, "second-0", "the gang needs an estimated 600Mi for each of 4 pods, and there is memory for 0 now")
		require.Len(t, c.Settled(t), 4)
		c.Pod(t, "beside", scenario.Annotate(plugin.MemoryAnnotation, "400Mi"))
		c.AllBound(t, "beside")
		c.Peak(t, "300Mi", g...)
		c.End(t, g...)
		c.AllBound(t, h...)
	})
	s.metric(t, `gangkit_started_jobs_total{kind="gang"} 4`)
	t.Run("without gang policy", func(t *testing.T) {
		defer c.Clear(t)
		c.Node(t, "node", "1Gi")
		_, err := c.Client.SchedulingV1alpha2().PodGroups(c.Namespace).Create(context.Background(), &scheduling.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: "basic"},
			Spec:       scheduling.PodGroupSpec{SchedulingPolicy: scheduling.PodGroupSchedulingPolicy{Basic: &scheduling.BasicSchedulingPolicy{}}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(1100 * time.Millisecond) // until all nodes may be taken for free
		name := "basic"
		for i := range 6 {
			c.Pod(t, fmt.Sprint("b-", i), scenario.Limit("300Mi"), func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name} })
		}
		scenario.Eventually(t, "three bound", func() bool { return len(c.Bound(t)) >= 3 })
		require.Len(t, c.Settled(t), 3, "1 GiB has room for three")
	})
	t.Run("peak that is said late", func(t *testing.T) { scenario.Late(t, c.Cluster) })
	t.Run("pod that is deleted and stays holds nobody", func(t *testing.T) {
		defer c.Clear(t)
		c.Node(t, "node", "1Gi")
		c.Pod(t, "there", scenario.Limit("900Mi"))
		c.AllBound(t, "there")
		c.Pod(t, "stays", scenario.Limit("900Mi"), func(p *v1.Pod) { p.Finalizers = []string{"example.com/stays"} })
		c.Says(t, "stays", "exceeds what is free")
		c.Delete(t, "stays")
		for i := range 2 * scenario.K {
			name := fmt.Sprint("small-", i)
			c.Pod(t, name)
			c.AllBound(t, name)
		}
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, err := c.Client.CoreV1().Pods(c.Namespace).Patch(context.Background(), "stays", types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
	})
	t.Run("without feature gates", func(t *testing.T) {
		defer c.Clear(t)
		s.kill()
		c.startScheduler(t, setting{})
		for i := range 2 {
			c.Node(t, fmt.Sprint("node-", i), "1Gi")
		}
		c.Gang(t, "ungated", 2)
		c.Says(t, "ungated-0", "needs the feature gates GenericWorkload and GangScheduling")
		require.Empty(t, c.Settled(t))
	})
}

var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)

// Every document of the manifests is what it says, without a field too many.
func TestManifests(t *testing.T) {
	for _, document := range documents(t) {
		_, kind, err := strict.UniversalDeserializer().Decode(document, nil, nil)
		require.NoError(t, err, "%.80s", strings.TrimSpace(string(document)))
		require.NotEmpty(t, kind.Kind)
	}
}

// What is wrong with the configuration ends the scheduler at once, and names it.
func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	c := &cluster{proxy: &proxy{port: 1}} // it is not asked
	for part, args := range map[string]map[string]any{
		"unknown field": {"maxSkip": 3},
		"unknown bound": {"bound": "median"},
	} {
		s := c.startScheduler(t, setting{args: args})
		select {
		case <-s.done:
		case <-time.After(scenario.Deadline):
			require.FailNow(t, "it runs")
		}
		require.True(t, strings.Contains(read(t, s.log), part), "the log does not say %q", part)
		require.NotZero(t, s.command.ProcessState.ExitCode())
	}
}
