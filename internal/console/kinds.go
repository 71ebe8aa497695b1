// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/resolve"
)

// Kinds is the content of the kinds page: the rules of each kind, and the stored statistics.
type Kinds struct {
	Rules []kinds.Rules
	Terms []resolve.Terms
	// Profile describes the records, nil if the viewer may not read them.
	Profile *quality.Profile
}

// Kinds writes the kinds page.
func (c *Console) Kinds(w io.Writer, k Kinds) error {
	p := kindsPage{Command: command("locus", "kind", "list")}
	for _, r := range k.Rules {
		of := newKind(r.Schema)
		of.Terms, of.Counted = r.Terms, "built in"
		for _, terms := range k.Terms {
			if terms.Hash == r.Terms && terms.Records > 0 {
				of.Counted = "counted from " + counted(int64(terms.Records), "record") + " on " + moment(terms.Since)
			}
		}
		if c := r.Change; c != nil {
			of.Migration = "Resolved again since " + moment(c.Since) + ": " + counted(int64(c.Records()),
				"record") + ", " + counted(int64(c.Done()), "cell") + " done."
		}
		of.seen(k.Profile)
		p.Kinds = append(p.Kinds, of)
	}
	return c.render(w, "kinds", "", p)
}

type kindsPage struct {
	Kinds   []kind
	Command string
}

// kind is a kind as two tables: its attributes and its sources.
type kind struct {
	Name       string
	Version    int
	Attributes []kindAttribute
	Sources    []kindSource
	Weights    []kindWeight
	Evidence   []kindLevel
	Keys       []kindKey
	Seen       string // the records that Evidence was counted in
	SeenBy     string // the commands of Evidence and Keys
	KeysBy     string
	Unknown    string // trust in undeclared sources
	Link       string // list of its entities
	Terms      string // name statistics
	Counted    string // the records they were counted from
	Migration  string // progress of a migration to these rules
	Command    string
}

type kindAttribute struct {
	Name, Type, Role string
	Traits           []string
}

type kindSource struct {
	Name, Trust  string
	In           []string // attributes with a different trust
	Deduplicated bool
}

// kindWeight is the match weight of an agreement level that differs from the common table.
type kindWeight struct{ Line, Level, Weight string }

// kindLevel is a level of a comparison, with how often it was seen.
type kindLevel struct {
	Field, Level, Weight           string
	Own                            bool
	Joined, Apart, Same, Different string
	M, U, Says                     string // shares, and the bits that they make
}

// kindKey is a kind of blocking keys.
type kindKey struct {
	Key, Keys string
	Records   fillRate
}

// seen adds what the records show about the kind.
func (k *kind) seen(p *quality.Profile) {
	if p == nil {
		return
	}
	for _, of := range p.Kinds {
		if of.Kind != k.Name {
			continue
		}
		k.Seen = sampled(of.Records, p.Whole, of.Kind)
		k.SeenBy, k.KeysBy = command("locus", "quality", "evidence", "--kind", k.Name), command("locus", "quality", "keys",
			"--kind", k.Name)
		for _, e := range of.Evidence {
			line := kindLevel{
				Field: e.Field, Level: e.Level, Weight: e.Weight.String(), Own: e.Own,
				Joined: count(int64(e.Joined)), Apart: count(int64(e.Apart)), Same: count(int64(e.Same)),
				Different: count(int64(e.Different)),
			}
			line.shares(&e)
			k.Evidence = append(k.Evidence, line)
		}
		for _, key := range of.Keys {
			rate := newFillRate(key.Records, of.Keyed)
			rate.Against = false
			k.Keys = append(k.Keys, kindKey{key.Key, count(int64(key.Keys)), rate})
		}
	}
}

// shares writes m and u, and the weight that follows from them. The share of an empty set is unknown. A share without
// any observed pair is known only to be small. Neither has a weight.
func (l *kindLevel) shares(e *quality.LevelEvidence) {
	of := func(n, all int) string {
		switch {
		case all == 0:
			return "–"
		case n == 0:
			return "< " + percent(1, float64(all))
		default:
			return percent(float64(n), float64(all))
		}
	}
	l.M, l.U, l.Says = of(e.Matching, e.MatchingOf), of(e.Random, e.RandomOf), "–"
	if m, u := e.Shares(); m > 0 && u > 0 {
		l.Says = match.Weight(math.Round(100 * math.Log2(m/u))).String()
	}
}

func newKind(s *match.Schema) kind {
	k := kind{
		Name: s.Kind, Version: s.Version, Unknown: decimal(match.DefaultTrust),
		Link: Search{Kind: s.Kind}.address(""), Command: command("locus", "kind", "show", s.Kind),
	}
	for _, a := range s.Attributes {
		line := kindAttribute{Name: a.Name, Type: string(a.Type), Role: string(a.Role)}
		for _, trait := range []struct {
			has  bool
			says string
		}{
			{a.Style != "", "style " + string(a.Style)},
			{a.Scope == match.ScopeWorld, "shared by all sources"},
			{a.Region != "", "country from " + a.Region},
			{a.HalfLife > 0, "half-life of " + counted(int64(a.HalfLife), "day")},
			{a.Required, "required"},
			{a.Many, "a list"},
			{a.Tag, "groups rollups"},
			{a.Dimension, "divides rollups"},
		} {
			if trait.has {
				line.Traits = append(line.Traits, trait.says)
			}
		}
		k.Attributes = append(k.Attributes, line)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sources)) {
		source := kindSource{Name: name, Trust: decimal(s.Trust(name)), Deduplicated: s.Sources[name].Deduplicated}
		for _, a := range slices.Sorted(maps.Keys(s.Sources[name].Attributes)) {
			source.In = append(source.In, a+" "+decimal(s.TrustIn(name, a)))
		}
		k.Sources = append(k.Sources, source)
	}
	for _, line := range slices.Sorted(maps.Keys(s.Weights)) {
		for _, level := range slices.Sorted(maps.Keys(s.Weights[line])) {
			k.Weights = append(k.Weights, kindWeight{line, level, s.Weights[line][level].String()})
		}
	}
	return k
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }
