// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/base64"
	"net/http"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Kind is a kind and how it is resolved.
type Kind struct {
	Kind      string     `json:"kind"`
	Version   int        `json:"version" doc:"Of the schema"`
	Default   bool       `json:"default" doc:"Whether records without a kind are of this one"`
	Terms     string     `json:"term_frequencies" doc:"Hash of its term-frequency table"`
	Migration *Migration `json:"migration,omitempty" doc:"Unfinished migration to these rules"`
	// Schema is set only in the answer about one kind.
	Schema string `json:"schema,omitempty" doc:"Schema in YAML, as PUT expects it"`
}

// Migration is the progress of a migration of a kind.
type Migration struct {
	Since   string `json:"since" doc:"RFC 3339"`
	Records int    `json:"records" doc:"Number of records resolved again"`
	Cells   int    `json:"cells" doc:"Number of cells that are done"`
}

// KindList is the answer of GET /v1/kinds.
type KindList struct {
	Kinds []Kind `json:"kinds"`
}

// KindRequest is the body of a migration and of a comparison.
type KindRequest struct {
	Schema string `json:"schema,omitempty" doc:"Proposed schema in YAML; by default the current one"`
	Terms  string `json:"term_frequencies,omitempty" doc:"Hash of a stored term-frequency table to propose; by default the current one"`
}

// TermsRequest is the body of POST /v1/term-frequencies.
type TermsRequest struct {
	Kind  string `json:"kind" doc:"Kind whose records are counted"`
	Table []byte `json:"table,omitempty" doc:"A table that was counted elsewhere, such as from the rows of a file, in base64; it is stored in place of counts of the records"`
}

// Terms is a stored term-frequency table.
type Terms = resolve.Terms

// TermsList is the answer of GET /v1/term-frequencies.
type TermsList struct {
	Terms []resolve.Terms `json:"term_frequencies" doc:"Newest last"`
}

func oneKind(k kinds.Rules) Kind {
	of := Kind{Kind: k.Schema.Kind, Version: k.Schema.Version, Default: k.Default, Terms: k.Terms}
	if c := k.Change; c != nil {
		of.Migration = &Migration{Since: c.Since.UTC().Format("2006-01-02T15:04:05.000Z"), Records: c.Records(),
			Cells: c.Done()}
	}
	return of
}

func (s *Server) listKinds(*call) (any, error) {
	list := KindList{Kinds: []Kind{}}
	for _, k := range s.svc.Kinds().List() {
		list.Kinds = append(list.Kinds, oneKind(k))
	}
	return list, nil
}

// kindOf returns the named kind.
func (s *Server) kindOf(name string) (any, error) {
	for _, k := range s.svc.Kinds().List() {
		if k.Schema.Kind == name {
			of := oneKind(k)
			of.Schema = string(k.Schema.YAML())
			return of, nil
		}
	}
	return nil, kinds.ErrNoKind
}

func (s *Server) getKind(c *call) (any, error) {
	name, err := c.path("kind")
	if err != nil {
		return nil, err
	}
	if !access.From(c).Restriction.Sees(name) {
		return nil, kinds.ErrNoKind
	}
	return s.kindOf(name)
}

func (s *Server) putKind(c *call) (any, error) {
	name, err := c.path("kind")
	if err != nil {
		return nil, err
	}
	if mediaOf(c.r.Header.Get("Content-Type")) == mediaJSON {
		if _, err := strictjson.Parse(c.body); err != nil {
			return nil, err
		}
	}
	schema, err := match.ParseSchema(c.body)
	if err != nil {
		return nil, err
	}
	if schema.Kind != name {
		return nil, fault(CodeInvalid, "/kind", "the schema is of kind %.64q, the path of %.64q", schema.Kind, name)
	}
	created, err := s.svc.Kinds().Create(c, schema)
	if err != nil {
		return nil, err
	}
	if created {
		c.status = http.StatusCreated
	}
	return s.kindOf(name)
}

// proposal reads the body of a migration or a comparison.
func (c *call) proposal() (p kinds.Proposal, err error) {
	if p.Kind, err = c.path("kind"); err != nil {
		return p, err
	}
	body, err := object(c.body, "schema", "term_frequencies")
	if err != nil {
		return p, err
	}
	text := func(name string) (string, error) {
		v, given := body[name]
		if !given {
			return "", nil
		}
		if v.Kind() != strictjson.String {
			return "", wrongKind("/"+name, v, "a text")
		}
		return v.Text(), nil
	}
	if p.Terms, err = text("term_frequencies"); err != nil {
		return p, err
	}
	schema, err := text("schema")
	if err != nil || schema == "" {
		return p, err
	}
	if p.Schema, err = match.ParseSchema([]byte(schema)); err != nil {
		return p, err
	}
	if p.Schema.Kind != p.Kind {
		return p, fault(CodeInvalid, "/schema", "the schema is of kind %.64q, the path of %.64q", p.Schema.Kind, p.Kind)
	}
	return p, nil
}

func (s *Server) diffKind(c *call, progress func(any)) (any, error) {
	p, err := c.proposal()
	if err != nil {
		return nil, err
	}
	return s.svc.Kinds().Compare(c, p, func(p kinds.Progress) { progress(p) })
}

func (s *Server) switchKind(c *call, progress func(any)) (any, error) {
	p, err := c.proposal()
	if err != nil {
		return nil, err
	}
	if err := s.svc.Kinds().Migrate(c, p, func(p kinds.Progress) { progress(p) }); err != nil {
		return nil, err
	}
	return s.kindOf(p.Kind)
}

func (s *Server) listTerms(*call) (any, error) {
	return TermsList{Terms: append([]resolve.Terms{}, s.svc.Kinds().Terms()...)}, nil
}

func (s *Server) buildTerms(c *call, progress func(any)) (any, error) {
	body, err := object(c.body, "kind", "table")
	if err != nil {
		return nil, err
	}
	v, given := body["kind"]
	if !given || v.Kind() != strictjson.String {
		return nil, fault(CodeInvalid, "/kind", "kind is missing: the kind whose records are counted")
	}
	if text, given := body["table"]; given {
		table := &match.TermFrequencies{}
		encoded, err := base64.StdEncoding.DecodeString(text.Text())
		if err == nil {
			err = table.UnmarshalBinary(encoded)
		}
		if err != nil {
			return nil, fault(CodeInvalid, "/table", "it is not a term-frequency table of this version in base64")
		}
		return s.svc.Kinds().StoreTermFrequencies(c, v.Text(), table)
	}
	return s.svc.Kinds().BuildTermFrequencies(c, v.Text(), func(p kinds.Progress) { progress(p) })
}
