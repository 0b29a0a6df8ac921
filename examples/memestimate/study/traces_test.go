package study_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/memestimate/study"
)

// traces is a folder with logs of the Parallel Workloads Archive. They are not
// part of the repository.
const traces = "../../../../shared/traces"

func open(t *testing.T, name string) *study.Log {
	t.Helper()
	if _, err := os.Stat(traces); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the folder of real logs is missing: ", err)
		}
		t.Skip("no real logs to read: ", err)
	}
	r, err := swf.Open(filepath.Join(traces, name+".swf.gz"))
	require.NoError(t, err)
	defer r.Close()
	l, err := study.Read(name, r)
	require.NoError(t, err)
	return l
}

// The numbers are those of a program that was written before, apart from this one.
func TestRealLogs(t *testing.T) {
	type shares struct{ within1MB, within5MB, under, over float64 }
	for _, c := range []struct {
		name            string
		from, to        string
		jobs, predicted int
		want            map[string]shares
	}{
		{"LANL-CM5-1994-4.1-cln", "1994-10-01", "1996-01-01", 72_642, 69_674, map[string]shares{
			"paper": {54.71, 76.09, 6.87, 3.24}, "adaptive": {70.83, 88.03, 5.86, 1.92}, "max": {54.11, 75.16, 6.28, 3.71}, "last": {78.03, 92.23, 23.50, .61}}},
		{"LANL-CM5-1994-4.1-cln", "1996-01-01", "1996-10-01", 32_978, 31_288, map[string]shares{
			"paper": {58.73, 85.09, 7.15, 2.20}, "adaptive": {70.85, 90.25, 6.09, 1.70}, "max": {57.84, 83.45, 6.05, 2.50}, "last": {78.94, 93.40, 21.41, .53}}},
		{"DAS2-fs1-2003-1", "2003-01-01", "2004-01-01", 27_431, 26_487, map[string]shares{
			"paper": {74.29, 84.73, 2.00, 2.53}, "adaptive": {80.06, 87.74, 2.58, 2.32}, "max": {74.47, 84.72, 1.66, 2.64}, "last": {84.57, 90.40, 10.97, .89}}},
		{"UniLu-Gaia-2014-1", "2014-05-01", "2014-09-01", 50_396, 22_816, map[string]shares{
			"paper": {9.63, 25.65, 18.92, 220.23}, "adaptive": {15.32, 31.66, 21.00, 198.91}, "max": {9.61, 25.65, 18.50, 279.00}, "last": {22.66, 39.97, 42.77, 40.18}}},
	} {
		if testing.Short() && c.from != "1996-01-01" {
			continue
		}
		t.Run(c.name+" "+c.from, func(t *testing.T) {
			l := open(t, c.name)
			date := func(text string) time.Time {
				d, err := time.ParseInLocation(time.DateOnly, text, l.Start.Location())
				require.NoError(t, err)
				return d
			}
			list, err := study.Judge(context.Background(), l, newState(t), several, date(c.from), date(c.to), nil)
			require.NoError(t, err)
			require.Len(t, list, len(c.want))
			for _, q := range list {
				want := c.want[q.Bound]
				assert.Equal(t, [2]int{c.jobs, c.predicted}, [2]int{q.Jobs, q.Predicted})
				assert.InDelta(t, want.within1MB, 100*q.Share(q.Within1MB), .006, q.Bound)
				assert.InDelta(t, want.within5MB, 100*q.Share(q.Within5MB), .006, q.Bound)
				assert.InDelta(t, want.under, 100*q.Share(q.Under), .006, q.Bound)
				assert.InDelta(t, want.over, q.MeanOver(), .006, q.Bound)
			}
		})
	}
}

func TestClaimOnThePapersLog(t *testing.T) {
	claims, err := study.Claims(context.Background(), open(t, "LANL-CM5-1994-4.1-cln"))
	require.NoError(t, err)
	require.Len(t, claims, 1)
	c := claims[0]
	assert.Equal(t, "B-1", c.ID)
	assert.Equal(t, "LANL-CM5-1994-4.1-cln: within 1 MB 58.7 %, within 5 MB 85.1 %, too low 7.1 % of 31,288 jobs", c.Measured)
	assert.Equal(t, "reproduced in part", string(c.Verdict))
	assert.Contains(t, c.Why, "11,568 jobs")
	assert.Contains(t, c.Why, "69.9 %, 89.1 % and 5.2 %")
}
