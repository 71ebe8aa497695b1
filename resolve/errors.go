// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"

	"github.com/locus-db/locus/cell"
)

// ErrUnknownOutcome is wrapped by errors after which a write may or may not have been done. All
// other errors of a write mean that it was not.
var ErrUnknownOutcome = cell.ErrUnknownOutcome

var (
	// ErrRules says that a kind cannot be changed like that; the text says why.
	ErrRules = errors.New("resolve: the kind cannot be changed like that")
	// ErrSwitching says that another switch is not finished. It has to be before the next one.
	ErrSwitching = errors.New("resolve: another switch is not finished")
)

// ErrUnavailable is wrapped by errors of a cell that takes no work: it is closed, its disk
// failed, or another program holds it. Nothing was done.
var ErrUnavailable = cell.ErrUnavailable
