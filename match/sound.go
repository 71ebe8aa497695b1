// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// sound returns a phonetic code of a word: Meyer, Maier and Mayr have the same.
func sound(word string) string {
	word = soundSpelling.Replace(word)
	var out [6]byte
	n := 0
	for i := 0; i < len(word) && n < len(out); i++ {
		c := word[i]
		switch {
		case c >= 0x80:
			return word // other scripts have no phonetic code
		case strings.IndexByte("aeiouyhw", c) >= 0:
			if i > 0 {
				continue
			}
			if c != 'h' && c != 'w' {
				c = 'a'
			}
		case c == 'c':
			if c = 'k'; i+1 < len(word) && strings.IndexByte("eiy", word[i+1]) >= 0 {
				c = 's'
			}
		case c == 'q':
			c = 'k'
		case c == 'z':
			c = 's'
		case c == 'v':
			c = 'f'
		case c == 'j':
			c = 'g'
		case c == 'd':
			c = 't'
		case c == 'b':
			c = 'p'
		case c == 'm':
			c = 'n'
		}
		if n == 0 || out[n-1] != c {
			out[n] = c
			n++
		}
	}
	return string(out[:n])
}

func soundKey(sound string) string {
	key := []rune(sound)
	slices.Sort(key)
	return string(key)
}

var soundSpelling = strings.NewReplacer("sch", "s", "sh", "s", "ch", "k", "ph", "f", "ck", "k", "kn", "n", "wr", "r", "th", "t", "gh", "g", "x", "ks")
