// SPDX-License-Identifier: Apache-2.0

package problem

import "errors"

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
