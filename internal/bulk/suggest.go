// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"io"
	"slices"

	"github.com/locus-db/locus/match"
)

// suggestRows is how many rows of a file a Suggester reads.
const suggestRows = 10_000

// Suggester drafts a kind for files whose columns fit no kind. It knows column names in some languages and recognises
// values by their form. The zero value is ready to use.
type Suggester struct {
	// Kinds are the known kinds. A column that is named like one of their attributes, other than names, gets the same
	// type.
	Kinds []*match.Schema
	// Left are columns to leave out.
	Left []string

	columns  []*column
	file     int
	rows     [][]Field // without the columns in Left
	files    []int     // of the rows
	composed [][]*column
	partners []*partners
}

// Draft is a suggested kind.
type Draft struct {
	Schema  *match.Schema
	Columns []DraftColumn
	// Composed are the names of the things in files that have them in several columns.
	Composed []Composition
	// Naming has for each file that Read has read the column that certainly names its things, "" if none does.
	Naming []string
	// Known is the kind of Suggester.Kinds that explains most columns, and Explained their number.
	Known     string
	Explained int
	// Lost are the columns with dates, people, numbers and the like that the known kind does not compare, and the
	// column that names the things.
	Lost []string
	// Better means that the draft should be used: a column names the things, and of the columns that distinguish them
	// the known kind loses at least as many as it compares. For a known kind of titles, or if the naming column is
	// lost, one lost column is enough. A file of names with addresses fits a kind that has both.
	Better bool
}

// Names reports whether one of the columns names the things.
func (d *Draft) Names(columns []string) bool {
	return slices.ContainsFunc(d.Composed, func(c Composition) bool { return c.among(columns) }) || slices.ContainsFunc(d.Columns, func(c DraftColumn) bool {
		a, _ := d.Schema.Attribute(c.Attribute)
		return a.Type == match.TypeName && slices.Contains(columns, c.Name)
	})
}

// DraftColumn is the result of a draft for a column.
type DraftColumn struct {
	Name      string
	Attribute string // "" if the column is left out
	Type      string // of the attribute, with its role, style or scope: "text note"
	Why       string
	Values    []string // the first different ones
	// Set means that the attribute cannot have the column's name as an alias, because it has other characters or
	// belongs to another attribute. An option has to map the column.
	Set bool
}

// Read reads the first rows of a file, at most suggestRows. Keys are different in the rows of one file. It skips rows
// that cannot be read.
func (s *Suggester) Read(r *Reader) error {
	s.file++
	for range suggestRows {
		_, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if _, refused := errors.AsType[*RowError](err); err != nil && !refused {
			return err
		}
		if fields, err := r.paths(); err == nil {
			s.See(fields)
		}
	}
	return nil
}

// See adds a row.
func (s *Suggester) See(fields []Field) {
	s.rows, s.files = append(s.rows, fields), append(s.files, s.file)
	for _, f := range fields {
		if slices.Contains(s.Left, f.Name) {
			continue
		}
		i := slices.IndexFunc(s.columns, func(c *column) bool { return c.name == f.Name })
		if i < 0 {
			i = len(s.columns)
			s.columns = append(s.columns, &column{name: f.Name, plain: plainName(f.Name), kinds: s.Kinds, different: map[string]int{}, files: map[int]bool{}})
		}
		s.columns[i].see(f.Values, s.file)
	}
}

// Draft drafts a kind. Columns of different files that mean the same under two names become one attribute. The error is
// a *match.InvalidError: the name is not valid, or no column names the things.
func (s *Suggester) Draft(kind string) (*Draft, error) {
	d := &Draft{Schema: &match.Schema{Kind: kind, Version: 1}}
	s.describe()
	s.partners = s.allPartners()
	guesses := s.guesses()
	same := s.unite(guesses)
	s.uniteAlike(guesses, same)
	once(guesses, same)
	for i, c := range s.columns {
		g := guesses[i]
		column := DraftColumn{Name: c.name, Why: g.why, Values: c.first}
		plain := aliasName(c.plain)
		column.Set = g.Type != "" && plain != c.plain
		switch first := same[i]; {
		case g.Type == "":
		case first != i:
			column.Attribute, column.Type, column.Why = d.Columns[first].Attribute, d.Columns[first].Type, "as "+s.columns[first].name+" of another file"
		default:
			g.Name = s.attribute(d.Schema, c)
			if g.Type == match.TypeCategory && d.Schema.Weights == nil {
				d.Schema.Weights = s.brandWeights(c)
			}
			column.Attribute, column.Type = g.Name, typeWords(g.Attribute)
			d.Schema.Attributes = append(d.Schema.Attributes, g.Attribute)
		}
		if column.Attribute != "" && !column.Set && plain != column.Attribute {
			column.Set = !addAlias(d.Schema, column.Attribute, plain)
		}
		d.Columns = append(d.Columns, column)
	}
	if i := slices.IndexFunc(guesses, func(g guess) bool { return g.Type == match.TypeName }); i >= 0 {
		for _, columns := range s.composed {
			d.Composed = append(d.Composed, newComposition(d.Columns[i].Attribute, columns, numbered(columns, s.columns[i])))
		}
	}
	for file := range s.file {
		d.Naming = append(d.Naming, s.naming(file+1, guesses))
	}
	s.vary(d, guesses)
	s.compare(d, guesses)
	s.ofParts(d)
	return d, d.Schema.Validate()
}

// describe sets the plain names of the columns of each file.
func (s *Suggester) describe() {
	for file := range s.file + 1 {
		var names []string
		var columns []*column
		for _, c := range s.columns {
			if c.files[file] {
				names, columns = append(names, c.name), append(columns, c)
			}
		}
		for i, plain := range plainNames(names, s.Kinds) {
			columns[i].plain = plain
		}
	}
}

// addAlias adds an alias to an attribute, unless some attribute has it as name or alias, and reports whether it did.
func addAlias(kind *match.Schema, attribute, alias string) bool {
	if slices.ContainsFunc(kind.Attributes, func(a match.Attribute) bool { return a.Name == alias || slices.Contains(a.Aliases, alias) }) {
		return false
	}
	i := slices.IndexFunc(kind.Attributes, func(a match.Attribute) bool { return a.Name == attribute })
	kind.Attributes[i].Aliases = append(kind.Attributes[i].Aliases, alias)
	return true
}
