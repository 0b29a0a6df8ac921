package report_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

var (
	look   = flag.String("page", "", "write a sample page to this `file`")
	swfLog = flag.String("swf", "", "of this log, instead of generated jobs")
	shots  = flag.String("shots", "", "save what the browser shows into this `folder`")
)

func TestLook(t *testing.T) {
	if *look == "" {
		t.Skip("-page is not given")
	}
	var w *workload.Workload
	var err error
	if *swfLog != "" {
		w = readWorkload(t, *swfLog)
	} else {
		w, err = workload.Generate(10_000, 128, 1)
		require.NoError(t, err)
		require.NoError(t, w.Scale(.8))
	}
	p := replayed(t, w)
	require.NoError(t, report.WriteFile(*look, p.WriteHTML))
}
