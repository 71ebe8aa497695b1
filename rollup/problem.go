// SPDX-License-Identifier: Apache-2.0

package rollup

import "github.com/locus-db/locus/internal/problem"

// InvalidError lists every problem of a definition. It is locus.InvalidError.
type InvalidError = problem.InvalidError

// Problem is one problem of a definition. It is locus.Problem.
type Problem = problem.Problem

func invalid(problems []Problem) error {
	return &InvalidError{Problems: problems, Definition: "rollup"}
}
