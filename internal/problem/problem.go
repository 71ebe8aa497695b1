// SPDX-License-Identifier: Apache-2.0

// Package problem says what is wrong with an input, field by field, in one shape for every noun and every surface.
package problem

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one thing wrong with an input.
type Problem struct {
	Pointer string `json:"pointer"` // JSON pointer to the field, such as /attributes/phones/0
	Code    string `json:"code"`    // invalid, invalid_utf8, unknown_field, in_future, too_large, ...
	Message string `json:"message"`
}

// InvalidError lists why a record, a key or a query was refused. Nothing was applied.
type InvalidError struct{ Problems []Problem }

// Error names every problem.
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

// At returns err with the pointer of every problem replaced, if it is an InvalidError: what is wrong with an address is
// wrong with the field that held it.
func At(pointer string, err error) error {
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		for i := range invalid.Problems {
			invalid.Problems[i].Pointer = pointer
		}
	}
	return err
}

// Within returns err with pointer put before that of every problem, if it is an InvalidError: what is wrong with a part
// is wrong with the whole.
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
