package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
	"github.com/gangkit/gangkit/examples/kit/compare"
)

var call = commandtest.Program{Name: "replay", Run: replay}.Call

// write makes a log in a temporary folder.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.swf")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// five is a log in which memory decides: 10 processors, and the jobs of the
// worked schedule that the library's own example runs. Memory is 1024 KB a unit.
const five = `; MaxProcs: 10
1 0 -1 100 4 -1 179200 4 100 -1 1 1 1 1 1 1 -1 -1
2 1 -1 60 2 -1 256000 2 60 -1 1 1 1 1 1 1 -1 -1
3 2 -1 80 2 -1 102400 2 80 -1 1 1 1 1 1 1 -1 -1
4 3 -1 300 1 -1 102400 1 300 -1 1 1 1 1 1 1 -1 -1
5 4 -1 20 1 -1 614400 1 20 -1 1 1 1 1 1 1 -1 -1
`

func starts(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "starts.csv")
	status, _, stderr := call(t, append(args, "-starts", path)...)
	require.Zero(t, status, stderr)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestStartsOfAWorkedSchedule(t *testing.T) {
	log := write(t, five)
	assert.Equal(t, `job_id,submit,start,end,procs
1,0,0,100,4
2,1,100,160,2
3,2,2,82,2
4,3,3,303,1
5,4,160,180,1
`, starts(t, "-trace", log, "-memory", "1000MiB", "-policy", "easy+memory"))
	assert.Equal(t, `job_id,submit,start,end,procs
1,0,0,100,4
2,1,100,160,2
3,2,100,180,2
4,3,100,400,1
5,4,160,180,1
`, starts(t, "-trace", log, "-memory", "1000MiB", "-policy", "fcfs+memory"))
	assert.Equal(t, `job_id,submit,start,end,procs
1,0,0,100,4
2,1,1,61,2
3,2,2,82,2
4,3,3,303,1
5,4,4,24,1
`, starts(t, "-trace", log, "-memory", "1000MiB", "-policy", "easy"))
	relaxed := starts(t, "-trace", log, "-memory", "1000MiB", "-policy", "easy+relaxed", "-excess", ".5", "-threshold", ".5")
	rows, err := csv.NewReader(strings.NewReader(relaxed)).ReadAll()
	require.NoError(t, err)
	for i, want := range [][2]float64{{0, 165.231}, {31, 148.461}, {2, 133}, {3, 368.231}, {148.461, 176.231}} {
		for k, w := range want {
			got, err := strconv.ParseFloat(rows[1+i][2+k], 64)
			require.NoError(t, err)
			assert.InDelta(t, w, got, .0005, "job %d", i+1)
		}
	}
}

func TestTheLogsOrderAndNumbersDoNotMatter(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(five), "\n")
	shuffled := strings.Join([]string{lines[0], lines[4], lines[2], lines[5], lines[1], lines[3]}, "\r\n")
	assert.Equal(t, starts(t, "-trace", write(t, five), "-policy", "conservative"), starts(t, "-trace", write(t, shuffled), "-policy", "conservative"))
}

func TestTableOfEveryPolicy(t *testing.T) {
	status, stdout, stderr := call(t, "-trace", write(t, five), "-memory", "1000MiB")
	require.Zero(t, status, stderr)
	assert.Empty(t, stderr, "no progress where there is no terminal")
	for _, name := range compare.Names() {
		assert.Contains(t, stdout, "\n"+name+" ")
	}
	assert.Contains(t, stdout, "Memory: one pool of 1000 MiB.")
	for line := range strings.Lines(stdout) {
		if !strings.Contains(line, "log.swf") {
			assert.LessOrEqual(t, len(line), 121, line)
		}
	}
}

