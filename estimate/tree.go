package estimate

import "hash/maphash"

// levels has a value for each level of a History; that of None is not used.
type levels[T any] [ByPath + 1]T

// find returns for each level the node that knows the job, or 0. What is
// unknown at one level is at all finer ones.
func (h *History) find(j *Job) (at levels[uint32]) {
	var id uint32
	for level := ByPath; level > None; level-- {
		if id == 0 || h.nodes.at(id).finest() > level {
			id = h.search(level, id, j)
		} else if !h.is(h.nodes.at(id), level, j) {
			id = 0
		}
		if id == 0 {
			break
		}
		at[level] = id
	}
	return at
}

// search returns the job's node that has the level as its coarsest and this
// parent, or 0.
func (h *History) search(level Level, parent uint32, j *Job) uint32 {
	x, hash := &h.index, h.hash(level, j)
	for i := x.home(hash); x.slots[i] != 0; i = x.next(i) {
		if x.tagged(i, hash) {
			id := x.number(i)
			if n := h.nodes.at(id); n.parent == parent && h.is(n, level, j) {
				return id
			}
		}
	}
	return 0
}

// is tells whether a node of this level has the job's path, nodes or user,
// whichever the level adds.
func (h *History) is(n *node, level Level, j *Job) bool {
	switch level {
	case ByPath:
		path, _ := h.names.get(n.name)
		return string(path) == j.Path
	case ByPathNodes:
		return n.nodes == uint32(j.Nodes)
	default:
		_, user := h.names.get(n.name)
		return string(user) == j.User
	}
}

// hash returns the hash of the job's identity at a level.
func (h *History) hash(level Level, j *Job) uint32 {
	sum := maphash.String(h.seed, j.Path)
	if level <= ByPathNodes {
		sum = mix(sum, uint64(j.Nodes))
	}
	if level == ByPathNodesUser {
		sum = mix(sum, maphash.String(h.seed, j.User))
	}
	return uint32(sum >> 32)
}

// hashOf returns the hash that the index has of a node.
func (h *History) hashOf(id uint32) uint32 { return h.nodes.at(id).hash }

// insert makes a record for the job, still without values, from what find
// returned, and returns the nodes of all levels.
func (h *History) insert(j *Job, at levels[uint32]) levels[uint32] {
	level := ByPathNodesUser // the coarsest one that does not know the job
	for level < ByPath && at[level+1] == 0 {
		level++
	}
	n := node{nodes: uint32(j.Nodes), hash: h.hash(level, j)}
	n.setSpan(level, ByPathNodesUser)
	n.setKept(0, 0, h.period)
	if level == ByPath {
		n.name = put(&h.names, j.Path, j.User)
	} else {
		n.name = put(&h.names, "", j.User)
		n.parent = at[level+1]
		if h.nodes.at(n.parent).finest() <= level {
			upper := h.split(n.parent, level, j)
			for l := level + 1; l <= ByPath && at[l] == n.parent; l++ {
				at[l] = upper
			}
			n.parent = upper
		}
	}
	id := h.place(n)
	for l := level; l > None; l-- {
		at[l] = id
	}
	return at
}

// place takes a new node in, a record as the newest.
func (h *History) place(n node) uint32 {
	id := h.nodes.take()
	*h.nodes.at(id) = n
	h.enter(id)
	if n.coarsest() == ByPath {
		h.paths++
	} else {
		h.nodes.at(n.parent).older++
	}
	if n.record() {
		h.records++
		h.link(id)
	}
	return id
}

func (h *History) enter(id uint32) {
	if h.index.full() {
		h.index.grow(h.hashOf)
	}
	h.index.insert(h.hashOf(id), id)
}

// split moves all levels of a node that are coarser than level to a new one,
// which gets the same values, and returns that. j is a job that both know.
func (h *History) split(id uint32, level Level, j *Job) uint32 {
	upper := h.nodes.take()
	n, u := h.nodes.at(id), h.nodes.at(upper)
	*u = *n
	u.setSpan(n.coarsest(), level+1)
	u.older, u.newer = 1, 0
	if n.longer != 0 {
		u.longer = h.longer.take()
		*h.longer.at(u.longer) = *h.longer.at(n.longer)
	}
	h.index.set(h.index.find(n.hash, id), n.hash, upper)

	_, user := h.names.get(n.name)
	n.setSpan(level, n.finest())
	n.parent = upper
	n.hash = h.hash(level, &Job{Path: j.Path, Nodes: int(n.nodes), User: string(user)})
	h.enter(id)
	switch {
	case u.coarsest() != ByPath:
		u.name = 0
	case n.record():
		n.name = put(&h.names, nil, user)
	default:
		n.name = 0
	}
	return upper
}

// forget removes a record, and the nodes above it that have no other.
func (h *History) forget(id uint32) {
	h.unlink(id)
	h.records--
	for {
		n := h.nodes.at(id)
		h.index.remove(id, h.hashOf)
		if n.name != 0 {
			h.names.drop(n.name)
		}
		if n.longer != 0 {
			h.longer.give(n.longer)
		}
		n.span = 0
		h.nodes.give(id)
		id = n.parent
		if id == 0 {
			h.paths--
			break
		}
		if p := h.nodes.at(id); p.older > 1 {
			p.older--
			break
		}
	}
}

// tidy moves the names together if many were dropped.
func (h *History) tidy() {
	if !h.names.sparse() {
		return
	}
	old := h.names
	h.names = names{}
	for id := uint32(1); id < h.nodes.next; id++ {
		if n := h.nodes.at(id); n.span != 0 && n.name != 0 {
			path, user := old.get(n.name)
			n.name = put(&h.names, path, user)
		}
	}
}

// link makes a record the newest one.
func (h *History) link(id uint32) {
	n := h.nodes.at(id)
	n.older, n.newer = h.newest, 0
	if n.older != 0 {
		h.nodes.at(n.older).newer = id
	} else {
		h.oldest = id
	}
	h.newest = id
}

func (h *History) unlink(id uint32) {
	n := h.nodes.at(id)
	if n.newer != 0 {
		h.nodes.at(n.newer).older = n.older
	} else {
		h.newest = n.older
	}
	if n.older != 0 {
		h.nodes.at(n.older).newer = n.newer
	} else {
		h.oldest = n.newer
	}
}
