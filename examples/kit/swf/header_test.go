package swf_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

func header(t testing.TB, text string) *swf.Header {
	t.Helper()
	r, err := swf.NewReader(strings.NewReader(text))
	require.NoError(t, err)
	return r.Header()
}

// entries draws a header as "keyword=line/line|...".
func entries(h *swf.Header) string {
	var all []string
	for k, v := range h.Entries() {
		all = append(all, k+"="+strings.ReplaceAll(v, "\n", "/"))
	}
	return strings.Join(all, "|")
}

func TestHeaderLayouts(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a blank behind the semicolon", "; Version: 2.2\n", "Version=2.2"},
		{"no blank anywhere", ";Version:2.2\n", "Version=2.2"},
		{"right-aligned keywords", ";       Version: 2.2\n;      Computer: Linux\n", "Version=2.2|Computer=Linux"},
		{"blanks before the semicolon", "  ; Version: 2.2\n", "Version=2.2"},
		{"a blank before the colon", "; Version : 2.2\n", "Version=2.2"},
		{"carriage returns", "; Version: 2.2\r\n; Computer: Linux\r\n", "Version=2.2|Computer=Linux"},
		{"no line end", "; Version: 2.2", "Version=2.2"},
		{"a byte order mark", "\ufeff; Version: 2.2", "Version=2.2"},
		{"blanks behind the value", "; Queue:  0  interactive    \n", "Queue=0  interactive"},
		{"a colon in the value", "; StartTime: Tue Oct 04 07:01:12 MDT 1994\n", "StartTime=Tue Oct 04 07:01:12 MDT 1994"},
		{"no value", "; Queue:\n", "Queue="},
		{"a keyword that the format does not have", "; Copyright: 2000\n; Location: here\n", "Copyright=2000|Location=here"},
		{"a known keyword in small letters", "; maxprocs: 8\n", "maxprocs=8"},
		{"a remark in front of all keywords", ";   --- SWF file converted from SACCT ---\n; Version: 2.2\n",
			"=--- SWF file converted from SACCT ---|Version=2.2"},
		{"a continuation behind blanks", "; Information: http://www.lanl.gov/\n;              http://www.cs.huji.ac.il/\n",
			"Information=http://www.lanl.gov//http://www.cs.huji.ac.il/"},
		{"a continuation behind a tab that looks like a keyword",
			"; Note: Curie has 3 types of nodes,\n;\tsee: http://www-hpc.cea.fr/\n; MaxNodes: 5544\n",
			"Note=Curie has 3 types of nodes,/see: http://www-hpc.cea.fr/|MaxNodes=5544"},
		{"a continuation with a colon that no blank follows", "; Note: at\n; Host:80\n", "Note=at/Host:80"},
		{"a continuation of a keyword without value", "; Note:\n;  one\n;  two\n", "Note=one/two"},
		{"a list of filters", "; Note: CLEANED\n;   user=50 and (job>=24439) (33452 jobs removed)\n",
			"Note=CLEANED/user=50 and (job>=24439) (33452 jobs removed)"},
		{"text behind an empty comment", "; Note: one\n; \n; two\n; three\n", "Note=one|=two/three"},
		{"column titles directly below a value",
			"; Information: none\n;    j|       s|      w|     r| p|  c|    m| p|      u| m|s| u| g|  e|q| p| p| t\n" +
				";     |        |       |     e| l|  e|    e| e|      s| q| |  |  |  m| | i| o| t\n",
			"Information=none"},
		{"column titles with numbers",
			";\n; 1|         2|          3|        4|  5|    6|      7|  8|        9| 10| 11| 12| 13| 14| 15| 16| 17| 18\n", ""},
		{"column titles with a colon", "; Note: x\n; Titles: | | | | | | | | | | | | | | | | |\n; on\n", "Note=x|Titles=| | | | | | | | | | | | | | | | |/on"},
		{"names of queues that are no names", "; Partition: 18  z+i5U=:\n; Partition: 19  `;\n", "Partition=18  z+i5U=:|Partition=19  `;"},
		{"comments among and behind the jobs, of which only the first are read at once", "; Note: a\n" + good + "\n; Note: b\n", "Note=a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, entries(header(t, c.text)))
		})
	}
}

