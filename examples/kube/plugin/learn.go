package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kube/policy"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	metricsapi "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/clientset/versioned"
)

// learner collects the peaks of pods, makes runs of the pods that ended, and tells
// the history once the scheduler leads.
type learner struct {
	p      *Plugin
	store  store
	synced cache.InformerSynced // all pods that had ended at first have been seen

	mu      sync.Mutex
	leading bool
	peaks   map[types.UID]peak
	runs    map[runKey]*run
	ready   map[runKey]*run // those of runs that are complete and not learnt
}

// peak is the most that a pod was measured to use, in bytes.
type peak struct {
	bytes int64
	gone  time.Time // when the pod was; zero while it is there
	told  bool      // that it uses more than was estimated
}

// runKey identifies a run of a job: gangs of the same name that have different
// owners are different runs.
type runKey struct {
	id    policy.ID
	owner types.UID
	pod   types.UID // of a pod alone
}

// run is what is known of the pods of a job that ended.
type run struct {
	size    int
	ended   time.Time              // the last of them
	peaks   map[estimate.Job]int64 // the largest, of each kind of pod in the gang
	members map[types.UID]bool     // those that ended and were not deleted yet
	since   int                    // ended since the run was learnt
	learnt  bool
}

// runOf returns the gang of a pod that ended, and the key of its run.
func (l *learner) runOf(pod *v1.Pod) (gang, runKey, bool) {
	g, ok, err := gangOf(pod, l.p.minimum)
	if err != nil || !ok {
		return gang{}, runKey{}, false
	}
	key := runKey{id: g.id}
	if owner := metav1.GetControllerOf(pod); !g.id.Gang {
		key.pod = pod.UID
	} else if owner != nil {
		key.owner = owner.UID
	}
	return g, key, true
}

// newLearner returns a learner, which begins to watch the pods that ended.
func newLearner(ctx context.Context, p *Plugin, store store) (*learner, error) {
	l := &learner{p: p, store: store, peaks: map[types.UID]peak{}, runs: map[runKey]*run{}, ready: map[runKey]*run{}}
	selector := fields.AndSelectors(
		fields.OneTermEqualSelector("spec.schedulerName", p.handle.ProfileName()),
		fields.OneTermNotEqualSelector("status.phase", string(v1.PodPending)),
		fields.OneTermNotEqualSelector("status.phase", string(v1.PodRunning)),
		fields.OneTermNotEqualSelector("status.phase", string(v1.PodUnknown)),
	).String()
	factory := informers.NewSharedInformerFactoryWithOptions(p.handle.ClientSet(), 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = selector }),
		informers.WithTransform(strip))
	finished, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, initial bool) {
			if pod, ok := o.(*v1.Pod); ok {
				l.ended(ctx, pod, initial)
			}
		},
		UpdateFunc: func(o, n any) {
			before, ok := o.(*v1.Pod)
			now, too := n.(*v1.Pod)
			if ok && too && before.UID != now.UID { // the deletion in between was missed
				l.deleted(before)
			}
			if too {
				l.ended(ctx, now, false)
			}
		},
		DeleteFunc: func(o any) {
			if pod, ok := last[*v1.Pod](o); ok {
				l.deleted(pod)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("plugin: watching pods that ended: %w", err)
	}
	l.synced = finished.HasSynced
	factory.Start(ctx.Done())
	go l.save(ctx)
	go l.measure(ctx)
	return l, nil
}

// strip keeps of a pod that ended what is learnt from.
func strip(o any) (any, error) {
	pod, ok := o.(*v1.Pod)
	if !ok {
		return o, nil
	}
	pod.ManagedFields = nil
	pod.Spec.Volumes, pod.Spec.Tolerations, pod.Spec.Affinity = nil, nil, nil
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		*c = v1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources}
	}
	return pod, nil
}

// measured says that a pod used as many bytes at a time.
func (l *learner) measured(pod *v1.Pod, bytes int64) {
	need, known := l.p.memory.need(pod.UID)
	more := known && bytes > need
	l.mu.Lock()
	k := l.peaks[pod.UID]
	k.bytes = max(k.bytes, bytes)
	tell := more && l.leading && !k.told && pod.Spec.SchedulerName == l.p.handle.ProfileName()
	k.told = k.told || tell
	l.peaks[pod.UID] = k
	l.mu.Unlock()
	if more {
		l.p.memory.set(pod.UID, bytes)
	}
	if tell {
		above.Inc()
		l.p.handle.EventRecorder().Eventf(pod, nil, v1.EventTypeWarning, "AboveEstimate", "Measuring",
			"uses %s, estimated were %s", size(bytes), size(need))
	}
}

