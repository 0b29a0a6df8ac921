package estimate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrExecutable is returned for what is no executable of a known format.
var ErrExecutable = errors.New("estimate: not an executable")

// StaticSize returns how much memory an executable takes before it asks for
// any, text + data + bss (§2.2), in bytes. It adds up the sizes in memory of
//
//	a.out   text, data and bss: the paper's format; OMAGIC, NMAGIC, ZMAGIC, QMAGIC
//	ELF     the segments to be loaded
//	PE      the sections, but for those that can be discarded
//	Mach-O  the segments, but for __PAGEZERO, __LINKEDIT and __DWARF; of several
//	        images in one file, those of the largest
//
// of either byte order and word size. Shared libraries, stack and heap are not
// in it. The paper finds it close to what numerical programs use, and far from
// what programs with many dynamic allocations do.
//
// What is in no such format, or contradicts itself, is refused with
// [ErrExecutable]; other errors are those of r. Only headers are read, at most
// some thousands, and none is kept, so that a hostile file costs little.
func StaticSize(r io.ReaderAt) (int64, error) {
	x := image{r: r}
	switch first := binary.BigEndian.Uint32(x.read(0, 4)); {
	case first == 0x7f<<24|'E'<<16|'L'<<8|'F':
		x.elf()
	case first>>16 == 'M'<<8|'Z':
		x.pe()
	case first == 0xcafebabe:
		x.fat(20)
	case first == 0xcafebabf:
		x.fat(32)
	case x.isMachO(first):
		x.machO()
	default:
		x.aout()
	}
	if x.err == nil && x.total == 0 {
		x.fail("nothing to load")
	}
	if x.err != nil {
		return 0, fmt.Errorf("static size: %w", x.err)
	}
	return x.total, nil
}

// image is an executable. After an error it reads as zeros.
type image struct {
	r     io.ReaderAt
	start int64 // in the file
	order binary.ByteOrder
	buf   [64]byte
	total int64 // bytes
	err   error
}

// aout reads struct exec: the magic in the low half of a word, and in the next
// three the sizes of text, data and bss.
func (x *image) aout() {
	head := x.read(0, 32)
	for _, x.order = range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var stored int64 // bytes in the file at least
		switch uint16(x.order.Uint32(head)) {
		case 0o407, 0o410: // OMAGIC, NMAGIC
			stored = 32
		case 0o413, 0o314: // ZMAGIC, QMAGIC: the header may be a part of the text
		default:
			continue
		}
		for i := 4; i <= 12; i += 4 {
			x.add(uint64(x.order.Uint32(head[i:])))
		}
		stored += x.total - int64(x.order.Uint32(head[12:]))
		x.read(max(stored, 1)-1, 1)
		return
	}
	x.fail("unknown format")
}

func (x *image) elf() {
	head := x.read(0, 52)
	if x.order = binary.LittleEndian; head[5] == 2 {
		x.order = binary.BigEndian
	}
	kind, least := x.order.Uint16(head[16:]), 32
	table, size, count := uint64(x.order.Uint32(head[28:])), x.order.Uint16(head[42:]), x.order.Uint16(head[44:])
	if head[4] == 2 { // 64 bits
		least = 56
		head = x.read(0, 64)
		table, size, count = x.order.Uint64(head[32:]), x.order.Uint16(head[54:]), x.order.Uint16(head[56:])
	}
	if kind != 2 && kind != 3 || int(size) < least { // ET_EXEC, ET_DYN
		x.fail("ELF of type %d with headers of %d bytes", kind, size)
	}
	x.parts("segments", uint32(count), 1024, func(i int64) {
		part := x.read(int64(table)+i*int64(size), least)
		switch {
		case x.order.Uint32(part) != 1: // PT_LOAD
		case least == 56:
			x.add(x.order.Uint64(part[40:]))
		default:
			x.add(uint64(x.order.Uint32(part[20:])))
		}
	})
}

