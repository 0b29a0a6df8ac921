package estimate

import "hash/maphash"

// levels has a value for each level of a History; that of None is not used.
type levels[T any] [ByPath + 1]T

// find returns for each level the node that knows the job, or 0. What is
// unknown at one level is at all finer ones.
func (h *History) find(j *Job) (at levels[uint32]) {
	path := maphash.String(h.seed, j.Path)
	var s slot
	for level := ByPath; level > None; level-- {
		if s.empty() || s.finest() > level {
			s = h.search(level, path, s.number(), j)
		} else if !h.is(s, level, j) {
			s = slot{}
		}
		if s.empty() {
			break
		}
		at[level] = s.number()
	}
	return at
}

// search returns the slot of the job's node that has the level as its coarsest
// and this parent, or an empty one. path is the hash of the job's path.
func (h *History) search(level Level, path uint64, parent uint32, j *Job) slot {
	x, hash := &h.index, h.hashBelow(path, level, j)
	i := x.home(hash)
	for ; !x.slots[i].empty(); i = x.next(i) {
		s := x.slots[i]
		if s.tagged(hash) && h.nodes.at(s.number()).parent == parent && h.is(s, level, j) {
			break
		}
	}
	return x.slots[i]
}

// is tells whether the node of a slot, which has this level, has the job's path,
// nodes or user, whichever the level adds.
func (h *History) is(s slot, level Level, j *Job) bool {
	if level == ByPathNodes {
		return h.nodes.at(s.number()).nodes == uint32(j.Nodes)
	}
	path, user := h.names.get(s.name)
	if level == ByPath {
		return string(path) == j.Path
	}
	return string(user) == j.User
}

// hash returns the hash of the job's identity at a level.
func (h *History) hash(level Level, j *Job) uint32 {
	return h.hashBelow(maphash.String(h.seed, j.Path), level, j)
}

func (h *History) hashBelow(path uint64, level Level, j *Job) uint32 {
	sum := path
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
	path := j.Path
	if level < ByPath {
		path = ""
		n.parent = at[level+1]
		if h.nodes.at(n.parent).finest() <= level {
			upper := h.split(n.parent, level, j)
			for l := level + 1; l <= ByPath && at[l] == n.parent; l++ {
				at[l] = upper
			}
			n.parent = upper
		}
	}
	id := h.place(n, put(&h.names, path, j.User))
	for l := level; l > None; l-- {
		at[l] = id
	}
	return at
}

// place takes a new node in, a record as the newest.
func (h *History) place(n node, name uint32) uint32 {
	id := h.nodes.take()
	*h.nodes.at(id) = n
	h.enter(id, name)
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

func (h *History) enter(id, name uint32) {
	if h.index.full() {
		h.index.grow(h.hashOf)
	}
	n := h.nodes.at(id)
	h.index.insert(n.hash, id, n.finest(), name)
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
	i := h.index.find(n.hash, id)
	name, upperName := h.index.slots[i].name, uint32(0)
	_, user := h.names.get(name)
	if n.coarsest() == ByPath {
		name, upperName = 0, name
		if n.record() {
			name = put(&h.names, nil, user)
		}
	}
	h.index.set(i, n.hash, upper, u.finest(), upperName)

	n.setSpan(level, n.finest())
	n.parent = upper
	n.hash = h.hash(level, &Job{Path: j.Path, Nodes: int(n.nodes), User: string(user)})
	h.enter(id, name)
	return upper
}

// forget removes a record, and the nodes above it that have no other.
func (h *History) forget(id uint32) {
	h.unlink(id)
	h.records--
	for {
		n := h.nodes.at(id)
		if name := h.index.remove(id, h.hashOf).name; name != 0 {
			h.names.drop(name)
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
	for i := range h.index.slots {
		if s := &h.index.slots[i]; s.name != 0 {
			path, user := old.get(s.name)
			s.name = put(&h.names, path, user)
		}
	}
}

// nameOf returns the name of a node.
func (h *History) nameOf(id uint32) uint32 {
	return h.index.slots[h.index.find(h.hashOf(id), id)].name
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
