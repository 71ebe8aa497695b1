// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/url"
	"strings"

	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/quality"
)

// profileTables are the tables of a profile, by the argument of locus quality, in the order of its help.
var profileTables = []struct {
	name string
	of   func(*quality.Profile) *term.Table
}{
	{"attributes", filledTable},
	{"formats", formatTable},
	{"sources", duplicateTable},
	{"sizes", sizeTable},
	{"weights", weightTable},
	{"thresholds", thresholdTable},
	{"evidence", evidenceTable},
	{"keys", keyTable},
}

func profileNames() (names []string) {
	for _, t := range profileTables {
		names = append(names, t.name)
	}
	return names
}

// profile prints one table of the profile.
func (a *app) profile(ctx context.Context, cl *client, table, kind, threshold string) error {
	for _, t := range profileTables {
		if t.name != table {
			continue
		}
		q := url.Values{}
		if kind != "" {
			q.Set("kind", kind)
		}
		if threshold != "" {
			q.Set("threshold", threshold)
		}
		var p quality.Profile
		raw, err := cl.get(ctx, "/v1/quality/profile", q, &p)
		switch {
		case err != nil:
			return err
		case a.json:
			return a.printRaw(typed("profile", raw))
		}
		a.sayLookedAt(p.Records, p.Whole)
		return a.printTable(t.of(&p))
	}
	return usage("locus quality "+strings.Join(profileNames(), "|"), "locus quality: there is no table %.60q", table)
}

// sayLookedAt prints whether numbers are about all records.
func (a *app) sayLookedAt(records int, whole bool) {
	of := "all"
	if !whole {
		of = "a sample of"
	}
	a.say("%s %s", of, counted(int64(records), "record", "records"))
}

func right(from, columns int) map[int]bool {
	of := map[int]bool{}
	for i := from; i < columns; i++ {
		of[i] = true
	}
	return of
}

func number(n int) string { return term.Count(int64(n)) }

func filledTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "attribute", "type", "source", "records", "filled", "share"},
		Right: right(4, 7)}
	for _, k := range p.Kinds {
		for _, of := range k.Attributes {
			t.Add(k.Kind, of.Name, of.Type, "", number(k.Records), number(of.Filled), shareOf(of.Filled, k.Records))
			for i, filled := range of.Sources {
				s := k.Sources[i]
				t.Add(k.Kind, of.Name, of.Type, s.Source, number(s.Records), number(filled), shareOf(filled, s.Records))
			}
		}
	}
	return t
}

func formatTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "attribute", "shape", "values", "share", "odd", "example", "record"},
		Right: right(3, 5)}
	for _, k := range p.Kinds {
		for _, of := range k.Attributes {
			for _, s := range of.Shapes {
				t.Add(k.Kind, of.Name, s.Shape, number(s.Values), shareOf(s.Values, of.Values), "", s.Example, s.Record.String())
			}
			for _, s := range of.Odd {
				t.Add(k.Kind, of.Name, s.Shape, number(s.Values), shareOf(s.Values, of.Values), "odd", s.Example, s.Record.String())
			}
		}
	}
	return t
}

func duplicateTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "source", "records", "duplicates", "share", "most in"}, Right: right(2, 5)}
	for _, k := range p.Kinds {
		for _, s := range k.Sources {
			most := ""
			if s.Duplicates > 0 {
				most = s.Example.String()
			}
			t.Add(k.Kind, s.Source, number(s.Members), number(s.Duplicates), shareOf(s.Duplicates, s.Members), most)
		}
	}
	return t
}

func sizeTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "records", "entities", "share"}, Right: right(1, 4)}
	for _, k := range p.Kinds {
		for _, s := range k.Sizes {
			t.Add(k.Kind, number(s.Records), number(s.Entities), shareOf(s.Entities, k.Entities))
		}
	}
	return t
}

func weightTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "bits", "within entities", "between two"}, Right: right(1, 4)}
	for _, k := range p.Kinds {
		for _, w := range k.Weights {
			t.Add(k.Kind, number(w.Bits), number(w.Joined), number(w.Apart))
		}
	}
	return t
}

func thresholdTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "threshold", "change", "merge", "split", "move", "entities", "before"},
		Right: right(1, 8)}
	for _, k := range p.Kinds {
		for _, e := range k.Thresholds {
			t.Add(k.Kind, e.Threshold.String(), (e.Threshold - k.Threshold).String(), number(e.Merged), number(e.Split),
				number(e.Moved), number(e.Entities), number(e.Before))
		}
	}
	return t
}

func evidenceTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "compared", "found", "bits", "within entities", "between two",
		"decided same", "decided different", "m", "u"}, Right: right(3, 10)}
	for _, k := range p.Kinds {
		for _, e := range k.Evidence {
			t.Add(k.Kind, e.Field, e.Level, e.Weight.String(), number(e.Joined), number(e.Apart), number(e.Same),
				number(e.Different), shareOf(e.Matching, e.MatchingOf), shareOf(e.Random, e.RandomOf))
		}
	}
	return t
}

func keyTable(p *quality.Profile) *term.Table {
	t := &term.Table{Header: []string{"kind", "blocking key", "records", "share", "keys"}, Right: right(2, 5)}
	for _, k := range p.Kinds {
		for _, key := range k.Keys {
			t.Add(k.Kind, key.Key, number(key.Records), shareOf(key.Records, k.Keyed), number(key.Keys))
		}
	}
	return t
}