// gone says that a pod is no longer among those that may run. What was measured is
// kept for a while, as its end may be told later.
func (l *learner) gone(uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.peaks[uid]; ok {
		k.gone = time.Now()
		l.peaks[uid] = k
	}
}

// keep is how long what was measured of a pod is kept after it is gone.
const keep = time.Minute

// ended takes in a pod that ended, and learns the run if it was the last.
func (l *learner) ended(ctx context.Context, pod *v1.Pod, initial bool) {
	g, key, ok := l.runOf(pod)
	if !ok || pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed {
		return
	}
	at := endOf(pod)
	if at.IsZero() {
		if initial {
			return // nobody knows whether it was learnt before
		}
		at = time.Now()
	}
	if now := time.Now(); at.After(now) {
		at = now
	}
	l.mu.Lock()
	r := l.runs[key]
	if r == nil {
		r = &run{size: g.size, peaks: map[estimate.Job]int64{}, members: map[types.UID]bool{}}
		l.runs[key] = r
	}
	if !r.members[pod.UID] {
		r.members[pod.UID] = true
		if r.learnt { // another run of a gang of that name
			r.learnt, r.since = false, 0
			clear(r.peaks)
		}
		if r.since++; r.since >= r.size {
			l.ready[key] = r
		}
	}
	if at.After(r.ended) {
		r.ended = at
	}
	if bytes := l.peakOf(pod); bytes > 0 && (pod.Status.Phase == v1.PodSucceeded || killed(pod) || bytes > l.p.needOf(pod)) {
		job := jobOf(pod, g.size)
		if r.learnt && len(r.peaks) == 0 { // what it used is said only now
			r.learnt, l.ready[key] = false, r
		}
		r.peaks[job] = max(r.peaks[job], bytes)
	}
	l.mu.Unlock()
	l.learn(ctx)
}

// peakOf returns the most that a pod that ended is known to have used, in bytes, or
// 0 if nothing is.
func (l *learner) peakOf(pod *v1.Pod) int64 {
	bytes := l.peaks[pod.UID].bytes
	if said, ok := quantity(pod, PeakAnnotation); ok {
		bytes = max(bytes, said)
	}
	if killed(pod) {
		_, limit := requested(pod)
		bytes = max(bytes, limit)
	}
	return bytes
}

// deleted drops a pod that ended. A run is kept as long as pods of it are left.
func (l *learner) deleted(pod *v1.Pod) {
	_, key, ok := l.runOf(pod)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[key]; r != nil {
		delete(r.members, pod.UID)
		if len(r.members) == 0 {
			delete(l.runs, key)
			delete(l.ready, key)
		}
	}
}

// learn tells the history of the runs that are complete, in the order in which they
// ended, if this scheduler leads. O(n log n) in them.
func (l *learner) learn(ctx context.Context) {
	l.mu.Lock()
	var complete []run
	if l.leading {
		for key, r := range l.ready {
			r.learnt = true
			complete = append(complete, run{ended: r.ended, peaks: maps.Clone(r.peaks)})
			delete(l.ready, key)
		}
	}
	l.mu.Unlock()
	slices.SortFunc(complete, func(a, b run) int { return a.ended.Compare(b.ended) })
	some := false
	for _, r := range complete {
		for job, bytes := range r.peaks {
			ok, err := l.p.history.Learn(job, bytes, r.ended)
			if err != nil {
				klog.FromContext(ctx).Error(err, "Run not learnt", "path", job.Path, "size", job.Nodes, "user", job.User)
				continue
			}
			if ok {
				some = true
				learnt.Inc()
				klog.FromContext(ctx).V(2).Info("Learnt a run", "path", job.Path, "size", job.Nodes, "user", job.User, "peak", size(bytes))
			}
		}
	}
	if some {
		l.p.changes.Add(1)
		l.p.activateShort(ctx)
	}
}

// endOf returns when the last container of a pod ended, or zero if nobody said.
func endOf(pod *v1.Pod) time.Time {
	var t time.Time
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Terminated != nil && s.State.Terminated.FinishedAt.After(t) {
			t = s.State.Terminated.FinishedAt.Time
		}
	}
	return t
}

// killed tells whether the kernel killed a container for want of memory.
func killed(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s v1.ContainerStatus) bool {
		return s.State.Terminated != nil && s.State.Terminated.Reason == "OOMKilled" ||
			s.LastTerminationState.Terminated != nil && s.LastTerminationState.Terminated.Reason == "OOMKilled"
	})
}

