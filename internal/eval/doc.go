// SPDX-License-Identifier: Apache-2.0

// Package eval measures the quality of matching on labelled sets, without ever
// letting the label in.
//
//	labelled file ──► records   mapped columns only; ids, classes, sources, confidence never
//	     │               │
//	     │               ▼
//	     │            match     one fixed table; token counts over distinct records, no labels
//	     │               │
//	     ▼               ▼
//	   truth  ──────► judge ──► Report: P, R, F1 with intervals, curve, blocking, worst errors
//
// Three protocols: [Pairs] decides about given pairs; [Tables] finds the pairs
// across two tables, by shared features; [Clusters] resolves one table as a
// resolver would and counts the pairs inside clusters. [All] runs every set of
// the data folder with frozen columns and compares with a [Baseline].
//
// What keeps the figures honest:
//   - Forbidden columns cannot be mapped. Rows are named by the hash of their
//     content, so neither an id nor the order of rows can leak through ties.
//   - Intervals come from a bootstrap over entities, not over pairs, 2,000
//     draws with a fixed seed.
//   - Pairs that blocking loses count as missed, in F1 and average precision.
//   - Each report says what was tuned on its set.
package eval
