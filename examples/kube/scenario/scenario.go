package scenario

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gangkit/gangkit/examples/kube/plugin"
)

// K is the bound on skips that the scheduler of the scenarios must have.
const K = 5

// All are the scenarios that do not need a scheduler to die. Each needs an empty
// cluster, and leaves it so.
var All = []struct {
	Name string
	Run  func(*testing.T, Cluster)
}{
	{"gang is bound as a whole", Whole},
	{"learnt peak lets a gang in", Learnt},
	{"failed run teaches more only", Failed},
	{"gang starts after K others", Bounded},
	{"two gangs and room for one", Two},
	{"pod that fits nowhere holds nobody", Nowhere},
	{"gang short of processors lets go", Processes},
	{"measured memory counts", Measured},
	{"gang of a leader and workers", Unequal},
	{"best fit", Best},
	{"bad annotations", Bad},
	{"new node", NewNode},
	{"gated pod holds nobody", Gated},
	{"room that was found is used up", Full},
	{"rest of a gang comes first", Rest},
	{"jobs that cannot start hold nobody", Impossible},
	{"pod that is corrected", Corrected},
}

// Whole: no pod of a gang is bound before all exist, and then all are.
func Whole(t *testing.T, c Cluster) {
	defer c.Clear(t)
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	for i := range 3 {
		c.Pod(t, fmt.Sprint("g-", i), c.member(t, "g", 4), Limit("600Mi"))
	}
	c.Pod(t, "other")
	c.AllBound(t, "other")
	require.Len(t, c.Settled(t), 1, "no pod of g")
	c.Pod(t, "g-3", c.member(t, "g", 4), Limit("600Mi"))
	begin := time.Now()
	c.AllBound(t, "g-0", "g-1", "g-2", "g-3")
	t.Log("bound after", time.Since(begin))
}

// Learnt: a gang of which the limits do not fit waits and says why, until runs of
// the program have shown that it needs less.
func Learnt(t *testing.T, c Cluster) {
	defer c.Clear(t)
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	g := c.Gang(t, "g", 4, Job("solver"), Limit("600Mi"))
	c.AllBound(t, g...)
	h := c.Gang(t, "h", 4, Job("solver"), Limit("600Mi"))
	k := c.Gang(t, "k", 4, Job("solver"), Limit("600Mi"))
	c.Says(t, "h-0", "the gang needs an estimated 600Mi for each of 4 pods, and there is memory for 0 now")
	require.Len(t, c.Settled(t), 4, "no pod of h or k")
	c.Peak(t, "300Mi", g...)
	c.End(t, g...)
	// 300 MiB, the paper's bound of one run, go three times into 1 GiB.
	c.AllBound(t, append(h, k...)...)
}

// Failed: a run that failed says nothing of how much less one needs that does not.
func Failed(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	fail := func(name, reason string) {
		pod := c.Get(t, name)
		pod.Status.Phase = v1.PodFailed
		pod.Status.ContainerStatuses = []v1.ContainerStatus{{
			Name: "main", State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: reason, ExitCode: 1, FinishedAt: now()}},
		}}
		c.updateStatus(t, pod)
		c.Delete(t, name)
	}
	c.Pod(t, "first", Job("crashes"), Limit("600Mi"), Annotate(plugin.PeakAnnotation, "10Mi"))
	c.AllBound(t, "first")
	fail("first", "Error")
	c.Pod(t, "second", Job("crashes"), Limit("600Mi"))
	c.AllBound(t, "second")
	c.Pod(t, "third", Job("crashes"), Limit("600Mi"))
	c.Says(t, "third", "estimated memory of 600Mi")
	// It was killed for want of memory, so another without a limit will need as much.
	fail("second", "OOMKilled")
	c.AllBound(t, "third")
	c.Pod(t, "fourth", Job("crashes"))
	c.Says(t, "fourth", "estimated memory of 600Mi")
}

// Bounded: small pods come without end, and a gang that needs all nodes starts after
// at most K of them have passed it.
func Bounded(t *testing.T, c Cluster) {
	defer c.Clear(t)
	passed, started := Stream(t, c, 100)
	require.True(t, started)
	require.LessOrEqual(t, passed, K)
}

// Stream submits a gang that needs half of each of four nodes, while small pods fill
// more than half and end one by one, each followed by another. It tells how many of
// those that came later were bound before the gang, and whether that was bound
// before as many as limit had come.
func Stream(t *testing.T, c Cluster, limit int) (passed int, started bool) {
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	// Memory is requested, so that a scheduler without the plugin sees it as well.
	small := func(name string) { c.Pod(t, name, Job("small"), Limit("300Mi"), Request("300Mi")) }
	var running []string
	for i := range 12 {
		running = append(running, fmt.Sprint("small-", i))
		small(running[i])
	}
	c.AllBound(t, running...)
	gang := c.Gang(t, "wide", 4, Limit("600Mi"), Request("600Mi"))
	var waiting []string
	for i := range limit {
		late := fmt.Sprint("late-", i)
		small(late)
		if len(running) > 0 {
			c.End(t, running[0])
			running = running[1:]
		}
		now := c.Settled(t)
		bound := 0
		for _, name := range gang {
			if now[name] != "" {
				bound++
			}
		}
		require.Contains(t, []int{0, len(gang)}, bound, "a part of the gang is bound")
		if bound > 0 {
			t.Logf("the gang started after %d of %d later pods", passed, i+1)
			return passed, true
		}
		// What is bound in the same moment as the gang may have been so after it.
		waiting = slices.DeleteFunc(append(waiting, late), func(name string) bool {
			if now[name] == "" {
				return false
			}
			running = append(running, name)
			passed++
			return true
		})
	}
	return passed, false
}

// Two: of two gangs of which the pods come by turns, one starts, and then the other.
func Two(t *testing.T, c Cluster) {
	defer c.Clear(t)
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	var names [2][]string
	for i := range 4 {
		for g := range 2 {
			name := fmt.Sprintf("g%d-%d", g, i)
			names[g] = append(names[g], name)
			c.Pod(t, name, Gang(fmt.Sprint("g", g), 4), Limit("600Mi"))
		}
	}
	first := 0
	Eventually(t, "one of the gangs bound", func() bool {
		a, b := len(c.Bound(t, names[0]...)), len(c.Bound(t, names[1]...))
		require.True(t, a == 0 || b == 0, "parts of both are bound: %d and %d", a, b)
		if b > 0 {
			first = 1
		}
		return a == 4 || b == 4
	})
	require.Len(t, c.Settled(t), 4)
	c.Delete(t, names[first]...)
	c.AllBound(t, names[1-first]...)
}

// Nowhere: a pod that no node would take if it were empty does not hold others, by
// its memory or otherwise.
func Nowhere(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	c.Pod(t, "huge", Limit("2Gi"))
	c.Pod(t, "picky", func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"no": "where"} })
	c.Gang(t, "wide", 3, Limit("600Mi"))
	c.Says(t, "huge", "estimated memory of 2Gi exceeds that of an empty node")
	c.Says(t, "picky", "")
	c.Says(t, "wide-0", "the gang needs an estimated 600Mi for each of 3 pods, and without other jobs there would be memory for 1")
	for i := range 3 * K {
		name := fmt.Sprint("small-", i)
		c.Pod(t, name)
		c.AllBound(t, name)
	}
}

// Processes: a gang for which there is memory, but not processors, keeps no node.
func Processes(t *testing.T, c Cluster) {
	defer c.Clear(t)
	for i := range 2 {
		c.Node(t, fmt.Sprint("node-", i), "4Gi")
	}
	c.Pod(t, "there", Processors("10"))
	c.AllBound(t, "there")
	c.Gang(t, "g", 2, Processors("12"))
	c.Says(t, "g-0", "")
	c.Says(t, "g-1", "")
	require.Len(t, c.Settled(t), 1)
	c.Pod(t, "small", Processors("14"))
	Within(t, 5*time.Second, "the node that the gang let go taken", func() bool { return len(c.Bound(t, "small")) == 1 })
	require.Len(t, c.Settled(t), 2)
	c.Delete(t, "there", "small")
	Within(t, 5*time.Second, "the gang bound", func() bool { return len(c.Bound(t, "g-0", "g-1")) == 2 })
}

// Measured: a pod that uses more than estimated leaves less to others.
func Measured(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	c.Pod(t, "grows", Annotate(plugin.MemoryAnnotation, "100Mi"))
	c.AllBound(t, "grows")
	c.Peak(t, "700Mi", "grows")
	time.Sleep(200 * time.Millisecond) // until that is seen
	c.Pod(t, "next", Annotate(plugin.MemoryAnnotation, "400Mi"))
	c.Says(t, "next", "estimated memory of 400Mi exceeds what is free by estimates")
	c.Delete(t, "grows")
	c.AllBound(t, "next")
}

// Unequal: pods of a gang may need different amounts.
func Unequal(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "large", "2Gi")
	c.Node(t, "small", "512Mi")
	c.Pod(t, "leader", Gang("g", 3), Annotate(plugin.MemoryAnnotation, "1900Mi"))
	for i := range 2 {
		c.Pod(t, fmt.Sprint("worker-", i), Gang("g", 3), Annotate(plugin.MemoryAnnotation, "200Mi"))
	}
	c.AllBound(t, "leader", "worker-0", "worker-1")
}

// Best: a pod goes where it leaves the least memory.
func Best(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "tight", "1Gi")
	c.Node(t, "wide", "8Gi")
	c.Pod(t, "a", Annotate(plugin.MemoryAnnotation, "900Mi"))
	c.AllBound(t, "a")
	require.Equal(t, map[string]string{"a": "tight"}, c.Bound(t))
}

// Bad: a gang without a size is not scheduled, and keeps nobody from it.
func Bad(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	c.Pod(t, "none", func(p *v1.Pod) { p.Labels[plugin.GangLabel] = "g" })
	c.Pod(t, "negative", Gang("h", -1))
	c.Pod(t, "overflow", Gang("h", 1<<40))
	c.Pod(t, "digits", Annotate(plugin.MemoryAnnotation, "1e999999999"), Annotate(plugin.PeakAnnotation, "1e-999999999"))
	c.Pod(t, "memory", Annotate(plugin.MemoryAnnotation, "much"), Annotate(plugin.PeakAnnotation, "-5"))
	c.AllBound(t, "memory", "digits")
	require.Len(t, c.Settled(t), 2)
}

// NewNode: a gang that waits for memory starts when there is a node with it.
func NewNode(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node-0", "1Gi")
	g := c.Gang(t, "g", 2, Limit("600Mi"))
	c.Says(t, "g-0", "without other jobs there would be memory for 1")
	c.Node(t, "node-1", "1Gi")
	c.AllBound(t, g...)
}

