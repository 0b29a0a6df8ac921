package plugin

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/gangkit/gangkit/examples/kube/policy"
	v1 "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// see takes note of a pod of this scheduler that has no node, if it still exists. It
// may be called by whoever sees the pod first.
func (p *Plugin) see(pod *v1.Pod, g gang) {
	p.mu.Lock()
	if c := p.pending[pod.UID]; c == nil || c.pod.ResourceVersion != pod.ResourceVersion {
		p.pending[pod.UID] = &candidate{pod: pod, told: c != nil && c.told, made: -1}
	}
	p.mu.Unlock()
	if err := p.jobs.Add(process(pod, g)); err != nil {
		klog.Background().Error(err, "Pod not counted", "pod", klog.KObj(pod))
	}
	// A pod leaves the informer's store before its deletion is told. So if it is there
	// now, its deletion is yet to be told, and undoes this.
	pods := p.handle.SharedInformerFactory().Core().V1().Pods().Lister()
	if there, err := pods.Pods(pod.Namespace).Get(pod.Name); err != nil || there.UID != pod.UID || there.DeletionTimestamp != nil {
		p.forget(pod)
	}
}

// forget drops a pod that is gone.
func (p *Plugin) forget(pod *v1.Pod) {
	p.mu.Lock()
	delete(p.pending, pod.UID)
	delete(p.short, pod.UID)
	delete(p.lost, pod.UID)
	delete(p.edited, pod.UID)
	p.mu.Unlock()
	p.jobs.Remove(policy.UID(pod.UID))
	p.memory.forget(pod.UID)
}

// watch follows the pods and nodes that the scheduler watches anyway. It sees no
// pods that have ended: to it they are deleted. It returns how to ask whether it has
// seen all pods that were there at first.
func (p *Plugin) watch() (synced cache.InformerSynced, err error) {
	informers := p.handle.SharedInformerFactory().Core().V1()
	pods, err := informers.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			if pod, ok := o.(*v1.Pod); ok {
				p.complain(pod)
				p.seen(pod)
			}
		},
		UpdateFunc: func(o, n any) {
			before, ok := o.(*v1.Pod)
			now, too := n.(*v1.Pod)
			if !ok || !too {
				return
			}
			if before.UID != now.UID { // the deletion in between was missed
				p.gone(before)
			} else if !maps.Equal(before.Labels, now.Labels) || !maps.Equal(before.Annotations, now.Annotations) {
				p.change(now)
			}
			p.seen(now)
			if now.Spec.NodeName != "" && before.UID == now.UID && before.Generation != now.Generation && !equality.Semantic.DeepEqual(before.Spec.Containers, now.Spec.Containers) {
				p.memory.set(now.UID, p.needOf(now)) // it was resized
			}
		},
		DeleteFunc: func(o any) {
			if pod, ok := last[*v1.Pod](o); ok {
				p.gone(pod)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("plugin: watching pods: %w", err)
	}
	_, err = informers.Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { p.memory.change(); p.changes.Add(1) },
		UpdateFunc: func(o, n any) {
			before, ok := o.(*v1.Node)
			now, too := n.(*v1.Node)
			if !ok || !too || !before.Status.Allocatable.Memory().Equal(*now.Status.Allocatable.Memory()) {
				p.memory.change()
			}
			same := equality.Semantic.DeepEqual
			if !ok || !too || !same(before.Status.Allocatable, now.Status.Allocatable) || !same(before.Labels, now.Labels) || !same(before.Spec, now.Spec) {
				p.changes.Add(1)
			}
		},
		DeleteFunc: func(any) {
			p.memory.nodes.Clear() // of which the one is that is gone
		},
	})
	if err != nil {
		return nil, fmt.Errorf("plugin: watching nodes: %w", err)
	}
	return pods.HasSynced, nil
}

// gone drops a pod that is deleted or has ended, or will not be tried.
func (p *Plugin) gone(pod *v1.Pod) {
	p.learner.gone(pod.UID)
	p.forget(pod)
	p.changes.Add(1)
	if g, ok, err := gangOf(pod, p.minimum); ok && err == nil && !p.jobs.Started(g.id) {
		p.reject(g, pod.UID, "another pod of the gang is gone")
	}
	p.activateLifted(context.Background())
}

// change has a pod tried again that was edited as it waits.
func (p *Plugin) change(pod *v1.Pod) {
	if pod.Spec.NodeName != "" || pod.Spec.SchedulerName != p.handle.ProfileName() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edited[pod.UID] = edit{pod, time.Now()}
}

// last returns the object that a deletion tells of.
func last[T any](o any) (T, bool) {
	if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = unknown.Obj
	}
	object, ok := o.(T)
	return object, ok
}

