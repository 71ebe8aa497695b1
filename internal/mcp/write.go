// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

type remembering struct {
	Key        string         `json:"key,omitempty" jsonschema:"name of the record, to replace it later; by default made of its content"`
	Kind       string         `json:"kind,omitempty"`
	Attributes map[string]any `json:"attributes" jsonschema:"a text or a list of texts by attribute name"`
	ObservedAt string         `json:"observed_at,omitempty" jsonschema:"when this was true, RFC 3339; now by default"`
}

// remembered is the result of remember.
type remembered struct {
	Record  string          `json:"record"`
	Entity  locality.ID     `json:"entity"`
	Outcome resolve.Outcome `json:"outcome"`
	Pending bool            `json:"pending,omitempty"` // stored, and not resolved yet
}

func (s *Server) remember(ctx context.Context, in remembering) (*page, error) {
	if in.Key == "" {
		key, err := contentKey(in.Kind, in.Attributes)
		if err != nil {
			return nil, err
		}
		in.Key = key
	}
	body, err := json.Marshal(map[string]any{"records": []any{struct {
		Source string `json:"source"`
		remembering
	}{s.source(), in}}})
	if err != nil {
		return nil, fmt.Errorf("write the record: %w", err)
	}
	var answer httpapi.PutResponse
	if err := s.call(ctx, "POST", "/v1/records", nil, body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Results) != 1 {
		return nil, fmt.Errorf("remember: %d results for one record", len(answer.Results))
	}
	r := &answer.Results[0]
	if r.Error != nil {
		return nil, &httpapi.Problem{Fault: *r.Error}
	}
	return &page{head: remembered{clip(s.address(in.Key), 600), r.Entity, r.Outcome, r.Pending}}, nil
}

