package slurm

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

var errFormat = errors.New("slurm: cannot read")

// parseVersion reads "slurm-wlm 22.05.8" as 22 and 5.
func parseVersion(s string) (major, minor int, err error) {
	_, number, _ := strings.Cut(strings.TrimSpace(s), " ")
	if _, err := fmt.Sscanf(number, "%d.%d", &major, &minor); err != nil || major < 0 || minor < 0 {
		return 0, 0, fmt.Errorf("%w version %.80q", errFormat, s)
	}
	return major, minor, nil
}

// parseSettings reads "Key = value" lines, as scontrol show config prints them.
func parseSettings(s string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(s) {
		if key, value, ok := strings.Cut(line, "="); ok {
			settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return settings
}

// fields reads "Key=value Key=value", as scontrol -o prints one thing. Of a key that is
// there twice the first counts: most free text comes late, but names, such as a job's, do
// not, and should be without spaces.
func fields(line string) map[string]string {
	values := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		if key, value, ok := strings.Cut(word, "="); ok {
			if _, twice := values[key]; !twice {
				values[key] = value
			}
		}
	}
	return values
}

// parseShare reads how many jobs a processor may be allocated to at a time, from scontrol
// show partition -o: OverSubscribe=FORCE:4, YES:4, NO or EXCLUSIVE.
func parseShare(s string) int {
	_, number, _ := strings.Cut(fields(s)["OverSubscribe"], ":")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

type node struct {
	backend.Node
	address string
	usable  bool // Slurm would start jobs there
}

// parseNodes reads scontrol show nodes -o, and keeps those of the partition.
func parseNodes(s, partition string) ([]node, error) {
	var nodes []node
	for line := range strings.Lines(s) {
		f := fields(line)
		if f["NodeName"] == "" || !contains(f["Partitions"], partition) {
			continue
		}
		memory, err := strconv.ParseInt(f["RealMemory"], 10, 64)
		var reserved int64
		if f["MemSpecLimit"] != "" && err == nil {
			reserved, err = strconv.ParseInt(f["MemSpecLimit"], 10, 64)
		}
		if err != nil || memory < 0 || memory > math.MaxInt64>>20 || reserved < 0 || reserved > memory {
			return nil, fmt.Errorf("%w memory %.40q less %.40q of node %.80q", errFormat, f["RealMemory"], f["MemSpecLimit"], f["NodeName"])
		}
		address := f["NodeAddr"]
		if address == "" {
			address = f["NodeName"]
		}
		usable := true
		for state := range strings.SplitSeq(f["State"], "+") {
			if strings.HasSuffix(state, "*") { // it does not answer
				usable = false
			}
			switch strings.TrimRight(state, "*~#!%$@^-") {
			case "DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "FUTURE", "UNKNOWN", "INVAL", "NOT_RESPONDING":
				usable = false
			}
		}
		nodes = append(nodes, node{backend.Node{Name: f["NodeName"], Memory: (memory - reserved) << 20}, address, usable})
	}
	return nodes, nil
}

func contains(list, name string) bool {
	for entry := range strings.SplitSeq(list, ",") {
		if entry == name {
			return true
		}
	}
	return false
}

// A row is a job of squeue.
type row struct {
	job     int64
	state   string // extended form: RUNNING
	start   string // when it started, as Slurm prints it
	reason  string // why it waits
	comment string
}

// rowFormat is that of squeue -o. Comments are free text.
const rowFormat = "%A|%T|%S|%r|%k"

func parseRow(line string) (row, bool) {
	f := strings.SplitN(strings.TrimRight(line, "\r\n"), "|", 5)
	if len(f) != 5 {
		return row{}, false
	}
	job, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || job <= 0 || f[1] == "" {
		return row{}, false // the second line of a comment
	}
	return row{job, f[1], f[2], f[3], f[4]}, true
}

// parseRows reads squeue. Of a job that is there twice the first row counts.
func parseRows(s string) map[int64]row {
	rows := map[int64]row{}
	for line := range strings.Lines(s) {
		if r, ok := parseRow(line); ok {
			if _, twice := rows[r.job]; !twice {
				rows[r.job] = r
			}
		}
	}
	return rows
}

// ended tells whether nothing of a job in this state is left, and that it will not start
// any more. COMPLETING still has processes.
func ended(state string) bool {
	switch state {
	case "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL",
		"DEADLINE", "PREEMPTED", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL":
		return true
	}
	return false
}

// running tells whether a job in this state has nodes.
func running(state string) bool {
	switch state {
	case "RUNNING", "STOPPED", "SUSPENDED", "SIGNALING", "STAGE_OUT", "RESIZING":
		return true
	}
	return false
}

// requeued tells whether a job in this state has been put back into the queue, to wait until
// somebody releases it.
func requeued(state string) bool { return state == "REQUEUE_HOLD" || state == "SPECIAL_EXIT" }

// parseStatus reads an exit status as scontrol and sacct print it, "3:0" or "0:9".
func parseStatus(s string) (code, signal int, err error) {
	first, second, ok := strings.Cut(s, ":")
	code, err1 := strconv.Atoi(first)
	signal, err2 := strconv.Atoi(second)
	if !ok || err1 != nil || err2 != nil || code < 0 || signal < 0 {
		return 0, 0, fmt.Errorf("%w exit status %.40q", errFormat, s)
	}
	return code, signal, nil
}

// parseBytes reads a size as Slurm prints it: "97520298", "3280K", "1.50G". Slurm means
// powers of 1024.
func parseBytes(s string) (int64, error) {
	number, factor := s, 1.0
	if n := len(s) - 1; n > 0 {
		if i := strings.IndexByte("KMGTP", s[n]); i >= 0 {
			number, factor = s[:n], math.Ldexp(1, 10*(i+1))
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if value *= factor; err != nil || !(value >= 0 && value < 1<<62) {
		return 0, fmt.Errorf("%w size %.40q", errFormat, s)
	}
	return int64(value), nil
}

// parseDuration reads a time as Slurm prints it, [days-][hours:]minutes:seconds[.fraction].
func parseDuration(s string) (time.Duration, error) {
	bad := fmt.Errorf("%w time %.40q", errFormat, s)
	var days uint64
	clock := s
	if before, after, ok := strings.Cut(s, "-"); ok {
		var err error
		if days, err = strconv.ParseUint(before, 10, 32); err != nil {
			return 0, bad
		}
		clock = after
	}
	parts := strings.Split(clock, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, bad
	}
	seconds, err := strconv.ParseFloat(parts[len(parts)-1], 64)
	if err != nil || !(seconds >= 0 && seconds < 61) {
		return 0, bad
	}
	total := float64(days) * 24 * 3600
	for i, unit := len(parts)-2, 60.0; i >= 0; i, unit = i-1, unit*60 {
		n, err := strconv.ParseUint(parts[i], 10, 32)
		if err != nil {
			return 0, bad
		}
		total += float64(n) * unit
	}
	if total+seconds >= math.MaxInt64/float64(time.Second) {
		return 0, bad
	}
	return time.Duration(total)*time.Second + time.Duration(math.Round(seconds*1000))*time.Millisecond, nil
}

// usageFormat is that of sstat -o.
const usageFormat = "JobID,NTasks,AveRSS,MaxRSS,TRESUsageInTot"

// A sample is what a step uses.
type sample struct {
	cpu      time.Duration // of all processes
	resident int64         // of a process now, on average
	peak     int64         // the most of a process so far
}

// parseUsage reads sstat -n -P, for the first step of each job. A line that is incomplete,
// as for a step that has just started, is left out.
func parseUsage(s string) map[int64]sample {
	usage := map[int64]sample{}
	for line := range strings.Lines(s) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		job, ok := firstStep(f[0])
		tasks, err := strconv.Atoi(f[1])
		if !ok || err != nil || tasks < 1 {
			continue
		}
		now, err1 := parseBytes(f[2])
		peak, err2 := parseBytes(f[3])
		var cpu time.Duration
		err3 := errFormat
		for entry := range strings.SplitSeq(f[4], ",") {
			if value, ok := strings.CutPrefix(entry, "cpu="); ok {
				cpu, err3 = parseDuration(value)
			}
		}
		if err1 == nil && err2 == nil && err3 == nil {
			usage[job] = sample{cpu, now, max(now, peak)}
		}
	}
	return usage
}

func repeat(value int64, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = value
	}
	return values
}

// firstStep reads "12.0", and the job's part of other steps' names is not taken.
func firstStep(s string) (int64, bool) {
	number, ok := strings.CutSuffix(s, ".0")
	job, err := strconv.ParseInt(number, 10, 64)
	return job, ok && err == nil && job > 0
}

// parseProcesses counts the nodes on which sstat -i -n -P found processes of a first step.
func parseProcesses(s string) int {
	n := 0
	for line := range strings.Lines(s) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) == 3 && f[2] != "" {
			n++
		}
	}
	return n
}

// A record is a job's entry in the accounting.
type record struct {
	state        string
	code, signal int
	cpu          time.Duration
	peak         int64
}

// recordFormat is that of sacct -o.
const recordFormat = "JobID,State,ExitCode,MaxRSS,TotalCPU"

// parseRecords reads sacct -n -P: how jobs have ended, and what their first steps used.
func parseRecords(s string) map[int64]record {
	records := map[int64]record{}
	for line := range strings.Lines(s) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		if job, ok := firstStep(f[0]); ok {
			r := records[job]
			r.peak, _ = parseBytes(f[3])
			r.cpu, _ = parseDuration(f[4])
			records[job] = r
		} else if job, err := strconv.ParseInt(f[0], 10, 64); err == nil && job > 0 {
			r := records[job]
			r.state, _, _ = strings.Cut(f[1], " ") // CANCELLED by 1000
			r.code, r.signal, _ = parseStatus(f[2])
			records[job] = r
		}
	}
	return records
}
