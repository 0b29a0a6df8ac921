package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
)

func html(t testing.TB, p *report.Page) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.WriteHTML(&out))
	return out.String()
}

func TestPageShowsWhatIsNoNumberAsMissing(t *testing.T) {
	table := &report.Table{Columns: []report.Column{{Title: "policy"}, {Title: "wait", Better: report.Lower}}}
	for _, v := range []any{math.NaN(), math.Inf(1), math.Inf(-1), nil} {
		table.Add("p", v)
	}
	page := html(t, &report.Page{Title: "t", Tables: []*report.Table{table}})
	assert.Equal(t, 4, strings.Count(page, `<td class="number">–</td>`))
	assert.NotContains(t, page, "NaN<")
}
