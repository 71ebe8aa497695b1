// SPDX-License-Identifier: Apache-2.0

// Package estimate estimates precision and recall from answers about pairs that were drawn by chance.
//
//	pairs ──► strata, such as "in one entity, 5 to 9 bits"
//	              │ drawn by chance, answered by people
//	              ▼
//	          Stratum ──► Quality ──► Estimate: precision and recall, each with an interval
//
// Pairs are divided into strata, since pairs with little evidence are wrong more often and are worth more questions.
// Each stratum has an unknown share of pairs that are the same thing, about which its answers say something. What
// precision and recall follow from these shares is computed by drawing the shares many times from what the answers leave
// open. An interval is what the middle of the results spans.
//
// What is left open by s of n answers is the confidence distribution of Clopper and Pearson, halfway between its two
// limits (mid-P): it reaches 1 where all answers are the same, and 0 to 1 without answers. Simulations in the tests show
// how often the intervals hold the truth.
package estimate