func TestCommentsBehindJobsJoinTheHeader(t *testing.T) {
	r, err := swf.NewReader(strings.NewReader("; Note: a\n" + good + "\n; Note: b\n" + good + "\n; Note: c"))
	require.NoError(t, err)
	var got []string
	for _, err := range r.All() {
		require.NoError(t, err)
		got = append(got, entries(r.Header()))
	}
	got = append(got, entries(r.Header()))
	assert.Equal(t, []string{"Note=a", "Note=a|Note=b", "Note=a|Note=b|Note=c"}, got)
}

func TestKeywordsMayRepeatOrBeMissing(t *testing.T) {
	h := header(t, "; MaxJobs: 3\n; Queue: 0 interactive\n; MaxJobs: 4\n; Queue: 1 batch\n")
	assert.Equal(t, "3", h.Get("MaxJobs"), "the first one counts")
	assert.Equal(t, "3", h.Get("maxjobs"))
	assert.Equal(t, []string{"0 interactive", "1 batch"}, h.All("QUEUE"))
	assert.Empty(t, h.Get("Computer"))
	assert.Empty(t, h.All("Computer"))
	for range h.Entries() {
		break
	}
}

func TestLeadingIntegers(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        int64
		ok          bool
	}{
		{"a number", "1024", 1024, true},
		{"a negative number", "-25200", -25200, true},
		{"a plus sign", "+1", 1, true},
		{"a remark", "3600              # DEPRECATED. use TimeZoneString", 3600, true},
		{"a remark in parentheses", "32 (dual CPU)", 32, true},
		{"sizes of partitions", "1664 (72, 1368, 224)", 1664, true},
		{"parentheses without a blank", "1664(72)", 1664, true},
		{"a comma behind the number", "32, dual", 32, true},
		{"a full stop", "32.", 32, true},
		{"zero", "0", 0, true},
		{"not available", "N/A", 0, false},
		{"nothing", "", 0, false},
		{"a sign only", "-", 0, false},
		{"words first", "about 100", 0, false},
		{"groups of digits", "1,024", 0, false},
		{"a fraction", "2.2", 0, false},
		{"a unit", "64KB", 0, false},
		{"a product", "32x2", 0, false},
		{"the largest number", "9223372036854775807", math.MaxInt64, true},
		{"one more", "9223372036854775808", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := header(t, "; MaxMemory: "+c.value+"\n").Int("MaxMemory")
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestSizeOfTheMachine(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int64
		ok         bool
	}{
		{"both", "; MaxNodes: 32 (dual CPU)\n; MaxProcs: 64\n", 64, true},
		{"nodes only", "; MaxNodes: 256\n", 256, true},
		{"processors only", "; MaxProcs: 64\n", 64, true},
		{"processors not known", "; MaxProcs: N/A\n; MaxNodes: 8\n", 8, true},
		{"processors -1", "; MaxProcs: -1\n; MaxNodes: 8\n", 8, true},
		{"neither", "; MaxJobs: 7\n", 0, false},
		{"no header", good, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := header(t, c.text).Processors()
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestEndlessCommentsDoNotFillTheMemory(t *testing.T) {
	h := header(t, "; MaxProcs: 8\n"+strings.Repeat("; "+strings.Repeat("x", 1000)+"\n", 5000))
	n := 0
	for k, v := range h.Entries() {
		n += len(k) + len(v)
	}
	assert.Less(t, n, 1<<20)
	assert.Greater(t, n, 1<<19)
	assert.Equal(t, "8", strings.Split(h.Get("MaxProcs"), "\n")[0])
}

func TestZeroHeaderIsEmpty(t *testing.T) {
	var h swf.Header
	assert.Empty(t, h.Get("Version"))
	_, ok := h.Processors()
	assert.False(t, ok)
}
