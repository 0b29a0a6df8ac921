package plugin

import (
	"math"
	"sync"

	"github.com/gangkit/gangkit/admission"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// memory knows how much memory the pods of each node need together. It follows what
// the scheduler believes of a node, assumed and simulated pods included, and adds up
// again only what changed.
type memory struct {
	mu    sync.RWMutex
	limit *admission.Nodes // of one node, to compute limits with
	empty map[int64]int64  // limit by allocatable memory
	needs map[types.UID]int64
	nodes map[string]load
}

// load is what was added up for a node.
type load struct {
	generation int64 // of the NodeInfo
	used       int64
}

func newMemory(limit *admission.Nodes) *memory {
	return &memory{limit: limit, empty: map[int64]int64{}, needs: map[types.UID]int64{}, nodes: map[string]load{}}
}

// set says what a pod on a node needs. A pod that is there already keeps the greater
// of what it has and that.
func (m *memory) set(uid types.UID, node string, need int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.needs[uid]; !ok || need > old {
		m.needs[uid] = need
		delete(m.nodes, node)
	}
}

// need returns what a pod that has a node needs.
func (m *memory) need(uid types.UID) (int64, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	need, ok := m.needs[uid]
	return need, ok
}

// forget says that a pod is gone from a node.
func (m *memory) forget(uid types.UID, node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.needs, uid)
	delete(m.nodes, node)
}

// forgetNode says that a node is gone.
func (m *memory) forgetNode(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.nodes, name)
}

// of returns how much memory the pods of a node may use together, and how much they
// need, where estimate answers for those of which nothing was said. O(1) if nothing
// changed on the node since it was last asked for, else O(pods there), as it is
// always if the node is simulated: its generation does not tell what is on it then.
func (m *memory) of(node fwk.NodeInfo, simulated bool, estimate func(*v1.Pod) int64) (limit, used int64) {
	name, generation, allocatable := node.Node().Name, node.GetGeneration(), node.GetAllocatable().GetMemory()
	m.mu.RLock()
	l, known := m.nodes[name]
	limit, computed := m.empty[allocatable]
	m.mu.RUnlock()
	if known && computed && l.generation == generation && !simulated {
		return limit, l.used
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !computed {
		if len(m.empty) > 4096 { // nodes change their size for ever
			clear(m.empty)
		}
		if m.limit.SetMemory(0, max(allocatable, 0)) == nil {
			limit = max(m.limit.Limit(0), 0)
		}
		m.empty[allocatable] = limit
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
	if !simulated {
		m.nodes[name] = load{generation, used}
	}
	return limit, used
}