func TestJSONHasAnObjectAPolicy(t *testing.T) {
	status, stdout, stderr := call(t, "-json", "-trace", write(t, five+"6 5 -1 -1 1 -1 -1 1 5 -1 5 1 1 1 1 1 -1 -1\n"),
		"-policy", "fcfs,easy+memory", "-order", "submit-first", "-memory", "1000MiB")
	require.Zero(t, status, stderr)
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	require.Len(t, list, 2)
	easy := list[1]
	assert.Positive(t, easy["replay_seconds"])
	delete(easy, "replay_seconds")
	assert.InDelta(t, (16+2.65+1+1+8.8)/5, easy["mean_bounded_slowdown"], 3)
	delete(easy, "mean_bounded_slowdown")
	assert.InDelta(t, (100*4+60*2+80*2+300+20)/3030., easy["utilisation"], 1e-12)
	delete(easy, "utilisation")
	assert.Equal(t, map[string]any{
		"policy": "easy+memory", "order": "submit-first", "jobs": 5., "dropped": 1.,
		"mean_wait_s": 51., "mean_response_s": 163., "makespan_s": 303.,
		"median_response_s": 159., "p95_response_s": 300., "median_bounded_slowdown": 1., "p95_bounded_slowdown": 8.8,
		"memory_held": (100*700. + 60*500 + 80*200 + 300*100 + 20*600) / 1000 / 303,
		"not_started": 0., "unfinished": 0., "synthetic": []any{"CPU share"},
	}, easy)
}

func TestExplainTellsTheWait(t *testing.T) {
	log := write(t, five)
	status, stdout, stderr := call(t, "-trace", log, "-memory", "1000MiB", "-policy", "easy+memory,fcfs+memory,conservative+memory", "-explain", "5")
	require.Zero(t, status, stderr)
	_, story, found := strings.Cut(stdout, "counts as 10 s.\n\n")
	require.True(t, found)
	assert.Equal(t, `easy+memory: job 5, 1 processors, 600 MiB, estimate 20s, submitted at 4 s
  4 s  waits for memory: 1 ahead, expected to start at 160 s
  100 s  waits for memory: 0 ahead, reserved to start at 160 s
  160 s  starts: after a wait of 2m36s

fcfs+memory: job 5, 1 processors, 600 MiB, estimate 20s, submitted at 4 s
  4 s  waits for memory: 3 ahead, expected to start at 160 s
  100 s  waits for memory: 0 ahead, expected to start at 160 s
  160 s  starts: after a wait of 2m36s

conservative+memory: job 5, 1 processors, 600 MiB, estimate 20s, submitted at 4 s
  4 s  waits for memory: 1 ahead, reserved to start at 160 s
  100 s  waits for memory: 0 ahead, reserved to start at 160 s
  160 s  starts: after a wait of 2m36s
`, story)
}

func TestReportFolder(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	status, _, stderr := call(t, "-jobs", "300", "-policy", "easy,easy+memory", "-out", out)
	require.Zero(t, status, stderr)
	var names []string
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
		info, err := e.Info()
		require.NoError(t, err)
		assert.Positive(t, info.Size())
	}
	assert.Equal(t, []string{
		"gantt-easy+memory.png", "gantt-easy+memory.svg", "gantt-easy.png", "gantt-easy.svg",
		"queue.png", "queue.svg", "report.html", "slowdown.png", "slowdown.svg", "table.csv", "table.json",
		"utilisation.png", "utilisation.svg", "wait.png", "wait.svg",
	}, names)
}

func TestSameSeedSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, first, _ := call(t, "-jobs", "1000", "-seed", "7")
	runtime.GOMAXPROCS(4)
	_, second, _ := call(t, "-jobs", "1000", "-seed", "7")
	assert.Equal(t, first, second)
	_, other, _ := call(t, "-jobs", "1000", "-seed", "8")
	assert.NotEqual(t, first, other)
}

