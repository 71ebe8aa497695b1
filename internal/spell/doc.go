// SPDX-License-Identifier: Apache-2.0

// Package spell finds the words of a list that a misspelled word may have been meant as.
//
//	dorr ──► List.Within(dorr, 1) ──► door 1, dora 1, dorr 0
//
// The distance of two words is the number of typing errors between them: a letter that is missing, added, wrong, or two
// neighbours that changed places (optimal string alignment). A list is sorted, so words with the same beginning are
// neighbours, and the walk over it is a walk over a tree of beginnings: it computes the row of distances of a beginning
// once for all words that have it, and skips them all if no continuation can be near enough. A list is one text and an
// offset per word, about 14 bytes a word.
package spell
