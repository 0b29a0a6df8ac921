package swf_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

// traces is a folder with logs of the Parallel Workloads Archive. They are not
// part of the repository.
const traces = "../../../../shared/traces"

func TestRealLogs(t *testing.T) {
	if _, err := os.Stat(traces); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the folder of real logs is missing: ", err)
		}
		t.Skip("no real logs to read: ", err)
	}
	// Jobs in the file; those with a run time and a size above 0; processors.
	for _, c := range []struct {
		name         string
		jobs, usable int
		processors   int64
		keywords     map[string]string
	}{
		{"LANL-CM5-1994-4.1-cln", 122_060, 122_055, 1024, map[string]string{
			"Computer": "Thinking Machines CM-5", "Information": "http://www.lanl.gov/\nhttp://www.cs.huji.ac.il/labs/parallel/workload/"}},
		{"DAS2-fs1-2003-1", 40_315, 38_294, 64, map[string]string{
			"TimeZone": "3600              # DEPRECATED. use TimeZoneString + tzset()", "MaxNodes": "32 (dual CPU)"}},
		{"SDSC-SP2-1998-4.2-cln", 59_715, 54_034, 128, map[string]string{"MaxRecords": "59715"}},
		{"KTH-SP2-1996-2.1-cln", 28_476, 28_467, 100, map[string]string{
			"StartTime": "Mon Sep 23 14:00:31 CEST 1996", "Note": "uses the EASY scheduler"}},
		{"NASA-iPSC-1993-3.1-cln", 18_239, 18_066, 128, map[string]string{
			"Note": "There is no information on wait times - the given submit\ntimes are actually start times"}},
		{"SDSC-BLUE-2000-4.2-cln", 243_306, 232_536, 1152, map[string]string{"UnixStartTime": "956700003"}},
		{"UniLu-Gaia-2014-1", 51_987, 51_859, 2004, map[string]string{
			"":     "--- SWF file converted from SQL request to the OAR database and jobs resource usage collected by Colmet ---",
			"Note": "Scheduler is OAR (http://oar.imag.fr/)", "Version": "2.2"}},
		{"CEA-Curie-2011-2.1-cln", 312_826, 295_540, 93_312, map[string]string{"Computer": "",
			"Note": "Curie is composed of 3 types of nodes: thin, fat, and hybrid,\nsee: http://www-hpc.cea.fr/en/complexe/tgcc-curie.htm"}},
		{"lublin_256", 10_000, 10_000, 256, map[string]string{"MaxProcs": "", "MaxRuntime": "162754"}},
	} {
		if testing.Short() && c.jobs > 60_000 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(traces, c.name+".swf.gz")
			r, err := swf.Open(path)
			require.NoError(t, err)
			defer r.Close()
			processors, ok := r.Header().Processors()
			assert.True(t, ok)
			assert.Equal(t, c.processors, processors)
			for keyword, value := range c.keywords {
				assert.Equal(t, value, r.Header().Get(keyword), "%q", keyword)
			}

			var out bytes.Buffer
			w := swf.NewWriter(&out)
			for k, v := range r.Header().Entries() {
				require.NoError(t, w.Header(k, v))
			}
			header := entries(r.Header())
			var jobs []swf.Job
			usable := 0
			for j, err := range r.All() {
				require.NoError(t, err)
				jobs = append(jobs, *j)
				if j.Run > 0 && j.Processors() > 0 {
					usable++
				}
				if err := w.Write(j); err != nil {
					t.Fatal(err)
				}
			}
			assert.Len(t, jobs, c.jobs)
			assert.Equal(t, c.usable, usable)
			assert.Equal(t, header, entries(r.Header()), "all comments are at the top")

			require.NoError(t, w.Flush())
			again, err := swf.NewReader(&out)
			require.NoError(t, err)
			assert.Equal(t, header, entries(again.Header()))
			n := 0
			for j, err := range again.All() {
				require.NoError(t, err)
				j.Line = jobs[n].Line
				if *j != jobs[n] {
					t.Fatalf("line %d: %+v, and after a round trip %+v", j.Line, jobs[n], *j)
				}
				n++
			}
			assert.Equal(t, c.jobs, n)

			n = 0
			require.NoError(t, twin(bytes.NewReader(decompressed(t, path)), func(j swf.Job) {
				if j != jobs[n] {
					t.Fatalf("line %d: %+v, want %+v", j.Line, jobs[n], j)
				}
				n++
			}))
			assert.Equal(t, c.jobs, n)
		})
	}
}

func decompressed(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return text
}
