package e2e

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admission "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gangkit/gangkit/examples/kube/plugin"
	"github.com/gangkit/gangkit/examples/kube/scenario"
)

// Whatever dies, no gang is left half bound, and no estimate is lost that had been
// saved. What needs a scheduler of its own besides is here too, as API servers cost
// time.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]func(*testing.T, *cluster){
		"deaths": {schedulerKilledBetweenPermitAndBind, schedulerKilledBetweenTwoBindings, apiServerKilledInMidGang},
		"others": {watchesThatDrop, twoSchedulers, measuredByMetricsAPI, historyChangedByOthers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t)
			for _, fault := range faults {
				function := runtime.FuncForPC(reflect.ValueOf(fault).Pointer()).Name()
				t.Run(function[strings.LastIndex(function, ".")+1:], func(t *testing.T) {
					fault(t, c)
					c.clear(t)
				})
			}
		})
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// permitted brings a gang g of four to where all have been permitted, and nothing of
// it is bound, as what the scheduler asks does not arrive. Each takes more than half
// of its node.
func permitted(t *testing.T, c *cluster, s *scheduler) []string {
	t.Helper()
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	c.Pod(t, "first")
	c.AllBound(t, "first") // it has loaded its history
	c.Delete(t, "first")
	var g []string
	for i := range 3 {
		g = append(g, fmt.Sprint("g-", i))
		c.Pod(t, g[i], scenario.Gang("g", 4), scenario.Limit("600Mi"))
	}
	c.Settled(t)
	c.proxy.freeze(true)
	g = append(g, "g-3")
	c.Pod(t, "g-3", scenario.Gang("g", 4), scenario.Limit("600Mi"))
	s.metric(t, `gangkit_started_jobs_total{kind="gang"} 1`)
	require.Empty(t, c.Bound(t))
	return g
}

// others submits pods that would take the place of a gang that lets go, in the next
// second: to a scheduler that begins, what was created in the same one is equally old.
func others(t *testing.T, c *cluster) {
	t.Helper()
	now := time.Now()
	time.Sleep(now.Truncate(time.Second).Add(1020 * time.Millisecond).Sub(now))
	for i := range 8 {
		c.Pod(t, fmt.Sprint("other-", i), scenario.Limit("600Mi"))
	}
}

func schedulerKilledBetweenPermitAndBind(t *testing.T, c *cluster) {
	s := c.startScheduler(t, setting{})
	g := permitted(t, c, s)
	s.kill()
	c.proxy.cut()
	c.proxy.freeze(false)
	others(t, c)
	require.Empty(t, c.Settled(t), "what it asked is lost with it")
	c.startScheduler(t, setting{})
	c.AllBound(t, g...)
	require.Len(t, c.Settled(t), 4)
}

func apiServerKilledInMidGang(t *testing.T, c *cluster) {
	s := c.startScheduler(t, setting{})
	g := permitted(t, c, s)
	c.api.kill()
	c.proxy.freeze(false)
	time.Sleep(200 * time.Millisecond) // bindings fail
	c.startAPI(t)
	others(t, c)
	// If nothing of it was bound, it waits, and is passed over like any other.
	passed := 0
	scenario.Eventually(t, "all of g bound", func() bool {
		bound := c.Settled(t)
		for pod := range bound {
			if strings.HasPrefix(pod, "other-") {
				c.Delete(t, pod)
				passed++
			}
		}
		return len(c.Bound(t, g...)) == 4
	})
	require.LessOrEqual(t, passed, scenario.K)
	select {
	case <-s.done:
		require.Fail(t, "the scheduler has ended")
	default:
	}
}

// A gang of which a part is bound when the scheduler dies is completed by the next
// one before others, though these wait longer.
func schedulerKilledBetweenTwoBindings(t *testing.T, c *cluster) {
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	ctx := context.Background()
	fail, deny := admission.Fail, admission.Deny
	_, err := c.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, &admission.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-binding-of-g-2"},
		Spec: admission.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{
				RuleWithOperations: admission.RuleWithOperations{
					Operations: []admission.OperationType{admission.Create},
					Rule:       admission.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/binding"}},
				},
			}}},
			Validations: []admission.Validation{{Expression: `object.metadata.name != "g-2" && object.metadata.name != "canary"`}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, &admission.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "no-binding-of-g-2"},
		Spec: admission.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "no-binding-of-g-2", ValidationActions: []admission.ValidationAction{admission.ValidationAction(deny)},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	scenario.Eventually(t, "the policy in force", func() bool {
		c.Pod(t, "canary")
		err := c.Client.CoreV1().Pods("default").Bind(ctx, &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: "canary"}, Target: v1.ObjectReference{Kind: "Node", Name: "node-0"},
		}, metav1.CreateOptions{})
		c.Delete(t, "canary")
		return err != nil
	})

	s := c.startScheduler(t, setting{})
	others(t, c)
	c.Settled(t) // four run, four wait
	g := c.Gang(t, "g", 4, scenario.Limit("600Mi"))
	for i := range 8 { // until the gang's turn
		c.Delete(t, fmt.Sprint("other-", i))
	}
	c.AllBound(t, g[0], g[1], g[3])
	others(t, c)
	c.Settled(t)
	s.kill()
	require.Len(t, c.Bound(t), 3, "nobody took the place of g-2")
	require.NoError(t, c.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, "no-binding-of-g-2", metav1.DeleteOptions{}))
	c.startScheduler(t, setting{})
	c.AllBound(t, g...)
	require.Len(t, c.Settled(t), 4)
}

