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
		if side := p.side(file); side >= 0 {
			named[p.files[1-side]] = s.partnerColumns(p, 1-side, named[file], guesses)
		}
	}
	if most := s.agreement(named); most < leastNamed || most < clearlyMore*s.agreement(now) {
		return titles
	}
	titles, s.composed = nil, nil
	for _, of := range slices.Sorted(maps.Keys(named)) {
		columns := named[of]
		if len(columns) > 1 {
			s.composed = append(s.composed, columns)
			continue
		}
		titles = append(titles, slices.Index(s.columns, columns[0]))
	}
	slices.Sort(titles)
	return slices.Compact(titles)
}

// agreement is how much the names of the partners of all files have in common.
func (s *Suggester) agreement(named map[int][]*column) (sum float64) {
	for _, p := range s.partners {
		if a, b := named[p.files[0]], named[p.files[1]]; a != nil && b != nil {
			sum += p.agree(a, b)
		}
	}
	return sum / float64(max(len(s.partners), 1))
}

// partnerTitle returns the column whose words most other columns of the partners have, and its file.
func (s *Suggester) partnerTitle(guesses []guess) (best *column, file int) {
	most := 0.0
	for i, c := range s.columns {
		if guesses[i].Type == match.TypePeople || !nameable(guesses[i]) || !c.letters() || len(c.files) > 1 {
			continue
		}
		sum := 0.0
		for _, p := range s.partners {
			for side, of := range p.files {
				if c.files[of] {
					sum += p.held(side, c, s.nameables(guesses, p.files[1-side]))
				}
			}
		}
		if sum > most {
			most, best = sum, c
		}
	}
	if best != nil {
		for of := range best.files {
			file = of
		}
	}
	return best, file
}

// held returns how rare the words of a column are that are in some columns of the partner, less half of how rare the
// others are.
func (p *partners) held(side int, c *column, columns []*column) (sum float64) {
	for _, pair := range p.pairs {
		x := pair[side][c.name]
		common := p.common(x, p.of(pair[1-side], columns))
		sum += 1.5*common - p.weight(x)/2
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
	agree := func(columns []*column) float64 {
		if side == 0 {
			return p.agree(columns, names)
		}
		return p.agree(names, columns)
	}
	free, most := s.nameables(guesses, p.files[side]), 0.0
	for {
		var best []*column
		for _, c := range free {
			if slices.Contains(taken, c) {
				continue
			}
			if with := append(slices.Clone(taken), c); agree(with) > most {
				most, best = agree(with), with
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
