package slurm

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// quote writes s as one word of the shell that stands for itself. sbatch refuses scripts
// in which a line ends with a carriage return, so that it has to come from a variable.
func quote(s string) string {
	s = strings.ReplaceAll(s, "'", `'\''`)
	s = strings.ReplaceAll(s, "\r", `'"$return"'`)
	return "'" + s + "'"
}

// launcher runs on every node: it finds what is said of the node in the comment of the job
// and becomes the process of the gang.
const launcher = `set -f
for place in $GANGD_PLACES; do
	case $place in
	address=*) GANGD_ADDRESS=${place#*=} ;;
	"$SLURMD_NODENAME":*) place=${place#*:} GANGD_RANK=${place%:*} GANGD_NODE=${place#*:} ;;
	esac
done
unset place GANGD_PLACES
export GANGD_ADDRESS GANGD_RANK GANGD_NODE
exec "$@"`

// script is the batch script of a gang. Where it runs is known only when it starts, and is
// then in the job's comment. Should Slurm start a job a second time, it does nothing.
func script(g backend.Gang, processes int) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\nreturn=$(printf '\\r')\n")
	if g.Output != "" {
		fmt.Fprintf(&b, "exec >%s 2>&1\n", quote(g.Output))
	}
	b.WriteString(`[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || exit 1
`)
	if g.Folder != "" {
		fmt.Fprintf(&b, "cd -- %s || exit 1\n", quote(g.Folder))
	}
	b.WriteString(`until GANGD_PLACES=$(squeue -h -a -j "$SLURM_JOB_ID" -o %k); do sleep 1; done
export GANGD_PLACES
exec srun --kill-on-bad-exit=1 /usr/bin/env`)
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
		if strings.Index(entry, "=") < 1 {
			return fmt.Errorf("slurm: gang %s: %.80q is not KEY=value: %w", g.ID, entry, ErrGang)
		}
	}
	return nil
}

// label makes s fit for one line of squeue.
func label(s string) string {
	letters := []rune(s)
	for i, r := range letters {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			letters[i] = '?'
		}
	}
	return string(letters[:min(len(letters), 100)])
}

// comment says whose job a job is, and which back end submitted it. Until it starts, places
// is empty.
func comment(g backend.Gang, by, places string) string {
	user := strings.Join(strings.FieldsFunc(label(g.User), func(r rune) bool { return r == ' ' || r == ':' || r == '=' }), "_")
	if user == "" {
		user = "-"
	}
	return strings.TrimSpace(fmt.Sprintf("gangd %s %s by=%s %s", g.ID, user, by, places))
}

// belongs tells whether the comment is that of the gang.
func belongs(comment, id string) bool {
	return strings.HasPrefix(comment, "gangd "+id+" ")
}
