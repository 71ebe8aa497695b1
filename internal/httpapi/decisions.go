// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"slices"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

// DecideRequest is the body of POST /v1/decisions.
type DecideRequest struct {
	Decisions []DecisionInput `json:"decisions" minItems:"1" maxItems:"1000" doc:"1 to 1000 decisions"`
}

// DecisionInput is a decision to make or withdraw.
type DecisionInput struct {
	Verdict   entity.Verdict `json:"verdict" enum:"same,different,anchor,value" doc:"same and different are about two records; anchor chooses the record whose birth id the entity has, value the value it shows"`
	A         string         `json:"a" doc:"Entity id, which stands for its anchor, puid or SOURCE:KEY"`
	B         string         `json:"b,omitempty" doc:"Second address, for same and different"`
	Attribute string         `json:"attribute,omitempty" doc:"For value: the attribute"`
	Value     string         `json:"value,omitempty" doc:"For value: the value that the entity shows, even if no record has it"`
	Author    string         `json:"author,omitempty" doc:"Author of the decision, at most 255 bytes"`
	Reason    string         `json:"reason,omitempty" doc:"Reason, at most 1024 bytes"`
	Withdraw  bool           `json:"withdraw,omitempty" doc:"Withdraw the decision"`
	Settles   bool           `json:"settles,omitempty" doc:"The answer ends a disagreement of others, and does not count as an answer of its own"`
}

// DecideResponse has a result for each decision, in order.
type DecideResponse struct {
	Results []DecideResult `json:"results"`
}

// DecideResult is the result of one decision.
type DecideResult struct {
	Decision  *decisions.Decided  `json:"decision,omitempty" doc:"The stored decision; missing if it was refused"`
	Watermark changelog.Watermark `json:"watermark,omitempty" doc:"Pass it as min_watermark to read rollups that include the decision"`
	Error     *Fault              `json:"error,omitempty"`
}

// DecisionList is a page of decisions.
type DecisionList struct {
	Decisions []decisions.Decided `json:"decisions"`
	Cursor    string              `json:"cursor,omitempty" doc:"Cursor of the next page; missing on the last page only"`
}

// ReviewList is a page of the review queue.
type ReviewList struct {
	Pairs  []review.Pair `json:"pairs" doc:"In the requested order"`
	Cursor string        `json:"cursor,omitempty" doc:"Cursor of the next page; missing on the last page only"`
}

