// SPDX-License-Identifier: Apache-2.0

// Package problem defines the errors that callers of Locus act on: nine classes, and the list of problems of an invalid
// input. Libraries and interfaces use the same ones.
package problem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The classes of errors, which package locus exports and documents. Every error that a caller can act on wraps one.
var (
	ErrNotFound      = errors.New("locus: not found")
	ErrErased        = errors.New("locus: erased")
	ErrInvalid       = errors.New("locus: invalid input")
	ErrConflict      = errors.New("locus: conflict")
	ErrTrimmed       = errors.New("locus: changes were trimmed")
	ErrUnavailable   = errors.New("locus: unavailable")
	ErrOverloaded    = errors.New("locus: overloaded")
	ErrClosed        = errors.New("locus: closed")
	ErrCommitUnknown = errors.New("locus: commit unknown")
)

// Class returns an error of a class, with a text of its own.
func Class(class error, text string) error { return &classed{class, text} }

type classed struct {
	class error
	text  string
}

func (e *classed) Error() string { return e.text }
func (e *classed) Unwrap() error { return e.class }

// Problem is one problem of an input: of a record, a hit, a query, a definition.
type Problem struct {
	Code    string `json:"code"`   // stable: invalid, invalid_utf8, unknown_attribute, in_future, too_large, ...
	Detail  string `json:"detail"` // for people; suggests a fix
	Pointer string `json:"pointer"`
	Line    int    `json:"line,omitempty" doc:"Line of the body, if it is read by lines"` // from 1; 0 if unknown
}

// New returns a problem of the field at a JSON pointer (RFC 6901) such as /attributes/phones/0, "" for the input as a
// whole.
func New(pointer, code, detail string) Problem {
	return Problem{Code: code, Detail: detail, Pointer: pointer}
}

var (
	escapes   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// Pointer returns the JSON pointer to a field, given the names that lead to it.
func Pointer(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + escapes.Replace(name))
	}
	return b.String()
}

// Names returns the names that lead to the field; nil for the input as a whole.
func (p Problem) Names() []string {
	if p.Pointer == "" {
		return nil
	}
	names := strings.Split(strings.TrimPrefix(p.Pointer, "/"), "/")
	for i, name := range names {
		names[i] = unescapes.Replace(name)
	}
	return names
}

// Field returns the path of the field for people, such as measures.weight.scale; "" for the input as a whole.
func (p Problem) Field() string { return strings.Join(p.Names(), ".") }

// String returns the problem in one line, with at most 60 bytes of the path.
func (p Problem) String() string {
	text := p.Detail
	if field := Clip(p.Field()); field != "" {
		text = field + ": " + text
	}
	switch {
	case p.Line == 0:
		return text
	case p.Pointer == "":
		return fmt.Sprintf("line %d: %s", p.Line, text)
	}
	return fmt.Sprintf("line %d, %s", p.Line, text)
}

// Join returns several problems in one line.
func Join(problems []Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// Sort sorts problems by line and field.
func Sort(problems []Problem) {
	slices.SortStableFunc(problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Pointer, y.Pointer))
	})
}

// Clip shortens a hostile value to at most 60 bytes, for a message.
func Clip(s string) string {
	const limit = 60
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "�")
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// InvalidError lists every problem of an input. Nothing was applied.
type InvalidError struct {
	Problems []Problem
	// Definition is the kind of definition in the input, such as rollup; "" if it is not a definition.
	Definition string
}

// Error lists every problem.
func (e *InvalidError) Error() string {
	if e.Definition != "" {
		return "the definition of the " + e.Definition + " is not valid: " + Join(e.Problems)
	}
	return cmp.Or(Join(e.Problems), ErrInvalid.Error())
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Invalid returns an InvalidError with one problem.
func Invalid(pointer, code, format string, args ...any) *InvalidError {
	return &InvalidError{Problems: []Problem{New(pointer, code, fmt.Sprintf(format, args...))}}
}

// At returns err with the pointer of every problem replaced, if it is an InvalidError. Use it to attribute a bad
// address to the field that contained it.
func At(pointer string, err error) error {
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		for i := range invalid.Problems {
			invalid.Problems[i].Pointer = pointer
		}
	}
	return err
}

// Within returns err with pointer prepended to the pointer of every problem, if it is an InvalidError. Use it to report
// a problem of a part as one of the whole.
func Within(pointer string, err error) error {
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		for i := range invalid.Problems {
			invalid.Problems[i].Pointer = pointer + invalid.Problems[i].Pointer
		}
	}
	return err
}
