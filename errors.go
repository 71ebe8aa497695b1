// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"errors"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

var (
	// ErrUnknownOutcome is wrapped by errors after which the work may or may not have been done. All other errors mean
	// that nothing was applied.
	ErrUnknownOutcome = resolve.ErrUnknownOutcome
	// ErrReadOnly means that the service was opened to read only: nothing was applied.
	ErrReadOnly = errors.New("locus: opened to read only")
	// ErrClosed means that the service is closing or closed.
	ErrClosed = errors.New("locus: closed")
	// ErrOverloaded means that the queue of writes is full; nothing was applied, try again later.
	ErrOverloaded = errors.New("locus: overloaded")
	// ErrUnavailable means that a cell does not answer, or that the consequences of a failed write have to be worked out first.
	ErrUnavailable = cell.ErrUnavailable
)

// Problem is one thing wrong with an input.
type Problem struct {
	Pointer string `json:"pointer"` // JSON pointer to the field, such as /attributes/phones/0
	Code    string `json:"code"`    // invalid, invalid_utf8, unknown_field, in_future, too_large, ...
	Message string `json:"message"`
}

// InvalidError says why a record, a key or a query was refused. Nothing was applied.
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
