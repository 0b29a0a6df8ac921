package admission

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Errors of [Nodes], wrapped with the offending value.
var (
	ErrNodes   = errors.New("admission: invalid nodes")
	ErrNode    = errors.New("admission: bad node")
	ErrNeed    = errors.New("admission: invalid need")
	ErrRelease = errors.New("admission: releasing what is not held")
)

// NodesConfig describes the nodes of a machine. Only Memory is required.
type NodesConfig struct {
	// Memory is the memory of each node that processes may use, in bytes, ≥ 0: the
	// node's phys mem in Eq. (1). 0 stands for a node that is down.
	Memory []int64

	// Factor is C in Eq. (1), by which each node's memory is multiplied; 0 means
	// 1, and +Inf means that there is no limit. It must not be negative or NaN. It
	// is taken as the shortest decimal that denotes the float64: 1.1 is 11/10.
	//
	// Papers that let the memory be exceeded by a share of it mean Factor − 1.
	Factor float64

	// BestFit makes [Nodes.AppendNodes] choose the nodes that keep the least
	// memory. Otherwise it chooses those of the lowest indices.
	BestFit bool
}

// Need is what a job asks for: one process on each of Nodes nodes.
type Need struct {
	Nodes  int   // > 0
	Memory int64 // of one process, that is on each node, in bytes; ≥ 0
}

// Nodes keeps how much of each node's memory is used, and decides by Eq. (1)
// where a process fits. The caller says what starts and ends; a job that has
// several processes on a node counts there as one process that needs their sum.
//
// The methods that change nothing may be called concurrently with each other.
type Nodes struct {
	factor  float64
	bestFit bool
	nodes   []node
	load    int64 // processes on all nodes
	changes int64 // calls of change, to find nodes listed twice
}

type node struct {
	limit     int64 // floor(phys·C), down if the node is
	used      int64 // sum over the processes on it
	processes int64
	change    int64 // the last that it was listed in
}

const down = -1

