// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"strings"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/match"
)

// Why explains why the records of an entity are together.
type Why struct {
	Entity    Entity         `json:"entity"`
	Threshold match.Weight   `json:"threshold" doc:"Match weight from which two records are a match"`
	Records   []Record       `json:"records" doc:"Records of the entity, oldest first"`
	Joins     []explain.Join `json:"joins" doc:"Comparisons that connect the records, strongest first"`
}

// Schema describes a kind.
type Schema struct {
	Kind       string            `json:"kind"`
	Version    int               `json:"version"`
	Attributes []SchemaAttribute `json:"attributes" doc:"Attributes, in the order of a view"`
	Kinds      []string          `json:"kinds" doc:"All kinds, ordered by name"`
}

// SchemaAttribute is one attribute of a kind.
type SchemaAttribute struct {
	Name      string      `json:"name"`
	Type      match.Type  `json:"type"`
	Role      match.Role  `json:"role,omitempty"`
	Style     match.Style `json:"style,omitempty" doc:"How names are compared: as those of persons, or as titles; missing for those of businesses"`
	Scope     match.Scope `json:"scope,omitempty" doc:"Where ids are unique; missing for within their source"`
	Many      bool        `json:"many" doc:"Shown as a list"`
	Required  bool        `json:"required" doc:"Whether a record without it is refused"`
	Tag       bool        `json:"tag,omitempty" doc:"Whether rollups may group by it"`
	Dimension bool        `json:"dimension,omitempty" doc:"Whether rollups may count it as a dimension"`
	Aliases   []string    `json:"aliases,omitempty" doc:"Column names by which import recognises the attribute"`
}

func (s *Server) why(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	why, err := s.svc.Explain().Why(c, id)
	if err != nil {
		return nil, err
	}
	e := &entities.Entity{Entity: why.Entity, Requested: why.Requested}
	answer := Why{Entity: s.found(c, e), Threshold: why.Threshold, Records: make([]Record, 0, len(why.Records)),
		Joins: why.Joins}
	for _, r := range why.Records {
		answer.Records = append(answer.Records, record(r, why.Entity.ID))
	}
	if answer.Joins == nil {
		answer.Joins = []explain.Join{}
	}
	return answer, nil
}

func (s *Server) whyNot(c *call) (any, error) {
	if err := s.seen(c, c.query["a"], c.query["b"]); err != nil {
		return nil, err
	}
	return s.svc.Explain().WhyNot(c, c.query["a"], c.query["b"])
}

// route returns the route of an address. Data that the principal may not see counts as not found.
func (s *Server) route(c *call) (any, error) {
	found, err := s.svc.Explain().Route(c, c.query["address"])
	if err == nil && found.Found && s.seen(c, c.query["address"]) != nil {
		found.Found, found.Record, found.Entity = false, nil, nil
	}
	return found, err
}

func (s *Server) status(c *call) (any, error) { return s.svc.Cells().Status(c) }

func (s *Server) schema(c *call) (any, error) {
	kind, err := s.kind(c, c.query["kind"])
	if err != nil {
		return nil, err
	}
	answer := Schema{Kind: kind.Kind, Version: kind.Version}
	for _, k := range s.svc.Kinds().Schemas() {
		answer.Kinds = append(answer.Kinds, k.Kind)
	}
	for _, a := range kind.Attributes {
		answer.Attributes = append(answer.Attributes, SchemaAttribute{
			Name: a.Name, Type: a.Type, Role: a.Role, Style: a.Style, Scope: a.Scope, Many: a.Many, Required: a.Required,
			Tag: a.Tag, Dimension: a.Dimension, Aliases: kind.AliasesOf(a.Name),
		})
	}
	return answer, nil
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
