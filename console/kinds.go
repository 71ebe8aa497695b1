// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/locus-db/locus/match"
)

// Kinds are the kinds of things that are resolved.
type Kinds struct{ Schemas []*match.Schema }

// Kinds writes the page of the kinds.
func (c *Console) Kinds(w io.Writer, k Kinds) error {
	p := kindsPage{Command: command("locus", "kind", "list")}
	for _, s := range k.Schemas {
		p.Kinds = append(p.Kinds, newKind(s))
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
	Unknown    string // the trust in a source that nobody declared
	Link       string // its entities
	Command    string
}

type kindAttribute struct {
	Name, Type, Role string
	Traits           []string
}

type kindSource struct {
	Name, Trust  string
	Deduplicated bool
}

func newKind(s *match.Schema) kind {
	k := kind{
		Name: s.Kind, Version: s.Version, Unknown: decimal(match.DefaultTrust),
		Link: Search{Kind: s.Kind}.address(""), Command: command("locus", "kind", "get", s.Kind),
	}
	for _, a := range s.Attributes {
		line := kindAttribute{Name: a.Name, Type: string(a.Type), Role: string(a.Role)}
		for _, trait := range []struct {
			has  bool
			says string
		}{{a.Required, "required"}, {a.Many, "a list"}, {a.Tag, "a group of rollups"}, {a.Dimension, "a dimension of rollups"}} {
			if trait.has {
				line.Traits = append(line.Traits, trait.says)
			}
		}
		k.Attributes = append(k.Attributes, line)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sources)) {
		k.Sources = append(k.Sources, kindSource{Name: name, Trust: decimal(s.Trust(name)), Deduplicated: s.Sources[name].Deduplicated})
	}
	return k
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }
