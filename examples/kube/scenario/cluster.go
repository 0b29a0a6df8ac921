// Package scenario has what a scheduler with the plugin must do, as tests for any
// cluster that has no kubelet: one with a fake API in the same process, or one with
// a real API server. The tests play the kubelet: they say that pods ended, and how
// much memory they used.
package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/gangkit/gangkit/examples/kube/plugin"
)

// Cluster is a cluster under test.
type Cluster struct {
	Client    kubernetes.Interface
	Namespace string // in which the pods of the test are
	Scheduler string // the profile of the scheduler that they ask for

	// Gangs makes pods members of a gang, if not by label and annotation.
	Gangs func(t testing.TB, name string, size int) Option
}

// Deadline is how long a test waits for what must happen.
const Deadline = 30 * time.Second

// Node creates a node with as much memory, 16 processors and room for 110 pods, as nodes
// have unless somebody says otherwise.
func (c Cluster) Node(t testing.TB, name, memory string) {
	t.Helper()
	resources := v1.ResourceList{
		v1.ResourceCPU:    resource.MustParse("16"),
		v1.ResourceMemory: resource.MustParse(memory),
		v1.ResourcePods:   resource.MustParse("110"),
	}
	_, err := c.Client.CoreV1().Nodes().Create(context.Background(), &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: v1.NodeStatus{
			Capacity: resources, Allocatable: resources,
			Conditions: []v1.NodeCondition{{
				Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "Test",
				LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
			}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// An Option changes a pod before it is created.
type Option func(*v1.Pod)

// member makes the pod one of a gang.
func (c Cluster) member(t testing.TB, name string, size int) Option {
	if c.Gangs != nil {
		return c.Gangs(t, name, size)
	}
	return Gang(name, size)
}

// Gang makes the pod one of a gang, by label and annotation.
func Gang(name string, size int) Option {
	return func(p *v1.Pod) {
		p.Labels[plugin.GangLabel] = name
		p.Annotations[plugin.GangSizeAnnotation] = fmt.Sprint(size)
	}
}

// Job names the program that the pod runs.
func Job(name string) Option { return func(p *v1.Pod) { p.Labels[plugin.JobLabel] = name } }

// Limit limits the memory of the pod.
func Limit(memory string) Option {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse(memory)}
	}
}

// Annotate sets an annotation of the pod.
func Annotate(key, value string) Option { return func(p *v1.Pod) { p.Annotations[key] = value } }

// Processors has the pod request as many.
func Processors(n string) Option {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse(n)
	}
}

// Pod creates a pod that requests a hundredth of a processor and a MiB.
func (c Cluster) Pod(t testing.TB, name string, options ...Option) {
	t.Helper()
	_, err := c.Client.CoreV1().Pods(c.Namespace).Create(context.Background(), c.NewPod(name, options...), metav1.CreateOptions{})
	require.NoError(t, err)
}

// NewPod returns the pod that Pod creates.
func (c Cluster) NewPod(name string, options ...Option) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: name, UID: types.UID(c.Namespace + "-" + name + "-" + fmt.Sprint(time.Now().UnixNano())),
			Labels: map[string]string{}, Annotations: map[string]string{},
			CreationTimestamp: metav1.Now(),
		},
		Spec: v1.PodSpec{
			SchedulerName: c.Scheduler,
			Containers: []v1.Container{{
				Name: "main", Image: "example.com/none",
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
					v1.ResourceCPU:    resource.MustParse("10m"),
					v1.ResourceMemory: resource.MustParse("1Mi"),
				}},
			}},
		},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
	for _, o := range options {
		o(pod)
	}
	return pod
}

// Gang creates all pods of a gang, name-0 and so on, and returns their names.
func (c Cluster) Gang(t testing.TB, name string, size int, options ...Option) []string {
	t.Helper()
	var names []string
	for i := range size {
		names = append(names, fmt.Sprintf("%s-%d", name, i))
		c.Pod(t, names[i], append([]Option{c.member(t, name, size)}, options...)...)
	}
	return names
}

