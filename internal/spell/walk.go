// SPDX-License-Identifier: Apache-2.0

package spell

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"
)

// longest is the maximum length of a word that is corrected, in characters.
const longest = 48

// walk is a search over a list.
type walk struct {
	list  *List
	word  []rune
	edits int
	// path are the characters of the current word, and sizes[d] is the length of its first d in bytes. rows[d] are the
	// distances of these from each beginning of word; distances further than edits from the diagonal are too large to
	// matter, and are not computed.
	path  [longest + MaxEdits + 1]rune
	sizes [longest + MaxEdits + 2]int
	rows  [longest + MaxEdits + 2][longest + 3]uint8
	found []Word
}

// Within returns the words of the list within a distance of at most edits from a word, which is at most MaxEdits: the
// nearest first, then words that begin with the same letter, then words of the same length, then in order. The word
// itself is among them if the list has it. At most limit words are returned.
func (l *List) Within(word string, edits, limit int) []Word {
	edits = min(edits, MaxEdits)
	w := &walk{list: l, word: []rune(word), edits: edits}
	if len(w.word) == 0 || len(w.word) > longest || edits < 0 {
		return nil
	}
	for j := range w.rows[0] {
		w.rows[0][j] = uint8(j)
	}
	w.all()
	slices.SortFunc(w.found, func(a, b Word) int {
		return cmp.Or(cmp.Compare(a.Edits, b.Edits), cmp.Compare(w.strange(a.Text), w.strange(b.Text)),
			cmp.Compare(a.Text, b.Text))
	})
	return slices.Clone(w.found[:min(len(w.found), limit)])
}

// strange is smaller for words with the same first letter as the word, and then for words of the same length: few
// errors are in the first letter, and a wrong letter is more frequent than a missing one.
func (w *walk) strange(text string) (n int) {
	if first, _ := utf8.DecodeRuneInString(text); first != w.word[0] {
		n = 2
	}
	if utf8.RuneCountInString(text) != len(w.word) {
		n++
	}
	return n
}

// all visits the words in order. It does not compute again what a word shares with the previous one, and skips words
// with a beginning from which no word is close enough.
func (w *walk) all() {
	// how many rows of the previous word are still valid, and the length of the beginning to skip
	depth, far := 0, math.MaxInt
	shared := w.list.shared
	for at, least := range w.list.least {
		if int(least) >= far {
			continue
		}
		for i := at * block; i < min((at+1)*block, len(shared)); i++ {
			if int(shared[i]) >= far {
				continue
			}
			for depth > 0 && w.sizes[depth] > int(shared[i]) {
				depth--
			}
			depth, far = w.one(i, depth)
		}
	}
}

// one visits a word, whose first depth characters already have rows. It returns how many characters have rows
// afterwards, and the length of the shortest beginning from which no word is close enough, or a larger number if there
// is none.
func (w *walk) one(at, depth int) (rows, far int) {
	text := w.list.At(at)
	for size := w.sizes[depth]; size < len(text); depth++ {
		next, n := utf8.DecodeRuneInString(text[size:])
		size += n
		if depth == len(w.word)+w.edits {
			return depth, size
		}
		w.path[depth], w.sizes[depth+1] = next, size
		if !w.step(depth + 1) {
			return depth + 1, size
		}
	}
	if n := int(w.rows[depth][len(w.word)]); depth > 0 && len(w.word)-depth <= w.edits && n <= w.edits {
		w.found = append(w.found, Word{text, at, n})
	}
	return depth, math.MaxInt
}

// step computes the row of the path's first d characters, and reports whether any of its distances is small enough.
func (w *walk) step(d int) (near bool) {
	const far = MaxEdits + 1
	row, above := &w.rows[d], &w.rows[d-1]
	from, to := max(1, d-w.edits), min(len(w.word), d+w.edits)
	row[0] = uint8(d)
	if from > 1 {
		row[from-1] = far
	}
	near = from == 1 && d <= w.edits
	for j := from; j <= to; j++ {
		n := above[j-1]
		if w.word[j-1] != w.path[d-1] {
			n++
		}
		if j < d+w.edits { // otherwise above has not computed it
			n = min(n, above[j]+1)
		}
		n = min(n, row[j-1]+1)
		if d > 1 && j > 1 && w.word[j-1] == w.path[d-2] && w.word[j-2] == w.path[d-1] {
			n = min(n, w.rows[d-2][j-2]+1)
		}
		row[j] = n
		near = near || int(n) <= w.edits
	}
	return near
}
