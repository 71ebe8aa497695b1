// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

const (
	// clearlyMore is how many times more names have to have in common with their partners' than those that are known by
	// the names of their columns, and leastNamed how much at least.
	clearlyMore, leastNamed = 1.2, 4.0
	// worthAdding is the share by which a further column has to increase what names have in common.
	worthAdding = 0.05
)

// partnerTitles returns the columns that name the things of each file so that partners have most in common, unless those
// of titles have nearly as much. Columns that name them together become compositions.
func (s *Suggester) partnerTitles(guesses []guess, titles []int) []int {
	now := map[int][]*column{}
	for _, i := range titles {
		for file := range s.columns[i].files {
			now[file] = []*column{s.columns[i]}
		}
	}
	for _, columns := range s.composed {
		for file := range columns[0].files {
			now[file] = columns
		}
	}
	best, file := s.partnerTitle(guesses)
	if best == nil {
		return titles
	}
	named := maps.Clone(now)
	named[file] = []*column{best}
	for _, p := range s.partners {
		side := p.side(file)
		if side < 0 {
			continue
		}
		if columns := s.partnerColumns(p, 1-side, named[file], guesses); columns != nil {
			named[p.files[1-side]] = columns
		}
	}
	most, before := s.agreement(named), s.agreement(now)
	if most < leastNamed || most < clearlyMore*before {
		return titles
	}
	if i := slices.Index(s.columns, best); guesses[i].Type == match.TypeAddress && before >= leastNamed {
		return titles // names that are spelled in several ways have less in common than addresses
	}
	titles, s.composed = nil, nil
	for _, of := range slices.Sorted(maps.Keys(named)) {
		columns := named[of]
		if len(columns) > 1 {
			s.composed = append(s.composed, columns)
		} else if !twice(columns[0], named) {
			titles = append(titles, slices.Index(s.columns, columns[0]))
		}
	}
	slices.Sort(titles)
	return slices.Compact(titles)
}

// twice reports whether a column is in a file that has another name.
func twice(c *column, named map[int][]*column) bool {
	for file := range c.files {
		if of := named[file]; of != nil && (len(of) > 1 || of[0] != c) {
			return true
		}
	}
	return false
}

// agreement is how much the names of the partners of all files have in common, of those files that have names.
func (s *Suggester) agreement(named map[int][]*column) (sum float64) {
	n := 0
	for _, p := range s.partners {
		if a, b := named[p.files[0]], named[p.files[1]]; a != nil && b != nil {
			sum, n = sum+p.agree(a, b), n+1
		}
	}
	return sum / float64(max(n, 1))
}

// partnerTitle returns the column whose words most other columns of the partners have, and its file.
func (s *Suggester) partnerTitle(guesses []guess) (best *column, file int) {
	sums := make([]float64, len(s.columns))
	for _, p := range s.partners {
		for side, of := range p.files {
			others := p.sideWords(1-side, s.nameables(guesses, p.files[1-side]))
			for i, c := range s.columns {
				if c.files[of] && len(c.files) == 1 && guesses[i].Type != match.TypePeople && nameable(guesses[i]) && c.letters() {
					sums[i] += p.held(side, c, others)
				}
			}
		}
	}
	most := 0.0
	for i, sum := range sums {
		if sum > most {
			most, best = sum, s.columns[i]
		}
	}
	if best != nil {
		for of := range best.files {
			file = of
		}
	}
	return best, file
}

// sideWords returns the words of some columns of one side, of each pair.
func (p *partners) sideWords(side int, columns []*column) (words [][]string) {
	for _, pair := range p.pairs {
		words = append(words, p.of(pair[side], columns))
	}
	return words
}

// held returns how rare the words of a column are that are among others of the partner, less half of how rare the rest
// is.
func (p *partners) held(side int, c *column, others [][]string) (sum float64) {
	for i, pair := range p.pairs {
		x := pair[side][c.name]
		sum += 1.5*p.common(x, others[i]) - p.weight(x)/2
	}
	return sum / float64(len(p.pairs))
}

// nameables are the columns of a file that may be part of a name.
func (s *Suggester) nameables(guesses []guess, file int) (columns []*column) {
	for i, c := range s.columns {
		if c.files[file] && nameable(guesses[i]) && !strings.ContainsAny(c.name, "{}") {
			columns = append(columns, c)
		}
	}
	return columns
}

// nameable reports whether a column may be part of a name.
func nameable(g guess) bool {
	return composable(g) || g.Type == match.TypeAddress || g.Type == match.TypeText && g.Role != match.RoleNote
}

// partnerColumns returns the columns of one side that have most in common with the names of the other side, in the order
// in which their words stand in those.
func (s *Suggester) partnerColumns(p *partners, side int, names []*column, guesses []guess) (taken []*column) {
	free, most := s.nameables(guesses, p.files[side]), 0.0
	others := slices.DeleteFunc(s.nameables(guesses, p.files[1-side]), func(c *column) bool { return slices.Contains(names, c) })
	free = slices.DeleteFunc(free, func(c *column) bool { return p.elsewhere(side, c, names, others) })
	for {
		var best []*column
		for _, c := range free {
			if slices.Contains(taken, c) {
				continue
			}
			with := append(slices.Clone(taken), c)
			if sum := p.agreeFrom(side, with, names); sum > most {
				most, best = sum, with
			}
		}
		if best == nil {
			break
		}
		taken, most = best, most*(1+worthAdding)
	}
	slices.SortStableFunc(taken, func(x, y *column) int { return cmp.Compare(p.position(side, x, names), p.position(side, y, names)) })
	return taken
}

// elsewhere reports whether a column has more in common with one of the others of the other side than with its names: a
// brewery, whose name may be part of that of a beer, and the brewery there.
func (p *partners) elsewhere(side int, c *column, names, others []*column) bool {
	own := []*column{c}
	most := max(p.agreeFrom(side, own, names), 0)
	return slices.ContainsFunc(others, func(other *column) bool { return p.agreeFrom(side, own, []*column{other}) > most })
}

// position is the mean position of the first word of a column in the names of the other side.
func (p *partners) position(side int, c *column, names []*column) float64 {
	sum, n := 0, 0
	for _, pair := range p.pairs {
		if words := pair[side][c.name]; len(words) > 0 {
			if at := slices.Index(pair[1-side][names[0].name], words[0]); at >= 0 {
				sum, n = sum+at, n+1
			}
		}
	}
	return float64(sum) / float64(max(n, 1))
}
