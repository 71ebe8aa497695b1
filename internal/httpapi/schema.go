// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"strings"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/match"
)

// Schema describes a kind.
type Schema struct {
	Kind       string            `json:"kind"`
	Version    int               `json:"version"`
	Attributes []SchemaAttribute `json:"attributes" doc:"Attributes, in the order of a view"`
	Kinds      []string          `json:"kinds" doc:"All kinds, ordered by name"`
}

// SchemaAttribute is a match.Attribute as JSON. It has the same fields, so the compiler refuses the conversions below
// if match.Attribute gets another one: decide here whether clients see it.
type SchemaAttribute struct {
	Name      string      `json:"name"`
	Type      match.Type  `json:"type"`
	Role      match.Role  `json:"role,omitempty"`
	Style     match.Style `json:"style,omitempty" doc:"How names are compared: as those of persons, or as titles; missing for those of businesses"`
	Scope     match.Scope `json:"scope,omitempty" doc:"Where ids are unique; missing for within their source"`
	Region    string      `json:"-"` // read by the matcher, not by imports
	HalfLife  int         `json:"-"` // read by merged views, not by imports
	Many      bool        `json:"many" doc:"Shown as a list"`
	Required  bool        `json:"required" doc:"Whether a record without it is refused"`
	Tag       bool        `json:"tag,omitempty" doc:"Whether rollups may group by it"`
	Dimension bool        `json:"dimension,omitempty" doc:"Whether rollups may count it as a dimension"`
	Aliases   []string    `json:"aliases,omitempty" doc:"Column names by which import recognises the attribute"`
}

// schemaOf describes a kind. kinds are the names of all kinds.
func schemaOf(kind *match.Schema, kinds []string) Schema {
	s := Schema{Kind: kind.Kind, Version: kind.Version, Kinds: kinds}
	for _, a := range kind.Attributes {
		a.Aliases = kind.AliasesOf(a.Name)
		s.Attributes = append(s.Attributes, SchemaAttribute(a))
	}
	return s
}

// Match returns the schema as clients use it, to recognise files and to check records: without sources and weights.
func (s *Schema) Match() *match.Schema {
	kind := &match.Schema{Kind: s.Kind, Version: s.Version}
	for _, a := range s.Attributes {
		kind.Attributes = append(kind.Attributes, match.Attribute(a))
	}
	return kind
}

func (s *Server) schema(c *call) (any, error) {
	kind, err := s.kind(c, c.query["kind"])
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, k := range s.svc.Kinds().Schemas() {
		kinds = append(kinds, k.Kind)
	}
	return schemaOf(kind, kinds), nil
}

// kind returns the schema of the named kind, which the principal may see; "" is the default kind, or the first that it
// may see.
func (s *Server) kind(c *call, name string) (*match.Schema, error) {
	who := &access.From(c).Restriction
	kind := s.svc.Kinds().Schema(name)
	if kind != nil && who.Sees(kind.Kind) {
		return kind, nil
	}
	var names []string
	for _, k := range s.svc.Kinds().Schemas() {
		if !who.Sees(k.Kind) {
			continue
		}
		if name == "" {
			return k, nil
		}
		names = append(names, k.Kind)
	}
	text := fmt.Sprintf("unknown kind %.64q: want %s", name, strings.Join(names, ", "))
	return nil, &locus.InvalidError{Problems: []locus.Problem{{Pointer: "/kind", Code: "unknown_kind", Detail: text}}}
}
