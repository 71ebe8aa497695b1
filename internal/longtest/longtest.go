// SPDX-License-Identifier: Apache-2.0

// Package longtest says how much of an exhaustive test runs. The gate takes a sample of its cases, always the
// same one; make test/long takes them all.
//
//	for n := 0; n < cases; n += longtest.Stride(5) { ... }
package longtest

import "os"

// On reports whether LOCUS_LONG is set, as make test/long sets it.
func On() bool { return os.Getenv("LOCUS_LONG") != "" }

// Stride is how far it is from one case to the next: sample in the gate, 1 in a long run.
func Stride(sample int) int { return Times(sample, 1) }

// Times is how often a case is repeated: gate in the gate, long in a long run.
func Times(gate, long int) int {
	if On() {
		return long
	}
	return gate
}