func (x *image) pe() {
	x.order = binary.LittleEndian
	at := int64(x.order.Uint32(x.read(60, 4)))
	head := x.read(at, 24)
	count, flags := x.order.Uint16(head[6:]), x.order.Uint16(head[22:])
	if string(head[:4]) != "PE\x00\x00" || flags&2 == 0 { // IMAGE_FILE_EXECUTABLE_IMAGE
		x.fail("no PE image")
	}
	at += 24 + int64(x.order.Uint16(head[20:]))
	x.parts("sections", uint32(count), 1024, func(i int64) {
		part := x.read(at+i*40, 40)
		size := x.order.Uint32(part[8:])
		if size == 0 { // as some linkers leave it: then it is as in the file
			size = x.order.Uint32(part[16:])
		}
		if x.order.Uint32(part[36:])&0x02000000 == 0 { // IMAGE_SCN_MEM_DISCARDABLE
			x.add(uint64(size))
		}
	})
}

func (x *image) isMachO(first uint32) bool {
	switch first {
	case 0xfeedface, 0xfeedfacf:
		x.order = binary.BigEndian
	case 0xcefaedfe, 0xcffaedfe:
		x.order = binary.LittleEndian
	default:
		return false
	}
	return true
}

func (x *image) machO() {
	head := x.read(0, 28)
	at := int64(28)
	if x.order.Uint32(head) == 0xfeedfacf {
		at = 32
	}
	if kind := x.order.Uint32(head[12:]); kind != 2 { // MH_EXECUTE
		x.fail("Mach-O of type %d", kind)
	}
	end := at + int64(x.order.Uint32(head[20:]))
	x.parts("commands", x.order.Uint32(head[16:]), 1024, func(int64) {
		part := x.read(at, 8)
		command, size := x.order.Uint32(part), int64(x.order.Uint32(part[4:]))
		if size < 8 || size > end-at {
			x.fail("command of %d bytes", size)
			return
		}
		if command == 0x1 || command == 0x19 { // LC_SEGMENT, LC_SEGMENT_64
			part = x.read(at, 40)
			memory := uint64(x.order.Uint32(part[28:]))
			if command == 0x19 {
				memory = x.order.Uint64(part[32:])
			}
			switch string(bytes.TrimRight(part[8:24], "\x00")) {
			case "__PAGEZERO", "__LINKEDIT", "__DWARF":
			default:
				x.add(memory)
			}
		}
		at += size
	})
}

// fat reads a table of Mach-O images with entries of this size.
func (x *image) fat(size int) {
	x.parts("images", binary.BigEndian.Uint32(x.read(4, 4)), 64, func(i int64) {
		part := x.read(8+i*int64(size), size)
		y := image{r: x.r, start: int64(binary.BigEndian.Uint32(part[8:]))}
		if size == 32 {
			y.start = int64(binary.BigEndian.Uint64(part[8:]))
		}
		if x.err == nil && y.isMachO(binary.BigEndian.Uint32(y.read(0, 4))) {
			y.machO()
		} else {
			y.fail("no Mach-O image")
		}
		x.total = max(x.total, y.total)
		if x.err == nil {
			x.err = y.err
		}
	})
}

// parts calls f for each of count parts, until there is an error. Real
// executables have dozens of parts, and a few images.
func (x *image) parts(what string, count, most uint32, f func(i int64)) {
	if count > most {
		x.fail("%d %s", count, what)
	}
	for i := int64(0); i < int64(count) && x.err == nil; i++ {
		f(i)
	}
}

// add adds to the size.
func (x *image) add(bytes uint64) {
	if bytes > uint64(math.MaxInt64-x.total) {
		x.fail("more than %d bytes", int64(math.MaxInt64))
		return
	}
	x.total += int64(bytes)
}

// read returns n bytes from a place in the image on, valid until the next call.
func (x *image) read(at int64, n int) []byte {
	b := x.buf[:n]
	offset := x.start + at
	if offset < 0 {
		x.fail("a header before the beginning")
	}
	if x.err == nil {
		if got, err := x.r.ReadAt(b, offset); got < n && (err == nil || err == io.EOF) {
			x.fail("a header beyond the end")
		} else if got < n {
			x.err = err
		}
	}
	if x.err != nil {
		clear(b)
	}
	return b
}

func (x *image) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrExecutable)
	}
}
