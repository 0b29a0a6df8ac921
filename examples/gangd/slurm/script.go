package slurm

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// quote writes s as one word of the shell that stands for itself. sbatch refuses scripts
// in which a line ends with a carriage return, so that it has to come from a variable.
func quote(s string) string {
	s = strings.ReplaceAll(s, "'", `'\''`)
	s = strings.ReplaceAll(s, "\r", `'"$GANGD_RETURN"'`)
	return "'" + s + "'"
}

// launcher runs on every node: it finds what is said of the node in GANGD_PLACES, a list of
// name:rank:index, and becomes the process of the gang.
const launcher = `set -f
for GANGD_PLACE in $GANGD_PLACES; do
	case $GANGD_PLACE in
	address=*) GANGD_ADDRESS=${GANGD_PLACE#*=} ;;
	"$SLURMD_NODENAME":*) GANGD_PLACE=${GANGD_PLACE#*:} GANGD_RANK=${GANGD_PLACE%:*} GANGD_NODE=${GANGD_PLACE#*:} ;;
	esac
done
unset GANGD_PLACE GANGD_PLACES
export GANGD_ADDRESS GANGD_RANK GANGD_NODE
exec "$@"`

// places reads the indices of the gang's nodes from the comment of the job, and writes the
// nodes as the launcher reads them. Of all nodes the names are in $@.
const places = `until GANGD_COMMENT=$(squeue -h -a -j "$SLURM_JOB_ID" -o %k); do sleep 1; done
GANGD_RANK=0
for GANGD_WORD in $GANGD_COMMENT; do
	case $GANGD_WORD in
	address=*) GANGD_PLACES=$GANGD_WORD ;;
	nodes=*)
		IFS=,
		for GANGD_WORD in ${GANGD_WORD#*=}; do
			GANGD_NODE=${GANGD_WORD%-*}
			while [ "$GANGD_NODE" -le "${GANGD_WORD#*-}" ]; do
				eval "GANGD_PLACES=\"\$GANGD_PLACES \${$((GANGD_NODE + 1))}:$GANGD_RANK:$GANGD_NODE\""
				GANGD_NODE=$((GANGD_NODE + 1)) GANGD_RANK=$((GANGD_RANK + 1))
			done
		done
		unset IFS
		;;
	esac
done
export GANGD_PLACES
`

// script is the batch script of a gang. Where it runs is known only when it starts, and is
// then in the job's comment. Should Slurm start a job a second time, it does nothing.
func script(g backend.Gang, processes int, nodes []node) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n[ \"${SLURM_RESTART_COUNT:-0}\" = 0 ] || exit 1\nGANGD_RETURN=$(printf '\\r')\n")
	if g.Output != "" {
		fmt.Fprintf(&b, "exec >%s 2>&1\n", quote(g.Output))
	}
	if g.Folder != "" {
		fmt.Fprintf(&b, "cd -- %s || exit 1\n", quote(g.Folder))
	}
	b.WriteString("set -f --")
	for _, n := range nodes {
		b.WriteString(" " + quote(n.Name))
	}
	b.WriteString("\n" + places + "exec srun --kill-on-bad-exit=1 /usr/bin/env")
	for _, entry := range append(slices.Clone(g.Environment), "GANGD_ID="+g.ID, fmt.Sprintf("GANGD_SIZE=%d", processes)) {
		b.WriteString(" " + quote(entry))
	}
	b.WriteString(" /bin/sh -c " + quote(launcher) + " gangd")
	for _, word := range g.Command {
		b.WriteString(" " + quote(word))
	}
	b.WriteString("\n")
	return b.String()
}

// check says why a gang cannot be run.
func check(g backend.Gang) error {
	switch {
	case g.ID == "" || strings.ContainsFunc(g.ID, func(r rune) bool {
		return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '-' || r == '_' || r == '.')
	}):
		return fmt.Errorf("slurm: %.80q cannot be the name of a gang: %w", g.ID, ErrGang)
	case len(g.Command) == 0 || g.Command[0] == "":
		return fmt.Errorf("slurm: gang %s has no command: %w", g.ID, ErrGang)
	}
	for _, s := range slices.Concat(g.Command, g.Environment, []string{g.Folder, g.Output}) {
		if strings.Contains(s, "\x00") {
			return fmt.Errorf("slurm: gang %s: a zero byte in %.80q: %w", g.ID, s, ErrGang)
		}
	}
	for _, entry := range g.Environment {
		if strings.Index(entry, "=") < 1 || entry[0] == '-' { // which would be an option of env
			return fmt.Errorf("slurm: gang %s: %.80q is not KEY=value: %w", g.ID, entry, ErrGang)
		}
	}
	return nil
}

// label makes s fit for one line of squeue, and has 100 bytes at most.
func label(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			r = '?'
		}
		if b.Len()+utf8.RuneLen(r) > 100 {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ranges writes numbers in their order, as in 0-63,70.
func ranges(numbers []int) string {
	var b strings.Builder
	for i, n := range numbers {
		switch follows := i > 0 && numbers[i-1]+1 == n; {
		case !follows && i > 0:
			fmt.Fprintf(&b, ",%d", n)
		case !follows:
			fmt.Fprint(&b, n)
		case i+1 == len(numbers) || numbers[i+1] != n+1:
			fmt.Fprintf(&b, "-%d", n)
		}
	}
	return b.String()
}

// longest is the comment that slurmctld still takes, bytes.
const longest = 1024

// comment says whose job a job is, and which back end submitted it. Until it starts, places
// is empty.
func comment(g backend.Gang, by, places string) string {
	user := strings.Join(strings.FieldsFunc(label(g.User), func(r rune) bool { return r == ' ' || r == ':' || r == '=' }), "_")
	if user == "" {
		user = "-"
	}
	return strings.TrimSpace(fmt.Sprintf("gangd %s %s by=%s %s", g.ID, user, by, places))
}

// belongs tells whether the comment is that of the gang, submitted by this back end: another
// one may have a gang of that name.
func (b *Backend) belongs(comment, id string) bool {
	return strings.HasPrefix(comment, "gangd "+id+" ") && strings.Contains(comment+" ", " by="+b.name+" ")
}
