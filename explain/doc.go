// SPDX-License-Identifier: Apache-2.0

// Package explain explains results: what holds an entity together, why two records are in one entity or in two, how an
// entity was formed and changed, what would change under other conditions, and which cells serve an address. It runs
// the code that made the decision, so explanations cannot differ from decisions.
//
// Use it through DB.Explain of package locus.
package explain
