package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/gangkit/gangkit/examples/kube/policy"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// A gang of which a pod found no node, or lost it, rests before its pods are tried
// again; so does one for which there is not enough memory, so that not each of its
// pods finds that out. Without that two pods of which one fits take turns, as what the
// one lets go is what the other waits for, and keep the node from everybody else. And
// a pod that is queued again while it is let go can be lost by the queue of
// kube-scheduler (https://github.com/kubernetes/kubernetes/issues/139186).
const (
	leastRest = time.Second
	mostRest  = 10 * time.Second // without any change in the cluster
)

// clearNomination takes back that a pod that waits is nominated to a node that it has
// lost. kube-scheduler nominates pods that wait for their gang; but if such a pod is
// let go before the informers have told of that, it does not take it back, and keeps
// the node from others until it tries the pod again.
func (p *Plugin) clearNomination(pod *v1.Pod) {
	ctx, cancel := context.WithTimeout(context.Background(), mostRest)
	defer cancel()
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"nominatedNodeName":null}}`, pod.UID)
	_, err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "Nomination not taken back", "pod", klog.KObj(pod))
	}
}

// rest is that of a gang.
type rest struct {
	since   time.Time
	least   time.Duration
	changes int64 // in the cluster before it; −1 if the gang waits for none
	why     string
}

// rest has a gang rest, if it does not already.
func (p *Plugin) rest(id policy.ID, r rest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.resting[id]; !ok {
		r.since = time.Now()
		p.resting[id] = r
	}
}

// rests tells whether a gang rests, and why.
func (p *Plugin) rests(id policy.ID) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.resting[id]
	return r.why, ok
}

// edit is a pod of which the user changed labels or annotations at a time. What
// PreEnqueue or PreFilter said of it may hold no more, but the queue may hear of it
// later than this plugin.
type edit struct {
	pod *v1.Pod
	at  time.Time
}

// wake ends rests, and has pods tried again that were edited, until the context ends.
func (p *Plugin) wake(ctx context.Context) {
	ticker := time.NewTicker(leastRest / 10)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			var uids []policy.UID
			pods := map[string]*v1.Pod{}
			p.mu.Lock()
			for uid, e := range p.edited {
				if now.Sub(e.at) >= leastRest/2 {
					delete(p.edited, uid)
					pods[e.pod.Namespace+"/"+e.pod.Name] = e.pod
				}
			}
			changes := p.changes.Load()
			for id, r := range p.resting {
				if d := now.Sub(r.since); d >= r.least && r.changes != changes || d >= mostRest {
					delete(p.resting, id)
					uids = p.jobs.Pending(uids, id)
				}
			}
			p.mu.Unlock()
			p.activate(ctx, uids)
			if len(pods) > 0 {
				p.handle.Activate(klog.FromContext(ctx), pods)
			}
		}
	}
}
