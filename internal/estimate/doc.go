// SPDX-License-Identifier: Apache-2.0

// Package estimate estimates precision and recall from answers about pairs that were drawn at random.
//
//	pairs ──► strata, such as "in one entity, 5 to 9 bits"
//	              │ drawn at random, answered by people
//	              ▼
//	          Stratum ──► Quality ──► Estimate: precision and recall, each with an interval
//
// Pairs are divided into strata, since pairs with little evidence are wrong more often and are worth more questions.
// Each stratum has an unknown share of pairs that are the same thing, about which the answers give evidence. The shares
// are drawn many times from the distributions that the answers leave possible, and precision and recall are computed
// for each draw. An interval spans the middle of the results.
//
// The distribution for s of n answers is the confidence distribution of Clopper and Pearson, halfway between its two
// limits (mid-P): it includes 1 if all answers are "the same", and spans 0 to 1 without answers. Simulations in the
// tests show how often the intervals contain the truth.
package estimate
