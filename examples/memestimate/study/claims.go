package study

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kit/claim"
)

// What the paper reports (§2.1.3), in percent.
const (
	paperWithin1MB = 70
	paperWithin5MB = 87
	paperUnder     = 6
	points         = 3 // by which a share may differ
)

// flurry is how many jobs of one user, of 29 June to 17 July 1996, the header of
// the log's cleaned edition says were removed.
const flurry = 11_568

// Claims compares with what the paper says of its Figure 2. Of the log of the LANL
// CM-5 it takes the jobs of January to September 1996, as the paper does. Of other
// logs it takes all jobs, and judges nothing. Errors are those of [Judge].
func Claims(ctx context.Context, l *Log) ([]claim.Claim, error) {
	c := claim.Claim{
		ID: "B-1", Source: "§2.1.3, Fig. 2", Says: "min(max, mean + 3 sd) of earlier runs predicts a job's memory well",
		Expected: fmt.Sprintf("LANL CM-5, January to September 1996, all jobs: within 1 MB %d %%, within 5 MB %d %%, too low %d %%; ± %d points",
			paperWithin1MB, paperWithin5MB, paperUnder, points),
		Verdict: claim.Reported, Why: "not the paper's log",
	}
	from, to := Always(l)
	lanl := strings.Contains(l.Machine, "CM-5")
	if lanl {
		from, to = time.Date(1996, 1, 1, 0, 0, 0, 0, l.Start.Location()), time.Date(1996, 10, 1, 0, 0, 0, 0, l.Start.Location())
	}
	s, err := NewState()
	if err != nil {
		return nil, err
	}
	list, err := Judge(ctx, l, s, []Bound{{Of: estimate.Paper}}, from, to, nil)
	if err != nil {
		return nil, err
	}
	q := &list[0]
	c.Measured = fmt.Sprintf("%s: within 1 MB %.1f %%, within 5 MB %.1f %%, too low %.1f %% of %s jobs",
		l.Name, 100*q.Share(q.Within1MB), 100*q.Share(q.Within5MB), 100*q.Share(q.Under), humanize.Comma(int64(q.Predicted)))
	if !lanl {
		return []claim.Claim{c}, nil
	}
	near := func(n, want int) bool { return math.Abs(100*q.Share(n)-float64(want)) <= points }
	c.Verdict = claim.Judge(near(q.Within1MB, paperWithin1MB), near(q.Within5MB, paperWithin5MB), near(q.Under, paperUnder))
	c.Why = ""
	if c.Verdict != claim.Reproduced && l.Cleaned {
		all := Quality{Predicted: q.Predicted + flurry}
		c.Why = fmt.Sprintf("the cleaned edition of the log lacks %s jobs of one user, of 29 June to 17 July 1996, a quarter of the paper's 50,000;\n"+
			"had all of them been estimated to within 1 MB, it were %.1f %%, %.1f %% and %.1f %%",
			humanize.Comma(flurry), 100*all.Share(q.Within1MB+flurry), 100*all.Share(q.Within5MB+flurry), 100*all.Share(q.Under))
	}
	return []claim.Claim{c}, nil
}
