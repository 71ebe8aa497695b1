// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
)

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

// RecordList is a page of records. Cursor is the cursor of the next page, "" at the end.
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
	return Deleted{Source: ref.Source, Key: ref.Key, Entity: results[0].Entity, Pending: results[0].Pending,
		Watermark: results[0].Watermark}, nil
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
		found, next, err := s.svc.Records().List(c,
			records.Query{Source: c.query["source"], After: after, Limit: limit, Damaged: note})
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
