// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"math"
	"slices"
)

// Rows of two files that have rare words in common, in any columns, are probably of one thing. They show which columns
// mean the same, and which of them together name the things.

const (
	// lookingRows is how many rows of a file look for a partner, and mostPartners how many pairs of two files count.
	lookingRows, mostPartners = 400, 150
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

// partnerRow are the words of a row: of its columns, and all of them.
type partnerRow struct {
	of  map[string][]string
	all []string
}

// partnerRows returns the words of the rows of a file.
func (s *Suggester) partnerRows(file int) (rows []partnerRow) {
	key := s.key(file)
	for i, fields := range s.rows {
		if s.files[i] == file {
			of := wordsOf(fields, key)
			rows = append(rows, partnerRow{of, allWords(of)})
		}
	}
	return rows
}

// findPartners finds the partners among the rows of two files: of the rows of the first file, those whose partner has
// clearly more in common with them than any other row of the second.
func findPartners(files [2]int, rows [2][]partnerRow) *partners {
	p := &partners{files: files}
	p.count(rows)
	other := p.newPartnerIndex(rows[1])
	type found struct {
		a, b  int
		clear float64
	}
	var all []found
	for i, row := range rows[0][:min(len(rows[0]), lookingRows)] {
		if j, clear := other.closest(row.all); clear > 0 {
			all = append(all, found{i, j, clear})
		}
	}
	slices.SortStableFunc(all, func(x, y found) int { return cmp.Compare(y.clear, x.clear) })
	taken := map[int]bool{}
	for _, f := range all[:len(all)/2] {
		if !taken[f.b] && len(p.pairs) < mostPartners {
			taken[f.b] = true
			p.pairs = append(p.pairs, [2]map[string][]string{rows[0][f.a].of, rows[1][f.b].of})
		}
	}
	return p
}

// count sets how rare the words of all rows are.
func (p *partners) count(rows [2][]partnerRow) {
	p.rare = map[string]float64{}
	for _, side := range rows {
		for _, row := range side {
			for _, w := range row.all {
				p.rare[w]++
			}
		}
	}
	all := float64(len(rows[0]) + len(rows[1]) + 1)
	for w, n := range p.rare {
		p.rare[w] = math.Log(all / n)
	}
}

// partnerIndex finds the rows of a file by their words.
type partnerIndex struct {
	*partners
	with   map[string][]int // the rows with a word
	size   []float64        // of each row
	common []float64        // of each row with the row that looks for a partner
}

func (p *partners) newPartnerIndex(rows []partnerRow) *partnerIndex {
	x := &partnerIndex{partners: p, with: map[string][]int{}, common: make([]float64, len(rows))}
	for i, row := range rows {
		for _, w := range row.all {
			x.with[w] = append(x.with[w], i)
		}
		x.size = append(x.size, math.Sqrt(p.weight(row.all))+1)
	}
	return x
}

// closest returns the row that has most in common with some words, and how much more that is than of the next one, 0 if
// there is no such row.
func (x *partnerIndex) closest(words []string) (row int, clear float64) {
	var touched []int
	for _, w := range words {
		if len(x.with[w])*commonWord > len(x.size) {
			continue
		}
		for _, j := range x.with[w] {
			if x.common[j] == 0 {
				touched = append(touched, j)
			}
			x.common[j] += x.rare[w]
		}
	}
	best, second := 0.0, 0.0
	for _, j := range touched {
		if is := x.common[j] / x.size[j]; is > best {
			best, second, row = is, best, j
		} else {
			second = max(second, is)
		}
		x.common[j] = 0
	}
	return row, (best - second) / math.Sqrt(x.weight(words)+1)
}

// weight is the sum of how rare some words are.
func (p *partners) weight(words []string) (sum float64) {
	for _, w := range words {
		sum += p.rare[w]
	}
	return sum
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
	if len(files) < 2 {
		return nil
	}
	var rows [][]partnerRow
	for i, b := range files {
		rows = append(rows, s.partnerRows(b))
		for j, a := range files[:i] {
			if p := findPartners([2]int{a, b}, [2][]partnerRow{rows[j], rows[i]}); len(p.pairs) >= fewPartners {
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

// agreeFrom is agree with columns of one side and others of the other side.
func (p *partners) agreeFrom(side int, columns, others []*column) float64 {
	if side == 0 {
		return p.agree(columns, others)
	}
	return p.agree(others, columns)
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
		both, equal, chance := 0, 0, 0
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
				chance++
			}
		}
		if both >= fewPartners && equal*100 >= both*equalPercent && equal >= oftener*chance {
			return equal * 100 / both
		}
	}
	return 0
}
