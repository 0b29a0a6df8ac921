package plugin

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kube/policy"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// Plugin is the plugin; kube-scheduler makes it with [New].
type Plugin struct {
	args    Args
	handle  fwk.Handle
	jobs    *policy.Jobs
	history *policy.History
	memory  *memory
	learner *learner
	minimum func(namespace, name string) (int, bool) // of a PodGroup; nil without
	groups  cache.InformerSynced                     // all PodGroups have been seen; nil without

	synced    cache.InformerSynced // all pods that were there at first have been seen
	looked    int64                // UnixNano when all nodes were looked at
	cycles    int                  // since then, in which that did not help
	beginning sync.Mutex
	began     bool

	mu      sync.Mutex
	pending map[types.UID]*candidate // of this scheduler, without a node
	short   map[types.UID]bool       // those of them that found no memory
	resting map[policy.ID]rest
	edited  map[types.UID]edit
	lost    map[types.UID]string // the node that a pod had, and lost before it was bound

	changes atomic.Int64 // in the cluster by which a pod may find a node
}

// candidate is a pod that has no node, with the estimate that was made of it last.
type candidate struct {
	pod   *v1.Pod
	told  bool  // that its gang is incomplete
	made  int64 // changes of the history when that was; −1 before
	need  int64
	level estimate.Level
}

var (
	_ fwk.PreEnqueuePlugin  = &Plugin{}
	_ fwk.QueueSortPlugin   = &Plugin{}
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PostFilterPlugin  = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.PermitPlugin      = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
)

// New makes the plugin of a profile of a scheduler, whose informers it uses and
// whose context ends it. args are Args as JSON. Errors: ErrArgs, and those of a file
// of history that cannot be read and of an API server that does not say what it has.
func New(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	a, err := parse(args)
	if err != nil {
		return nil, err
	}
	jobs, history, memory, err := a.build()
	if err != nil {
		return nil, err
	}
	store, err := openStore(a, handle)
	if err != nil {
		return nil, err
	}
	p := &Plugin{
		args: a, handle: handle, jobs: jobs, history: history, memory: memory,
		pending: map[types.UID]*candidate{}, short: map[types.UID]bool{}, resting: map[policy.ID]rest{}, edited: map[types.UID]edit{}, lost: map[types.UID]string{},
	}
	if err := p.podGroups(); err != nil {
		return nil, err
	}
	if p.learner, err = newLearner(ctx, p, store); err != nil {
		return nil, err
	}
	if p.synced, err = p.watch(); err != nil {
		return nil, err
	}
	registerMetrics(p)
	go p.wake(ctx)
	klog.FromContext(ctx).Info("Gangkit plugin", "profile", handle.ProfileName(), "args", a, "podGroups", p.minimum != nil)
	return p, nil
}

// Name implements fwk.Plugin.
func (p *Plugin) Name() string { return Name }

// attempt is what PreFilter found out about a pod, for the rest of the cycle.
type attempt struct {
	gang    gang
	changes int64 // of the plugin, before it
	need    int64 // estimated bytes
	outcome outcome
	status  *fwk.Status // why, if it is for the gang as a whole
}

type outcome int

const (
	tried outcome = iota
	held          // another job starts first, or the gang rests
	later         // not enough memory is free for all of the gang
	never         // nor would be if nothing ran
)

const stateKey = fwk.StateKey(Name)

// Clone implements fwk.StateData. An attempt is not changed after PreFilter.
func (a *attempt) Clone() fwk.StateData { return a }

func read(state fwk.CycleState) (*attempt, error) {
	d, err := state.Read(stateKey)
	if err != nil {
		return nil, err
	}
	a, ok := d.(*attempt)
	if !ok {
		return nil, fmt.Errorf("%s: state of type %T", Name, d)
	}
	return a, nil
}

// estimate returns how many bytes a pod will need, and what that rests on; for the
// history see [policy.History].
func (p *Plugin) estimate(pod *v1.Pod, size int) (int64, estimate.Level) {
	if bytes, ok := quantity(pod, MemoryAnnotation); ok && pod.Spec.SchedulerName == p.handle.ProfileName() {
		return bytes, estimate.ByConstant
	}
	request, limit := requested(pod)
	if e, ok := p.history.Estimate(jobOf(pod, size)); ok {
		if limit > 0 && e.Memory > limit {
			e.Memory = limit
		}
		return e.Memory, e.Level
	}
	return max(request, limit), estimate.None
}

