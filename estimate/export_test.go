package estimate

import "fmt"

// Check returns an error if the parts of h contradict each other.
func (h *History) Check() error {
	var live, records, paths int
	children := map[uint32]uint32{}
	pairs, used := map[uint32]bool{}, map[uint32]bool{}
	total, first := uint32(1), uint32(0)
	for id := uint32(1); id < h.nodes.next; id++ {
		n := h.nodes.at(id)
		if n.span == 0 {
			continue
		}
		live++
		if h.index.slots[h.index.find(n.hash, id)].number() != id {
			return fmt.Errorf("node %d is not in the index", id)
		}
		if n.record() {
			records++
			if n.older == 0 {
				first = id
			}
		}
		if n.coarsest() == ByPath {
			paths++
		} else {
			children[n.parent]++
			if p := h.nodes.at(n.parent); p.finest() != n.coarsest()+1 {
				return fmt.Errorf("node %d has a parent of another level", id)
			}
		}
		if n.longer != 0 {
			if pairs[n.longer] {
				return fmt.Errorf("node %d shares moments", id)
			}
			pairs[n.longer] = true
		}
		if name := h.nameOf(id); name != 0 {
			if used[name] {
				return fmt.Errorf("node %d shares a name", id)
			}
			used[name] = true
			path, user := h.names.get(name)
			total += units(len(path), len(user))
		}
	}
	for id := uint32(1); id < h.nodes.next; id++ {
		if n := h.nodes.at(id); n.span != 0 && !n.record() && n.older != children[id] {
			return fmt.Errorf("node %d counts %d children of %d", id, n.older, children[id])
		}
	}
	if live != h.index.used || live+len(h.nodes.vacant) != int(max(h.nodes.next, 1))-1 || records != h.records || paths != h.paths {
		return fmt.Errorf("%d nodes, %d in the index, %d vacant of %d; %d records of %d, %d paths of %d",
			live, h.index.used, len(h.nodes.vacant), h.nodes.next, records, h.records, paths, h.paths)
	}
	if len(pairs)+len(h.longer.vacant) != int(max(h.longer.next, 1))-1 {
		return fmt.Errorf("%d moments, %d vacant of %d", len(pairs), len(h.longer.vacant), h.longer.next)
	}
	if h.names.used > 0 && h.names.used-h.names.dead+1 != total {
		return fmt.Errorf("names of %d units, of which %d are dead, have %d", h.names.used, h.names.dead, total)
	}
	if first != h.oldest {
		return fmt.Errorf("the oldest record is %d, not %d", h.oldest, first)
	}
	return nil
}
