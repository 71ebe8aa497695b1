// SPDX-License-Identifier: Apache-2.0

// Package eval measures the quality of matching on labelled sets, and keeps the labels out of the matching.
//
//	labelled file ──► records   mapped columns only; ids, classes, sources, confidence never
//	     │               │
//	     │               ▼
//	     │            match     one fixed table; token counts over distinct records, no labels
//	     │               │
//	     ▼               ▼
//	   truth  ──────► judge ──► Report: P, R, F1 with intervals, curve, blocking, worst errors
//
// There are three main protocols: [Pairs] decides given pairs; [Tables] finds pairs across two tables by shared
// blocking keys; [Clusters] resolves one table as a resolver would, and counts pairs inside clusters. [All] runs every
// set of the data folder with frozen columns and compares it with a [Baseline]. A [Configuration] selects the source of
// the weights: the kind, the set without its labels, or answers about some pairs. It may add the questions of locus
// judge, asked of a judge that errs.
//
// Safeguards against wrong figures:
//   - Forbidden columns cannot be mapped. Rows are named by the hash of their
//     content, so neither an id nor the order of rows can influence ties.
//   - Intervals come from a bootstrap over entities, not over pairs, with 2,000
//     draws and a fixed seed.
//   - Pairs lost by blocking count as missed, in F1 and average precision.
//   - Each report says what was tuned on its set.
package eval
