// SPDX-License-Identifier: Apache-2.0

package spell

import (
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"
)

// longest is the maximum length of a word that is corrected, in characters.
const longest = 48

// walk is a search over a list.
type walk struct {
	list  *List
	word  []rune
	edits int
	// path are the characters of the current beginning. rows[d] are the distances of its first d characters from each
	// beginning of word; those further than edits from the diagonal are too large to matter, and are not computed.
	path  [longest + MaxEdits + 1]rune
	rows  [longest + MaxEdits + 2][longest + 3]uint8
	found []Word
}

// Within returns the words of the list within a distance of at most edits from a word, which is at most MaxEdits: the
// nearest first, then those that begin with the same letter, then those of the same length, then in order. The word
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
	w.under(0, l.Len(), 0, 0)
	slices.SortFunc(w.found, func(a, b Word) int {
		return cmp.Or(cmp.Compare(a.Edits, b.Edits), cmp.Compare(w.strange(a.Text), w.strange(b.Text)), cmp.Compare(a.Text, b.Text))
	})
	return slices.Clone(w.found[:min(len(w.found), limit)])
}

// strange is smaller for words whose first letter, and then whose length, is that of the word: few errors are in the
// first letter, and a wrong one is more frequent than a missing one.
func (w *walk) strange(text string) (n int) {
	if first, _ := utf8.DecodeRuneInString(text); first != w.word[0] {
		n = 2
	}
	if utf8.RuneCountInString(text) != len(w.word) {
		n++
	}
	return n
}

// under visits the words from lo up to hi, which share their first size bytes, that is depth characters.
func (w *walk) under(lo, hi, size, depth int) {
	if lo < hi && len(w.list.At(lo)) == size { // the beginning is itself a word, and the first of them
		if n := int(w.rows[depth][len(w.word)]); depth > 0 && len(w.word)-depth <= w.edits && n <= w.edits {
			w.found = append(w.found, Word{w.list.At(lo), n})
		}
		lo++
	}
	if depth == len(w.word)+w.edits {
		return
	}
	for lo < hi {
		next, n := utf8.DecodeRuneInString(w.list.At(lo)[size:])
		w.path[depth] = next
		near := w.step(depth + 1)
		end := w.end(lo, hi, size, n)
		if near {
			w.under(lo, end, size+n, depth+1)
		}
		lo = end
	}
}

// end returns the first word from lo on whose n bytes at a position differ from those of lo.
func (w *walk) end(lo, hi, at, n int) int {
	begins := w.list.At(lo)[at : at+n]
	after := func(i int) bool {
		word := w.list.At(i)
		return len(word) < at+n || word[at:at+n] != begins
	}
	far := 1 // most ends are near: look 1, 2, 4, ... words ahead before searching between the last two
	for lo+far < hi && !after(lo+far) {
		far *= 2
	}
	from, to := lo+far/2+1, min(lo+far, hi)
	if from >= to {
		return to
	}
	return from + sort.Search(to-from, func(i int) bool { return after(from + i) })
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