func watchesThatDrop(t *testing.T, c *cluster) {
	c.startScheduler(t, setting{})
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	stop := make(chan struct{})
	cutter := make(chan struct{})
	go func() {
		defer close(cutter)
		for {
			select {
			case <-stop:
				return
			case <-time.After(150 * time.Millisecond):
				c.proxy.cut()
			}
		}
	}()
	for round := range 3 {
		g := c.Gang(t, fmt.Sprint("g", round), 4, scenario.Limit("600Mi"))
		scenario.Eventually(t, "one whole gang", func() bool {
			return len(c.Bound(t, g...)) == 4
		})
		c.Peak(t, "550Mi", g...)
		c.End(t, g...)
	}
	close(stop)
	<-cutter
	last := c.Gang(t, "last", 4, scenario.Limit("600Mi"))
	c.AllBound(t, last...)
}

// Of two schedulers one leads; what it has saved the other knows when it leads.
func twoSchedulers(t *testing.T, c *cluster) {
	c.Node(t, "node", "1Gi")
	leader := setting{leader: map[string]any{"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}}
	first := c.startScheduler(t, leader)
	run := func(name string) {
		c.Pod(t, name, scenario.Job(name), scenario.Limit("800Mi"))
		c.AllBound(t, name)
		c.Peak(t, "100Mi", name)
		c.End(t, name)
	}
	run("a")
	first.metric(t, "gangkit_history_records 1")
	second := c.startScheduler(t, leader)
	run("b")
	scenario.Eventually(t, "the history of both saved", func() bool {
		first.metric(t, "gangkit_history_records 2")
		m, err := c.Client.CoreV1().ConfigMaps("kube-system").Get(context.Background(), "gangkit-history", metav1.GetOptions{})
		return err == nil && len(m.BinaryData["history"]) > 0
	})
	time.Sleep(500 * time.Millisecond) // two intervals of saving
	require.False(t, strings.Contains(read(t, second.log), "Gangkit begins"), "it leads")
	first.kill()
	c.Pod(t, "filler", scenario.Annotate(plugin.MemoryAnnotation, "800Mi"))
	c.AllBound(t, "filler")
	second.metric(t, "gangkit_history_records 2")
	for _, name := range []string{"a", "b"} {
		c.Pod(t, name, scenario.Job(name), scenario.Limit("800Mi"))
		c.AllBound(t, name)
	}
	c.Pod(t, "c", scenario.Job("c"), scenario.Limit("800Mi"))
	c.Says(t, "c", "estimated memory of 800Mi")
}

// What others do to the ConfigMap of the history, somebody who adds a label or deletes
// it, does not end saving.
func historyChangedByOthers(t *testing.T, c *cluster) {
	c.Node(t, "node", "1Gi")
	c.startScheduler(t, setting{})
	maps, ctx := c.Client.CoreV1().ConfigMaps("kube-system"), context.Background()
	saved := func() map[string][]byte {
		m, err := maps.Get(ctx, "gangkit-history", metav1.GetOptions{})
		if err != nil {
			return nil
		}
		return m.BinaryData
	}
	run := func(name string) {
		before := saved()
		c.Pod(t, name, scenario.Job(name), scenario.Limit("800Mi"))
		c.AllBound(t, name)
		c.Peak(t, "100Mi", name)
		c.End(t, name)
		scenario.Within(t, 10*time.Second, "the run of "+name+" saved", func() bool {
			now := saved()
			return len(now["history"]) > 0 && !reflect.DeepEqual(before, now)
		})
	}
	run("a")
	_, err := maps.Patch(ctx, "gangkit-history", types.MergePatchType, []byte(`{"metadata":{"labels":{"by":"somebody"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	run("b")
	require.NoError(t, maps.Delete(ctx, "gangkit-history", metav1.DeleteOptions{}))
	run("c")
}