// begin is for what has to be known before the first decision: it loads the history,
// learns the runs that ended since, and orders the queue. The scheduler that decides
// is the one that leads. It is tried anew until it succeeds.
func (p *Plugin) begin(ctx context.Context) error {
	p.beginning.Lock()
	defer p.beginning.Unlock()
	if p.began {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if !cache.WaitForCacheSync(wait.Done(), p.synced, p.learner.synced) {
		return errors.New("plugin: the pods that are there, or have ended, are not known yet")
	}
	if p.groups != nil {
		if !cache.WaitForCacheSync(wait.Done(), p.groups) {
			return errors.New("plugin: the PodGroups that are there are not known yet")
		}
	}
	data, err := p.learner.store.load(wait)
	if err != nil {
		return fmt.Errorf("plugin: loading the history: %w", err)
	}
	if data != nil {
		if err := p.history.Load(data); err != nil {
			// It is of no use to anybody. Not to schedule until somebody deletes it would be
			// worse.
			saves.WithLabelValues("damaged").Inc()
			klog.FromContext(ctx).Error(err, "The history is damaged and begins anew")
		}
	}
	if err := p.reckon(); err != nil {
		return err
	}
	p.jobs.Settle()
	p.learner.mu.Lock()
	p.learner.leading = true
	p.learner.mu.Unlock()
	p.learner.learn(ctx)
	p.began = true
	klog.FromContext(ctx).Info("Gangkit begins", "profile", p.handle.ProfileName(), "records", p.history.Records())
	return nil
}

// reckon estimates anew what the pods need that got their nodes before the history
// was there, and sees them again, as their PodGroups may not have been there either.
func (p *Plugin) reckon() error {
	pods, err := p.handle.SharedInformerFactory().Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return fmt.Errorf("plugin: listing pods: %w", err)
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			continue
		}
		p.seen(pod)
		p.learner.mu.Lock()
		measured := p.learner.peaks[pod.UID].bytes
		p.learner.mu.Unlock()
		p.memory.reset(pod.UID, max(p.needOf(pod), measured))
	}
	p.memory.change()
	return nil
}

// save saves the history from time to time, reminds of gangs that are incomplete, and
// drops what was measured of pods that are long gone.
func (l *learner) save(ctx context.Context) {
	ticker := time.NewTicker(l.p.args.SaveInterval.Duration)
	defer ticker.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-ticker.C:
		}
		l.mu.Lock()
		leading := l.leading
		for uid, k := range l.peaks {
			if !k.gone.IsZero() && time.Since(k.gone) > keep {
				delete(l.peaks, uid)
			}
		}
		l.mu.Unlock()
		if !leading {
			continue
		}
		l.p.remind(l.p.args.SaveInterval.Duration)
		if err := l.saveNow(); err != nil {
			saves.WithLabelValues("failed").Inc()
			klog.FromContext(ctx).Error(err, "History not saved")
		}
	}
}

func (l *learner) saveNow() error {
	data, saved, err := l.p.history.Save()
	if err != nil || data == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // the scheduler's may have ended
	defer cancel()
	if err := l.store.save(ctx, data); err != nil {
		return err
	}
	saved()
	saves.WithLabelValues("done").Inc()
	return nil
}

// measure asks the metrics API, if there is one, what the pods use.
func (l *learner) measure(ctx context.Context) {
	interval := l.p.args.MeasureInterval.Duration
	config := l.p.handle.KubeConfig()
	if interval < 0 || config == nil {
		return
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		klog.FromContext(ctx).Error(err, "No metrics API")
		return
	}
	served := false
	for ticks := 0; ; ticks++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		if !served && ticks%20 == 0 { // it may come later
			_, err := l.p.handle.ClientSet().Discovery().ServerResourcesForGroupVersion(metricsapi.SchemeGroupVersion.String())
			served = err == nil
		}
		if !served {
			continue
		}
		list, err := client.MetricsV1beta1().PodMetricses(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			served = false
			klog.FromContext(ctx).Error(err, "Asking the metrics API")
			continue
		}
		l.take(list)
	}
}

// take takes in what the metrics API reports.
func (l *learner) take(list *metricsapi.PodMetricsList) {
	for i := range list.Items {
		m := &list.Items[i]
		pod, ok := l.p.find(m.Namespace, m.Name)
		if !ok || m.Timestamp.Time.Before(pod.CreationTimestamp.Time) {
			continue // of an earlier pod of that name
		}
		var sum int64
		for _, c := range m.Containers {
			sum += min(max(c.Usage.Memory().Value(), 0), estimate.MaxMemory)
		}
		l.measured(pod, min(sum, estimate.MaxMemory))
	}
}
