// SPDX-License-Identifier: Apache-2.0

// Package explain says why: what holds an entity together, why two records are one or two, how an entity came to be and
// what its history is, what would be if something were otherwise, and by which cells an address is found. The code that
// decided is asked again, so an explanation is the decision.
//
// Use it through DB.Explain of package locus.
package explain
