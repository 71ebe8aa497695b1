// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
	"unicode"
)

// wordsOf returns the words of the columns of a row other than its key.
func wordsOf(fields []Field, key *column) map[string][]string {
	row := map[string][]string{}
	for _, f := range fields {
		if key != nil && f.Name == key.name {
			continue
		}
		var words []string
		for _, v := range f.Values {
			if len(v) <= longValue && formOf(v) != formURL {
				words = append(words, partWords(v)...)
			}
		}
		for _, w := range words {
			if !slices.Contains(row[f.Name], w) {
				row[f.Name] = append(row[f.Name], w)
			}
		}
	}
	return row
}

// allWords returns the different words of a row.
func allWords(row map[string][]string) (all []string) {
	for _, words := range row {
		all = append(all, words...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// partWords returns the words of a value, folded. A number and a unit behind it are two words, and a number has no zeros
// that do not count: 009, 10.0, 54,118.
func partWords(v string) (words []string) {
	runes := []rune(strings.ToLower(v))
	class := func(i int) int {
		switch {
		case i < 0 || i >= len(runes):
			return 0
		case unicode.IsDigit(runes[i]):
			return 1
		case unicode.IsLetter(runes[i]):
			return 2
		}
		return 0
	}
	for i := 0; i < len(runes); {
		of := class(i)
		if of == 0 {
			i++
			continue
		}
		var word []rune
		for i < len(runes) {
			if class(i) == of {
				word = append(word, runes[i])
			} else if of != 1 || class(i+1) != 1 || runes[i] != '.' && runes[i] != ',' {
				break
			} else if runes[i] == '.' {
				word = append(word, '.')
			}
			i++
		}
		w := string(word)
		if of == 1 {
			if strings.Contains(w, ".") {
				w = strings.TrimRight(strings.TrimRight(w, "0"), ".")
			}
			w = strings.TrimLeft(w, "0")
		}
		if w != "" {
			words = append(words, w)
		}
	}
	return words
}

// equalWords reports whether two values have the same words. Beside a number of the other a unit or a currency does not
// count.
func equalWords(x, y []string) bool {
	if slices.Equal(x, y) {
		return true
	}
	n, ok := onlyNumber(x)
	m, is := onlyNumber(y)
	return ok && is && n == m
}

// onlyNumber returns the number in a value that has no other.
func onlyNumber(words []string) (number string, ok bool) {
	for _, w := range words {
		if !unicode.IsDigit(rune(w[0])) {
			continue
		}
		if ok {
			return "", false
		}
		number, ok = w, true
	}
	return number, ok
}
