// SPDX-License-Identifier: Apache-2.0

package spell

import (
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxEdits is the maximum distance that is searched.
const MaxEdits = 2

// Edits returns how many typing errors are tolerated in a word: none in up to 2 letters, one in up to 5, two in longer
// words. None are tolerated in a word with a digit or with Han characters, because a different character makes a
// different word.
func Edits(word string) int {
	letters := 0
	for _, r := range word {
		switch {
		case unicode.IsNumber(r), unicode.Is(unicode.Han, r):
			return 0
		case !unicode.Is(unicode.Mn, r): // a mark belongs to the letter before it
			letters++
		}
	}
	switch {
	case letters <= 2:
		return 0
	case letters <= 5:
		return 1
	}
	return 2
}

// List is a sorted list of different words. It does not change, so any number of goroutines may use it. The zero List
// is empty.
type List struct {
	text   string
	ends   []uint32 // of each word in text
	shared []uint8  // how many bytes each word shares with the one before, at most 255
	least  []uint8  // the least of them in each block of words
}

// block is how many words a search skips at a time.
const block = 32

// Word is a word of a list, its position and its distance from another one.
type Word struct {
	Text  string
	At    int
	Edits int
}

// Builder makes a List. The zero Builder is empty.
type Builder struct {
	text   strings.Builder
	last   string
	ends   []uint32
	shared []uint8
	least  []uint8
}

// maxText is the maximum size of a list, so that offsets fit.
const maxText = 1 << 30

// Add adds a word, which must be greater than the one before, and reports whether the list has it. Words that are never
// proposed, such as numbers, are left out, and so is every word once the list has a size of 1 GiB.
func (b *Builder) Add(word string) bool {
	proposed := utf8.ValidString(word) && !strings.ContainsFunc(word, func(r rune) bool {
		return unicode.IsNumber(r) || unicode.Is(unicode.Han, r)
	})
	if !proposed || word <= b.last || b.text.Len()+len(word) > maxText {
		return false
	}
	b.text.WriteString(word)
	n := 0
	for n < min(len(word), len(b.last), math.MaxUint8) && word[n] == b.last[n] {
		n++
	}
	if at := len(b.shared) / block; at == len(b.least) {
		b.least = append(b.least, uint8(n))
	} else {
		b.least[at] = min(b.least[at], uint8(n))
	}
	b.shared = append(b.shared, uint8(n))
	b.ends = append(b.ends, uint32(b.text.Len()))
	b.last = strings.Clone(word)
	return true
}

// List returns the list. The Builder must not be used afterwards.
func (b *Builder) List() *List { return &List{b.text.String(), b.ends, b.shared, b.least} }

// Len returns the number of words.
func (l *List) Len() int { return len(l.ends) }

// Bytes returns the memory that the list takes.
func (l *List) Bytes() int { return len(l.text) + 4*cap(l.ends) + cap(l.shared) + cap(l.least) }

// At returns a word by its position.
func (l *List) At(i int) string {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]]
}

// Find returns the position of a word, and whether the list has it.
func (l *List) Find(word string) (at int, found bool) {
	at = sort.Search(l.Len(), func(i int) bool { return l.At(i) >= word })
	return at, at < l.Len() && l.At(at) == word
}

// Prefixed returns the positions of the words that begin with a prefix: from one up to, and without, another.
func (l *List) Prefixed(prefix string) (from, to int) {
	from, _ = l.Find(prefix)
	n := sort.Search(l.Len()-from, func(i int) bool { return !strings.HasPrefix(l.At(from+i), prefix) })
	return from, from + n
}
