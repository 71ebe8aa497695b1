// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/strictjson"
)

// GrowRequest is the body of POST /v1/cells/plan and of POST /v1/cells/grow.
type GrowRequest struct {
	Cells uint64   `json:"cells" doc:"Number of cells of the new generation: a multiple of the newest one's"`
	URLs  []string `json:"urls,omitempty" doc:"Templates of their database URLs, used in turn, with {g} and {i} for generation and index; by default those of the newest generation"`
}

// CompactRequest is the body of POST /v1/cells/compact.
type CompactRequest struct {
	To int `json:"to" doc:"Oldest generation that will hold keys"`
}

// MoveRequest is the body of POST /v1/cells/{id}/move.
type MoveRequest struct {
	URL     string `json:"url" doc:"URL of the new database; created if it does not exist"`
	Replace bool   `json:"replace,omitempty" doc:"Delete rows that the cell left in that database when it moved away from there. A serving database is still refused"`
}

// Changed is the last line of a stream that changed the cells.
type Changed struct {
	Epoch       uint64 `json:"epoch" doc:"Current version of the cell map"`
	Generation  int    `json:"generation" doc:"Generation that takes new keys"`
	Generations int    `json:"generations"`
	Floor       int    `json:"floor" doc:"Oldest generation that holds keys"`
}

func (s *Server) changed() Changed {
	m := s.svc.Cells().Map()
	return Changed{Epoch: m.Epoch(), Generation: m.Current(), Generations: m.Generations(), Floor: m.Floor()}
}

func (s *Server) planGrowth(c *call) (any, error) {
	g, err := s.growth(c)
	if err != nil {
		return nil, err
	}
	return s.svc.Cells().PlanGrowth(c, g)
}

func (s *Server) grow(c *call, progress func(any)) (any, error) {
	g, err := s.growth(c)
	if err != nil {
		return nil, err
	}
	c.concerns("cells=%d", g.Cells)
	if err := s.svc.Cells().Grow(c, g, func(p cell.Progress) { progress(p) }); err != nil {
		return nil, err
	}
	return s.changed(), nil
}

func (s *Server) compact(c *call, progress func(any)) (any, error) {
	body, err := object(c.body, "to")
	if err != nil {
		return nil, err
	}
	to, err := number(body, "to", s.svc.Cells().Map().Current())
	if err != nil {
		return nil, err
	}
	if err := s.svc.Cells().Compact(c, to, func(p cell.Progress) { progress(p) }); err != nil {
		return nil, err
	}
	return s.changed(), nil
}

func (s *Server) move(c *call, progress func(any)) (any, error) {
	id, err := c.cellID()
	if err != nil {
		return nil, err
	}
	body, err := object(c.body, "url", "replace")
	if err != nil {
		return nil, err
	}
	var to cell.Destination
	if to.URL, err = s.place(c, body["url"], "/url"); err != nil {
		return nil, err
	}
	if replace, given := body["replace"]; given {
		if replace.Kind() != strictjson.Bool {
			return nil, wrongKind("/replace", replace, "true or false")
		}
		to.Replace = string(replace.Raw()) == "true"
	}
	if m := s.svc.Cells().Map(); !m.Has(id) {
		return nil, noCell(m, id)
	}
	if at, err := url.Parse(to.URL); err == nil {
		c.concerns("to=%s://%s%s", at.Scheme, at.Host, at.Path)
	}
	return s.svc.Cells().Move(c, id, to, func(p cell.MoveProgress) { progress(p) })
}

// growth reads the body of a growth plan.
func (s *Server) growth(c *call) (g cell.Growth, err error) {
	body, err := object(c.body, "cells", "urls")
	if err != nil {
		return g, err
	}
	cells, err := number(body, "cells", maxPlacedCells)
	if err != nil {
		return g, err
	}
	g.Cells = uint64(cells)
	if urls, given := body["urls"]; given {
		if urls.Kind() != strictjson.Array {
			return g, wrongKind("/urls", urls, "an array of urls")
		}
		for i, v := range urls.Items() {
			to, err := s.place(c, v, "/urls/"+strconv.Itoa(i))
			if err != nil {
				return g, err
			}
			g.URLs = append(g.URLs, to)
		}
	}
	return g, nil
}

// maxPlacedCells is the maximum number of cells that a map can place.
const maxPlacedCells = 1 << 20

// object reads a body with known fields.
func object(body []byte, known ...string) (map[string]strictjson.Value, error) {
	doc, err := strictjson.Parse(body)
	if err != nil {
		return nil, err
	}
	if doc.Kind() != strictjson.Object {
		return nil, wrongKind("", doc, "an object with "+strings.Join(known, ", "))
	}
	fields := map[string]strictjson.Value{}
	for name, v := range doc.Members() {
		if !slices.Contains(known, name) {
			return nil, unknownField("", name, strings.Join(known, ", "))
		}
		fields[name] = v
	}
	return fields, nil
}

// number reads a whole number from 1 to limit.
func number(body map[string]strictjson.Value, name string, limit int) (int, error) {
	v, given := body[name]
	if !given {
		return 0, fault(CodeInvalid, "/"+name, "%s is missing", name)
	}
	if v.Kind() != strictjson.Number {
		return 0, wrongKind("/"+name, v, "a whole number")
	}
	n, err := strconv.Atoi(v.Number())
	if err != nil || n < 1 || n > limit {
		return 0, fault(CodeInvalid, "/"+name, "%s is %.40s: want a whole number from 1 to %d", name, v.Number(), limit)
	}
	return n, nil
}

// place reads a database URL. It rejects invalid URLs, and URLs with parts that must not be stored in a map that is
// copied to every cell, without connecting.
func (s *Server) place(ctx context.Context, v strictjson.Value, pointer string) (string, error) {
	if v.Kind() != strictjson.String {
		return "", wrongKind(pointer, v, "a url")
	}
	if _, secret, err := cell.ParseURL(v.Text()); err == nil && secret {
		return "", fault(CodeInvalid, pointer, "it contains a password, which every cell would store; use PGPASSWORD in the server's environment, or its password file")
	}
	if err := s.mayPlace(ctx, v.Text(), pointer); err != nil {
		return "", err
	}
	if err := s.svc.Cells().CheckURL(v.Text()); err != nil {
		return "", fault(CodeInvalid, pointer, "%s", plain(err))
	}
	return v.Text(), nil
}