// NewNodes returns nodes without load. An empty Memory, a negative one, and a
// factor that is negative or NaN are refused with [ErrNodes]. O(nodes).
func NewNodes(c NodesConfig) (*Nodes, error) {
	switch {
	case len(c.Memory) == 0:
		return nil, fmt.Errorf("no nodes: %w", ErrNodes)
	case !(c.Factor >= 0):
		return nil, fmt.Errorf("factor %v: %w", c.Factor, ErrNodes)
	}
	n := &Nodes{factor: c.Factor, bestFit: c.BestFit, nodes: make([]node, 0, len(c.Memory))}
	if n.factor == 0 {
		n.factor = 1
	}
	for i, memory := range c.Memory {
		if err := n.SetMemory(i, memory); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// SetMemory changes the memory of a node; 0 says that the node went down. The
// node after the last one is a new one. What is used stays as it is: processes
// that died with their node are to be released.
//
// A negative memory is refused with [ErrNodes], and [ErrNode] says that there is
// no such node. O(1).
func (n *Nodes) SetMemory(i int, memory int64) error {
	switch {
	case memory < 0:
		return fmt.Errorf("%d bytes of memory on node %d: %w", memory, i, ErrNodes)
	case i < 0 || i > len(n.nodes):
		return fmt.Errorf("memory of node %d of %d: %w", i, len(n.nodes), ErrNode)
	case i == len(n.nodes):
		n.nodes = append(n.nodes, node{})
	}
	limit, _ := multiply(memory, n.factor)
	if memory == 0 {
		limit = down
	}
	n.nodes[i].limit = limit
	return nil
}

// Len returns how many nodes there are, those that are down too.
func (n *Nodes) Len() int { return len(n.nodes) }

// Limit returns how much memory the processes of a node may use together by Eq.
// (1), in bytes: floor(phys mem · C), at most the largest int64, and −1 if the
// node is down. It panics if there is no such node.
func (n *Nodes) Limit(i int) int64 { return n.nodes[i].limit }

// Used returns how much memory the processes of a node use together, in bytes.
// It exceeds the limit where a job was started in an idle system although it did
// not fit, or estimates were corrected. It panics if there is no such node.
func (n *Nodes) Used(i int) int64 { return n.nodes[i].used }

// Idle tells whether there is no process on any node: the total load is zero.
// Processes that need no memory are load, too.
func (n *Nodes) Idle() bool { return n.load == 0 }

// NodeDecision is the answer to whether a process fits on each of some nodes.
type NodeDecision struct {
	// Admit tells that Eq. (1) holds on all of them.
	Admit bool

	// Never tells that it does not hold on all of them when they are empty either:
	// unless the memory changes, only an idle system takes the job, and there by
	// the exception that [Nodes.AppendNodes] makes. It never goes with Admit.
	Never bool

	// Node is the one that lacks most, the first of them in the order listed, or
	// −1 if none lacks any. A node that is down lacks all that is needed, and a
	// byte.
	Node int

	// Short is what is missing on Node, in bytes; at most the largest int64.
	Short int64
}

// Fits decides by Eq. (1) whether a process of need bytes may start on each of
// the nodes listed, beside those that are there:
//
//	need ≤ limit − used
//
// Equality admits. Where used exceeds the limit not even a process that needs no
// memory is admitted, nor is it on a node that is down. A negative need is none,
// and Never fits. It panics if there is no such node. O(1) per node listed.
func (n *Nodes) Fits(need int64, nodes ...int) NodeDecision {
	d := NodeDecision{Never: need < 0, Node: -1}
	for _, i := range nodes {
		d.Never = d.Never || need > n.nodes[i].limit
		if short := n.nodes[i].short(need); short > d.Short {
			d.Node, d.Short = i, short
		}
	}
	d.Admit = d.Short == 0 && !d.Never
	return d
}

// short returns how many bytes a process of need bytes lacks.
func (x *node) short(need int64) int64 {
	if x.limit == down {
		return add(max(need, 0), 1)
	}
	return missing(x.limit, x.used, need)
}

// Enough tells whether [Nodes.AppendNodes] would find nodes for a job. What is
// not enough for a need is not enough for one that is greater in nodes, memory
// or both, so that Enough may lead the search of [Queue.Next]. O(nodes).
func (n *Nodes) Enough(need Need) bool {
	ok, _ := n.enough(need)
	return ok
}

// enough tells whether a job may start, and whether that is by the exception:
// the system is idle, and Eq. (1) does not hold on enough of its nodes.
func (n *Nodes) enough(need Need) (ok, waived bool) {
	if need.Nodes <= 0 || need.Memory < 0 {
		return false, false
	}
	fit, up := 0, 0
	for i := range n.nodes {
		if n.nodes[i].limit == down {
			continue
		}
		up++
		if n.nodes[i].short(need.Memory) == 0 {
			if fit++; fit == need.Nodes {
				return true, false
			}
		}
	}
	return n.Idle() && up >= need.Nodes, true
}

// AppendNodes chooses nodes for a job and appends them to dst in rising order:
// nodes on which Eq. (1) holds, those of the lowest indices or, with BestFit,
// those that keep the least memory; on ties, the lowest indices.
//
// If fewer nodes than the job needs satisfy Eq. (1), an idle system takes it
// nevertheless, "to make it possible to run processes which consume more than
// the initial total memory" (§3.2). Then any nodes will do; with BestFit, first
// those on which Eq. (1) holds, then those that lack least. Otherwise there is no
// place, and AppendNodes returns dst as it was, and false; so it does for a need
// that is no job's.
//
// O(nodes), with BestFit O(nodes log nodes). It uses the capacity of dst beyond
// its length, and does not allocate if there is enough for all nodes.
func (n *Nodes) AppendNodes(dst []int, need Need) ([]int, bool) {
	ok, waived := n.enough(need)
	if !ok {
		return dst, false
	}
	start := len(dst)
	for i := range n.nodes {
		if n.nodes[i].limit == down || !waived && n.nodes[i].short(need.Memory) > 0 {
			continue
		}
		dst = append(dst, i)
		if !n.bestFit && len(dst) == start+need.Nodes {
			break
		}
	}
	if n.bestFit {
		slices.SortFunc(dst[start:], func(a, b int) int {
			x, y := &n.nodes[a], &n.nodes[b]
			return cmp.Or(
				cmp.Compare(x.short(need.Memory), y.short(need.Memory)),
				cmp.Compare(x.limit-x.used, y.limit-y.used),
				a-b)
		})
		dst = dst[:start+need.Nodes]
		slices.Sort(dst[start:])
	}
	return dst, true
}

// Occupy says that a process of need bytes started on each of the nodes listed.
// It does not ask whether they fit.
//
// Errors: [ErrNode] if there is no such node, it is down or listed twice;
// [ErrNeed] if need is negative, or what is used would exceed the largest int64.
// O(1) per node listed; so for Release and Reestimate.
func (n *Nodes) Occupy(need int64, nodes ...int) error {
	if err := n.change(nodes, 0, need, 1); err != nil {
		return fmt.Errorf("occupy: %w", err)
	}
	return nil
}

// Release says that a process of need bytes, which is what it started or was
// last corrected with, ended on each of the nodes listed.
//
// Errors: [ErrNode] if there is no such node or it is listed twice; [ErrNeed] if
// need is negative; [ErrRelease] if the processes there use less, or if the last
// of them would leave memory behind.
func (n *Nodes) Release(need int64, nodes ...int) error {
	if err := n.change(nodes, need, 0, -1); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// Reestimate says that a process that was counted with old bytes is to be
// counted with need bytes on each of the nodes listed, for instance because more
// than its estimate was measured. Compare [Nodes.Used] and [Nodes.Limit]
// afterwards: where the limit is exceeded, the process may have to leave.
//
// Errors are those of Release, of which [ErrNeed] also says that what is used
// would exceed the largest int64.
func (n *Nodes) Reestimate(old, need int64, nodes ...int) error {
	if err := n.change(nodes, old, need, 0); err != nil {
		return fmt.Errorf("reestimate: %w", err)
	}
	return nil
}

// change takes old bytes from each node listed, gives it need bytes, and changes
// the number of its processes; if it may not for one of them, then for none.
func (n *Nodes) change(nodes []int, old, need int64, processes int64) error {
	if old < 0 || need < 0 {
		return fmt.Errorf("%d bytes: %w", min(old, need), ErrNeed)
	}
	n.changes++
	for _, i := range nodes {
		if i < 0 || i >= len(n.nodes) {
			return fmt.Errorf("node %d of %d: %w", i, len(n.nodes), ErrNode)
		}
		x := &n.nodes[i]
		starts := processes > 0
		switch {
		case x.change == n.changes:
			return fmt.Errorf("node %d is listed twice: %w", i, ErrNode)
		case starts && x.limit == down:
			return fmt.Errorf("node %d is down: %w", i, ErrNode)
		case !starts && x.processes == 0:
			return fmt.Errorf("node %d has no process: %w", i, ErrRelease)
		case !starts && (x.used < old || x.used > old && x.processes == 1):
			return fmt.Errorf("%d bytes of %d that %d processes use on node %d: %w", old, x.used, x.processes, i, ErrRelease)
		case need > math.MaxInt64-(x.used-old):
			return fmt.Errorf("%d bytes beside %d on node %d: %w", need, x.used-old, i, ErrNeed)
		}
		x.change = n.changes
	}
	for _, i := range nodes {
		x := &n.nodes[i]
		x.used += need - old
		x.processes += processes
		n.load += processes
	}
	return nil
}