// The folder, too, down to the last byte.
func TestSameSeedSameReport(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var reports [2][]byte
	var tables [2][]byte
	for i, cores := range []int{1, 4} {
		runtime.GOMAXPROCS(cores)
		out := filepath.Join(t.TempDir(), "figures")
		require.NoError(t, os.MkdirAll(out, 0o777))
		t.Chdir(filepath.Dir(out)) // the page has the command line
		status, _, stderr := call(t, "-jobs", "200", "-procs", "32", "-policy", "easy+relaxed,paired,fjt", "-out", "figures")
		require.Zero(t, status, stderr)
		reports[i], tables[i] = []byte(read(t, out, "report.html")), []byte(read(t, out, "table.json"))
	}
	assert.Equal(t, string(reports[0]), string(reports[1]))
	assert.Equal(t, string(tables[0]), string(tables[1]))
}

func TestReportTellsOfAJob(t *testing.T) {
	out := t.TempDir()
	status, _, stderr := call(t, "-trace", write(t, five), "-memory", "1000MiB", "-policy", "easy+memory,gang+memory,fjt", "-out", out, "-explain", "5")
	require.Zero(t, status, stderr)
	page := read(t, out, "report.html")
	for _, want := range []string{
		"job 5, 1 processors", "waits for memory", "0 ahead, reserved to start at 160 s", "gets slot 1 of", "Of gang scheduling", "the matrix at",
		"around the longest queue", "responds fastest",
	} {
		assert.True(t, strings.Contains(page, want), want)
	}
}

func TestHelpTeaches(t *testing.T) {
	status, stdout, stderr := call(t, "-h")
	assert.Zero(t, status)
	assert.Empty(t, stderr)
	for _, word := range []string{"-trace", "-policy", "conservative", "+relaxed", "first come, first served", "-explain"} {
		assert.Contains(t, stdout, word)
	}
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	file := write(t, "")
	folder := t.TempDir()
	gz := filepath.Join(t.TempDir(), "cut.swf.gz")
	require.NoError(t, os.WriteFile(gz, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 2}, 0o666))
	job := "1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n"
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"unknown flag", []string{"-nosuch"}, []string{"-nosuch"}},
		{"an argument", []string{"log.swf"}, []string{"log.swf", "-trace"}},
		{"unknown policy", []string{"-policy", "sjf"}, []string{"-policy", "sjf"}},
		{"unknown form", []string{"-policy", "easy+cpu"}, []string{"easy+cpu"}},
		{"a form without a name", []string{"-policy", "easy+"}, []string{`"easy+"`}},
		{"negative depth", []string{"-policy", "depth=-1"}, []string{"depth=-1"}},
		{"depth beyond numbers", []string{"-policy", "depth=1e30"}, []string{"depth=1e30"}},
		{"no policy", []string{"-policy", ""}, []string{"-policy"}},
		{"unknown order", []string{"-order", "lifo"}, []string{"-order", "lifo"}},
		{"negative load", []string{"-load", "-1"}, []string{"-load -1"}},
		{"zero load", []string{"-load", "0"}, []string{"-load 0"}},
		{"NaN load", []string{"-load", "NaN"}, []string{"-load NaN"}},
		{"absurd load", []string{"-load", "1e30"}, []string{"-load 1e+30"}},
		{"negative memory", []string{"-memory", "-1GiB"}, []string{"-memory", "-1GiB"}},
		{"memory that is no size", []string{"-memory", "NaN"}, []string{"-memory", "NaN"}},
		{"no memory", []string{"-memory", "0"}, []string{"-memory", `"0"`}},
		{"more memory than numbers", []string{"-memory", "9EiB"}, []string{"-memory", "9EiB"}},
		{"negative processors", []string{"-procs", "-4"}, []string{"-procs -4"}},
		{"no jobs", []string{"-jobs", "0"}, []string{"-jobs 0"}},
		{"negative excess", []string{"-excess", "-.1"}, []string{"-excess -0.1"}},
		{"infinite threshold", []string{"-threshold", "Inf"}, []string{"-threshold +Inf"}},
		{"negative seed", []string{"-seed", "-1"}, []string{"-seed"}},
		{"starts of several policies", []string{"-starts", "s.csv"}, []string{"-starts s.csv", "one policy"}},
		{"starts into a folder", []string{"-policy", "easy", "-starts", folder}, []string{folder}},
		{"starts below a file", []string{"-policy", "easy", "-starts", file + "/s.csv"}, []string{"-starts", file}},
		{"output below a file", []string{"-out", file + "/figures"}, []string{"-out", file}},
		{"a job that is not there", []string{"-explain", "123456"}, []string{"-explain 123456"}},
		{"no such log", []string{"-trace", file + ".gz"}, []string{file + ".gz"}},
		{"a folder as log", []string{"-trace", folder}, []string{folder}},
		{"an empty log", []string{"-trace", file}, []string{file, "no usable job"}},
		{"no usable job", []string{"-trace", write(t, strings.Replace(job, "10", "-1", 1))}, []string{"no usable job"}},
		{"a machine of unknown size", []string{"-trace", write(t, job)}, []string{"log.swf", "processors"}},
		{"17 fields", []string{"-trace", write(t, job+strings.Replace(job, " -1 -1\n", " -1\n", 1))}, []string{"line 2", "17"}},
		{"a run time that is no number", []string{"-trace", write(t, strings.Replace(job, "10", "NaN", 1))}, []string{"line 1", "run time", "NaN"}},
		{"a run time beyond all", []string{"-trace", write(t, strings.Replace(job, "10", "1e30", 1))}, []string{"line 1", "run time", "1e30"}},
		{"a run time of 30,000 years", []string{"-trace", write(t, strings.Replace(job, "10", "1e12", 1))}, []string{"line 1", "run time", "1000000000000 s"}},
		{"truncated gzip", []string{"-trace", gz}, []string{gz}},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, stdout, stderr := call(t, c.args...)
			assert.Equal(t, 2, status)
			assert.Empty(t, stdout)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			for _, w := range c.want {
				assert.Contains(t, stderr, w)
			}
		})
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	status := command.Run(ctx, "replay", replay, []string{"-jobs", "3000", "-policy", "easy", "-out", out, "-starts", filepath.Join(out, "s.csv")}, &stdout, &stderr)
	assert.Equal(t, 1, status)
	assert.Equal(t, "replay: interrupted\n", stderr.String())
	assert.Empty(t, stdout.String())
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestOutputThatCannotBeWrittenIsAFailedRun(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer w.Close()
	var stderr bytes.Buffer
	status := command.Run(context.Background(), "replay", replay, []string{"-jobs", "50", "-policy", "easy", "-json"}, w, &stderr)
	assert.Equal(t, 1, status)
	assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
}

