// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Rows of two files that have rare words in common, in any columns, are probably of one thing. They show which columns
// mean the same, and which of them together name the things.

const (
	// partnerRows is how many rows of a file look for a partner, and mostPartners how many pairs of two files count.
	partnerRows, mostPartners = 400, 150
	// fewPartners is the number of pairs below which they show nothing.
	fewPartners = 20
	// commonWord is the share of the rows of a file, as one in so many, that have a word that finds no partners.
	commonWord = 5
	// longValue is the length from which a value is a text that finds no partners.
	longValue = 200
)

// partners are the pairs of rows of two files that are probably of one thing.
type partners struct {
	files [2]int
	pairs [][2]map[string][]string // the words of their columns
	rare  map[string]float64       // how rare a word is, as the logarithm of a share
}

// findPartners finds the partners of the rows of two files.
func (s *Suggester) findPartners(a, b int) *partners {
	p := &partners{files: [2]int{a, b}}
	keys := [2]*column{s.key(a), s.key(b)}
	var rows [2][]map[string][]string
	for i, fields := range s.rows {
		for side, file := range p.files {
			if s.files[i] == file {
				rows[side] = append(rows[side], wordsOf(fields, keys[side]))
			}
		}
	}
	with := map[string][]int{} // rows of b
	count := map[string]int{}
	var sets [2][][]string
	for side := range rows {
		for i, row := range rows[side] {
			set := allWords(row)
			sets[side] = append(sets[side], set)
			for _, w := range set {
				count[w]++
				if side == 1 {
					with[w] = append(with[w], i)
				}
			}
		}
	}
	p.rare = make(map[string]float64, len(count))
	for w, n := range count {
		p.rare[w] = math.Log(float64(len(rows[0])+len(rows[1])+1) / float64(n))
	}
	size := make([]float64, len(rows[1]))
	for i, set := range sets[1] {
		size[i] = math.Sqrt(p.weight(set)) + 1
	}
	type found struct {
		a, b  int
		clear float64 // how much more the partner has in common than the next one
	}
	var all []found
	common := make([]float64, len(rows[1]))
	for i := range min(len(rows[0]), partnerRows) {
		var touched []int
		for _, w := range sets[0][i] {
			if len(with[w])*commonWord > len(rows[1]) {
				continue
			}
			for _, j := range with[w] {
				if common[j] == 0 {
					touched = append(touched, j)
				}
				common[j] += p.rare[w]
			}
		}
		best, second, at := 0.0, 0.0, 0
		for _, j := range touched {
			if is := common[j] / size[j]; is > best {
				best, second, at = is, best, j
			} else {
				second = max(second, is)
			}
			common[j] = 0
		}
		if best > second {
			all = append(all, found{i, at, (best - second) / math.Sqrt(p.weight(sets[0][i])+1)})
		}
	}
	slices.SortStableFunc(all, func(x, y found) int { return cmp.Compare(y.clear, x.clear) })
	taken := map[int]bool{}
	for _, f := range all[:len(all)/2] {
		if !taken[f.b] && len(p.pairs) < mostPartners {
			taken[f.b] = true
			p.pairs = append(p.pairs, [2]map[string][]string{rows[0][f.a], rows[1][f.b]})
		}
	}
	return p
}

// weight is the sum of how rare some words are.
func (p *partners) weight(words []string) (sum float64) {
	for _, w := range words {
		sum += p.rare[w]
	}
	return sum
}

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

// allPartners are the partners of each two files, if they are enough to show anything. Of many files only the first few
// look for partners.
func (s *Suggester) allPartners() (all []*partners) {
	const mostFiles = 4
	var files []int
	for _, f := range s.files {
		if !slices.Contains(files, f) && len(files) < mostFiles {
			files = append(files, f)
		}
	}
	for i, b := range files {
		for _, a := range files[:i] {
			if p := s.findPartners(a, b); len(p.pairs) >= fewPartners {
				all = append(all, p)
			}
		}
	}
	return all
}

// side returns which of the two files a file is, -1 for none.
func (p *partners) side(file int) int { return slices.Index(p.files[:], file) }

// of returns the words of some columns in a row, each once.
func (p *partners) of(row map[string][]string, columns []*column) []string {
	if len(columns) == 1 {
		return row[columns[0].name]
	}
	some := map[string][]string{}
	for _, c := range columns {
		some[c.name] = row[c.name]
	}
	return allWords(some)
}

// agree returns how much columns of the two files have in common: how rare the words are that both have, less half of
// how rare those are that one has.
func (p *partners) agree(a, b []*column) (sum float64) {
	for _, pair := range p.pairs {
		x, y := p.of(pair[0], a), p.of(pair[1], b)
		sum += 2*p.common(x, y) - (p.weight(x)+p.weight(y))/2
	}
	return sum / float64(len(p.pairs))
}

// common is how rare the words are that two lists have in common.
func (p *partners) common(x, y []string) (sum float64) {
	for i, w := range x {
		if slices.Contains(y, w) && !slices.Contains(x[:i], w) {
			sum += p.rare[w]
		}
	}
	return sum
}

const (
	// equalPercent of the partners have the same value in two columns that mean the same, and oftener is how many times
	// more than rows that are no partners.
	equalPercent, oftener = 50, 2
)

// equalOfPartners returns the percentage of partners with the same value in two columns, 0 if they do not mean the same.
func (s *Suggester) equalOfPartners(a, b *column) int {
	for _, p := range s.partners {
		x, y := a, b
		if !x.files[p.files[0]] {
			x, y = b, a
		}
		if !x.files[p.files[0]] || !y.files[p.files[1]] {
			continue
		}
		both, equal, any := 0, 0, 0
		for i, pair := range p.pairs {
			of := pair[0][x.name]
			with := pair[1][y.name]
			if of == nil || with == nil {
				continue
			}
			both++
			if equalWords(of, with) {
				equal++
			}
			if equalWords(of, p.pairs[(i+1)%len(p.pairs)][1][y.name]) {
				any++
			}
		}
		if both >= fewPartners && equal*100 >= both*equalPercent && equal >= oftener*any {
			return equal * 100 / both
		}
	}
	return 0
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
