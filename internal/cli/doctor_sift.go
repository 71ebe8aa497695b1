// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// leftOut replaces a text that a bundle must not contain.
const leftOut = "…"

// knownWords are the fields whose texts are words of Locus, or names of the parts of an installation.
var knownWords = wordSet(`action arch archive at authority build cell class code commit documents ended ends event expires feed floor format go hash
	home id keys kind lane last_used level method next os outcome role rollup route rules server server_version sink source started starts state step
	sync system term_frequencies time to_generation unit until upgrade version what`)

// reasons are the fields whose texts may repeat a value: they are scrubbed.
var reasons = wordSet("err msg reason trouble")

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// sift returns a document without texts that may belong to a record, a person or a target. Numbers and the texts of
// known fields stay. name is the name of the field.
func sift(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		left := make(map[string]any, len(v))
		for field, of := range v {
			switch {
			case field != "msg" && reasons[field] && of != "" && (v["sink"] != nil || v["source"] != nil || v["to"] != nil || v["from"] != nil):
				left[field] = leftOut // text from a target or a stream
			case field == "name" && v["state"] != nil:
				left[field] = of // of a sink or a rollup
			default:
				left[field] = sift(field, of)
			}
		}
		return left
	case []any:
		left := make([]any, len(v))
		for i, of := range v {
			left[i] = sift(name, of)
		}
		return left
	case string:
		switch {
		case v == "" || knownWords[name]:
			return plain(v)
		case reasons[name]:
			return scrub(v)
		case isMoment(v):
			return v
		}
		return leftOut
	}
	return v
}

// isMoment reports whether a text is a time or a duration.
func isMoment(text string) bool {
	if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return true
	}
	_, err := time.ParseDuration(text)
	return err == nil
}

var (
	quoted  = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'|`[^`]*`|“[^”]*”")
	address = regexp.MustCompile(`\S*@\S*|\b[a-z][a-z0-9+.-]*://\S*|\b\d{1,3}(?:\.\d{1,3}){3}\b|\[?[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:]*\]?|\blocus_(?:tok|boot|ses)_\w*|(?:\b[A-Za-z]:)?[/\\]\S+`)
	digits  = regexp.MustCompile(`\d[\d .()/-]{5,}\d`)
	letters = regexp.MustCompile(`[^\x00-\x7f]+`)
)

// longestReason limits what is kept of a reason, in bytes.
const longestReason = 500

// scrub leaves out what may be a value or an address: quoted texts, addresses, URLs, long numbers, and letters that
// messages of Locus do not have.
func scrub(text string) string {
	for _, of := range []*regexp.Regexp{quoted, address, digits, letters} {
		text = of.ReplaceAllString(text, "_")
	}
	return text[:min(len(text), longestReason)]
}

// plain is scrub for a word: one that is not like a name of a part is left out.
func plain(text string) string {
	if len(text) > 200 || quoted.MatchString(text) || strings.Contains(text, "://") ||
		strings.Contains(text, "locus_tok_") {
		return scrub(text)
	}
	return text
}

// stackLine matches a line of the trace of a panic: a function, or a place in the source.
var stackLine = regexp.MustCompile(`^goroutine \d+ |^\t\S+\.go:\d+|^[\w./*()\[\]-]+\(|^created by \S+`)

// siftLine returns a line of a log, as JSON or as text, without what sift leaves out.
func siftLine(line string) string {
	line = strings.TrimSuffix(line, "\r")
	var fields map[string]any
	if begin := strings.IndexByte(line, '{'); begin >= 0 && json.Unmarshal([]byte(line[begin:]), &fields) == nil {
		text, err := json.Marshal(sift("", fields))
		if err == nil {
			return string(text)
		}
	}
	if pairs := logfmt(line); pairs != nil {
		whole := map[string]any{}
		for _, p := range pairs {
			whole[p[0]] = p[1]
		}
		left, _ := sift("", whole).(map[string]any)
		var b strings.Builder
		for i, p := range pairs {
			if i > 0 {
				b.WriteByte(' ')
			}
			if numeral.MatchString(p[1]) {
				left[p[0]] = p[1]
			}
			fmt.Fprintf(&b, "%s=%q", p[0], left[p[0]])
		}
		return b.String()
	}
	if place := stackLine.FindString(line); place != "" {
		return place
	}
	if line == "" {
		return ""
	}
	return fmt.Sprintf("(%d bytes left out)", len(line))
}

// numeral matches a value in a line of text that is a number or a truth value.
var numeral = regexp.MustCompile(`^(?:-?\d{1,9}(?:\.\d+)?|true|false)$`)

// logField matches a field of a line of text.
var logField = regexp.MustCompile(`(?:^|\s)([a-zA-Z_][\w.]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)`)

// logfmt returns the fields of a line that slog has written as text, from its time on; nil if it is none.
func logfmt(line string) (pairs [][2]string) {
	begin := strings.Index(line, "time=")
	if begin < 0 || !strings.Contains(line, " level=") || !strings.Contains(line, " msg=") {
		return nil
	}
	for _, m := range logField.FindAllStringSubmatch(line[begin:], -1) {
		text := m[2]
		if strings.HasPrefix(text, `"`) {
			_ = json.Unmarshal([]byte(text), &text) // else it stays as it was written
		}
		pairs = append(pairs, [2]string{m[1], text})
	}
	return pairs
}