// needOf estimates a pod that is on a node, of whatever scheduler.
func (p *Plugin) needOf(pod *v1.Pod) int64 {
	n := 1
	if g, ok, err := gangOf(pod, p.minimum); ok && err == nil {
		n = g.size
	}
	need, _ := p.estimate(pod, n)
	return need
}

// load returns how much memory the pods of a node may use together, and how much
// they need.
func (p *Plugin) load(state fwk.CycleState, node fwk.NodeInfo) (limit, used int64) {
	kept := func() bool {
		known, err := p.handle.SnapshotSharedLister().NodeInfos().Get(node.Node().Name)
		return err == nil && known == node
	}
	return p.memory.of(node, state.IsPodGroupSchedulingCycle(), kept, p.needOf)
}

// estimateOf is estimate for a pod that waits, which remembers.
func (p *Plugin) estimateOf(pod *v1.Pod, size int) (int64, estimate.Level) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.pending[pod.UID]
	if c == nil {
		return p.estimate(pod, size)
	}
	if now := p.history.Changes(); c.made != now {
		c.made = now
		c.need, c.level = p.estimate(c.pod, size)
	}
	return c.need, c.level
}

// least returns what the pod of a gang needs that needs least of those that wait.
func (p *Plugin) least(g gang, need int64) int64 {
	for _, uid := range p.jobs.Pending(nil, g.id) {
		p.mu.Lock()
		c := p.pending[types.UID(uid)]
		p.mu.Unlock()
		if c != nil {
			n, _ := p.estimateOf(c.pod, g.size)
			need = min(need, n)
		}
	}
	return need
}

// restsFor is why a pod is not tried while its gang rests, if there is no more to say.
const restsFor = "another pod of the gang found no node"

// PreEnqueue implements fwk.PreEnqueuePlugin: a gang that is not complete, or that
// rests, is not tried. When it is complete, its last pod brings the others back. The
// queue is locked here, so nothing may be activated.
func (p *Plugin) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	g, ok, err := gangOf(pod, p.minimum)
	if err != nil {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if !ok || len(pod.Spec.SchedulingGates) > 0 || pod.DeletionTimestamp != nil {
		return nil // kube-scheduler waits for the PodGroup, and for the gates to open
	}
	p.see(pod, g)
	if g.id.Gang {
		go p.activateLifted(ctx)
	}
	if refusal, gathers := p.jobs.Gathers(g.id); gathers && !g.native {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, refusal.String())
	}
	if why, ok := p.rests(g.id); ok && says(pod) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, why)
	}
	return nil
}

// says tells whether the condition of a pod says why it waits. PreFilter sees to that,
// PreEnqueue does not.
func says(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse
	})
}

func process(pod *v1.Pod, g gang) policy.Process {
	q := policy.Process{
		UID: policy.UID(pod.UID), Job: g.id, Size: g.size,
		Created: pod.CreationTimestamp.Time, Placed: pod.Spec.NodeName != "",
	}
	if pod.Spec.Priority != nil {
		q.Priority = *pod.Spec.Priority
	}
	return q
}

// Less implements fwk.QueueSortPlugin: by the position of the job, so that the pods
// of a gang are next to each other, then by name. Pods of other profiles are among
// them by priority and time of creation.
func (p *Plugin) Less(a, b fwk.QueuedPodInfo) bool {
	x, y := a.GetPodInfo().GetPod(), b.GetPodInfo().GetPod()
	if c := p.position(x).Compare(p.position(y)); c != 0 {
		return c < 0
	}
	if c := strings.Compare(x.Namespace, y.Namespace); c != 0 {
		return c < 0
	}
	return x.Name < y.Name
}

func (p *Plugin) position(pod *v1.Pod) policy.Position {
	if pod.Spec.SchedulerName == p.handle.ProfileName() {
		return p.jobs.Position(policy.UID(pod.UID))
	}
	at := policy.Position{Complete: pod.CreationTimestamp.Time, Order: 1}
	if pod.Spec.Priority != nil {
		at.Priority = *pod.Spec.Priority
	}
	return at
}

// EventsToRegister implements fwk.EnqueueExtensions: memory becomes free when a pod
// goes, and comes with nodes. What else lets a pod be tried again, the plugin sees
// itself.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete}, QueueingHintFn: p.unlessHeld},
		{
			Event: fwk.ClusterEvent{
				Resource:   fwk.Node,
				ActionType: fwk.Add | fwk.UpdateNodeAllocatable | fwk.UpdateNodeLabel | fwk.UpdateNodeTaint,
			},
			QueueingHintFn: p.unlessHeld,
		},
	}, nil
}