// contentKey returns the key of a record without one: equal content has one key, so that repeating a call changes
// nothing.
func contentKey(kind string, attributes map[string]any) (string, error) {
	lists := map[string]any{"": kind}
	for name, value := range attributes {
		if _, list := value.([]any); !list {
			value = []any{value}
		}
		lists[name] = value
	}
	text, err := json.Marshal(lists)
	if err != nil {
		return "", fmt.Errorf("write the record: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12]), nil
}

type deciding struct {
	Verdict string `json:"verdict" jsonschema:"same or different"`
	A       string `json:"a" jsonschema:"SOURCE:KEY, or an entity id for its oldest record"`
	B       string `json:"b"`
	Reason  string `json:"reason" jsonschema:"what shows it, for people who check"`
}

// decision is the part of a decisions.Decided that is read.
type decision struct {
	Verdict  entity.Verdict `json:"verdict"`
	A        entity.PUID    `json:"a"`
	B        entity.PUID    `json:"b"`
	RefA     entity.Ref     `json:"ref_a"`
	RefB     entity.Ref     `json:"ref_b"`
	EntityA  locality.ID    `json:"entity_a"`
	EntityB  locality.ID    `json:"entity_b"`
	Author   string         `json:"author"`
	Reason   string         `json:"reason"`
	At       time.Time      `json:"at"`
	Pending  bool           `json:"pending"`
	Conflict string         `json:"conflict"`
}

// decided is a decision as an agent sees it.
type decided struct {
	Verdict entity.Verdict `json:"verdict"`
	A       string         `json:"a"`
	B       string         `json:"b,omitempty"`
	Author  string         `json:"author"`
	Reason  string         `json:"reason,omitempty"`
	At      time.Time      `json:"at"`
}

// decidedOf returns what an agent sees of a decision.
func decidedOf(d *decision) *decided {
	return &decided{d.Verdict, clip(d.RefA.String(), 330), clip(d.RefB.String(), 330), clip(d.Author, 300),
		clip(d.Reason, 600), d.At}
}

// made is the result of decide.
type made struct {
	decided

	EntityA   locality.ID `json:"entity_a"`
	EntityB   locality.ID `json:"entity_b"`
	Pending   bool        `json:"pending,omitempty"`   // stored, and entities do not follow yet
	Overruled bool        `json:"overruled,omitempty"` // entities follow other, newer decisions
	// Unchanged says that another author decided the same before; nothing was stored.
	Unchanged bool `json:"unchanged,omitempty"`
}

func (s *Server) decide(ctx context.Context, in deciding) (*page, error) {
	verdict := entity.Verdict(in.Verdict)
	switch {
	case verdict != entity.VerdictSame && verdict != entity.VerdictDifferent:
		return nil, invalid("verdict %.20q: want same or different", in.Verdict)
	case in.Reason == "":
		return nil, invalid("the reason is missing: say what shows it")
	}
	a, err := s.side(ctx, in.A)
	if err != nil {
		return nil, err
	}
	b, err := s.side(ctx, in.B)
	if err != nil {
		return nil, err
	}
	others, err := s.others(ctx, a.id)
	if err != nil {
		return nil, err
	}
	if stands := against(others, verdict, a, b); stands != nil {
		if stands.Verdict != verdict {
			return nil, &refusal{
				code: "decided", decided: decidedOf(stands),
				detail: "another author has decided otherwise: ask a person to withdraw or replace that decision",
			}
		}
		return &page{head: made{decided: *decidedOf(stands), EntityA: a.id, EntityB: b.id, Unchanged: true}}, nil
	}
	body, err := json.Marshal(httpapi.DecideRequest{Decisions: []httpapi.DecisionInput{{
		Verdict: verdict, A: a.puid.String(), B: b.puid.String(), Author: s.author(), Reason: in.Reason,
	}}})
	if err != nil {
		return nil, fmt.Errorf("write the decision: %w", err)
	}
	var answer struct {
		Results []struct {
			Decision *decision      `json:"decision"`
			Error    *httpapi.Fault `json:"error"`
		} `json:"results"`
	}
	if err := s.call(ctx, "POST", "/v1/decisions", nil, body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Results) != 1 || answer.Results[0].Error == nil && answer.Results[0].Decision == nil {
		return nil, fmt.Errorf("decide: %d results for one decision", len(answer.Results))
	}
	if f := answer.Results[0].Error; f != nil {
		return nil, &httpapi.Problem{Fault: *f}
	}
	d := answer.Results[0].Decision
	return &page{head: made{decided: *decidedOf(d), EntityA: d.EntityA, EntityB: d.EntityB, Pending: d.Pending,
		Overruled: d.Conflict != ""}}, nil
}

// side is a record of a decision, with its entity.
type side struct {
	puid    entity.PUID
	id      locality.ID
	members []entity.PUID
}

// side looks up an address.
func (s *Server) side(ctx context.Context, address string) (*side, error) {
	var e httpapi.Entity
	if err := s.call(ctx, "GET", "/v1/find", url.Values{"address": {address}}, nil, &e); err != nil {
		return nil, err
	}
	x := &side{id: e.ID}
	for i, m := range e.Members {
		x.members = append(x.members, m.PUID)
		if i == 0 || m.Ref.String() == address || m.PUID.String() == address {
			x.puid = m.PUID
		}
	}
	return x, nil
}

// others returns the decisions about pairs with a record of an entity that are not this agent's.
func (s *Server) others(ctx context.Context, id locality.ID) ([]decision, error) {
	list, err := s.decisions(ctx, id)
	return slices.DeleteFunc(list, func(d decision) bool {
		return d.Author == s.author() || d.Verdict != entity.VerdictSame && d.Verdict != entity.VerdictDifferent
	}), err
}

// decisions returns all decisions about the records of an entity.
func (s *Server) decisions(ctx context.Context, id locality.ID) (list []decision, err error) {
	query := url.Values{"of": {id.String()}, "limit": {"1000"}}
	for {
		var page struct {
			Decisions []decision `json:"decisions"`
			Cursor    string     `json:"cursor"`
		}
		if err := s.call(ctx, "GET", "/v1/decisions", query, nil, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Decisions...)
		if page.Cursor == "" {
			return list, nil
		}
		query.Set("cursor", page.Cursor)
	}
}

// against returns a decision of another author that this one would replace or overrule; nil if there is none. The
// newest decision counts, so it need not be about the same two records: a must-link also overrules cannot-links around
// them, and a cannot-link cuts a chain of must-links between them.
func against(others []decision, verdict entity.Verdict, a, b *side) *decision {
	for i := range others {
		d := &others[i]
		if d.A == a.puid && d.B == b.puid || d.A == b.puid && d.B == a.puid {
			return d
		}
	}
	if verdict == entity.VerdictSame {
		for i := range others {
			d := &others[i]
			across := slices.Contains(a.members, d.A) && slices.Contains(b.members, d.B) ||
				slices.Contains(b.members, d.A) && slices.Contains(a.members, d.B)
			if d.Verdict == entity.VerdictDifferent && across && a.id != b.id {
				return d
			}
		}
		return nil
	}
	return chain(others, a.puid, b.puid)
}

// chain returns a must-link in a chain of them from one record to another, nil if there is no chain.
func chain(list []decision, from, to entity.PUID) *decision {
	reached := map[entity.PUID]bool{from: true}
	for grown := true; grown; {
		grown = false
		for i := range list {
			d := &list[i]
			if d.Verdict != entity.VerdictSame || reached[d.A] == reached[d.B] {
				continue
			}
			reached[d.A], reached[d.B], grown = true, true, true
			if reached[to] {
				return d
			}
		}
	}
	return nil
}
