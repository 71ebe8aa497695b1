// SPDX-License-Identifier: Apache-2.0

package rollup

import "github.com/locus-db/locus/internal/definition"

// InvalidError says everything that is wrong with a definition.
type InvalidError struct{ Problems []Problem }

// Problem is one thing that is wrong with a definition.
type Problem = definition.Problem

// Error is all of it in one line.
func (e *InvalidError) Error() string {
	return "rollup: the definition is not valid: " + definition.Join(e.Problems)
}