func (p *Plugin) unlessHeld(_ klog.Logger, pod *v1.Pod, _, _ any) (fwk.QueueingHint, error) {
	g, ok, err := gangOf(pod, p.minimum)
	if err != nil || !ok {
		return fwk.Queue, nil
	}
	if _, ok := p.jobs.May(g.id); !ok {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// SignPod implements fwk.SignPlugin: to the plugin, pods alone that need as much are
// all alike.
func (p *Plugin) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	g, ok, err := gangOf(pod, p.minimum)
	if err != nil || !ok || g.id.Gang {
		return nil, fwk.NewStatus(fwk.Unschedulable, "one of a gang")
	}
	need, _ := p.estimateOf(pod, 1)
	return []fwk.SignFragment{{Key: Name + ".estimate()", Value: need}}, nil
}

// PreFilter implements fwk.PreFilterPlugin. It refuses a pod if another job is to
// start first, and a gang for all of which there is not enough memory.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if err := p.begin(ctx); err != nil {
		return nil, fwk.AsStatus(err)
	}
	g, ok, err := gangOf(pod, p.minimum)
	if err != nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if !ok {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "its PodGroup does not exist")
	}
	if g.native && state.GetPodGroupSchedulingCycle() == nil {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "its PodGroup needs the feature gates GenericWorkload and GangScheduling of the scheduler")
	}
	a := &attempt{gang: g, changes: p.changes.Load()}
	state.Write(stateKey, a)
	if refusal, ok := p.jobs.May(g.id); !ok {
		a.outcome = held
		refused.WithLabelValues("held").Inc()
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, refusal.String())
	}
	if why, ok := p.rests(g.id); ok {
		a.outcome = held
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, why)
	}
	p.mu.Lock()
	delete(p.lost, pod.UID)
	p.mu.Unlock()
	var level estimate.Level
	a.need, level = p.estimateOf(pod, g.size)
	estimated.WithLabelValues(levels[level]).Inc()
	if !g.id.Gang {
		if !state.IsPodGroupSchedulingCycle() && p.fitsEverywhere(state, a.need, nodes) {
			return nil, fwk.NewStatus(fwk.Skip)
		}
		return nil, nil
	}
	if group := state.GetPodGroupSchedulingCycle(); group != nil {
		// kube-scheduler simulates one pod of the group after the other, on the nodes as
		// the earlier ones leave them. The first stands for all; and while victims of a
		// preemption are looked for, none does.
		if state.ShouldSkipAllPostFilterPlugins() {
			return nil, nil
		}
		if first, err := group.Read(stateKey); err == nil {
			a.outcome = first.(*attempt).outcome
			return nil, first.(*attempt).status
		}
		group.Write(stateKey, a)
	}
	a.outcome, a.status = p.room(state, g, a.need, nodes)
	return nil, a.status
}

// fitsEverywhere tells whether Eq. (1) holds on all nodes, so that Filter need not be
// asked for each. It looks at all of them only when pods that came since it did so last
// could have taken what was free, and not in the second after somebody else changed a
// node, in which the scheduler may not know of it yet.
func (p *Plugin) fitsEverywhere(state fwk.CycleState, need int64, nodes []fwk.NodeInfo) bool {
	now, changed := time.Now().UnixNano(), p.memory.changed.Load()
	if now-changed < int64(time.Second) {
		return false
	}
	if p.looked > changed && p.memory.spare.Load() >= need {
		return true
	}
	if p.cycles++; p.cycles < len(nodes)/16 { // where memory is short it is no use
		return false
	}
	p.looked, p.cycles = now, 0
	p.memory.spare.Store(0) // what comes meanwhile counts from here
	least := int64(math.MaxInt64)
	for _, n := range nodes {
		limit, used := p.load(state, n)
		least = min(least, limit-used)
	}
	return p.memory.spare.Add(least) >= need
}

