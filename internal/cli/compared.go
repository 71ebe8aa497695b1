// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// compared shows how files are read whose rows are compared and not stored: the guessed columns of each file, the kind
// if it is given, and the columns that are not compared. It returns an error for an option that fits no file, and for
// files without a comparable column.
func (a *app) compared(plans []*bulk.Plan, kind *match.Schema) error {
	var columns, used, unused []string
	missing := slices.Clone(plans[0].Missing)
	for _, p := range plans {
		if err := p.Err(); err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return !slices.Contains(p.Missing, name) })
		for _, c := range p.Columns {
			if !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
			compared := func(to string) bool { return kind == nil || !kind.Shows(to) }
			if !slices.ContainsFunc(c.To, compared) && !slices.Contains(unused, c.Name) {
				unused = append(unused, c.Name)
			}
		}
		for _, name := range p.Attributes() {
			if !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
	}
	if len(missing) > 0 && len(columns) > 0 {
		return usage("the columns are: "+strings.Join(columns, ", "), "%s", bulk.NoColumn(missing[0], columns))
	}
	if len(used) == 0 && len(columns) > 0 {
		return usage("--set ATTRIBUTE=COLUMN; locus kind show lists the attributes, and locus kind suggest drafts a kind for the file", "no column is an attribute: there are %.300s", strings.Join(columns, ", "))
	}
	for _, p := range plans {
		if err := a.shown(p); err != nil {
			return err
		}
		if !a.json {
			a.sayTotal(a.stderr, p)
		}
		if p.IsEmpty() {
			a.say("%s has no rows", term.Escape(p.Name))
		}
	}
	used = slices.DeleteFunc(used, func(name string) bool { return slices.Contains(unused, name) })
	if kind != nil && len(used) > 0 {
		a.say("kind %s: compared by %s", kind.Kind, term.Escape(shortList(used)))
	}
	if len(unused) > 0 {
		a.say("not compared: %s   (--set ATTRIBUTE=COLUMN)", term.Escape(shortList(unused)))
	}
	return nil
}

// shownColumns is how many columns are named in one line: some exports have hundreds.
const shownColumns = 20

// shortList lists the first names, and the number of the others.
func shortList(names []string) string {
	if n := len(names) - shownColumns; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shownColumns], ", "), n)
	}
	return strings.Join(names, ", ")
}

// shown shows the columns of a file if something was guessed, or its format if it is not the usual one.
func (a *app) shown(p *bulk.Plan) error {
	if p.Guessed() {
		return a.showPlan(a.stderr, p)
	}
	if p.Format == bulk.XLSX || p.Format == bulk.CSV && p.Layout() != plainLayout && p.Layout() != plainLayout8 {
		a.say("%s: %s", term.Escape(p.Name), p.Layout())
	}
	return nil
}
