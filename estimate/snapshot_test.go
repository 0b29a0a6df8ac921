package estimate_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
)

// random returns a History that has seen a number of observations and
// rotations, an empty one like it, and the jobs it may know.
func random(tb testing.TB, seed uint64, steps int) (h, empty *estimate.History, u universe) {
	r := rand.New(rand.NewPCG(seed, 2))
	u = universe{1 + r.IntN(6), 1 + r.IntN(4), 1 + r.IntN(4)}
	c := estimate.Config{Paths: 1 + r.IntN(u.paths), Records: 1 + r.IntN(20)}
	h, err := estimate.NewHistory(c)
	require.NoError(tb, err)
	empty, err = estimate.NewHistory(c)
	require.NoError(tb, err)
	advance(tb, r, u, steps, h)
	return h, empty, u
}

// advance lets all histories see the same.
func advance(tb testing.TB, r *rand.Rand, u universe, steps int, histories ...*estimate.History) {
	for range steps {
		rotate, j, m := r.IntN(20) == 0, u.job(r), memory(r)
		for _, h := range histories {
			if rotate {
				h.Rotate()
			} else if err := h.Observe(j, m); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func snapshot(tb testing.TB, h *estimate.History) []byte {
	var b bytes.Buffer
	require.NoError(tb, h.Snapshot(&b))
	return b.Bytes()
}

// seal makes the checksum of a snapshot right.
func seal(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	b = slices.Clone(b)
	sum := crc32.Checksum(b[:len(b)-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(b[len(b)-4:], sum)
	return b
}

func TestRestoredHistoryGoesOnAsBefore(t *testing.T) {
	for seed := range uint64(300) {
		h, restored, u := random(t, seed, int(seed))
		saved := snapshot(t, h)
		require.NoError(t, restored.Restore(iotest.OneByteReader(bytes.NewReader(saved))))
		require.Equal(t, saved, snapshot(t, restored), "seed %d", seed)
		for i := range 20 {
			for _, j := range u.all() {
				s, level := h.Past(j)
				s2, level2 := restored.Past(j)
				require.Equal(t, level, level2, "seed %d", seed)
				require.Equal(t, s, s2, "seed %d", seed)
			}
			advance(t, rand.New(rand.NewPCG(seed, uint64(i))), u, i, h, restored)
		}
		require.Equal(t, snapshot(t, h), snapshot(t, restored), "seed %d", seed)
	}
}

func TestRestoreReplaces(t *testing.T) {
	h, _, _ := random(t, 1, 100)
	saved := snapshot(t, h)
	var other estimate.History
	require.NoError(t, other.Observe(estimate.Job{Path: "a", Nodes: 1}, 1))
	require.NotEqual(t, saved, snapshot(t, &other))
	require.NoError(t, other.Restore(iotest.DataErrReader(bytes.NewReader(saved))))
	assert.Equal(t, saved, snapshot(t, &other))

	var empty estimate.History
	require.NoError(t, other.Restore(bytes.NewReader(snapshot(t, &empty))))
	assert.Zero(t, other.Records())
	require.NoError(t, other.Observe(estimate.Job{Path: "a", Nodes: 1}, 1))
}

func TestRestoreIntoLowerLimitsKeepsTheLatest(t *testing.T) {
	var h estimate.History
	for i := range 5 {
		require.NoError(t, h.Observe(estimate.Job{Path: fmt.Sprint(i / 2), Nodes: 1 + i, User: "u"}, int64(i)))
	}
	require.NoError(t, h.Observe(estimate.Job{Path: "0", Nodes: 1, User: "u"}, 9)) // the first again
	small, err := estimate.NewHistory(estimate.Config{Records: 2})
	require.NoError(t, err)
	require.NoError(t, small.Restore(bytes.NewReader(snapshot(t, &h))))
	assert.Equal(t, 2, small.Records())
	for i, want := range []estimate.Level{estimate.ByPathNodesUser, estimate.ByPath, estimate.None, estimate.None, estimate.ByPathNodesUser} {
		_, level := small.Past(estimate.Job{Path: fmt.Sprint(i / 2), Nodes: 1 + i, User: "u"})
		assert.Equal(t, want, level, i)
	}
}

// The bytes of a snapshot are the same on every platform and in every process.
func TestSnapshotBytes(t *testing.T) {
	var h estimate.History
	for i := range 7 {
		require.NoError(t, h.Observe(estimate.Job{Path: "/a", Nodes: 4, User: "u"}, int64(1000+i*i)))
	}
	require.NoError(t, h.Observe(estimate.Job{Path: "/b", Nodes: 300, User: ""}, 1<<40))
	h.Rotate()
	require.NoError(t, h.Observe(estimate.Job{Path: "/a", Nodes: 4, User: "v"}, 1<<20))

	assert.Equal(t, hex.EncodeToString([]byte("gangkit estimate"))+
		"01"+ // version
		"04"+ // nodes

		"0e"+"022f61"+"04"+ // 1: path and nodes, /a, 4
		"19"+"808040"+"8c08"+"8108"+"f807"+"f107"+ // 1 and 4 last values: 2^20, 1036, 1025, 1016, 1009
		"0000003d"+ // missed by 1/32
		"01"+"0000000000003041"+"0000000000000000"+"808040"+ // one value of 2^20,
		"07"+"0000000000a88f40"+"0700000000109140"+"8c08"+ // seven of mean 1013

		"05"+"01"+"0175"+ // 2: user, below 1, u
		"0b"+"8c08"+"8108"+"f807"+"f107"+"ec07"+"00000000"+
		"00"+"07"+"0000000000a88f40"+"0700000000109140"+"8c08"+

		"0d"+"022f62"+"ac02"+"00"+ // 3: path, nodes and user, /b, 300
		"02"+"808080808020"+"00000000"+ // 2^40

		"05"+"01"+"0176"+ // 4: user, below 1, v
		"10"+"808040"+"00000000"+
		"d189f19f", hex.EncodeToString(snapshot(t, &h)))
}

// corrupt changes a snapshot at random; other is another one.
func corrupt(r *rand.Rand, saved, other []byte) []byte {
	b := slices.Clone(saved)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			return b
		}
		switch i := r.IntN(len(b)); r.IntN(7) {
		case 0: // one bit
			b[i] ^= 1 << r.IntN(8)
		case 1: // one byte
			b[i] = byte(r.Uint32())
		case 2: // the end is missing
			b = b[:i]
		case 3: // something in the middle is missing
			b = slices.Delete(b, i, min(i+1+r.IntN(8), len(b)))
		case 4: // something is too much
			for range 1 + r.IntN(8) {
				b = slices.Insert(b, i, byte(r.Uint32()))
			}
		case 5: // a part of itself comes twice
			b = slices.Insert(b, i, b[r.IntN(i+1):i]...)
		case 6: // it ends as another one
			b = append(b[:i], other[min(r.IntN(20)+i, len(other)):]...)
		}
	}
	return b
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	damaged := 100_000
	if testing.Short() {
		damaged = 10_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	var h, kept *estimate.History
	var saved, other, before []byte
	for i := range damaged {
		if i%1000 == 0 {
			h, kept, _ = random(t, r.Uint64(), 60)
			saved = snapshot(t, h)
			h, _, _ = random(t, r.Uint64(), 60)
			other = snapshot(t, h)
			h, _, _ = random(t, r.Uint64(), 10)
			require.NoError(t, kept.Restore(bytes.NewReader(snapshot(t, h))))
			before = snapshot(t, kept)
		}
		b := corrupt(r, saved, other)
		err := kept.Restore(bytes.NewReader(b))
		switch {
		case bytes.Equal(b, saved):
			require.NoError(t, err)
			require.NoError(t, kept.Restore(bytes.NewReader(before)))
		case bytes.Equal(b, other):
			require.NoError(t, kept.Restore(bytes.NewReader(before)))
		case !errors.Is(err, estimate.ErrSnapshot) && !errors.Is(err, estimate.ErrVersion):
			t.Fatalf("snapshot %x\nbecame %x\nand was restored: %v", saved, b, err)
		}
		if i%100 == 99 {
			require.Equal(t, before, snapshot(t, kept))
		}
	}
}

// forged makes an attempt to restore something whose checksum is right, and
// uses what comes of it.
func forged(tb testing.TB, b []byte, seed uint64) (accepted bool) {
	h, _, u := random(tb, seed, 10)
	before := snapshot(tb, h)
	if err := h.Restore(bytes.NewReader(seal(b))); err != nil {
		require.True(tb, errors.Is(err, estimate.ErrSnapshot) || errors.Is(err, estimate.ErrVersion), err)
		require.Equal(tb, before, snapshot(tb, h))
		return false
	}
	r := rand.New(rand.NewPCG(seed, 4))
	for range 3 {
		advance(tb, r, u, 30, h)
		for _, j := range u.all() {
			if e, ok := h.Estimate(j); ok {
				require.GreaterOrEqual(tb, e.Memory, int64(0))
				require.LessOrEqual(tb, e.Memory, int64(estimate.MaxMemory))
			}
		}
		saved := snapshot(tb, h)
		require.NoError(tb, h.Restore(bytes.NewReader(saved)))
		require.Equal(tb, saved, snapshot(tb, h))
		h.Rotate()
	}
	h.Rotate()
	h.Rotate()
	require.Zero(tb, h.Records())
	require.Zero(tb, h.Paths())
	return true
}

func TestForgedSnapshotsAreHarmless(t *testing.T) {
	tries := 10_000
	if testing.Short() {
		tries = 3_000
	}
	r := rand.New(rand.NewPCG(3, 4))
	var saved, other []byte
	accepted := 0
	for i := range tries {
		if i%100 == 0 {
			h, _, _ := random(t, r.Uint64(), 60)
			saved = snapshot(t, h)
			h, _, _ = random(t, r.Uint64(), 60)
			other = snapshot(t, h)
		}
		if forged(t, corrupt(r, saved, other), uint64(i)) {
			accepted++
		}
	}
	require.Greater(t, accepted, tries/50, "some must get through, or nothing is tested")
	require.Less(t, accepted, tries/2)
}

// A snapshot whose checksum is right and whose nodes contradict each other.
func TestForgedSnapshotsAreRefused(t *testing.T) {
	const (
		whole  = "0d" + "0161" + "04" + "0175" // path, nodes and user: a, 4, u
		upper  = "0e" + "0161" + "04"          // path and nodes: a, 4
		root   = "0f" + "0161"                 // path: a
		below  = "05" + "01" + "0176"          // user, below 1: v
		middle = "0a" + "01" + "04"            // nodes, below 1: 4
		one    = "10" + "05" + "00000000"      // 5, in the current period, and never missed
		old    = "02" + "05" + "00000000"      // 5, in the previous period
		fives  = "0505050505" + "00000000"
		sixty  = "06" + "0000000000001440" + "0000000000000000" + "05" // six values of 5
	)
	forge := func(nodes ...string) []byte {
		b, err := hex.DecodeString(hex.EncodeToString([]byte("gangkit estimate")) + "01" + fmt.Sprintf("%02x", len(nodes)) + strings.Join(nodes, "") + "00000000")
		require.NoError(t, err)
		return seal(b)
	}
	var h estimate.History
	for name, nodes := range map[string][]string{
		"nothing":             nil,
		"one value":           {whole + one},
		"an old value":        {whole + old},
		"two users":           {upper + "20" + "0505" + "00000000", below + one, "05" + "01" + "0177" + one},
		"old, then new":       {whole + old, "0d" + "0162" + "04" + "0175" + one},
		"moments":             {whole + "51" + fives + sixty + "00"},
		"moments, old":        {whole + "0b" + fives + "00" + sixty},
		"missed once":         {whole + "10" + "05" + "0000003d"},
		"the same user twice": {upper + "20" + "0505" + "00000000", below + one, "0d" + "0162" + "04" + "0176" + one},
	} {
		require.NoError(t, h.Restore(bytes.NewReader(forge(nodes...))), name)
		require.NoError(t, h.Check(), name)
	}
	for name, nodes := range map[string][]string{
		"no level":                      {"0c" + "0161" + one},
		"levels in the wrong order":     {"06" + "0161" + "04" + one},
		"a level beyond the path":       {"1d" + "0161" + "04" + "0175" + one},
		"no path":                       {"0d" + "00" + "04" + "0175" + one},
		"path too long":                 {"0d" + "8010" + strings.Repeat("61", 2048) + "04" + "0175" + one},
		"user too long":                 {"0d" + "0161" + "04" + "8002" + strings.Repeat("61", 256) + one},
		"no nodes":                      {"0d" + "0161" + "00" + "0175" + one},
		"too many nodes":                {"0d" + "0161" + "8080808008" + "0175" + one},
		"an integer without end":        {"0d" + "0161" + "8080808080808080808000" + "0175" + one},
		"no parent":                     {"05" + "00" + "0175" + one},
		"itself as parent":              {"05" + "01" + "0175" + one},
		"a record as parent":            {whole + one, below + one},
		"a child two levels below":      {root + one, below + one},
		"a child of its own level":      {upper + one, middle + one},
		"a path twice":                  {whole + one, whole + one},
		"a number of nodes twice":       {root + one, "09" + "01" + "04" + "0175" + one, "09" + "01" + "04" + "0176" + one},
		"a user twice":                  {upper + "20" + "0505" + "00000000", below + one, below + one},
		"a path without a record":       {root + one},
		"a path without one, then more": {root + one, "0d" + "0162" + "04" + "0175" + one},
		"new, then old":                 {whole + one, "0d" + "0162" + "04" + "0175" + old},
		"no values":                     {whole + "00" + "00000000"},
		"six values":                    {whole + "60" + "05" + fives},
		"three and three values":        {whole + "36" + "05" + fives},
		"too much memory":               {whole + "10" + "80808080808040" + "00000000"},
		"missed NaN":                    {whole + "10" + "05" + "0000c07f"},
		"missed below 0":                {whole + "10" + "05" + "000080bf"},
		"missed above 1":                {whole + "10" + "05" + "0000803f"[:6] + "40"},
		"less than a part, current":     {upper + old, below + one},
		"less than a part, previous":    {upper + one, below + old},
		"less than a part, in count":    {upper + one, below + "20" + "0505" + "00000000"},
		"less than a part, in maximum":  {upper + "10" + "04" + "00000000", below + one},
		"moments, but few values":       {whole + "11" + "05" + "00000000" + sixty + "00"},
		"moments of too few":            {whole + "51" + fives + "05" + sixty[2:] + "00"},
		"moments that leave one out":    {whole + "43" + fives + "05" + sixty[2:] + "01" + sixty[2:]},
		"fewer current than are kept":   {whole + "51" + fives + "04" + sixty[2:] + sixty},
		"fewer previous than are kept":  {whole + "0b" + fives + "03" + sixty[2:] + "04" + sixty[2:]},
		"maximum below a value":         {whole + "51" + fives + sixty[:2] + "0000000000001040" + sixty[18:34] + "04" + "00"},
		"mean above the maximum":        {whole + "51" + fives + sixty[:2] + "0000000000001840" + sixty[18:] + "00"},
		"mean below 0":                  {whole + "51" + fives + sixty[:2] + "00000000000014c0" + sixty[18:] + "00"},
		"mean NaN":                      {whole + "51" + fives + sixty[:2] + "000000000000f87f" + sixty[18:] + "00"},
		"squares below 0":               {whole + "51" + fives + sixty[:18] + "00000000000014c0" + "05" + "00"},
		"squares NaN":                   {whole + "51" + fives + sixty[:18] + "000000000000f87f" + "05" + "00"},
		"squares infinite":              {whole + "51" + fives + sixty[:18] + "000000000000f07f" + "05" + "00"},
		"count too large":               {whole + "51" + fives + "8080808004" + sixty[2:] + "00"},
	} {
		require.ErrorIs(t, h.Restore(bytes.NewReader(forge(nodes...))), estimate.ErrSnapshot, name)
	}
	b := append(forge(whole+one), make([]byte, 8)...)
	require.ErrorIs(t, h.Restore(bytes.NewReader(seal(b))), estimate.ErrSnapshot)
}

func FuzzRestore(f *testing.F) {
	for seed := range uint64(20) {
		h, _, _ := random(f, seed, int(seed)*5)
		f.Add(snapshot(f, h), seed)
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		h, _, _ := random(t, seed, 10)
		before := snapshot(t, h)
		if err := h.Restore(bytes.NewReader(b)); err != nil {
			require.Equal(t, before, snapshot(t, h))
		}
		forged(t, b, seed)
	})
}

func TestRestoreErrors(t *testing.T) {
	h, _, _ := random(t, 1, 100)
	saved := snapshot(t, h)
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"nothing":           {nil, estimate.ErrSnapshot},
		"not a snapshot":    {[]byte("gangkit backfill, and more"), estimate.ErrSnapshot},
		"cut off":           {saved[:len(saved)-1], estimate.ErrSnapshot},
		"followed by bytes": {append(slices.Clone(saved), 0), estimate.ErrSnapshot},
		"two in a row":      {append(slices.Clone(saved), saved...), estimate.ErrSnapshot},
		"next version":      {seal(append(append(slices.Clone(saved[:16]), 2), saved[17:]...)), estimate.ErrVersion},
		"version 0":         {seal(append(append(slices.Clone(saved[:16]), 0), saved[17:]...)), estimate.ErrVersion},
	} {
		err := h.Restore(bytes.NewReader(c.bytes))
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, saved, snapshot(t, h), name)
	}
	broken := errors.New("broken")
	for _, n := range []int{0, 5, 16, 17, 40, len(saved) - 4, len(saved)} {
		err := h.Restore(io.MultiReader(bytes.NewReader(saved[:n]), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken, n)
		require.NotErrorIs(t, err, estimate.ErrSnapshot, n)
	}
	assert.Equal(t, saved, snapshot(t, h))
}

type failing struct{ after int }

func (f *failing) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

func TestSnapshotErrors(t *testing.T) {
	h, _, _ := random(t, 1, 100)
	size := len(snapshot(t, h))
	for _, n := range []int{0, 10, size - 5, size - 4, size - 1} {
		require.ErrorIs(t, h.Snapshot(&failing{n}), io.ErrClosedPipe, n)
	}
	require.NoError(t, h.Snapshot(&failing{size}))
}

// What a hostile snapshot says about its size is not believed.
func TestRestoreTakesLittleMemory(t *testing.T) {
	head := append([]byte("gangkit estimate"), 1)
	many := binary.AppendUvarint(slices.Clone(head), 12<<20)
	for name, b := range map[string][]byte{
		"many nodes":    many,
		"long path":     binary.AppendUvarint(append(slices.Clone(many), 3<<2|1), 2047),
		"longer path":   binary.AppendUvarint(append(slices.Clone(many), 3<<2|1), 1<<40),
		"endless count": append(slices.Clone(head), bytes.Repeat([]byte{0xff}, 1<<20)...),
	} {
		var h estimate.History
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := h.Restore(bytes.NewReader(b))
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, estimate.ErrSnapshot, name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}
