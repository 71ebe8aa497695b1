// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one problem of a definition.
type Problem struct {
	// Line of the text, from 1; 0 if unknown.
	Line int `json:"line,omitempty"`
	// Field is the path of the field, such as measures.weight.scale.
	Field string `json:"field"`
	Text  string `json:"text"` // for people; says what to try
}

// String returns the problem in one line.
func (p Problem) String() string {
	if p.Line == 0 {
		return Clip(p.Field) + ": " + p.Text
	}
	return fmt.Sprintf("line %d, %s: %s", p.Line, Clip(p.Field), p.Text)
}

// Join returns several problems in one line.
func Join(problems []Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// Sort sorts problems by line and field.
func Sort(problems []Problem) {
	slices.SortStableFunc(problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Field, y.Field))
	})
}

// Clip shortens a hostile value for a message, to at most 60 bytes of it.
func Clip(s string) string {
	const limit = 60
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "�")
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

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
	word = strings.ToLower(Clip(word))
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
