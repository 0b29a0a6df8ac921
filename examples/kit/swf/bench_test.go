package swf_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

// generated is a log of at least size bytes with columns padded as in the
// archive's logs, a part of the CPU times with decimals.
func generated(tb testing.TB, size int) []byte {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	w := swf.NewWriter(&b)
	require.NoError(tb, w.Header("MaxProcs", "1024"))
	submit := 0
	for n := int64(1); b.Len() < size; n++ {
		submit += rng.IntN(600)
		run := rng.IntN(40_000)
		procs := int64(8 << rng.IntN(8))
		cpu := float64(run)
		if rng.IntN(2) == 0 {
			cpu -= float64(rng.IntN(100)) / 100
		}
		require.NoError(tb, w.Write(&swf.Job{
			Number: n, Submit: float64(submit), Wait: float64(rng.IntN(100_000)), Run: float64(run),
			Allocated: procs, CPUTime: cpu, UsedMemory: float64(rng.IntN(30_000)),
			Requested: procs, RequestedTime: float64(rng.IntN(1000) * 60), RequestedMemory: -1,
			Status: 1, User: rng.Int64N(200), Group: rng.Int64N(20), Executable: -1,
			Queue: rng.Int64N(5), Partition: -1, Preceding: -1, ThinkTime: -1,
		}))
	}
	require.NoError(tb, w.Flush())
	return b.Bytes()
}

// BenchmarkRead reads whole logs from memory. x-twin is how many times as fast
// that is as Scanner, Fields and ParseFloat on the same text.
func BenchmarkRead(b *testing.B) {
	run := func(name string, text []byte) {
		b.Run("log="+name, func(b *testing.B) {
			want := 0
			slow := time.Duration(1 << 62)
			for range 3 {
				start := time.Now()
				want = 0
				require.NoError(b, twin(bytes.NewReader(text), func(swf.Job) { want++ }))
				slow = min(slow, time.Since(start))
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				require.Equal(b, want, jobsIn(b, text))
			}
			b.ReportMetric(float64(slow)/(float64(b.Elapsed())/float64(b.N)), "x-twin")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(want), "ns/job")
		})
	}
	run("generated", generated(b, 12<<20))
	path := filepath.Join(traces, "SDSC-BLUE-2000-4.2-cln.swf.gz")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		run("SDSC-BLUE", decompressed(b, path))
	}
}

// BenchmarkReadGzip counts the bytes of the decompressed text.
func BenchmarkReadGzip(b *testing.B) {
	run := func(name string, text, compressed []byte) {
		b.Run("log="+name, func(b *testing.B) {
			want := jobsIn(b, text)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				require.Equal(b, want, jobsIn(b, compressed))
			}
		})
	}
	text := generated(b, 12<<20)
	var z bytes.Buffer
	zw := gzip.NewWriter(&z)
	_, err := zw.Write(text)
	require.NoError(b, err)
	require.NoError(b, zw.Close())
	run("generated", text, z.Bytes())
	path := filepath.Join(traces, "SDSC-BLUE-2000-4.2-cln.swf.gz")
	if compressed, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		require.NoError(b, err)
		run("SDSC-BLUE", decompressed(b, path), compressed)
	}
}

func jobsIn(b *testing.B, log []byte) int {
	r, err := swf.NewReader(bytes.NewReader(log))
	require.NoError(b, err)
	n := 0
	for _, err := range r.All() {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	return n
}

func BenchmarkWrite(b *testing.B) {
	text := generated(b, 4<<20)
	r, err := swf.NewReader(bytes.NewReader(text))
	require.NoError(b, err)
	var jobs []swf.Job
	for j, err := range r.All() {
		require.NoError(b, err)
		jobs = append(jobs, *j)
	}
	out := bytes.NewBuffer(make([]byte, 0, 2*len(text)))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		out.Reset()
		w := swf.NewWriter(out)
		for i := range jobs {
			if err := w.Write(&jobs[i]); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, w.Flush())
	}
}
