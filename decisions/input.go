// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
)

// check returns the problems of an input: missing or extra parts for its verdict, and unreadable text.
func (d *Input) check() (problems []problem.Problem) {
	note := func(pointer, code, format string, args ...any) {
		problems = append(problems, problem.New(pointer, code, fmt.Sprintf(format, args...)))
	}
	pair, value := false, false
	switch d.Verdict {
	case entity.VerdictSame, entity.VerdictDifferent:
		pair = true
	case entity.VerdictValue:
		value = true
	case entity.VerdictAnchor:
	default:
		note("/verdict", "invalid", "%.60q is not a verdict: want same, different, anchor or value", string(d.Verdict))
		return problems
	}
	switch {
	case d.A == "":
		note("/a", "required", "the record that it is about is missing")
	case pair && d.B == "":
		note("/b", "required", "verdict %s is about two records: the other one is missing", d.Verdict)
	case !pair && d.B != "":
		note("/b", "invalid", "verdict %s is about one record", d.Verdict)
	}
	switch {
	case value && d.Attribute == "":
		note("/attribute", "required", "the attribute is missing")
	case value && d.Value == "" && !d.Withdraw:
		note("/value", "required", "the value is missing")
	case !value && d.Attribute+d.Value != "":
		note("/attribute", "invalid", "verdict %s is about no attribute", d.Verdict)
	}
	for _, text := range []struct {
		pointer, text string
		most          int
	}{{"/author", d.Author, MaxAuthor}, {"/by", d.By, MaxBy}, {"/reason", d.Reason, MaxReason}} {
		switch {
		case len(text.text) > text.most:
			note(text.pointer, "too_large", "%d bytes, at most %d are taken", len(text.text), text.most)
		case !utf8.ValidString(text.text):
			note(text.pointer, "invalid_utf8", "it is not valid UTF-8")
		case strings.ContainsFunc(text.text, unicode.IsControl):
			note(text.pointer, "invalid", "it holds a control character")
		}
	}
	return problems
}

// checkValue returns the problems of a value for an attribute of a kind, as for a record.
func (h *Handle) checkValue(kind, attribute, value string) (problems []problem.Problem) {
	for _, p := range h.engine.Schema(kind).Check(match.Attributes{attribute: {value}}) {
		switch {
		case p.Code == match.CodeUnknown:
			problems = append(problems, problem.New("/attribute", p.Code, p.Detail))
		case p.Pointer == problem.Pointer(attribute):
			problems = append(problems, problem.New("/value", p.Code, p.Detail))
		}
	}
	if problems == nil && h.engine.Kind(kind).Matcher.NormaliseValue(attribute, value) == "" {
		problems = []problem.Problem{problem.New("/value", "invalid", fmt.Sprintf("%.60q is empty", value))}
	}
	return problems
}
