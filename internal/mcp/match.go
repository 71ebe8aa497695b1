// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// maxProbes is the maximum number of probes of one call.
const maxProbes = 20

type probing struct {
	Probes []probe `json:"probes" jsonschema:"1 to 20 descriptions of things"`
	Cursor string  `json:"cursor,omitempty" jsonschema:"with the same probes"`
}

type probe struct {
	Key        string         `json:"key,omitempty" jsonschema:"that remember will be given"`
	Kind       string         `json:"kind,omitempty"`
	Attributes map[string]any `json:"attributes" jsonschema:"a text or a list of texts by attribute name"`
}

// Advice on a probe.
const (
	use    = "use"    // the entity id
	ask    = "ask"    // a person
	create = "create" // it is new
)

// advised is the result of one probe.
type advised struct {
	Advice string       `json:"advice,omitempty"`
	ID     *locality.ID `json:"id,omitempty"` // for use
	// Reason is a code: matches, stored (the agent remembers it already), possible_match, kept_apart (it is the same as
	// an entity, but would not be put into it), no_blocking_key (too little is known to compare), only_stop_keys (what
	// is known is too common to compare), new.
	Reason string `json:"reason,omitempty"`
	// Merges are other entities that a put would merge into it.
	Merges   []locality.ID `json:"merges,omitempty"`
	Missing  *fault        `json:"missing,omitempty"` // why it cannot be remembered yet
	Entities []candidate   `json:"entities,omitempty"`
	Error    *fault        `json:"error,omitempty"`
}

// candidate is an entity near a probe. In the evidence, a is the probe.
type candidate struct {
	ID         locality.ID         `json:"id"`
	Level      entities.Level      `json:"level"`
	Weight     match.Weight        `json:"match_weight"`
	Relation   string              `json:"relation,omitempty"`
	Record     string              `json:"record"`
	Records    int                 `json:"records"`
	Attributes map[string][]string `json:"attributes"`
	For        []evidence          `json:"for"`
	Against    []evidence          `json:"against"`
}

func (s *Server) match(ctx context.Context, in probing) (*page, error) {
	if len(in.Probes) < 1 || len(in.Probes) > maxProbes {
		return nil, invalid("%d probes: want 1 to %d", len(in.Probes), maxProbes)
	}
	p := &page{head: struct{}{}, list: "results"}
	if err := p.resume(in.Cursor); err != nil {
		return nil, err
	}
	// A probe is the record that remember would store: clusters may depend on its key.
	type input struct {
		Source string `json:"source,omitempty"`
		probe
	}
	list := make([]input, 0, len(in.Probes))
	for _, of := range in.Probes {
		if s.agent == "" {
			of.Key = ""
			list = append(list, input{"", of})
			continue
		}
		if of.Key == "" {
			key, err := contentKey(of.Kind, of.Attributes)
			if err != nil {
				return nil, err
			}
			of.Key = key
		}
		list = append(list, input{s.source(), of})
	}
	body, err := json.Marshal(map[string]any{"probes": list, "top": 3, "put": true, "why": true})
	if err != nil {
		return nil, fmt.Errorf("write the probes: %w", err)
	}
	var answer httpapi.MatchResponse
	if err := s.call(ctx, "POST", "/v1/match", nil, body, &answer); err != nil {
		return nil, err
	}
	for i := range answer.Results {
		p.items = append(p.items, advise(&answer.Results[i]))
	}
	return p, nil
}

// advise returns the advice for a probe. The prediction of a put decides; without it, the candidates do.
func advise(r *httpapi.MatchResult) advised {
	if r.Error != nil {
		f := faultOf(r.Error)
		return advised{Error: &f}
	}
	a := advised{Advice: create, Reason: "new"}
	var same []locality.ID
	for _, e := range r.Entities {
		if e.Level == entities.LevelSame {
			same = append(same, e.ID)
		}
		if e.Level == entities.LevelPossible {
			a.Advice, a.Reason = ask, "possible_match"
		}
		a.Entities = append(a.Entities, candidateOf(&e))
	}
	if r.PutError != nil {
		f := faultOf(r.PutError)
		a.Missing = &f
	}
	switch {
	case r.Put != nil && !r.Put.Entity.IsZero():
		a.Advice, a.Reason, a.ID = use, "matches", &r.Put.Entity
		if r.Put.Outcome == string(resolve.Unchanged) {
			a.Reason = "stored"
		}
		a.Merges = r.Put.Merges[:min(len(r.Put.Merges), 20)]
	case r.Put == nil && len(same) == 1:
		a.Advice, a.Reason, a.ID = use, "matches", &same[0]
	case len(same) > 0:
		a.Advice, a.Reason = ask, "kept_apart"
	case r.Reason != "":
		a.Advice, a.Reason = ask, r.Reason
	}
	return a
}

func candidateOf(e *httpapi.MatchEntity) candidate {
	c := candidate{
		ID: e.ID, Level: e.Level, Weight: e.MatchWeight, Relation: e.Relation, Record: clip(e.Record.String(), 330),
		Records: e.Records,
		For:     []evidence{}, Against: []evidence{},
	}
	c.Attributes, _ = brief(e.View, 600)
	if e.Why != nil {
		c.For, c.Against = sides(e.Why.Lines, 2)
	}
	return c
}

// source is the source of the records that the agent puts.
func (s *Server) source() string { return "agent." + s.agent }

// author is the author of the agent's decisions.
func (s *Server) author() string { return "agent:" + s.agent }

// address returns the address of a record of the agent.
func (s *Server) address(key string) string { return entity.Ref{Source: s.source(), Key: key}.String() }
