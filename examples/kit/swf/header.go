package swf

import (
	"iter"
	"strconv"
	"strings"
)

// Header holds what the comments of a log say: keywords with their values, in
// file order. A keyword may occur several times. Keywords compare without
// regard to case.
//
// A comment is taken for "Keyword: value" if one word and a colon come first,
// and the word is a keyword of the format, or at least is capitalised and has
// white space behind its colon. Any other text continues the value above it, as
// a new line of it, up to a comment without text. Text that has no value above
// it is kept under the keyword "". Column titles, that is comments with bars
// between 18 columns, are left out.
//
// Values are the text as it stands, without the white space around it. They may
// end in remarks, as in "3600  # DEPRECATED" or "32 (dual CPU)".
//
// At most 1 MiB of comments is kept; the rest is dropped. The zero value is
// empty. A Header must not be used while its Reader reads.
type Header struct {
	entries []entry
	open    bool // the next text without a keyword continues the last entry
	size    int
}

type entry struct {
	keyword string
	lines   []string
}

func (e *entry) value() string { return strings.Join(e.lines, "\n") }

const maxHeader = 1 << 20

// Get returns the value that the keyword has first, "" if it has none. Lines of
// the value are separated by "\n".
func (h *Header) Get(keyword string) string {
	for v := range h.values(keyword) {
		return v
	}
	return ""
}

// All returns the values of the keyword in file order.
func (h *Header) All(keyword string) []string {
	var all []string
	for v := range h.values(keyword) {
		all = append(all, v)
	}
	return all
}

func (h *Header) values(keyword string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range h.entries {
			if e := &h.entries[i]; strings.EqualFold(e.keyword, keyword) && !yield(e.value()) {
				return
			}
		}
	}
}

// Entries iterates over keywords and values in file order. Given one by one to
// [Writer.Header] they make the same header.
func (h *Header) Entries() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := range h.entries {
			if e := &h.entries[i]; !yield(e.keyword, e.value()) {
				return
			}
		}
	}
}

// Int returns the integer at the start of the keyword's first value: 32 for
// "32 (dual CPU)". It reports false if there is none, as in "N/A", or if what
// follows says that the number goes on or has a unit, as in "1,024", "0.5" or
// "64K".
func (h *Header) Int(keyword string) (int64, bool) {
	v := h.Get(keyword)
	i := 0
	if i < len(v) && (v[i] == '-' || v[i] == '+') {
		i++
	}
	for i < len(v) && isDigit(v[i]) {
		i++
	}
	rest := v[i:]
	if rest != "" && (isLetter(rest[0]) || rest[0] == '_') {
		return 0, false
	}
	if len(rest) > 1 && strings.IndexByte(".,'", rest[0]) >= 0 && isDigit(rest[1]) {
		return 0, false
	}
	n, err := strconv.ParseInt(v[:i], 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}

// Processors is the size of the machine: MaxProcs if it is a positive integer,
// else MaxNodes if that is.
func (h *Header) Processors() (int64, bool) {
	for _, keyword := range [...]string{"MaxProcs", "MaxNodes"} {
		if n, ok := h.Int(keyword); ok && n > 0 {
			return n, true
		}
	}
	return 0, false
}

// add takes the text of a comment, without the ';'.
func (h *Header) add(comment []byte) {
	text := trim(string(comment))
	if text == "" {
		h.open = false
		return
	}
	if h.size += len(text) + 16; h.size > maxHeader {
		return
	}
	if keyword, value, ok := splitKeyword(text); ok {
		h.entries = append(h.entries, entry{keyword, []string{value}})
		h.open = true
		return
	}
	if isTitle(text) {
		return
	}
	if !h.open {
		h.entries = append(h.entries, entry{"", []string{text}})
		h.open = true
		return
	}
	e := &h.entries[len(h.entries)-1]
	if len(e.lines) == 1 && e.lines[0] == "" {
		e.lines[0] = text
		return
	}
	e.lines = append(e.lines, text)
}

// keywords are those of the format, and Copyright, which occurs.
var keywords = [...]string{
	"Version", "Computer", "Installation", "Acknowledge", "Information",
	"Conversion", "MaxJobs", "MaxRecords", "Preemption", "UnixStartTime",
	"TimeZone", "TimeZoneString", "StartTime", "EndTime", "MaxNodes", "MaxProcs",
	"MaxRuntime", "MaxMemory", "AllowOveruse", "MaxQueues", "Queues", "Queue",
	"MaxPartitions", "Partitions", "Partition", "Note", "Copyright",
}

// splitKeyword splits "Keyword: value".
func splitKeyword(text string) (keyword, value string, ok bool) {
	keyword, value, ok = strings.Cut(text, ":")
	keyword = trim(keyword)
	if !ok || keyword == "" || !isLetter(keyword[0]) {
		return "", "", false
	}
	for i := range len(keyword) {
		if !isLetter(keyword[i]) && !isDigit(keyword[i]) {
			return "", "", false
		}
	}
	for _, k := range keywords {
		if strings.EqualFold(k, keyword) {
			return keyword, trim(value), true
		}
	}
	if keyword[0] > 'Z' || value != "" && !blank[value[0]] {
		return "", "", false
	}
	return keyword, trim(value), true
}

// isTitle reports whether text draws column titles: "j|  s|  w| ...".
func isTitle(text string) bool { return strings.Count(text, "|") >= fields-1 }

func trim(s string) string { return strings.Trim(s, " \t\r\v\f") }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
