package plugin

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/component-base/metrics/legacyregistry"
)

// All series are there from the beginning, so that their first increase is seen.
func TestAllSeriesAreThere(t *testing.T) {
	jobs, history, _, err := Args{Bound: "paper"}.build()
	require.NoError(t, err)
	registerMetrics(&Plugin{jobs: jobs, history: history})
	families, err := legacyregistry.DefaultGatherer.Gather()
	require.NoError(t, err)
	there := map[string]bool{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			there[name] = true
		}
	}
	for _, name := range []string{
		"gangkit_estimates_total level=request", "gangkit_estimates_total level=path-size-user",
		"gangkit_estimates_total level=path-size", "gangkit_estimates_total level=path", "gangkit_estimates_total level=annotation",
		"gangkit_refusals_total reason=held", "gangkit_refusals_total reason=gang",
		"gangkit_refusals_total reason=never", "gangkit_refusals_total reason=node",
		"gangkit_started_jobs_total kind=pod", "gangkit_started_jobs_total kind=gang",
		"gangkit_learnt_runs_total", "gangkit_above_estimate_total",
		"gangkit_history_saves_total result=done", "gangkit_history_saves_total result=failed",
		"gangkit_history_saves_total result=damaged",
		"gangkit_waiting_jobs", "gangkit_head_skips", "gangkit_history_records",
	} {
		require.True(t, there[name], "no %s", name)
	}
}
