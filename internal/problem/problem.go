// SPDX-License-Identifier: Apache-2.0

// Package problem describes what is wrong with an input, field by field, in one format for every noun and interface.
package problem

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one fault of an input.
type Problem struct {
	Pointer string `json:"pointer"` // JSON pointer to the field, such as /attributes/phones/0
	Code    string `json:"code"`    // invalid, invalid_utf8, unknown_field, in_future, too_large, ...
	Message string `json:"message"`
}

// InvalidError lists why a record, a key or a query was rejected. Nothing was applied.
type InvalidError struct{ Problems []Problem }

// Error lists every problem.
func (e *InvalidError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.Pointer)
		b.WriteString(": ")
		b.WriteString(p.Message)
	}
	return b.String()
}

// Invalid returns an InvalidError with one problem.
func Invalid(pointer, code, format string, args ...any) *InvalidError {
	return &InvalidError{[]Problem{{pointer, code, fmt.Sprintf(format, args...)}}}
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

// New returns a problem.
func New(pointer, code, message string) Problem { return Problem{pointer, code, message} }
