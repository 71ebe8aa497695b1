// SPDX-License-Identifier: Apache-2.0

package rollup

import "github.com/locus-db/locus/internal/definition"

// InvalidError lists every problem of a definition.
type InvalidError struct{ Problems []Problem }

// Problem is one problem of a definition.
type Problem = definition.Problem

// Error returns all problems in one line.
func (e *InvalidError) Error() string {
	return "rollup: the definition is not valid: " + definition.Join(e.Problems)
}