// seen takes in the state of a pod.
func (p *Plugin) seen(pod *v1.Pod) {
	g, ok, err := gangOf(pod, p.minimum)
	mine := ok && err == nil && pod.Spec.SchedulerName == p.handle.ProfileName()
	if pod.Spec.NodeName == "" {
		p.mu.Lock()
		_, known := p.pending[pod.UID]
		node, lost := p.lost[pod.UID]
		p.mu.Unlock()
		if !known {
			return // PreEnqueue sees it first, if nothing else keeps it from the queue
		}
		if !mine || pod.DeletionTimestamp != nil { // kube-scheduler will not try it
			p.gone(pod)
			return
		}
		p.see(pod, g)
		p.activateLifted(context.Background())
		if lost && pod.Status.NominatedNodeName == node {
			go p.clearNomination(pod)
		}
		return
	}
	p.mu.Lock()
	delete(p.pending, pod.UID)
	delete(p.short, pod.UID)
	delete(p.lost, pod.UID)
	delete(p.edited, pod.UID)
	p.mu.Unlock()
	switch {
	case mine && pod.DeletionTimestamp != nil: // it needs its memory until it is gone, but does not run on
		p.jobs.Remove(policy.UID(pod.UID))
	case mine:
		if err := p.jobs.Add(process(pod, g)); err != nil {
			klog.Background().Error(err, "Pod not counted", "pod", klog.KObj(pod))
		}
	}
	if _, ok := p.memory.need(pod.UID); !ok {
		p.memory.set(pod.UID, p.needOf(pod))
		p.memory.change()
	}
	if peak, ok := quantity(pod, PeakAnnotation); ok && mine {
		p.learner.measured(pod, peak)
	}
	p.activateLifted(context.Background())
}

// complain tells the user of a pod of which the gang makes no sense. kube-scheduler
// does not say why a pod is not even tried.
func (p *Plugin) complain(pod *v1.Pod) {
	if _, _, err := gangOf(pod, p.minimum); err != nil && pod.Spec.SchedulerName == p.handle.ProfileName() {
		p.handle.EventRecorder().Eventf(pod, nil, v1.EventTypeWarning, "InvalidGang", "Scheduling", "%s", err)
	}
}

// remind tells the users of pods of which the gang has been incomplete for so long,
// once.
func (p *Plugin) remind(after time.Duration) {
	var waiting []*v1.Pod
	p.mu.Lock()
	for _, c := range p.pending {
		if !c.told && c.pod.Labels[GangLabel] != "" && time.Since(c.pod.CreationTimestamp.Time) > after {
			waiting = append(waiting, c.pod)
		}
	}
	p.mu.Unlock()
	for _, pod := range waiting {
		g, ok, err := gangOf(pod, p.minimum)
		if err != nil || !ok {
			continue
		}
		known, _ := p.jobs.Count(g.id)
		if known >= g.size {
			continue
		}
		p.mu.Lock()
		if c := p.pending[pod.UID]; c != nil {
			c.told = true
		}
		p.mu.Unlock()
		p.handle.EventRecorder().Eventf(pod, nil, v1.EventTypeNormal, "GangIncomplete", "Scheduling", "%s", policy.Refusal{Known: known, Size: g.size})
	}
}

// podGroups finds out how to find the minCount of a PodGroup, if the cluster has any.
// They are followed by the scheduler's informers.
func (p *Plugin) podGroups() error {
	version := scheduling.SchemeGroupVersion.String()
	resources, err := p.handle.ClientSet().Discovery().ServerResourcesForGroupVersion(version)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("plugin: asking for %s: %w", version, err)
	}
	for _, r := range resources.APIResources {
		if r.Name != "podgroups" {
			continue
		}
		informer := p.handle.SharedInformerFactory().Scheduling().V1alpha2().PodGroups()
		p.groups = informer.Informer().HasSynced // so it is started with the others
		p.minimum = func(namespace, name string) (int, bool) {
			group, err := informer.Lister().PodGroups(namespace).Get(name)
			if err != nil {
				return 0, false
			}
			if g := group.Spec.SchedulingPolicy.Gang; g != nil {
				return int(g.MinCount), true
			}
			return 0, true
		}
	}
	return nil
}

// find returns a pod that has a node, by its name.
func (p *Plugin) find(namespace, name string) (*v1.Pod, bool) {
	pod, err := p.handle.SharedInformerFactory().Core().V1().Pods().Lister().Pods(namespace).Get(name)
	return pod, err == nil && pod.Spec.NodeName != "" && pod.UID != types.UID("")
}