// The classes of jobs, and a policy under which the machine breaks down.
func TestClassesAndBreakdown(t *testing.T) {
	text := "; MaxProcs: 32\n"
	line := func(number, run, processors int) {
		text += fmt.Sprintf("%d 0 -1 %d %d -1 1000 %d %d -1 1 1 1 1 1 1 -1 -1\n", number, run, processors, processors, run)
	}
	line(1, 3600, 2)
	line(2, 3600, 3)
	line(3, 3601, 2)
	line(4, 7200, 3)
	status, stdout, stderr := call(t, "-trace", write(t, text), "-policy", "easy")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "narrow ones on up to 2 processors")
	assert.Regexp(t, `\neasy +3600 +1\.0 +3600 +1\.0 +3601 +1\.0 +7200 +1\.0\n`, stdout)

	for i := range 200 {
		line(5+i, 3600, 32)
	}
	status, stdout, stderr = call(t, "-trace", write(t, text), "-policy", "gang", "-memory", "50MiB")
	require.Zero(t, status, stderr)
	assert.Regexp(t, `\ngang +(- +){11}\d+\n`, stdout)
	assert.Regexp(t, `\ngang +(- +){7}-\n`, stdout)
	assert.Contains(t, stdout, "gang broke down, with 201 slots at most")
}
