package estimate

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"math"
)

var (
	// ErrSnapshot is returned for what is no snapshot, or a damaged one.
	ErrSnapshot = errors.New("estimate: not a snapshot, or damaged")

	// ErrVersion is returned for a snapshot in another version of the format.
	ErrVersion = errors.New("estimate: unknown version of snapshot")
)

// A snapshot is the magic, the version, the number of nodes, the nodes, and the
// CRC-32C of all that. Records come in the order of their last observations,
// each after those nodes above it that have not come yet. A node is
//
//	its span
//	the path, or the number of its parent among the nodes, from 1 on
//	the nodes and the user, if the node has these levels
//	16·current + 2·previous + (1 if there are moments)
//	the current + previous last values, newest first
//	missed
//	the moments of both periods, the current one first, unless the last values are all
//
// The version, the span and the counts are bytes, other integers are varints,
// strings follow their length, floats and the checksum are little endian.
const (
	magic   = "gangkit estimate"
	version = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Snapshot writes what h has learnt, for [History.Restore]; its Config is not
// part of that. Errors are those of w. Cost O(records).
func (h *History) Snapshot(w io.Writer) error {
	sum := crc32.New(castagnoli)
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	b := append([]byte(magic), version)
	b = binary.AppendUvarint(b, uint64(h.index.used))
	numbers := make([]uint32, h.nodes.next) // of the nodes that were written
	names := make([]uint32, h.nodes.next)
	for _, s := range h.index.slots {
		if !s.empty() {
			names[s.number()] = s.name
		}
	}
	var last uint32
	var write func(id uint32)
	write = func(id uint32) {
		if id == 0 || numbers[id] != 0 {
			return
		}
		n := h.nodes.at(id)
		write(n.parent)
		last++
		numbers[id] = last
		b = h.appendNode(b, n, numbers[n.parent], names[id])
		out.Write(b) // it keeps the error
		b = b[:0]
	}
	for id := h.oldest; id != 0; id = h.nodes.at(id).newer {
		write(id)
	}
	out.Write(b)
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

func (h *History) appendNode(b []byte, n *node, parent, name uint32) []byte {
	b = append(b, n.span)
	var path, user []byte
	if name != 0 {
		path, user = h.names.get(name)
	}
	if n.coarsest() == ByPath {
		b = append(binary.AppendUvarint(b, uint64(len(path))), path...)
	} else {
		b = binary.AppendUvarint(b, uint64(parent))
	}
	if n.has(ByPathNodes) {
		b = binary.AppendUvarint(b, uint64(n.nodes))
	}
	if n.record() {
		b = append(binary.AppendUvarint(b, uint64(len(user))), user...)
	}
	current, previous := n.kept(h.period)
	periods := h.periods(n)
	counts := uint8(current<<4 | previous<<1)
	all := int(periods[0].count+periods[1].count) == current+previous
	if !all {
		counts |= 1
	}
	b = append(b, counts)
	for i := range current + previous {
		b = binary.AppendUvarint(b, uint64(n.value(i)))
	}
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(n.missed))
	if !all {
		for _, m := range periods {
			if b = binary.AppendUvarint(b, uint64(m.count)); m.count == 0 {
				continue
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(m.mean))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(m.squares))
			b = binary.AppendUvarint(b, uint64(m.max))
		}
	}
	return b
}

// Restore replaces what h has learnt by a snapshot, reading r to its end. From
// there on h does what the History would have done that wrote it. If the limits
// of h are lower, the least recently observed records are evicted.
//
// What is no snapshot, damaged or followed by anything is refused with
// [ErrSnapshot], another version with [ErrVersion]; other errors are those of r.
// h is then as before. Memory is taken for what was read, whatever sizes the
// snapshot claims. Cost O(records).
func (h *History) Restore(r io.Reader) error {
	sum := crc32.New(castagnoli)
	d := decoder{in: bufio.NewReader(io.TeeReader(r, sum)), h: &History{}}
	d.snapshot()
	// The checksum of anything and its checksum is that of nothing and its own.
	if d.err == nil && sum.Sum32() != crc32.Checksum(make([]byte, 4), castagnoli) {
		d.fail("checksum")
	}
	if d.err != nil {
		return fmt.Errorf("restore: %w", d.err)
	}
	d.h.config = h.config
	d.h.trim()
	*h = *d.h
	return nil
}

// decoder reads a snapshot into h. After an error it reads zeros.
type decoder struct {
	in  *bufio.Reader
	err error
	h   *History
	buf [MaxPath]byte

	ids   []uint32 // of the nodes read, by their number
	open  uint32   // the last one, if it still lacks a child
	fresh bool     // a record of the current period was read
}

func (d *decoder) snapshot() {
	if string(d.bytes(len(magic))) != magic {
		d.fail("it does not begin as one")
	}
	if v := d.byte(); d.err == nil && v != version {
		d.err = fmt.Errorf("version %d, not %d: %w", v, version, ErrVersion)
	}
	count := d.uint("number of nodes", 0, 3*MaxRecords)
	d.h.seed = maphash.MakeSeed()
	d.h.index.grow(nil)
	d.ids = []uint32{0}
	for range count {
		if d.node(); d.err != nil {
			return
		}
	}
	if d.open != 0 {
		d.fail("a node without a record")
	}
	d.bytes(4)
	if _, err := d.in.ReadByte(); err == nil {
		d.fail("something follows it")
	} else if err != io.EOF {
		d.check(err)
	}
}