// room tells whether there is memory for all that a gang misses, if all pods needed
// as little as the one that needs least.
func (p *Plugin) room(state fwk.CycleState, g gang, need int64, nodes []fwk.NodeInfo) (outcome, *fwk.Status) {
	_, placed := p.jobs.Count(g.id)
	missing := g.size - placed
	if need = p.least(g, need); missing <= 0 || need == 0 {
		return tried, nil
	}
	var free int64
	for _, n := range nodes {
		limit, used := p.load(state, n)
		free += max(limit-used, 0) / need
	}
	if free >= int64(missing) {
		return tried, nil
	}
	var empty int64 // room if no other jobs were there
	for _, n := range nodes {
		limit, _ := p.load(state, n)
		empty += max(limit-p.lasting(g, n), 0) / need
	}
	if empty < int64(missing) {
		refused.WithLabelValues("never").Inc()
		return never, fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("the gang needs an estimated %s for each of %d pods, and without other jobs there would be memory for %d", size(need), missing, empty))
	}
	refused.WithLabelValues("gang").Inc()
	return later, fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
		fmt.Sprintf("the gang needs an estimated %s for each of %d pods, and there is memory for %d now", size(need), missing, free))
}

// makesRoom tells whether a gang gains by waiting until a pod ends: it is that of
// another job of this scheduler. To hold others would not help against those of other
// schedulers and of DaemonSets.
func (p *Plugin) makesRoom(pod *v1.Pod, g gang) bool {
	if owner := metav1.GetControllerOf(pod); pod.Spec.SchedulerName != p.handle.ProfileName() || owner != nil && owner.Kind == "DaemonSet" {
		return false
	}
	other, ok, err := gangOf(pod, p.minimum)
	return err != nil || !ok || other.id != g.id
}

// lasting returns how much memory the pods on a node need that make no room.
func (p *Plugin) lasting(g gang, node fwk.NodeInfo) (used int64) {
	for _, info := range node.GetPods() {
		pod := info.GetPod()
		if p.makesRoom(pod, g) {
			continue
		}
		need, ok := p.memory.need(pod.UID)
		if !ok {
			need = p.needOf(pod)
		}
		if used += need; used < 0 {
			return math.MaxInt64
		}
	}
	return used
}

// size writes bytes as quantities are written, from ten MiB on rounded up to MiB.
func size(n int64) string {
	if n >= 10<<20 && n < math.MaxInt64>>20<<20 {
		n = (n + 1<<20 - 1) >> 20 << 20
	}
	return resource.NewQuantity(n, resource.BinarySI).String()
}

// PreFilterExtensions implements fwk.PreFilterPlugin. Filter asks the node itself.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter implements fwk.FilterPlugin by Eq. (1).
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	a, err := read(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	switch limit, used := p.load(state, node); {
	case a.need > limit:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("estimated memory of %s exceeds that of an empty node", size(a.need)))
	case a.need > limit-used:
		return fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("estimated memory of %s exceeds what is free by estimates", size(a.need)))
	}
	return nil
}

// PostFilter implements fwk.PostFilterPlugin. It makes nobody schedulable: if one of
// a gang finds no node, it lets go the nodes of the others, and if no pod that could
// end would help, it sets the job aside.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	a, err := read(state)
	if err != nil { // another plugin refused it before
		g, ok, err := gangOf(pod, p.minimum)
		if err != nil || !ok || p.begin(ctx) != nil {
			return nil, fwk.NewStatus(fwk.Unschedulable)
		}
		a = &attempt{gang: g, outcome: never, changes: p.changes.Load()}
	}
	if !state.IsPodGroupSchedulingCycle() {
		if a.gang.id.Gang && !a.gang.native && a.outcome != held {
			r := rest{least: leastRest, changes: a.changes, why: restsFor}
			if a.status != nil {
				r.why = a.status.Message()
			}
			if a.outcome == later {
				r.least = 0
			}
			p.rest(a.gang.id, r)
		}
		p.reject(a.gang, pod.UID, restsFor)
	}
	hope := a.outcome == later
	if a.outcome == tried {
		refused.WithLabelValues("node").Inc()
		nodes, err := statuses.NodesForStatusCode(p.handle.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
		hope = err != nil || slices.ContainsFunc(nodes, func(n fwk.NodeInfo) bool {
			return slices.ContainsFunc(n.GetPods(), func(i fwk.PodInfo) bool { return p.makesRoom(i.GetPod(), a.gang) })
		})
	}
	switch {
	case a.outcome == held:
	case hope:
		p.jobs.Return(a.gang.id)
		p.mu.Lock()
		if p.pending[pod.UID] != nil {
			p.short[pod.UID] = true
		}
		p.mu.Unlock()
	default:
		p.jobs.SetAside(a.gang.id)
	}
	p.activateLifted(ctx)
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

// reject lets the pods of a gang go that wait for the others, but for one of them.
// Those that wait no more, as the gang has started, stay.
func (p *Plugin) reject(g gang, but types.UID, why string) {
	if !g.id.Gang || g.native {
		return
	}
	p.handle.IterateOverWaitingPods(func(w fwk.WaitingPod) {
		if other, ok, err := gangOf(w.GetPod(), p.minimum); ok && err == nil && other.id == g.id && w.GetPod().UID != but {
			w.Reject(Name, why)
		}
	})
}

// Score implements fwk.ScorePlugin by best fit: the share of the node's memory that
// would be used.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	a, err := read(state)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	limit, used := p.load(state, node)
	if limit <= 0 {
		return 0, nil
	}
	share := (float64(used) + float64(a.need)) / float64(limit)
	return int64(min(max(share, 0), 1) * float64(fwk.MaxScore)), nil
}

