package plugin

import (
	"sync"

	"github.com/gangkit/gangkit/estimate"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// levels are the values of the label level, by what an estimate rests on.
var levels = map[estimate.Level]string{
	estimate.None:            "request",
	estimate.ByPathNodesUser: "path-size-user",
	estimate.ByPathNodes:     "path-size",
	estimate.ByPath:          "path",
	estimate.ByConstant:      "annotation",
}

func counter(name, help string) *metrics.Counter {
	return metrics.NewCounter(&metrics.CounterOpts{Namespace: "gangkit", Name: name, Help: help, StabilityLevel: metrics.ALPHA})
}

func counters(name, help string, labels ...string) *metrics.CounterVec {
	return metrics.NewCounterVec(&metrics.CounterOpts{Namespace: "gangkit", Name: name, Help: help, StabilityLevel: metrics.ALPHA}, labels)
}

// The metrics, at /metrics of the scheduler with its own.
var (
	estimated   = counters("estimates_total", "Attempts to place a pod, by what the estimate of its memory rests on.", "level")
	refused     = counters("refusals_total", "Attempts to place a pod that failed: held by a job that starts first, no memory for the whole gang now (gang) or ever (never), no node.", "reason")
	startedJobs = counters("started_jobs_total", "Jobs that started: gangs of which all pods have a node, and pods alone.", "kind")
	learnt      = counter("learnt_runs_total", "Kinds of pod of which the memory was learnt from a run: one for a pod alone, and for a gang one for each program in it.")
	above       = counter("above_estimate_total", "Pods that were measured to use more than their estimate.")
	saves       = counters("history_saves_total", "Saved histories: done, failed, and damaged when loaded.", "result")
)

var register sync.Once

// initialize makes all series there are, with 0, so that whoever looks for increases
// sees the first. Metrics have series only once they are registered.
func initialize() {
	for _, level := range levels {
		estimated.WithLabelValues(level)
	}
	for _, reason := range []string{"held", "gang", "never", "node"} {
		refused.WithLabelValues(reason)
	}
	for _, kind := range []string{"pod", "gang"} {
		startedJobs.WithLabelValues(kind)
	}
	for _, result := range []string{"done", "failed", "damaged"} {
		saves.WithLabelValues(result)
	}
}

// registerMetrics registers the metrics, with the gauges of the first plugin made.
func registerMetrics(p *Plugin) {
	register.Do(func() {
		legacyregistry.MustRegister(estimated, refused, startedJobs, learnt, above, saves)
		initialize()
		gauge := func(name, help string, value func() float64) {
			legacyregistry.RawMustRegister(metrics.NewGaugeFunc(&metrics.GaugeOpts{
				Namespace: "gangkit", Name: name, Help: help, StabilityLevel: metrics.ALPHA,
			}, value))
		}
		gauge("waiting_jobs", "Jobs that are complete and have not started.", func() float64 {
			jobs, _ := p.jobs.Waiting()
			return float64(jobs)
		})
		gauge("head_skips", "How often the job has been passed over that has been most often.", func() float64 {
			_, skips := p.jobs.Waiting()
			return float64(skips)
		})
		gauge("history_records", "Kinds of job of which the memory is known.", func() float64 {
			return float64(p.history.Records())
		})
	})
}
