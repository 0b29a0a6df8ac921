package estimate_test

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
)

var (
	little binary.ByteOrder = binary.LittleEndian
	big    binary.ByteOrder = binary.BigEndian
)

// image writes structures one after the other.
func image(order binary.ByteOrder, parts ...any) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		if err := binary.Write(&b, order, part); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// aout is an image with struct exec; text and data are really there.
func aout(order binary.ByteOrder, magic, text, data, bss uint32) []byte {
	return append(image(order, []uint32{magic, text, data, bss, 0, 0, 0, 0}), make([]byte, text+data)...)
}

func elf32(order binary.ByteOrder, kind elf.Type, segments ...elf.Prog32) []byte {
	h := elf.Header32{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), 1}, Type: uint16(kind), Machine: uint16(elf.EM_386), Version: 1,
		Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: uint16(len(segments)),
	}
	if order == big {
		h.Ident[5], h.Machine = byte(elf.ELFDATA2MSB), uint16(elf.EM_PPC)
	}
	return image(order, h, segments)
}

func elf64(order binary.ByteOrder, kind elf.Type, segments ...elf.Prog64) []byte {
	h := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1}, Type: uint16(kind), Machine: uint16(elf.EM_X86_64), Version: 1,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(segments)),
	}
	if order == big {
		h.Ident[5], h.Machine = byte(elf.ELFDATA2MSB), uint16(elf.EM_S390)
	}
	return image(order, h, segments)
}

func portable(flags uint16, sections ...pe.SectionHeader32) []byte {
	stub := make([]byte, 128)
	copy(stub, "MZ")
	stub[60] = 128
	h := pe.FileHeader{Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: uint16(len(sections)), Characteristics: flags,
		SizeOfOptionalHeader: uint16(binary.Size(pe.OptionalHeader64{}))}
	optional := pe.OptionalHeader64{Magic: 0x20b, NumberOfRvaAndSizes: 16}
	return image(little, stub, []byte("PE\x00\x00"), h, optional, sections)
}

func section(name string, virtual, stored, flags uint32) pe.SectionHeader32 {
	s := pe.SectionHeader32{VirtualSize: virtual, SizeOfRawData: stored, Characteristics: flags}
	copy(s.Name[:], name)
	return s
}

func macho64(order binary.ByteOrder, kind macho.Type, segments ...macho.Segment64) []byte {
	h := macho.FileHeader{Magic: macho.Magic64, Cpu: macho.CpuAmd64, Type: kind, Ncmd: uint32(len(segments) + 1), Cmdsz: uint32(72*len(segments) + 24)}
	return image(order, h, uint32(0), []uint32{0x1b, 24, 0, 0, 0, 0}, segments) // a UUID command comes first
}

func segment64(name string, memory uint64) macho.Segment64 {
	s := macho.Segment64{Cmd: macho.LoadCmdSegment64, Len: 72, Memsz: memory}
	copy(s.Name[:], name)
	return s
}

func macho32(order binary.ByteOrder, segments ...macho.Segment32) []byte {
	h := macho.FileHeader{Magic: macho.Magic32, Cpu: macho.Cpu386, Type: macho.TypeExec, Ncmd: uint32(len(segments)), Cmdsz: uint32(56 * len(segments))}
	return image(order, h, segments)
}

func segment32(name string, memory uint32) macho.Segment32 {
	s := macho.Segment32{Cmd: macho.LoadCmdSegment, Len: 56, Memsz: memory}
	copy(s.Name[:], name)
	return s
}

// fat puts images into one file.
func fat(wide bool, images ...[]byte) []byte {
	at := 4096
	head := image(big, uint32(macho.MagicFat), uint32(len(images)))
	if wide {
		head[3] = 0xbf
	}
	var body []byte
	for i, b := range images {
		if wide {
			head = append(head, image(big, uint32(7), uint32(i), uint64(at+len(body)), uint64(len(b)), uint32(12), uint32(0))...)
		} else {
			head = append(head, image(big, uint32(7), uint32(i), uint32(at+len(body)), uint32(len(b)), uint32(12))...)
		}
		body = append(body, b...)
	}
	return append(append(head, make([]byte, at-len(head))...), body...)
}

var mac = macho64(little, macho.TypeExec, segment64("__PAGEZERO", 1<<32), segment64("__TEXT", 5000), segment64("__DATA", 300),
	segment64("__DATA_CONST", 20), segment64("__LINKEDIT", 7777), segment64("__DWARF", 8888))