// ScoreExtensions implements fwk.ScorePlugin. Scores are within the range.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// Reserve implements fwk.ReservePlugin: the pod's memory is used from here on, and
// with the last pod of a gang the job has started.
func (p *Plugin) Reserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	a, err := read(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if state.IsPodGroupSchedulingCycle() {
		return nil // a simulation; the node itself has been told
	}
	p.memory.set(pod.UID, a.need)
	if p.jobs.Place(policy.UID(pod.UID)) {
		kind := "pod"
		if a.gang.id.Gang {
			kind = "gang"
		}
		startedJobs.WithLabelValues(kind).Inc()
	}
	p.activateLifted(ctx)
	return nil
}

// Unreserve implements fwk.ReservePlugin: one of a gang that got no node after all
// takes those with it that still wait.
func (p *Plugin) Unreserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	a, err := read(state)
	if err != nil || state.IsPodGroupSchedulingCycle() {
		return
	}
	if a.gang.id.Gang && !a.gang.native {
		p.rest(a.gang.id, rest{least: leastRest, changes: -1, why: restsFor})
	}
	p.mu.Lock()
	if p.pending[pod.UID] != nil {
		p.lost[pod.UID] = node
	}
	p.mu.Unlock()
	p.memory.forget(pod.UID)
	p.jobs.Unplace(policy.UID(pod.UID))
	p.reject(a.gang, pod.UID, "another pod of the gang lost its node")
	p.activateLifted(ctx)
}

// Permit implements fwk.PermitPlugin: nobody of a gang is bound before all have a
// node. The first to wait has the others tried at once.
func (p *Plugin) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	a, err := read(state)
	if err != nil {
		return fwk.AsStatus(err), 0
	}
	if !a.gang.id.Gang || a.gang.native || state.IsPodGroupSchedulingCycle() {
		return nil, 0
	}
	if !p.jobs.Started(a.gang.id) {
		if _, placed := p.jobs.Count(a.gang.id); placed == 1 {
			p.activate(ctx, p.jobs.Pending(nil, a.gang.id))
		}
		return fwk.NewStatus(fwk.Wait, "for the rest of the gang"), p.args.PermitTimeout.Duration
	}
	p.handle.IterateOverWaitingPods(func(w fwk.WaitingPod) {
		if other, ok, err := gangOf(w.GetPod(), p.minimum); ok && err == nil && other.id == a.gang.id {
			w.Allow(Name)
		}
	})
	return nil, 0
}

// activate has pods tried again.
func (p *Plugin) activate(ctx context.Context, uids []policy.UID) {
	if len(uids) == 0 {
		return
	}
	pods := make(map[string]*v1.Pod, len(uids))
	p.mu.Lock()
	for _, uid := range uids {
		if c := p.pending[types.UID(uid)]; c != nil {
			pods[c.pod.Namespace+"/"+c.pod.Name] = c.pod
		}
	}
	p.mu.Unlock()
	if len(pods) > 0 {
		p.handle.Activate(klog.FromContext(ctx), pods)
	}
}

// activateLifted has the jobs tried again that were held by one that holds no more,
// and those that were not complete, and are.
func (p *Plugin) activateLifted(ctx context.Context) {
	var uids []policy.UID
	for _, id := range p.jobs.Lifted() {
		uids = p.jobs.Pending(uids, id)
	}
	p.activate(ctx, uids)
}

// activateShort has the pods tried again that found no memory.
func (p *Plugin) activateShort(ctx context.Context) {
	var uids []policy.UID
	p.mu.Lock()
	for uid := range p.short {
		uids = append(uids, policy.UID(uid))
	}
	clear(p.short)
	p.mu.Unlock()
	p.activate(ctx, uids)
}