// Get returns a pod.
func (c Cluster) Get(t testing.TB, name string) *v1.Pod {
	t.Helper()
	pod, err := c.Client.CoreV1().Pods(c.Namespace).Get(context.Background(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return pod
}

// All returns all pods.
func (c Cluster) All(t testing.TB) []v1.Pod {
	t.Helper()
	list, err := c.Client.CoreV1().Pods(c.Namespace).List(context.Background(), metav1.ListOptions{})
	require.NoError(t, err)
	return list.Items
}

// Bound returns which of the pods have a node, and which.
func (c Cluster) Bound(t testing.TB, names ...string) map[string]string {
	t.Helper()
	bound := map[string]string{}
	for _, p := range c.All(t) {
		if p.Spec.NodeName != "" && (len(names) == 0 || slices.Contains(names, p.Name)) {
			bound[p.Name] = p.Spec.NodeName
		}
	}
	return bound
}

// Eventually waits until what returns true.
func Eventually(t testing.TB, why string, what func() bool) {
	t.Helper()
	Within(t, Deadline, why, what)
}

// Within waits for so long until what returns true.
func Within(t testing.TB, deadline time.Duration, why string, what func() bool) {
	t.Helper()
	for begin := time.Now(); !what(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > deadline {
			require.FailNow(t, "not in time: "+why)
		}
	}
}

// AllBound waits until all of the pods have nodes.
func (c Cluster) AllBound(t testing.TB, names ...string) {
	t.Helper()
	bound := map[string]string{}
	Eventually(t, fmt.Sprintf("%v bound", names), func() bool {
		bound = c.Bound(t, names...)
		return len(bound) == len(names)
	})
}

// Says waits until the pod's condition says that it waits for such a reason, or for
// any, if the reason is empty.
func (c Cluster) Says(t testing.TB, name, reason string) {
	t.Helper()
	message, says := "", false
	defer func() {
		if t.Failed() {
			t.Logf("%s says %q: %+v", name, message, c.Get(t, name).Status)
		}
	}()
	Eventually(t, fmt.Sprintf("%s says %q", name, reason), func() bool {
		for _, condition := range c.Get(t, name).Status.Conditions {
			if condition.Type == v1.PodScheduled && condition.Status == v1.ConditionFalse {
				message, says = condition.Message, true
			}
		}
		return says && strings.Contains(message, reason)
	})
}

// Peak says that the pods used as much memory.
func (c Cluster) Peak(t testing.TB, memory string, names ...string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, plugin.PeakAnnotation, memory)
	for _, name := range names {
		_, err := c.Client.CoreV1().Pods(c.Namespace).Patch(context.Background(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

// End says that the pods ended, and deletes them.
func (c Cluster) End(t testing.TB, names ...string) {
	t.Helper()
	c.Finish(t, names...)
	c.Delete(t, names...)
}

// Finish says that the pods ended.
func (c Cluster) Finish(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		pod := c.Get(t, name)
		pod.Status.Phase = v1.PodSucceeded
		pod.Status.ContainerStatuses = []v1.ContainerStatus{{
			Name: "main", Image: pod.Spec.Containers[0].Image,
			State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: "Completed", FinishedAt: now()}},
		}}
		c.updateStatus(t, pod)
	}
}

// Delete deletes pods at once.
func (c Cluster) Delete(t testing.TB, names ...string) {
	t.Helper()
	now := int64(0)
	for _, name := range names {
		require.NoError(t, c.Client.CoreV1().Pods(c.Namespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	}
}

// Clear deletes all pods and nodes.
func (c Cluster) Clear(t testing.TB) {
	t.Helper()
	for _, p := range c.All(t) {
		c.Delete(t, p.Name)
	}
	nodes, err := c.Client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, n := range nodes.Items {
		require.NoError(t, c.Client.CoreV1().Nodes().Delete(context.Background(), n.Name, metav1.DeleteOptions{}))
	}
}

// Settled waits until nothing was bound for a moment, and returns what is.
func (c Cluster) Settled(t testing.TB) map[string]string {
	t.Helper()
	before := c.Bound(t)
	for quiet := 0; quiet < 3; {
		time.Sleep(50 * time.Millisecond)
		now := c.Bound(t)
		if maps.Equal(before, now) {
			quiet++
		} else {
			quiet = 0
		}
		before = now
	}
	return before
}

// Request has the pod request as much memory.
func Request(memory string) Option {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Requests[v1.ResourceMemory] = resource.MustParse(memory)
	}
}

func now() metav1.Time { return metav1.Now() }

func (c Cluster) updateStatus(t testing.TB, pod *v1.Pod) {
	t.Helper()
	_, err := c.Client.CoreV1().Pods(c.Namespace).UpdateStatus(context.Background(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
}