// UnmergeRequest is the body of POST /v1/entities/{id}/unmerge.
type UnmergeRequest struct {
	Records []string `json:"records" minItems:"1" maxItems:"100" doc:"Addresses of members that do not belong to the entity"`
	Author  string   `json:"author,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

// decision is a parsed item of a batch.
type decision struct {
	decisions.Input
	refusal
}

func decodeDecision(v strictjson.Value) (in decision) {
	if v.Kind() != strictjson.Object {
		in.note(wrongKind("", v, "a decision"))
		return in
	}
	verdict := ""
	texts := map[string]*string{
		"verdict": &verdict, "a": &in.A, "b": &in.B, "attribute": &in.Attribute, "value": &in.Value,
		"author": &in.Author, "reason": &in.Reason,
	}
	for name, v := range v.Members() {
		to, text := texts[name]
		switch {
		case text && v.Kind() == strictjson.String:
			*to = v.Text()
		case text:
			in.note(wrongKind("/"+name, v, "a string"))
		case name != "withdraw" && name != "settles":
			in.note(unknownField("", name, "verdict, a, b, attribute, value, author, reason, withdraw, settles"))
		case v.Kind() != strictjson.Bool:
			in.note(wrongKind("/"+name, v, "true or false"))
		case name == "settles":
			in.Settles = string(v.Raw()) == "true"
		default:
			in.Withdraw = string(v.Raw()) == "true"
		}
	}
	in.Verdict = entity.Verdict(verdict)
	return in
}

func (s *Server) decide(c *call) (any, error) {
	items, err := decodeBatch(c.body, "decisions", records.MaxBatch, decodeDecision)
	if err != nil {
		return nil, err
	}
	list := make([]decisions.Input, 0, len(items))
	for i := range items {
		if items[i].fault == nil {
			if items[i].Author, err = s.signed(c, items[i].Author, itemPointer("decisions", i)+"/author"); err != nil {
				items[i].note(toFault(err, ""))
				continue
			}
			if err := s.mayDecide(c, &items[i].Input); err != nil {
				f := toFault(err, "")
				f.Pointer = itemPointer("decisions", i) + f.Pointer
				items[i].note(f)
				continue
			}
			items[i].By = proved(c)
			list = append(list, items[i].Input)
		}
	}
	var results []decisions.Result
	if len(list) > 0 {
		if results, err = s.svc.Decisions().Decide(c, list); err != nil {
			return nil, err
		}
	}
	answer := DecideResponse{Results: make([]DecideResult, 0, len(items))}
	for i := range items {
		if f := items[i].fault; f != nil {
			answer.Results = append(answer.Results, DecideResult{Error: f})
			continue
		}
		c.decided(&results[0])
		answer.Results = append(answer.Results, decided(results[0], itemPointer("decisions", i)))
		results = results[1:]
	}
	return answer, nil
}

// decided adds a decision to the entry of the audit log.
func (c *call) decided(r *decisions.Result) {
	switch {
	case r.Err != nil:
		c.concerns("refused=%s", toFault(r.Err, "").Code)
	case r.Pair():
		c.concerns("%s=%d/%d", r.Verdict, r.A, r.B)
	default:
		c.concerns("%s=%d", r.Verdict, r.A)
	}
}

func decided(r decisions.Result, pointer string) DecideResult {
	if r.Err != nil {
		return DecideResult{Error: toFault(r.Err, pointer)}
	}
	return DecideResult{Decision: &r.Decided, Watermark: r.Watermark}
}

func (s *Server) listDecisions(c *call) (any, error) {
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	withdrawn, err := c.query.flag("withdrawn")
	if err != nil {
		return nil, err
	}
	after, err := s.unseal(c, "cursor")
	if err != nil {
		return nil, err
	}
	if err := s.seen(c, c.query["of"]); err != nil {
		return nil, err
	}
	page, err := s.svc.Decisions().List(c,
		decisions.Query{Of: c.query["of"], Withdrawn: withdrawn, After: string(after), Limit: limit})
	if err != nil {
		return nil, err
	}
	return DecisionList{page.Decisions, s.textCursor(c, page.Next)}, nil
}

// textCursor returns the cursor for the next page of a list that is not in the order of puids.
func (s *Server) textCursor(c *call, next string) string {
	if next == "" {
		return ""
	}
	return s.seal(c, []byte(next))
}

// filteredRead is how many possible matches are read for a page with a filter.
const filteredRead = 2000

func (s *Server) review(c *call) (any, error) {
	limit := 20
	if text, given := c.query["limit"]; given {
		var err error
		if limit, err = c.query.atMost("limit", text, review.MaxPage); err != nil {
			return nil, err
		}
	}
	after, err := s.unseal(c, "cursor")
	if err != nil {
		return nil, err
	}
	q := review.Query{After: string(after), Limit: limit, Order: review.Order(c.query["order"])}
	q.Filter = review.Filter{Source: c.query["source"], Kind: c.query["kind"], Attribute: c.query["attribute"],
		Bits: c.query["bits"], Assigned: c.query["assigned"]}
	if q.Filter != (review.Filter{}) {
		q.Read = filteredRead
	}
	if err := ownFilter(c, &q.Filter, &q.Kinds); err != nil {
		return nil, err
	}
	page, err := s.svc.Review().List(c, q)
	if err != nil {
		return nil, err
	}
	return ReviewList{page.Pairs, s.textCursor(c, page.Next)}, nil
}

func (s *Server) unmerge(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	fields, err := object(c.body, "records", "author", "reason")
	if err != nil {
		return nil, err
	}
	records, err := textsAt(fields["records"], "/records", "records", decisions.MaxUnmerged)
	if err != nil {
		return nil, err
	}
	by := decisions.By{}
	for name, to := range map[string]*string{"author": &by.Author, "reason": &by.Reason} {
		if v, given := fields[name]; given {
			if *to, err = textAt(v, "/"+name); err != nil {
				return nil, err
			}
		}
	}
	if by.Author, err = s.signed(c, by.Author, "/author"); err != nil {
		return nil, err
	}
	by.Principal = proved(c)
	if err := s.seen(c, append(slices.Clone(records), id.String())...); err != nil {
		return nil, err
	}
	results, err := s.svc.Decisions().Unmerge(c, id.String(), records, by)
	if err != nil {
		return nil, err
	}
	answer := DecideResponse{Results: make([]DecideResult, 0, len(results))}
	for i, r := range results {
		c.decided(&results[i])
		answer.Results = append(answer.Results, decided(r, ""))
	}
	return answer, nil
}