// executables are good ones with their sizes.
var executables = map[string]struct {
	image []byte
	size  int64
}{
	"OMAGIC":                    {aout(little, 0o407, 1000, 200, 30), 1230},
	"NMAGIC":                    {aout(little, 0o410, 1000, 200, 30), 1230},
	"ZMAGIC":                    {aout(little, 0o413, 4096, 4096, 0), 8192},
	"QMAGIC with machine":       {aout(little, 100<<16|0o314, 4096, 0, 1<<31), 4096 + 1<<31},
	"OMAGIC, big endian":        {aout(big, 0o407, 1000, 200, 30), 1230},
	"ZMAGIC, big endian, SPARC": {aout(big, 1<<31|3<<16|0o413, 8192, 200, 30), 8422},
	"ELF, 64 bits": {elf64(little, elf.ET_EXEC, elf.Prog64{Type: uint32(elf.PT_PHDR), Memsz: 99}, elf.Prog64{Type: uint32(elf.PT_LOAD), Filesz: 5, Memsz: 1 << 20},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Filesz: 5, Memsz: 3}, elf.Prog64{Type: uint32(elf.PT_GNU_STACK), Memsz: 99}), 1<<20 + 3},
	"ELF, 64 bits, position independent": {elf64(little, elf.ET_DYN, elf.Prog64{Type: uint32(elf.PT_LOAD), Memsz: 77}), 77},
	"ELF, 64 bits, big endian":           {elf64(big, elf.ET_EXEC, elf.Prog64{Type: uint32(elf.PT_LOAD), Memsz: 77}), 77},
	"ELF, largest":                       {elf64(little, elf.ET_EXEC, elf.Prog64{Type: uint32(elf.PT_LOAD), Memsz: math.MaxInt64}), math.MaxInt64},
	"ELF, 32 bits":                       {elf32(little, elf.ET_EXEC, elf.Prog32{Type: uint32(elf.PT_LOAD), Memsz: 4e9}, elf.Prog32{Type: uint32(elf.PT_LOAD), Memsz: 4e9}), 8e9},
	"ELF, 32 bits, big endian":           {elf32(big, elf.ET_DYN, elf.Prog32{Type: uint32(elf.PT_LOAD), Memsz: 5}), 5},
	"PE": {portable(2, section(".text", 5000, 5120, 0x60000020), section(".data", 9000, 512, 0xc0000040), section(".bss", 70, 0, 0xc0000080),
		section(".old", 0, 512, 0xc0000040), section(".reloc", 4444, 4608, 0x42000040)), 5000 + 9000 + 70 + 512},
	"Mach-O":                      {mac, 5320},
	"Mach-O, big endian":          {macho64(big, macho.TypeExec, segment64("__TEXT", 17)), 17},
	"Mach-O, 32 bits":             {macho32(little, segment32("__PAGEZERO", 4096), segment32("__TEXT", 17), segment32("0123456789abcdef", 3)), 20},
	"Mach-O, 32 bits, big endian": {macho32(big, segment32("__TEXT", 17)), 17},
	"Mach-O, three images":        {fat(false, macho32(big, segment32("__TEXT", 17)), mac, macho32(little, segment32("__TEXT", 18))), 5320},
	"Mach-O, wide table":          {fat(true, mac), 5320},
}

func TestStaticSize(t *testing.T) {
	for name, c := range executables {
		size, err := estimate.StaticSize(bytes.NewReader(c.image))
		if assert.NoError(t, err, name) {
			assert.Equal(t, c.size, size, name)
		}
	}
}

// The images above are what they are said to be.
func TestImagesAreWellFormed(t *testing.T) {
	for name, c := range executables {
		var err error
		switch r := bytes.NewReader(c.image); {
		case strings.HasPrefix(name, "ELF, largest"): // debug/elf takes it for overflowing
		case strings.HasPrefix(name, "ELF"):
			_, err = elf.NewFile(r)
		case name == "PE":
			_, err = pe.NewFile(r)
		case name == "Mach-O, three images":
			_, err = macho.NewFatFile(r)
		case strings.HasPrefix(name, "Mach-O") && !strings.Contains(name, "wide"):
			_, err = macho.NewFile(r)
		}
		assert.NoError(t, err, name)
	}
}

// The program that runs this test, by the standard library.
func TestStaticSizeOfThisProgram(t *testing.T) {
	path, err := os.Executable()
	require.NoError(t, err)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var want uint64
	if f, err := elf.NewFile(bytes.NewReader(b)); err == nil {
		for _, s := range f.Progs {
			if s.Type == elf.PT_LOAD {
				want += s.Memsz
			}
		}
	} else if f, err := pe.NewFile(bytes.NewReader(b)); err == nil {
		for _, s := range f.Sections {
			if s.Characteristics&pe.IMAGE_SCN_MEM_DISCARDABLE == 0 {
				want += uint64(s.VirtualSize)
			}
		}
	} else {
		f, err := macho.NewFile(bytes.NewReader(b))
		require.NoError(t, err)
		for _, l := range f.Loads {
			if s, ok := l.(*macho.Segment); ok && !slices.Contains([]string{"__PAGEZERO", "__LINKEDIT", "__DWARF"}, s.Name) {
				want += s.Memsz
			}
		}
	}
	size, err := estimate.StaticSize(bytes.NewReader(b))
	require.NoError(t, err)
	assert.Equal(t, int64(want), size)
	assert.Greater(t, size, int64(1<<20))
}

