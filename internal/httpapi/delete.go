// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"math"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
)

// DeleteRequest is the body of POST /v1/records/delete.
type DeleteRequest struct {
	Records []DeleteInput `json:"records" minItems:"1" maxItems:"1000"`
}

// DeleteInput is a record to delete.
type DeleteInput struct {
	Source    string `json:"source"`
	Key       string `json:"key"`
	IfVersion int64  `json:"if_version,omitempty" doc:"Only if the record has this version; otherwise the result is the error conflict, and the record stays"`
}

// DeleteResponse is the answer to POST /v1/records/delete: a result for each record, in order.
type DeleteResponse struct {
	Results []DeleteResult `json:"results"`
}

// DeleteResult is the result of one deletion. If Error is set, all other fields except source and key are empty.
type DeleteResult struct {
	Source    string              `json:"source"`
	Key       string              `json:"key"`
	Entity    locality.ID         `json:"entity,omitzero" doc:"Entity that the record belonged to"`
	Pending   bool                `json:"pending,omitempty" doc:"The record is deleted, but records that only it connected are not yet separated"`
	Watermark changelog.Watermark `json:"watermark,omitempty" doc:"Watermark at or after the deletion, for min_watermark of a rollup"`
	Error     *Fault              `json:"error,omitempty"`
}

// deletion is one record of a batch to delete, or the reason why it is rejected.
type deletion struct {
	records.Deletion
	refusal
}

// decodeDeletion reads a record to delete. The pointer of its fault is relative to the record.
func decodeDeletion(v strictjson.Value) (d deletion) {
	if v.Kind() != strictjson.Object {
		d.fault = wrongKind("", v, "a record to delete")
		return d
	}
	for name, v := range v.Members() {
		var f *Fault
		switch {
		case name == "if_version":
			d.IfVersion, f = whole("/if_version", v, 1, math.MaxInt64)
		case name != "source" && name != "key":
			f = unknownField("", name, "source, key, if_version")
		case v.Kind() != strictjson.String:
			f = wrongKind("/"+name, v, "a string")
		case name == "source":
			d.Source = v.Text()
		default:
			d.Key = v.Text()
		}
		d.note(f)
	}
	return d
}

func (s *Server) deleteRecords(c *call) (any, error) {
	items, err := decodeBatch(c.body, "records", records.MaxBatch, decodeDeletion)
	if err != nil {
		return nil, err
	}
	deletions := make([]records.Deletion, 0, len(items))
	for i := range items {
		if items[i].fault == nil {
			items[i].note(requireSource(access.From(c), items[i].Source, itemPointer("records", i)+"/source"))
		}
		if items[i].fault == nil {
			deletions = append(deletions, mayDelete(access.From(c), items[i].Deletion))
		}
	}
	var results []records.DeleteResult
	if err := s.budget(access.From(c), recordsMoved, len(items)); err != nil {
		return nil, err
	}
	if len(deletions) > 0 {
		if results, err = s.svc.Records().DeleteIf(c, deletions); err != nil {
			return nil, err
		}
	}
	answer := DeleteResponse{Results: make([]DeleteResult, 0, len(items))}
	deleted := 0
	for i := range items {
		refused := items[i].fault
		var r records.DeleteResult
		if refused == nil {
			if r, results = results[0], results[1:]; r.Err != nil {
				refused = toFault(ifExists(r.Err), itemPointer("records", i))
			}
		}
		if refused != nil {
			at := refusedItem(items[i].Ref, refused)
			answer.Results = append(answer.Results, DeleteResult{Source: at.Source, Key: at.Key, Error: refused})
			continue
		}
		deleted++
		answer.Results = append(answer.Results,
			DeleteResult{Source: r.Source, Key: r.Key, Entity: r.Entity, Pending: r.Pending, Watermark: r.Watermark})
	}
	c.concerns("deleted=%d", deleted)
	s.opts.Metrics.Records("deleted", deleted)
	return answer, nil
}
