package plugin

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gangkit/gangkit/admission"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// memory knows how much memory the pods of each node need together. It follows what
// the scheduler believes of a node, assumed and simulated pods included, and adds up
// again only what changed.
type memory struct {
	nodes sync.Map // *load by the NodeInfo, which the scheduler keeps for a node

	mu     sync.RWMutex
	limit  *admission.Nodes // of one node, to compute limits with
	needs  map[types.UID]int64
	raised atomic.Int64 // how often needs of pods that are there have changed

	// Of each node at least so much is free, as far as nothing else changed since it
	// was found out, at UnixNano.
	spare, changed atomic.Int64
}

// load is what was found out about a node.
type load struct {
	generation, raised int64 // of the NodeInfo, and of memory, when that was
	limit, used        int64
}

func newMemory(limit *admission.Nodes) *memory {
	return &memory{limit: limit, needs: map[types.UID]int64{}}
}

// change says that nodes changed, by others than this scheduler.
func (m *memory) change() { m.changed.Store(time.Now().UnixNano()) }

// set says what a pod on a node needs. A pod that is there already keeps the greater
// of what it has and that.
func (m *memory) set(uid types.UID, need int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch old, ok := m.needs[uid]; {
	case !ok:
		m.needs[uid] = need // a NodeInfo that has it is new
		m.spare.Add(-need)
	case need > old:
		m.needs[uid] = need
		m.raised.Add(1)
		m.spare.Add(old - need)
	}
}

// reset corrects what a pod needs that is there.
func (m *memory) reset(uid types.UID, need int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.needs[uid]; ok && old != need {
		m.needs[uid] = need
		m.raised.Add(1)
	}
}

// need returns what a pod that has a node needs.
func (m *memory) need(uid types.UID) (int64, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	need, ok := m.needs[uid]
	return need, ok
}

// forget says that a pod is gone from its node.
func (m *memory) forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.needs, uid)
}

// of returns how much memory the pods of a node may use together, and how much they
// need, where estimate answers for those of which nothing was said. O(1) if nothing
// changed on the node since it was last asked for, else O(pods there), as it is
// always if the node is simulated: its generation does not tell what is on it then.
// kept tells whether the scheduler keeps the NodeInfo, and has not copied it to try
// something.
func (m *memory) of(node fwk.NodeInfo, simulated bool, kept func() bool, estimate func(*v1.Pod) int64) (limit, used int64) {
	generation, raised := node.GetGeneration(), m.raised.Load()
	if l, ok := m.nodes.Load(node); ok && !simulated {
		if l := l.(*load); l.generation == generation && l.raised == raised {
			return l.limit, l.used
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit.SetMemory(0, max(node.GetAllocatable().GetMemory(), 0)) == nil {
		limit = max(m.limit.Limit(0), 0)
	}
	for _, p := range node.GetPods() {
		pod := p.GetPod()
		need, ok := m.needs[pod.UID]
		if !ok {
			need = estimate(pod)
		}
		if used += need; used < 0 {
			used = math.MaxInt64
		}
	}
	if !simulated && kept() {
		m.nodes.Store(node, &load{generation, raised, limit, used})
	}
	return limit, used
}
