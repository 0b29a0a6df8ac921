package plugin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kube/policy"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

// Name is the plugin's, in the configuration of a scheduler.
const Name = "Gangkit"

// Labels and annotations of pods.
const (
	// GangLabel names the gang that a pod belongs to, in its namespace.
	GangLabel = "gangkit.github.io/gang"

	// GangSizeAnnotation is how many pods the gang needs; required with GangLabel.
	GangSizeAnnotation = "gangkit.github.io/gang-size"

	// JobLabel says which pods run the same program. Without it those do that have
	// the same image in their first container.
	JobLabel = "gangkit.github.io/job"

	// UserLabel is for whom the pod runs, within its namespace.
	UserLabel = "gangkit.github.io/user"

	// MemoryAnnotation is what the pod needs, a quantity, whatever the history says.
	MemoryAnnotation = "gangkit.github.io/memory"

	// PeakAnnotation is the most that the pod was measured to use, a quantity. It is
	// for whatever measures, where there is no metrics API or that is too coarse.
	PeakAnnotation = "gangkit.github.io/peak-memory"
)

// gang is the job that a pod belongs to.
type gang struct {
	id     policy.ID
	size   int
	native bool // a PodGroup, which kube-scheduler itself keeps together
}

// gangOf returns the gang of a pod, of itself alone if it names none, and false if
// it names a PodGroup that is not known. minimum returns the minCount of a PodGroup,
// or 0 if that is no gang.
func gangOf(pod *v1.Pod, minimum func(namespace, name string) (int, bool)) (gang, bool, error) {
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil && minimum != nil {
		n, ok := minimum(pod.Namespace, *g.PodGroupName)
		if !ok {
			return gang{}, false, nil
		}
		if n > 0 {
			return gang{policy.ID{Namespace: pod.Namespace, Name: *g.PodGroupName, Gang: true}, n, true}, true, nil
		}
	}
	name, ok := pod.Labels[GangLabel]
	if !ok {
		return gang{policy.ID{Namespace: pod.Namespace, Name: pod.Name}, 1, false}, true, nil
	}
	text := pod.Annotations[GangSizeAnnotation]
	size, err := strconv.ParseInt(text, 10, 32)
	if err != nil || size <= 0 || name == "" {
		return gang{}, false, fmt.Errorf("gang %q: annotation %s is %q, want the number of its pods", name, GangSizeAnnotation, text)
	}
	return gang{policy.ID{Namespace: pod.Namespace, Name: name, Gang: true}, int(size), false}, true, nil
}

// jobOf returns what the history knows a pod by.
func jobOf(pod *v1.Pod, size int) estimate.Job {
	j := estimate.Job{Nodes: size, User: pod.Namespace}
	if user := pod.Labels[UserLabel]; user != "" {
		j.User += "/" + user
	}
	switch label := pod.Labels[JobLabel]; {
	case label != "":
		j.Path = "job:" + label
	case len(pod.Spec.Containers) > 0:
		j.Path = "image:" + pod.Spec.Containers[0].Image
	}
	return j
}

// quantity returns the bytes that an annotation says, and whether it says any. What
// is no quantity, negative or more than can be says nothing.
func quantity(pod *v1.Pod, annotation string) (int64, bool) {
	text, ok := pod.Annotations[annotation]
	if !ok {
		return 0, false
	}
	// To read 1e999999999 takes minutes.
	if i := strings.IndexAny(text, "eE"); len(text) > 32 || i >= 0 && len(text)-i > 4 {
		return 0, false
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 || q.CmpInt64(estimate.MaxMemory) > 0 {
		return 0, false
	}
	return q.Value(), true
}

// requested returns the memory that a pod requests and is limited to, in bytes. A
// pod of which a container has no limit has none, which is 0.
func requested(pod *v1.Pod) (request, limit int64) {
	options := helpers.PodResourcesOptions{}
	r := helpers.PodRequests(pod, options)
	request = min(max(r.Memory().Value(), 0), estimate.MaxMemory)
	limited := pod.Spec.Resources != nil && !pod.Spec.Resources.Limits.Memory().IsZero()
	if !limited {
		limited = true
		for _, c := range pod.Spec.Containers {
			limited = limited && !c.Resources.Limits.Memory().IsZero()
		}
	}
	if limited {
		l := helpers.PodLimits(pod, options)
		limit = min(max(l.Memory().Value(), 0), estimate.MaxMemory)
	}
	return request, limit
}
