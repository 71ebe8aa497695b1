// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/sources"
)

// PutRequest is the body of POST /v1/records.
type PutRequest struct {
	Records []RecordInput `json:"records" minItems:"1" maxItems:"1000"`
}

// RecordInput is a record as sent by a source.
type RecordInput struct {
	Source string `json:"source" doc:"Name of the source: [a-z0-9][a-z0-9_.-]{0,63}"`
	Key    string `json:"key" doc:"Key of the record in its source, 1 to 255 bytes"`
	// Kind is one of GET /v1/schema; empty means the default kind.
	Kind string `json:"kind,omitempty" doc:"Kind of the thing; by default the first of the installation, place"`
	// ObservedAt is when the source observed this, RFC 3339; empty means now.
	ObservedAt string `json:"observed_at,omitempty" format:"date-time" doc:"When the source observed these values; now by default"`
	// Attributes holds values by name. In a request, a value may also be a single string or a number.
	Attributes Attributes `json:"attributes"`
}

// Check returns why POST /v1/records would reject the record at a time, nil if it would not. It runs the same code, for
// clients that check before sending. The pointer is relative to the record.
func (r *RecordInput) Check(schema *match.Schema, now time.Time) *Fault {
	observed, f := observedAt(r.ObservedAt)
	if f != nil {
		return f
	}
	problems := records.Check(schema, now, records.Input{
		Ref: entity.Ref{Source: r.Source, Key: r.Key}, Kind: r.Kind, Observed: observed,
		Attributes: entity.Attributes(r.Attributes),
	})
	if len(problems) == 0 {
		return nil
	}
	return invalidFault(&locus.InvalidError{Problems: problems}, "")
}

// Attributes are values by attribute name.
type Attributes map[string][]string

// PutResponse is the answer to POST /v1/records: a result for each record, in order.
type PutResponse struct {
	Results []PutResult `json:"results"`
}

// PutResult is the result of one record. If Error is set, all other fields except source and key are empty.
type PutResult struct {
	Source  string          `json:"source"`
	Key     string          `json:"key"`
	PUID    entity.PUID     `json:"puid,omitzero"`
	Version int64           `json:"version,omitzero"`
	Entity  locality.ID     `json:"entity,omitzero"`
	Outcome resolve.Outcome `json:"outcome,omitempty" enum:"created,matched,updated,unchanged,stale"`
	Pending bool            `json:"pending,omitempty" doc:"The record is durable but not yet resolved: a cell is unavailable, or another process is resolving it"`
	// Watermark covers the write: a rollup read with it as min_watermark includes the write.
	Watermark changelog.Watermark `json:"watermark,omitempty" doc:"Watermark at or after the write, for min_watermark of a rollup"`
	Error     *Fault              `json:"error,omitempty"`
}

func (s *Server) putRecords(c *call) (any, error) {
	items, err := decodePut(c.body)
	if err != nil {
		return nil, err
	}
	return s.putItems(c, items)
}

// putItems puts the items that are not refused, and answers for all.
func (s *Server) putItems(c *call, items []item) (answer PutResponse, err error) {
	puts := make([]records.Input, 0, len(items))
	for i := range items {
		if items[i].fault == nil {
			items[i].note(s.mayPut(c, &items[i].put, itemPointer("records", i)))
		}
		if items[i].fault == nil {
			puts = append(puts, items[i].put)
		}
	}
	var results []records.Result
	if err := s.budget(access.From(c), recordsMoved, len(items)); err != nil {
		return answer, err
	}
	if len(puts) > 0 {
		if results, err = s.svc.Records().Put(c, puts); err != nil {
			return answer, err
		}
	}
	s.svc.Counters().CountOwn(locus.OwnMetrics+"refused", int64(len(items)-len(puts))) // the others are counted by Put
	answer = PutResponse{Results: make([]PutResult, 0, len(items))}
	became := map[string]int{}
	for i := range items {
		result := refusedItem(items[i].put.Ref, items[i].fault)
		if items[i].fault == nil {
			result = putResult(i, results[0])
			results = results[1:]
		}
		switch {
		case result.Error != nil:
			became[sources.Refused]++
		case result.Pending:
			became["pending"]++
		default:
			became[string(result.Outcome)]++
		}
		answer.Results = append(answer.Results, result)
	}
	bySource := map[string]int{}
	for i := range puts {
		bySource[puts[i].Source]++
	}
	for source, n := range bySource {
		c.concerns("records=%d/%s", n, source)
	}
	for outcome, n := range became {
		s.opts.Metrics.Records(outcome, n)
	}
	return answer, nil
}

func putResult(i int, r records.Result) PutResult {
	if f := notReplaced(r.Err, itemPointer("records", i)); f != nil {
		return refusedItem(r.Ref, f)
	}
	if r.Err != nil {
		return refusedItem(r.Ref, toFault(r.Err, itemPointer("records", i)))
	}
	return PutResult{Source: r.Source, Key: r.Key, PUID: r.PUID, Version: r.Version, Entity: r.Entity, Outcome: r.Outcome,
		Pending: r.Pending, Watermark: r.Watermark}
}

// refusedItem returns source and key, as far as they can be printed, so that a client can find the item.
func refusedItem(ref entity.Ref, f *Fault) PutResult {
	return PutResult{Source: printable(cut(ref.Source, 200)), Key: printable(cut(ref.Key, 200)), Error: f}
}
