// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
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
		Ref: entity.Ref{Source: r.Source, Key: r.Key}, Kind: r.Kind, Observed: observed, Attributes: entity.Attributes(r.Attributes),
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

// Record is a stored record.
type Record struct {
	Source     string      `json:"source"`
	Key        string      `json:"key"`
	Kind       string      `json:"kind"`
	PUID       entity.PUID `json:"puid"`
	Version    int64       `json:"version"`
	Entity     locality.ID `json:"entity"`
	ObservedAt time.Time   `json:"observed_at"`
	Attributes Attributes  `json:"attributes"`
	Hidden     []string    `json:"hidden,omitempty" doc:"Attributes that have a value, which this token may not see"`
}

// RecordList is a page of records. Cursor is that of the next page, "" at the end.
type RecordList struct {
	Records []Record `json:"records"`
	Damaged []Damage `json:"damaged,omitempty" doc:"Damaged rows, whose records are missing from the list; see locus check"`
	Cursor  string   `json:"cursor,omitempty" doc:"Cursor of the next page; missing on the last page only"`
}

// Damage is an unreadable row.
type Damage struct {
	Cell  string `json:"cell"`
	Table string `json:"table"`
	Row   string `json:"row" doc:"Key of the row in its table; of a record, its puid"`
}

// Deleted is the answer to a deletion, with the entity that the record belonged to.
type Deleted struct {
	Source  string      `json:"source"`
	Key     string      `json:"key"`
	Entity  locality.ID `json:"entity"`
	Pending bool        `json:"pending,omitempty" doc:"The record is deleted, but records that only it connected are not yet separated"`
	// Watermark covers the deletion.
	Watermark changelog.Watermark `json:"watermark,omitempty" doc:"Watermark at or after the deletion, for min_watermark of a rollup"`
}

// RecordPath returns the path of a record. It escapes everything that a client or a proxy could interpret, including
// dots.
func RecordPath(source, key string) string {
	return "/v1/records/" + segment(source) + "/" + segment(key)
}

// segment escapes a path segment. A key of one or two dots would otherwise be removed as a relative path.
func segment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
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
			became["refused"]++
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
	return PutResult{Source: r.Source, Key: r.Key, PUID: r.PUID, Version: r.Version, Entity: r.Entity, Outcome: r.Outcome, Pending: r.Pending, Watermark: r.Watermark}
}

// refusedItem returns source and key, as far as they can be printed, so that a client can find the item.
func refusedItem(ref entity.Ref, f *Fault) PutResult {
	return PutResult{Source: printable(cut(ref.Source, 200)), Key: printable(cut(ref.Key, 200)), Error: f}
}

func (s *Server) getRecord(c *call) (any, error) {
	ref, err := c.ref()
	if err != nil {
		return nil, err
	}
	r, err := s.svc.Records().Get(c, ref)
	if err != nil {
		return nil, err
	}
	return record(r.Record, r.Entity), nil
}

func (s *Server) deleteRecord(c *call) (any, error) {
	ref, err := c.ref()
	if err != nil {
		return nil, err
	}
	erase, err := c.query.flag("erase")
	if err != nil {
		return nil, err
	}
	needs, remove := access.Write, s.svc.Records().DeleteIf
	if erase {
		needs, remove = access.Erase, s.svc.Records().EraseIf
	}
	who, err := require(access.From(c), access.All(needs).BySource().Narrowed())
	if err != nil {
		return nil, err
	}
	if f := requireSource(who, ref.Source, ""); f != nil {
		return nil, f
	}
	results, err := remove(c, []records.Deletion{mayDelete(who, records.Deletion{Ref: ref})})
	if err != nil {
		return nil, err
	}
	if err := ifExists(results[0].Err); err != nil {
		return nil, err
	}
	c.concerns("entity=%s", results[0].Entity)
	s.opts.Metrics.Records("deleted", 1)
	return Deleted{Source: ref.Source, Key: ref.Key, Entity: results[0].Entity, Pending: results[0].Pending, Watermark: results[0].Watermark}, nil
}

func (s *Server) listRecords(c *call) (any, error) {
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	after, err := s.after(c)
	if err != nil {
		return nil, err
	}
	who := &access.From(c).Restriction
	kind := c.query["kind"]
	if kind != "" {
		if !who.Sees(kind) {
			return nil, errNoKind
		}
		if _, err := s.kind(c, kind); err != nil {
			return nil, err
		}
	}
	var damaged []Damage
	note := func(row *cell.DamagedError) {
		if d := (Damage{row.Cell, row.Table, row.Key}); !slices.Contains(damaged, d) {
			damaged = append(damaged, d)
		}
	}
	page, next, err := fill(after, limit, func(after entity.PUID, limit int) ([]Record, entity.PUID, error) {
		found, next, err := s.svc.Records().List(c, records.Query{Source: c.query["source"], After: after, Limit: limit, Damaged: note})
		records := make([]Record, 0, len(found))
		for _, r := range found {
			if (kind == "" || r.Kind == kind) && who.Sees(r.Kind) {
				records = append(records, record(r.Record, r.Entity))
			}
		}
		return records, next, err
	})
	if err != nil {
		return nil, err
	}
	return RecordList{Records: page, Damaged: damaged, Cursor: s.cursor(c, next)}, nil
}

// ref returns the external key in the path. The pattern matches the rest of the path, because other wildcards do not
// match a segment that decodes to "/"; so an unescaped slash must be rejected here.
func (c *call) ref() (entity.Ref, error) {
	if c.r.PathValue("key") == "" || strings.Count(c.r.URL.EscapedPath(), "/") != strings.Count(c.route.path, "/") {
		return entity.Ref{}, errNoPath
	}
	source, err := c.path("source")
	if err != nil {
		return entity.Ref{}, err
	}
	key, err := c.path("key")
	return entity.Ref{Source: source, Key: key}, err
}

func record(r *entity.Record, id locality.ID) Record {
	return Record{
		Source: r.Source, Key: r.Key, Kind: r.Kind, PUID: r.PUID, Version: r.Version, Entity: id,
		ObservedAt: r.Observed.UTC(), Attributes: Attributes(r.Attributes),
	}
}
