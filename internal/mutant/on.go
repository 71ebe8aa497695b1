// SPDX-License-Identifier: Apache-2.0

//go:build mutants

package mutant

import "os"

var chosen = os.Getenv("LOCUS_MUTANT")

// On tells whether the environment chose this bug.
func On(bug string) bool { return chosen == bug }
