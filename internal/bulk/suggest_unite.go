// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"maps"

	"github.com/locus-db/locus/match"
)

// apart reports whether two columns are in no common file.
func apart(files, others map[int]bool) bool {
	for file := range files {
		if others[file] {
			return false
		}
	}
	return true
}

// unite returns for each column the first column that means the same, possibly under another name in another file; it
// may be the column itself. Two columns mean the same if no file has both, and both name the things, have one role, are
// one attribute of a known kind, people of one role or one quantity, or are the only people, the only date or the like
// of their files.
func (s *Suggester) unite(guesses []guess) (first []int) {
	first = make([]int, len(s.columns))
	files := make([]map[int]bool, len(s.columns)) // files that have the column or one that means the same
	for i, c := range s.columns {
		first[i], files[i] = i, c.files
		for j := range i {
			if first[j] == j && s.same(guesses, i, j) && apart(files[j], c.files) {
				first[i] = j
				files[j] = maps.Clone(files[j])
				maps.Copy(files[j], c.files)
				break
			}
		}
	}
	return first
}

func (s *Suggester) same(guesses []guess, i, j int) bool {
	a, b := guesses[i], guesses[j]
	switch {
	case a.Type == "" || a.Type != b.Type || a.Role != b.Role || a.Role == match.RoleNote:
		return false
	case a.Type == match.TypeName, a.Role != match.RoleNone:
		return true
	case a.known != "" && a.known == b.known:
		return true
	case a.Type == match.TypeText, a.Type == match.TypeNumber:
		return false
	}
	return s.alone(guesses, i) && s.alone(guesses, j)
}

// alone reports whether no other column of the files of a column becomes the like.
func (s *Suggester) alone(guesses []guess, i int) bool {
	for j, g := range guesses {
		if j != i && g.Type == guesses[i].Type && g.Role == guesses[i].Role && !apart(s.columns[i].files, s.columns[j].files) {
			return false
		}
	}
	return true
}

// once leaves each role to the first column that has it; other such columns of the file become columns of words.
func once(guesses []guess, first []int) {
	taken := map[match.Role]int{}
	for i := range guesses {
		g := &guesses[i]
		if g.Role == match.RoleNone || g.Role == match.RoleNote {
			continue
		}
		if j, is := taken[g.Role]; is && j != first[i] {
			*g = guess{Attribute: match.Attribute{Type: match.TypeText}, why: "words"}
			continue
		}
		taken[g.Role] = first[i]
	}
	if _, lat := taken[match.RoleLatitude]; lat {
		if _, lon := taken[match.RoleLongitude]; lon {
			return
		}
	}
	for i := range guesses {
		if guesses[i].Type == match.TypeGeo {
			guesses[i] = guess{Attribute: match.Attribute{Type: match.TypeText, Role: match.RoleNote}, why: "one coordinate alone"}
		}
	}
}
