package plugin

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kube/policy"
)

func memoryList(text string) v1.ResourceList {
	if text == "" {
		return nil
	}
	return v1.ResourceList{v1.ResourceMemory: resource.MustParse(text)}
}

func container(image, request, limit string) v1.Container {
	return v1.Container{Image: image, Resources: v1.ResourceRequirements{Requests: memoryList(request), Limits: memoryList(limit)}}
}

func TestRequested(t *testing.T) {
	always := v1.ContainerRestartPolicyAlways
	sidecar := container("s", "1Mi", "2Mi")
	sidecar.RestartPolicy = &always
	for name, c := range map[string]struct {
		spec           v1.PodSpec
		request, limit int64
	}{
		"nothing":                     {v1.PodSpec{Containers: []v1.Container{container("a", "", "")}}, 0, 0},
		"sum of containers":           {v1.PodSpec{Containers: []v1.Container{container("a", "1Mi", "2Mi"), container("b", "2Mi", "5Mi")}}, 3 << 20, 7 << 20},
		"one container has no limit":  {v1.PodSpec{Containers: []v1.Container{container("a", "1Mi", "2Mi"), container("b", "", "")}}, 1 << 20, 0},
		"init container needs most":   {v1.PodSpec{Containers: []v1.Container{container("a", "1Mi", "2Mi")}, InitContainers: []v1.Container{container("i", "9Mi", "9Mi")}}, 9 << 20, 9 << 20},
		"sidecar runs beside":         {v1.PodSpec{Containers: []v1.Container{container("a", "1Mi", "2Mi")}, InitContainers: []v1.Container{sidecar}}, 2 << 20, 4 << 20},
		"overhead":                    {v1.PodSpec{Containers: []v1.Container{container("a", "1Mi", "2Mi")}, Overhead: memoryList("1Mi")}, 2 << 20, 3 << 20},
		"more than there can be":      {v1.PodSpec{Containers: []v1.Container{container("a", "1Ei", "7Ei")}}, estimate.MaxMemory, estimate.MaxMemory},
		"limit of the pod as a whole": {v1.PodSpec{Containers: []v1.Container{container("a", "", "")}, Resources: &v1.ResourceRequirements{Limits: memoryList("4Mi")}}, 0, 4 << 20},
	} {
		request, limit := requested(&v1.Pod{Spec: c.spec})
		require.Equal(t, c.request, request, name)
		require.Equal(t, c.limit, limit, name)
	}
}

func TestJobOf(t *testing.T) {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n"}, Spec: v1.PodSpec{Containers: []v1.Container{{Image: "i"}, {Image: "j"}}}}
	require.Equal(t, estimate.Job{Path: "image:i", Nodes: 4, User: "n"}, jobOf(pod, 4))
	pod.Labels = map[string]string{JobLabel: "solver", UserLabel: "ada"}
	require.Equal(t, estimate.Job{Path: "job:solver", Nodes: 1, User: "n/ada"}, jobOf(pod, 1))
}

func TestPodGroupIsTheGang(t *testing.T) {
	name := "group"
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}, Spec: v1.PodSpec{SchedulingGroup: &v1.PodSchedulingGroup{PodGroupName: &name}}}
	minimum := func(size int, there bool) func(string, string) (int, bool) {
		return func(namespace, group string) (int, bool) {
			require.Equal(t, "n/group", namespace+"/"+group)
			return size, there
		}
	}
	g, ok, err := gangOf(pod, minimum(3, true))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, gang{policy.ID{Namespace: "n", Name: "group", Gang: true}, 3, true}, g)
	_, ok, err = gangOf(pod, minimum(0, false))
	require.NoError(t, err)
	require.False(t, ok, "the group is not there yet")
	for _, minimum := range []func(string, string) (int, bool){minimum(0, true), nil} { // no gang; no groups
		g, ok, err = gangOf(pod, minimum)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, gang{policy.ID{Namespace: "n", Name: "p"}, 1, false}, g)
	}
}

func TestSize(t *testing.T) {
	for n, text := range map[int64]string{0: "0", 5: "5", 1 << 20: "1Mi", 600 << 20: "600Mi", 600<<20 + 1: "601Mi", 2 << 30: "2Gi", math.MaxInt64: "9223372036854775807"} {
		require.Equal(t, text, size(n))
	}
}

func TestArgumentsThatAreLeftOut(t *testing.T) {
	a, err := parse(nil)
	require.NoError(t, err)
	require.Equal(t, time.Minute, a.PermitTimeout.Duration)
	require.Equal(t, 720*time.Hour, a.Period.Duration)
	require.Equal(t, 30*time.Second, a.SaveInterval.Duration)
	require.Equal(t, 15*time.Second, a.MeasureInterval.Duration)
	require.Equal(t, "paper", a.Bound)
	b, err := parse(&runtime.Unknown{Raw: []byte(`{"measureInterval":"-1s","factor":1.5}`)})
	require.NoError(t, err)
	require.Negative(t, b.MeasureInterval.Duration)
	require.Equal(t, 1.5, b.Factor)
}

// Whatever labels and annotations say, a gang has a size that can be, and memory is
// within its bounds.
func FuzzPod(f *testing.F) {
	f.Add("g", "4", "100Mi", "2Gi", "solver", "ada")
	f.Add("", "0", "-1", "1e99", "", "")
	f.Add("g", "99999999999999999999", "1Ei", "nan", "\x00", "/")
	f.Fuzz(func(t *testing.T, label, number, need, peak, job, user string) {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", Name: "p", UID: "u",
			Labels:      map[string]string{GangLabel: label, JobLabel: job, UserLabel: user},
			Annotations: map[string]string{GangSizeAnnotation: number, MemoryAnnotation: need, PeakAnnotation: peak},
		}}
		if g, ok, err := gangOf(pod, nil); err == nil {
			require.True(t, ok)
			require.Positive(t, g.size)
			require.LessOrEqual(t, g.size, math.MaxInt32)
			require.Equal(t, g.size, jobOf(pod, g.size).Nodes)
		} else {
			require.ErrorContains(t, err, GangSizeAnnotation)
		}
		for _, a := range []string{MemoryAnnotation, PeakAnnotation} {
			n, ok := quantity(pod, a)
			require.True(t, n >= 0 && n <= estimate.MaxMemory)
			require.True(t, ok || n == 0)
		}
	})
}