// Gated: a pod that has scheduling gates is not passed over, and starts once these
// are gone.
func Gated(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	c.Pod(t, "gated", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}} })
	for i := range 3 * K {
		name := fmt.Sprint("small-", i)
		c.Pod(t, name)
		c.AllBound(t, name)
	}
	pod := c.Get(t, "gated")
	pod.Spec.SchedulingGates = nil
	_, err := c.Client.CoreV1().Pods(c.Namespace).Update(context.Background(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	c.AllBound(t, "gated")
}

// Full: a scheduler that has found room on all nodes takes note of who uses it.
func Full(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	time.Sleep(1100 * time.Millisecond) // it trusts what it finds once nothing has changed for a second
	for i := range 3 {
		name := fmt.Sprint("a-", i)
		c.Pod(t, name, Annotate(plugin.MemoryAnnotation, "250Mi"))
		c.AllBound(t, name)
	}
	c.Peak(t, "300Mi", "a-0")
	time.Sleep(200 * time.Millisecond) // until that is seen
	c.Pod(t, "b", Annotate(plugin.MemoryAnnotation, "250Mi"))
	c.Says(t, "b", "estimated memory of 250Mi exceeds what is free by estimates")
	c.Delete(t, "a-1")
	c.AllBound(t, "b")
}

// Rest: a gang waits for its pods, of which the last comes with a node. The other is
// bound then, before one that was complete earlier.
func Rest(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	c.Pod(t, "g-0", c.member(t, "g", 2), Limit("600Mi"))
	c.Pod(t, "first", Limit("600Mi"))
	c.AllBound(t, "first")
	c.Pod(t, "second", Limit("600Mi"))
	c.Says(t, "second", "exceeds what is free")
	c.Pod(t, "g-1", c.member(t, "g", 2), Limit("100Mi"), func(p *v1.Pod) { p.Spec.NodeName = "node" })
	c.Says(t, "g-0", "the gang needs an estimated 600Mi for each of 1 pods")
	c.Delete(t, "first")
	c.AllBound(t, "g-0")
}

// Impossible: jobs that could not start if nothing else ran hold nobody, whatever it
// is that they lack.
func Impossible(t *testing.T, c Cluster) {
	defer c.Clear(t)
	for i := range 3 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	c.Pod(t, "claims", func(p *v1.Pod) {
		p.Spec.Volumes = []v1.Volume{{Name: "none", VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "none"},
		}}}
	})
	c.Pod(t, "service", func(p *v1.Pod) { p.Spec.SchedulerName, p.Spec.NodeName = "another", "node-0" }, Processors("1"), Limit("900Mi"))
	c.Pod(t, "whole", Processors("16"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"first": "true"} })
	node, err := c.Client.CoreV1().Nodes().Get(context.Background(), "node-0", metav1.GetOptions{})
	require.NoError(t, err)
	node.Labels = map[string]string{"first": "true"}
	_, err = c.Client.CoreV1().Nodes().Update(context.Background(), node, metav1.UpdateOptions{})
	require.NoError(t, err)
	c.Gang(t, "wide", 4, Processors("12"))
	c.Gang(t, "large", 3, Limit("600Mi"))
	c.Says(t, "large-0", "without other jobs there would be memory for 2")
	c.Says(t, "claims", "none")
	c.Says(t, "whole", "")
	c.Says(t, "wide-3", "")
	for i := range 2*K + 1 {
		name := fmt.Sprint("small-", i)
		c.Pod(t, name)
		c.AllBound(t, name)
		c.End(t, name)
	}
}

// Corrected: a pod that made no sense, or needed more than there is, is tried soon
// after its user has corrected it.
func Corrected(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	c.Pod(t, "large", Annotate(plugin.MemoryAnnotation, "2Gi"))
	c.Says(t, "large", "exceeds that of an empty node")
	c.Pod(t, "g-0", Gang("g", 2))
	c.Pod(t, "g-1", Gang("g", 2), Annotate(plugin.GangSizeAnnotation, "two"))
	c.Pod(t, "other")
	c.AllBound(t, "other")
	require.Len(t, c.Settled(t), 1)
	for name, annotation := range map[string][2]string{
		"large": {plugin.MemoryAnnotation, "100Mi"}, "g-1": {plugin.GangSizeAnnotation, "2"},
	} {
		pod := c.Get(t, name)
		pod.Annotations[annotation[0]] = annotation[1]
		_, err := c.Client.CoreV1().Pods(c.Namespace).Update(context.Background(), pod, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	Within(t, 5*time.Second, "what was corrected bound", func() bool { return len(c.Bound(t, "large", "g-0", "g-1")) == 3 })
}

// Late: what a pod used may be said after it has ended. It is not among All, as an API
// that only stores objects does not tell a scheduler that a pod has ended.
func Late(t *testing.T, c Cluster) {
	defer c.Clear(t)
	c.Node(t, "node", "1Gi")
	c.Pod(t, "first", Job("short"), Limit("800Mi"))
	c.AllBound(t, "first")
	c.Finish(t, "first")
	c.Pod(t, "second", Job("short"), Limit("800Mi"))
	c.AllBound(t, "second")
	c.Pod(t, "third", Job("short"), Limit("800Mi"))
	c.Says(t, "third", "estimated memory of 800Mi exceeds what is free")
	c.Peak(t, "100Mi", "first")
	c.AllBound(t, "third")
}