func (d *decoder) node() {
	var (
		n      node
		j      Job // as far as it is known at the finest level of n
		parent *node
	)
	n.span = d.byte()
	if n.finest() == None || n.coarsest() < n.finest() || n.coarsest() > ByPath {
		d.fail("span %d", n.span)
		return
	}
	if n.has(ByPath) {
		j.Path = d.text("path", 1, MaxPath)
	} else {
		number := d.uint("parent", 1, uint64(len(d.ids)-1))
		if d.err != nil {
			return
		}
		n.parent = d.ids[number]
		parent = d.h.nodes.at(n.parent)
		if parent.finest() != n.coarsest()+1 {
			d.fail("a child of the wrong level")
			return
		}
		root := n.parent
		if parent.parent != 0 {
			root = parent.parent
		}
		path, _ := d.h.names.get(d.h.nameOf(root))
		j.Path, j.Nodes = string(path), int(parent.nodes)
	}
	if n.has(ByPathNodes) {
		j.Nodes = int(d.uint("nodes", 1, MaxNodes))
	}
	if n.record() {
		j.User = d.text("user", 0, MaxUser)
	}
	n.nodes = uint32(j.Nodes)
	periods := d.values(&n)
	if d.err != nil {
		return
	}

	at := d.h.find(&j)
	n.hash = d.h.hash(n.coarsest(), &j)
	stale := periods[0].count == 0
	switch {
	case at[n.coarsest()] != 0:
		d.fail("%+v comes twice", j)
	case d.open != 0 && d.open != n.parent:
		d.fail("a node without a record")
	case n.record() && stale && d.fresh:
		d.fail("records out of order")
	case n.record() && d.h.records == MaxRecords:
		d.fail("more than %d records", MaxRecords)
	case parent != nil:
		for i, m := range d.h.periods(parent) {
			if m.count < periods[i].count || m.max < periods[i].max {
				d.fail("a node with less than a part of it")
			}
		}
	}
	if d.err != nil {
		return
	}
	var name uint32
	if n.has(ByPath) {
		name = put(&d.h.names, j.Path, j.User)
	} else if n.record() {
		name = put(&d.h.names, "", j.User)
	}
	id := d.h.place(n, name)
	d.ids = append(d.ids, id)
	d.open = id
	if n.record() {
		d.open = 0
		d.fresh = !stale
	}
}

// values reads what the node holds.
func (d *decoder) values(n *node) (periods [2]moments) {
	counts := d.byte()
	current, previous := int(counts>>4), int(counts>>1&7)
	if current+previous < 1 || current+previous > RecentValues {
		d.fail("%d and %d last values", current, previous)
		return
	}
	for i := range current + previous {
		n.setValue(i, int64(d.uint("memory", 0, MaxMemory)))
	}
	n.missed = math.Float32frombits(binary.LittleEndian.Uint32(d.bytes(4)))
	if !(n.missed >= 0 && n.missed <= 1) {
		d.fail("missed %v", n.missed)
	}
	n.setKept(current, previous, 0)
	newest := 0
	if current == 0 { // nothing since the last rotation
		n.setKept(previous, 0, 1)
		newest = 1
	}
	last := n.moments(current, previous)
	if counts&1 == 0 {
		return last
	}
	for i := range periods {
		var m moments
		if m.count = uint32(d.uint("count", 0, maxCount)); m.count > 0 {
			m.mean, m.squares, m.max = d.float(), d.float(), int64(d.uint("maximum", 0, MaxMemory))
		}
		most := float64(m.max)
		if m.count < last[i].count || m.max < last[i].max ||
			!(m.mean >= 0 && m.mean <= most && m.squares >= 0 && m.squares <= float64(m.count)*most*most) {
			d.fail("moments %+v", m)
		}
		periods[i] = m
	}
	// The last values are full, and reach back to a period only if they have all of the next.
	if current+previous < RecentValues || previous > 0 && periods[0].count > last[0].count ||
		periods[0].count+periods[1].count <= RecentValues {
		d.fail("moments of %d and %d values", periods[0].count, periods[1].count)
	}
	if d.err == nil {
		n.longer = d.h.longer.take()
		all := d.h.longer.at(n.longer)
		all.set(0, periods[newest])
		all.set(1, periods[1^newest])
	}
	return periods
}

// text reads a string.
func (d *decoder) text(what string, least, most uint64) string {
	return string(d.bytes(int(d.uint("length of "+what, least, most))))
}

// uint reads an integer.
func (d *decoder) uint(what string, least, most uint64) uint64 {
	var x uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.byte()
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if x < least || x > most {
				d.fail("%s %d", what, x)
				return 0
			}
			return x
		}
	}
	d.fail("%s of more than 64 bits", what)
	return 0
}

func (d *decoder) float() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(d.bytes(8)))
}

func (d *decoder) byte() byte {
	if d.err != nil {
		return 0
	}
	b, err := d.in.ReadByte()
	d.check(err)
	return b
}

// bytes reads n bytes, valid until the next call.
func (d *decoder) bytes(n int) []byte {
	b := d.buf[:n]
	if d.err == nil {
		_, err := io.ReadFull(d.in, b)
		d.check(err)
	}
	if d.err != nil {
		clear(b)
	}
	return b
}

// check keeps an error of the reader.
func (d *decoder) check(err error) {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		d.fail("it ends early")
	} else if err != nil && d.err == nil {
		d.err = err
	}
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrSnapshot)
	}
}