func TestStaticSizeRefuses(t *testing.T) {
	load := uint32(elf.PT_LOAD)
	short := aout(little, 0o407, 1000, 200, 30)
	standing := slices.Clone(mac)
	standing[32+24+72+4] = 0 // the length of the third command
	early := fat(true, mac)
	early[8+8] = 0x80 // the offset
	late := elf64(little, elf.ET_EXEC, elf.Prog64{Type: load, Memsz: 5})
	little.PutUint64(late[32:], math.MaxInt64-1)
	before := slices.Clone(late)
	little.PutUint64(before[32:], 1<<64-56)
	narrow := elf64(little, elf.ET_EXEC, elf.Prog64{Type: load, Memsz: 5})
	narrow[54] = 55
	for name, b := range map[string][]byte{
		"nothing":                         {},
		"three bytes":                     []byte("\x7fEL"),
		"a script":                        []byte("#!/bin/sh\necho a line that is longer than any header\n"),
		"a.out without its last byte":     short[:len(short)-1],
		"a.out of huge sizes":             image(little, []uint32{0o413, math.MaxUint32, math.MaxUint32, math.MaxUint32, 0, 0, 0, 0}),
		"a.out cut off":                   short[:31],
		"a.out without anything":          aout(little, 0o407, 0, 0, 0),
		"ELF relocatable":                 elf64(little, elf.ET_REL, elf.Prog64{Type: load, Memsz: 5}),
		"ELF core":                        elf64(little, elf.ET_CORE, elf.Prog64{Type: load, Memsz: 5}),
		"ELF without segments":            elf64(little, elf.ET_EXEC),
		"ELF cut off":                     elf64(little, elf.ET_EXEC, elf.Prog64{Type: load, Memsz: 5})[:64+55],
		"ELF with narrow headers":         narrow,
		"ELF of more than an int64":       elf64(little, elf.ET_EXEC, elf.Prog64{Type: load, Memsz: math.MaxInt64}, elf.Prog64{Type: load, Memsz: 1}),
		"ELF of a negative size":          elf64(little, elf.ET_EXEC, elf.Prog64{Type: load, Memsz: 1 << 63}),
		"ELF with headers far away":       late,
		"ELF with headers before it":      before,
		"PE object":                       portable(0, section(".text", 5, 5, 0)),
		"DOS program":                     append([]byte("MZ"), make([]byte, 100)...),
		"Mach-O object":                   macho64(little, macho.TypeObj, segment64("__TEXT", 5)),
		"Mach-O without its last command": mac[:len(mac)-72],
		"Mach-O command of no length":     standing,
		"image before the file":           early,
		"Java class":                      append([]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52}, make([]byte, 4000)...),
		"images of another format":        fat(false, aout(little, 0o407, 1000, 200, 30)),
		"images within images":            fat(false, fat(false, mac)),
	} {
		size, err := estimate.StaticSize(bytes.NewReader(b))
		assert.ErrorIs(t, err, estimate.ErrExecutable, name)
		assert.Zero(t, size, name)
	}
}

type brokenAt struct {
	io.ReaderAt
	from int64
}

var errBroken = errors.New("broken")

func (b brokenAt) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.from {
		return 0, errBroken
	}
	return b.ReaderAt.ReadAt(p, at)
}

func TestStaticSizePassesErrorsOn(t *testing.T) {
	for name, c := range executables {
		for _, from := range []int64{0, 3, 30} {
			_, err := estimate.StaticSize(brokenAt{bytes.NewReader(c.image), from})
			if assert.ErrorIs(t, err, errBroken, name) {
				assert.NotErrorIs(t, err, estimate.ErrExecutable, name)
			}
		}
	}
}

// counting counts what is read.
type counting struct {
	io.ReaderAt
	calls int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.calls++
	return c.ReaderAt.ReadAt(p, at)
}

// A file of commands of 8 bytes without end.
func TestStaticSizeReadsLittle(t *testing.T) {
	h := macho.FileHeader{Magic: macho.Magic64, Cpu: macho.CpuAmd64, Type: macho.TypeExec, Ncmd: math.MaxUint32, Cmdsz: math.MaxUint32}
	endless := append(image(little, h, uint32(0)), bytes.Repeat([]byte{0, 0, 0, 0, 8, 0, 0, 0}, 1<<17)...)
	for _, commands := range []uint32{1024, 1025, math.MaxUint32} {
		little.PutUint32(endless[16:], commands)
		c := &counting{ReaderAt: bytes.NewReader(endless)}
		_, err := estimate.StaticSize(c)
		assert.ErrorIs(t, err, estimate.ErrExecutable)
		assert.Less(t, c.calls, 1100)
	}
}

func FuzzStaticSize(f *testing.F) {
	for _, c := range executables {
		f.Add(c.image)
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			b := slices.Clone(c.image)
			for range 1 + r.IntN(4) {
				b[r.IntN(min(len(b), 400))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(6)]
			}
			f.Add(b[:len(b)-r.IntN(2)*r.IntN(len(b))])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &counting{ReaderAt: bytes.NewReader(b)}
		size, err := estimate.StaticSize(c)
		if err != nil {
			require.ErrorIs(t, err, estimate.ErrExecutable)
			require.Zero(t, size)
		} else {
			require.Positive(t, size)
		}
		require.Less(t, c.calls, 64*2100)
	})
}
