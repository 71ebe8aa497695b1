// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strconv"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// IDList is a page of the states of a cell's ids.
type IDList struct {
	IDs  []mirror.State `json:"ids" doc:"In the order of the ids"`
	Next locality.ID    `json:"next,omitzero" doc:"Pass it as after to get the next page; missing on the last page only"`
}

// IDRequest requests the states of ids, and of the birth ids of records.
type IDRequest struct {
	IDs     []locality.ID `json:"ids,omitempty"`
	Records []entity.PUID `json:"records,omitempty" doc:"By puid; deleted and unknown ones are left out"`
}

// IDAnswer holds the requested states, in no particular order, each id once.
type IDAnswer struct {
	IDs []mirror.State `json:"ids" doc:"In any order, without duplicates"`
}

// Tail is the current end of the logs.
type Tail struct {
	Watermark changelog.Watermark `json:"watermark" doc:"Watermark at or after everything acknowledged before the request"`
}

// idStride is how many states are read at a time for a page, which is limited in bytes.
const idStride = 64

func (s *Server) logEnds(c *call) (any, error) {
	tail, err := s.svc.Changes().Tail(c, nil)
	return Tail{tail}, err
}

func (s *Server) listIDs(c *call) (any, error) {
	id, err := cell.ParseID(c.query["cell"])
	if err != nil {
		return nil, fault(CodeInvalid, "?cell", "%.40q is not a cell: want one like g1-19", c.query["cell"])
	}
	if m := s.svc.Cells().Map(); !m.Has(id) {
		f := noCell(m, id)
		f.Pointer = "?cell"
		return nil, f
	}
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	var after locality.ID
	if text, given := c.query["after"]; given {
		if after, err = locality.Parse(text); err != nil {
			return nil, fault(CodeInvalid, "?after",
				"%.60q is not an id: want 36 characters like 20be0ffc-314a-bd53-7a50-013a65ca76d2", text)
		}
	}
	list := IDList{IDs: []mirror.State{}}
	for size := 0; ; {
		states, next, err := s.svc.Changes().ListStates(c, id, after, min(limit-len(list.IDs), idStride))
		if err != nil {
			return nil, err
		}
		for i := range states {
			if size += stateSize(&states[i]); size > pageBytes && len(list.IDs) > 0 {
				list.Next = after
				return list, nil
			}
			list.IDs, after = append(list.IDs, states[i]), states[i].ID
		}
		if next.IsZero() || len(list.IDs) == limit {
			list.Next = next
			return list, nil
		}
	}
}

func (s *Server) lookIDs(c *call) (any, error) {
	ids, records, err := decodeIDs(c.body)
	if err != nil {
		return nil, err
	}
	states, err := s.svc.Changes().States(c, ids, records)
	return IDAnswer{states}, err
}

func decodeIDs(body []byte) (ids []locality.ID, records []entity.PUID, err error) {
	fields, err := object(body, "ids", "records")
	if err != nil {
		return nil, nil, err
	}
	ids, err = listAt(fields["ids"], "ids", locality.Parse)
	if err == nil {
		records, err = listAt(fields["records"], "records", entity.ParsePUID)
	}
	return ids, records, err
}

// listAt reads a list of strings and parses each; nil if it is missing.
func listAt[T any](v strictjson.Value, name string, parse func(string) (T, error)) (list []T, err error) {
	if v.Kind() == strictjson.Missing {
		return nil, nil
	}
	texts, err := textsAt(v, "/"+name, name, mirror.MostStates)
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		one, err := parse(text)
		if err != nil {
			return nil, fault(CodeInvalid, "/"+name+"/"+strconv.Itoa(i), "%.60q is not one of %s", text, name)
		}
		list = append(list, one)
	}
	return list, nil
}

// stateSize returns the approximate size of a state in an answer, in bytes.
func stateSize(s *mirror.State) int {
	n := 4 * itemBytes
	if s.Thing == nil {
		return n
	}
	for _, m := range s.Thing.Members {
		n += 4*itemBytes + refSize(m.Ref)
	}
	for _, a := range s.Thing.Attributes {
		n += itemBytes + len(a.Name)
		for _, v := range a.Values {
			n += 2*itemBytes + len(v.Value) + 4*len(v.Members)
		}
	}
	return n
}
