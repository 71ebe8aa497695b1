// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/review"
)

// PreviewRequest is the body of POST /v1/decisions/preview.
type PreviewRequest struct {
	Verdict entity.Verdict  `json:"verdict" enum:"same,different"`
	Filter  *review.Filter  `json:"filter,omitempty" doc:"Pairs of the head of the review queue; all of it without filter and pairs"`
	Pairs   []review.Chosen `json:"pairs,omitempty" maxItems:"1000" doc:"These pairs, instead of a filter"`
}

// BulkRequest is the body of POST /v1/decisions/bulk.
type BulkRequest struct {
	PreviewRequest
	Stamp  string `json:"stamp,omitempty" doc:"That of the preview; required with a filter. If other pairs are selected by now, nothing is decided"`
	Author string `json:"author,omitempty" doc:"Author of the decisions, at most 255 bytes"`
	Reason string `json:"reason,omitempty" doc:"Reason, at most 1024 bytes"`
}

// BulkResponse has the results of a bulk decision.
type BulkResponse struct {
	Batch   string         `json:"batch" doc:"Names the decisions for POST /v1/decisions/bulk/{batch}/undo"`
	Results []DecideResult `json:"results"`
}

// UndoRequest is the body of POST /v1/decisions/bulk/{batch}/undo.
type UndoRequest struct {
	Author string `json:"author,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// AssignRequest is the body of POST /v1/review/assign.
type AssignRequest struct {
	To     string          `json:"to,omitempty" doc:"Name of a person as decisions have it; empty to release the pairs"`
	Days   int             `json:"days,omitempty" minimum:"1" maximum:"90" doc:"Number of days; 7 by default"`
	Filter *review.Filter  `json:"filter,omitempty" doc:"Pairs of the head of the review queue; all of it without filter and pairs"`
	Pairs  []review.Chosen `json:"pairs,omitempty" maxItems:"1000" doc:"These pairs, instead of a filter"`
}

// AssignResponse has the number of pairs that were assigned or released.
type AssignResponse struct {
	Pairs int  `json:"pairs"`
	More  bool `json:"more,omitempty" doc:"There are more pairs further down in the queue, which were not selected"`
}

// textsOf reads members that are strings, and forgets them.
func textsOf(fields map[string]strictjson.Value, to map[string]*string) (err error) {
	for name, text := range to {
		if v, given := fields[name]; given {
			if *text, err = textAt(v, "/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// selection reads from a body which pairs are chosen, among the pairs that the caller may see.
func selection(c *call, fields map[string]strictjson.Value) (*review.Selection, error) {
	chosen := &review.Selection{}
	if v, given := fields["filter"]; given {
		if v.Kind() != strictjson.Object {
			return nil, wrongKind("/filter", v, "an object with source, kind, attribute, bits, assigned")
		}
		to := map[string]*string{"source": &chosen.Filter.Source, "kind": &chosen.Filter.Kind,
			"attribute": &chosen.Filter.Attribute, "bits": &chosen.Filter.Bits, "assigned": &chosen.Filter.Assigned}
		for name, v := range v.Members() {
			text := to[name]
			if text == nil {
				return nil, unknownField("/filter", name, "source, kind, attribute, bits, assigned")
			}
			var err error
			if *text, err = textAt(v, "/filter/"+name); err != nil {
				return nil, err
			}
		}
	}
	if v, given := fields["pairs"]; given {
		if _, both := fields["filter"]; both {
			return nil, fault(CodeInvalid, "/pairs", "pairs are chosen by name or by a filter, not both")
		}
		if v.Kind() != strictjson.Array {
			return nil, wrongKind("/pairs", v, "an array of pairs")
		}
		for i, v := range v.Items() {
			at := itemPointer("pairs", i)
			if v.Kind() != strictjson.Object {
				return nil, wrongKind(at, v, "an object with a and b")
			}
			var one review.Chosen
			for name, v := range v.Members() {
				text := map[string]*string{"a": &one.A, "b": &one.B}[name]
				if text == nil {
					return nil, unknownField(at, name, "a, b")
				}
				var err error
				if *text, err = textAt(v, at+"/"+name); err != nil {
					return nil, err
				}
			}
			chosen.Pairs = append(chosen.Pairs, one)
		}
		if len(chosen.Pairs) == 0 {
			return nil, fault(CodeInvalid, "/pairs", "there is no pair")
		}
	}
	return chosen, ownFilter(c, &chosen.Filter, &chosen.Kinds)
}

// ownFilter narrows a filter to the kinds and attributes that the caller may see. Otherwise the selection would reveal
// hidden values.
func ownFilter(c *call, f *review.Filter, kinds *[]string) error {
	who := access.From(c)
	if f.Attribute != "" && who.Restriction.Hides(f.Attribute) {
		return fault(CodeForbidden, "/filter/attribute", "the token may not see %.64q, so it cannot select by it", f.Attribute)
	}
	*kinds = who.Restriction.Kinds
	if who.Named() {
		f.Person = who.Signs()
	}
	return nil
}

func (s *Server) previewDecisions(c *call) (any, error) {
	fields, err := object(c.body, "verdict", "filter", "pairs")
	if err != nil {
		return nil, err
	}
	var verdict string
	if err := textsOf(fields, map[string]*string{"verdict": &verdict}); err != nil {
		return nil, err
	}
	chosen, err := selection(c, fields)
	if err != nil {
		return nil, err
	}
	return s.svc.Review().Foresee(c, chosen, entity.Verdict(verdict))
}

func (s *Server) decideBulk(c *call) (any, error) {
	fields, err := object(c.body, "verdict", "filter", "pairs", "stamp", "author", "reason")
	if err != nil {
		return nil, err
	}
	var verdict, stamp string
	by := decisions.By{Principal: proved(c)}
	if err := textsOf(fields, map[string]*string{"verdict": &verdict, "stamp": &stamp, "author": &by.Author, "reason": &by.Reason}); err != nil {
		return nil, err
	}
	if by.Author, err = s.signed(c, by.Author, "/author"); err != nil {
		return nil, err
	}
	chosen, err := selection(c, fields)
	if err != nil {
		return nil, err
	}
	return s.bulk(c, chosen, stamp, entity.Verdict(verdict), by)
}

func (s *Server) bulk(c *call, chosen *review.Selection, stamp string, verdict entity.Verdict,
	by decisions.By) (*BulkResponse, error) {
	batch, results, err := s.svc.Review().DecideAll(c, chosen, stamp, verdict, by)
	if err != nil {
		return nil, err
	}
	return &BulkResponse{Batch: batch, Results: c.results(results)}, nil
}

// results returns the results of decisions, and notes them in the audit log.
func (c *call) results(list []decisions.Result) []DecideResult {
	told := make([]DecideResult, 0, len(list))
	for i, r := range list {
		c.decided(&list[i])
		told = append(told, decided(r, ""))
	}
	return told
}

func (s *Server) undoBulk(c *call) (any, error) {
	fields, err := object(c.body, "author", "reason")
	if err != nil {
		return nil, err
	}
	by := decisions.By{Principal: proved(c)}
	if err := textsOf(fields, map[string]*string{"author": &by.Author, "reason": &by.Reason}); err != nil {
		return nil, err
	}
	if by.Author, err = s.signed(c, by.Author, "/author"); err != nil {
		return nil, err
	}
	results, err := s.svc.Decisions().Undo(c, c.r.PathValue("batch"), access.From(c).Restriction.Kinds, by)
	if err != nil {
		return nil, err
	}
	return DecideResponse{Results: c.results(results)}, nil
}

func (s *Server) assignReview(c *call) (any, error) {
	fields, err := object(c.body, "to", "days", "filter", "pairs")
	if err != nil {
		return nil, err
	}
	to := ""
	if err := textsOf(fields, map[string]*string{"to": &to}); err != nil {
		return nil, err
	}
	days := 0
	if _, given := fields["days"]; given {
		if days, err = number(fields, "days", int(review.LongestAssigned/(24*time.Hour))); err != nil {
			return nil, err
		}
	}
	chosen, err := selection(c, fields)
	if err != nil {
		return nil, err
	}
	return s.assignBy(c, chosen, to, access.From(c).Signs(), days)
}

func (s *Server) assignBy(c *call, chosen *review.Selection, to, by string, days int) (AssignResponse, error) {
	pairs, err := s.svc.Review().Choose(c, chosen)
	if err != nil {
		return AssignResponse{}, err
	}
	n, err := s.svc.Review().Assign(c, pairs, to, by, time.Duration(days)*24*time.Hour)
	return AssignResponse{n, chosen.More}, err
}

// reviewTeam reports the progress of people, for the kinds that the caller may see.
func (s *Server) reviewTeam(c *call) (any, error) {
	return s.svc.Review().Team(c, access.From(c).Restriction.Kinds)
}
