package estimate

// node holds what was observed at one level: of a path, of a path with a number
// of nodes, or of these with a user. It stands for several levels at once as
// long as one record is all that the coarser of them have seen, and most
// executables are run by one user on one number of nodes.
type node struct {
	low    [RecentValues]uint32 // the last values, newest first: their low 32 bits,
	high   [RecentValues]uint16 // and the others
	span   uint8                // coarsest level · 4 + finest level; 0 if vacant
	held   uint8                // see kept
	missed float32              // see Sample.Missed

	parent uint32 // the node of the next coarser level, 0 if ByPath is among the levels
	nodes  uint32 // of the job, unless ByPath is the only level
	longer uint32 // moments of the node's period and the one before, 0 if the last values are all
	hash   uint32 // of the identity at the coarsest level
	older  uint32 // the record observed before; if this is none, the number of children
	newer  uint32 // the record observed after
}

func (n *node) coarsest() Level { return Level(n.span >> 2) }
func (n *node) finest() Level   { return Level(n.span & 3) }

func (n *node) has(level Level) bool { return n.finest() <= level && level <= n.coarsest() }

// record tells whether the node has the finest level of all.
func (n *node) record() bool { return n.finest() == ByPathNodesUser }

func (n *node) setSpan(coarsest, finest Level) { n.span = uint8(coarsest<<2 | finest) }

// period returns the parity of the last period in which something was observed.
func (n *node) period() uint8 { return n.held & 1 }

// kept returns how many of the last values are of the period that has the given
// parity, and how many of the one before.
func (n *node) kept(period uint8) (current, previous int) {
	current, previous = int(n.held>>4), int(n.held>>1&7)
	if n.period() != period {
		return 0, current
	}
	return current, previous
}

func (n *node) setKept(current, previous int, period uint8) {
	n.held = uint8(current<<4|previous<<1) | period
}

func (n *node) value(i int) int64 { return int64(n.high[i])<<32 | int64(n.low[i]) }

func (n *node) setValue(i int, x int64) { n.low[i], n.high[i] = uint32(x), uint16(x>>32) }

// push makes x the newest of the last values.
func (n *node) push(x int64) {
	copy(n.low[1:], n.low[:])
	copy(n.high[1:], n.high[:])
	n.setValue(0, x)
}

// largest returns the largest of the last count values.
func (n *node) largest(count int) int64 {
	var most int64
	for i := range count {
		most = max(most, n.value(i))
	}
	return most
}

// moments returns those of the last values, by period.
func (n *node) moments(current, previous int) [2]moments {
	return [2]moments{n.some(0, current), n.some(current, current+previous)}
}

// some returns the moments of the last values from i to before j.
func (n *node) some(i, j int) (m moments) {
	if i == j {
		return m
	}
	var sum int64
	for k := i; k < j; k++ {
		sum += n.value(k)
		m.max = max(m.max, n.value(k))
	}
	m.count = uint32(j - i)
	m.mean = float64(sum) / float64(m.count)
	for k := i; k < j; k++ {
		d := float64(n.value(k)) - m.mean
		m.squares += float64(d * d)
	}
	return m
}
