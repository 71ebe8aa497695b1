// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"

	"github.com/locus-db/locus/cell"
)

// ErrUnknownOutcome is wrapped by errors after which a write may or may not have happened. Any other error
// of a write means that it did not.
var ErrUnknownOutcome = cell.ErrUnknownOutcome

var (
	// ErrRules means that a kind cannot be changed in the requested way; the text gives the reason.
	ErrRules = errors.New("resolve: the kind cannot be changed like that")
	// ErrSwitching means that another switch of a kind must finish first.
	ErrSwitching = errors.New("resolve: another switch is not finished")
)

// ErrUnavailable is wrapped by errors of a cell that accepts no work: it is closed, its disk failed, or
// another program holds it. Nothing was written.
var ErrUnavailable = cell.ErrUnavailable
