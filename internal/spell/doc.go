// SPDX-License-Identifier: Apache-2.0

// Package spell finds the words of a list that a misspelled word may stand for.
//
//	dorr ──► List.Within(dorr, 1) ──► door 1, dora 1, dorr 0
//
// The distance of two words is the number of typing errors between them: a letter that is missing, added, wrong, or two
// neighbours that changed places (optimal string alignment). A list is sorted, so words with the same beginning are
// neighbours: the row of distances of a beginning is computed once for all words that have it, and all of them are
// skipped if no continuation can be close enough. To this end the list stores how many characters each word shares with
// the previous one. A list is one text and five bytes per word, about 15 bytes per word in all.
package spell
