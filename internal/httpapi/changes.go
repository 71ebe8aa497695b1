// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
)

// ChangeList is a page of changes. The changes of one cell are in order; there is no order between cells.
type ChangeList struct {
	Changes []changes.Change    `json:"changes" doc:"Empty if there is nothing new"`
	Next    changelog.Watermark `json:"next" doc:"Pass it as after to get the next page; always present, because more changes may follow"`
}

// portion is how many changes are read at a time for a page, which is limited in bytes.
const portion = 250

func (s *Server) changes(c *call) (any, error) {
	q, err := s.changeQuery(c)
	if err != nil {
		return nil, err
	}
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	list := ChangeList{Changes: []changes.Change{}, Next: q.After}
	for size := 0; len(list.Changes) < limit && size <= pageBytes; {
		q.After, q.Limit = list.Next, min(limit-len(list.Changes), portion)
		found, next, err := s.svc.Changes().Read(c, q)
		if err != nil {
			return nil, err
		}
		kept := 0
		for kept < len(found) && (size <= pageBytes || len(list.Changes)+kept == 0) {
			size += changeSize(&found[kept].Change)
			kept++
		}
		list.Changes = append(list.Changes, s.shownChanges(c, found[:kept])...)
		list.Next = upTo(q.After, found[:kept], found[kept:], next)
		if len(found) < q.Limit {
			break
		}
	}
	return list, nil
}

// upTo returns the position after the kept changes, given the rest and the position next after all.
func upTo(after changelog.Watermark, kept, rest []changes.Change, next changelog.Watermark) changelog.Watermark {
	at := maps.Clone(next)
	for i := range rest {
		if seq, ok := after[rest[i].Cell]; ok {
			at[rest[i].Cell] = seq
		} else {
			delete(at, rest[i].Cell)
		}
	}
	for i := range kept {
		if slices.ContainsFunc(rest, func(c changes.Change) bool { return c.Cell == kept[i].Cell }) {
			at[kept[i].Cell] = kept[i].Seq
		}
	}
	return at
}

// changeQuery reads the query for changes; After is nil if it is not given.
func (s *Server) changeQuery(c *call) (q changes.Query, err error) {
	if text, given := c.query["cell"]; given {
		m := s.svc.Cells().Map()
		for name := range strings.SplitSeq(text, ",") {
			id, err := cell.ParseID(name)
			if err != nil {
				return q, fault(CodeInvalid, "?cell", "%.40q is not a cell: want one like g1-19, or several like g1-19,g1-20", name)
			}
			if !m.Has(id) {
				f := noCell(m, id)
				f.Pointer = "?cell"
				return q, f
			}
			q.Cells = append(q.Cells, id)
		}
	}
	q.After, err = c.query.watermark("after")
	return q, err
}

// changeSize returns the approximate size of a change in an answer, in bytes.
func changeSize(c *changelog.Change) int {
	n := 6*itemBytes + 2*itemBytes*(len(c.Before)+len(c.After))
	for _, im := range []*changelog.Image{c.Was, c.Is} {
		if im != nil {
			n += 2*itemBytes + itemBytes*len(im.Sources) + attributesSize(im.Attributes)
		}
	}
	return n
}
