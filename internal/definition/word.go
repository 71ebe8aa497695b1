// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"fmt"
	"strings"

	"github.com/locus-db/locus/internal/problem"
)

// Meant returns the end of a sentence about an unknown word: a suggestion of the word that was probably meant, ""
// if none is similar.
func Meant(word string, words []string) string {
	if best := Nearest(word, words); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Nearest returns the most similar of words, which are in lower case, "" if none is similar: at most one edit
// plus one for every four bytes.
func Nearest(word string, words []string) string {
	word = strings.ToLower(problem.Clip(word))
	best, least := "", 1+len(word)/4
	for _, w := range words {
		if d := distance(word, w); d <= least {
			best, least = w, d-1
		}
	}
	return best
}

// distance is the Levenshtein distance of two words in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal, row[j+1] = row[j+1], min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
