package main

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/examples/kit/compare"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// describe says what a job is.
func describe(w *workload.Workload, job int) string {
	j := w.Jobs[job]
	return fmt.Sprintf("job %d, %d processors, %s, estimate %v, submitted at %s",
		w.Numbers[job], j.Processors, humanize.IBytes(uint64(j.Memory)), j.Estimate, compare.Instant(j.Submit))
}

// explain tells what a policy decided on a job.
func explain(out io.Writer, w *workload.Workload, job int, r *compare.Outcome) {
	fmt.Fprintf(out, "%s: %s\n", r.Policy.Name, describe(w, job))
	for _, d := range r.Decisions {
		fmt.Fprintf(out, "  %s  %s: %s\n", compare.Instant(d.At), d.What, d.Why)
	}
}
