// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// RollupReading is the watermark and state of a rollup answer.
type RollupReading struct {
	Rollup     string              `json:"rollup"`
	Watermark  changelog.Watermark `json:"watermark" doc:"The result equals a recomputation from each cell as of this watermark"`
	AsOf       time.Time           `json:"as_of" doc:"Time of the watermark"`
	LagMS      int64               `json:"lag_ms" doc:"Age of the oldest change that is not included"`
	Generation int64               `json:"generation"`
	State      rollups.State       `json:"state" enum:"building,following,failed,partial"`
	VerifiedAt time.Time           `json:"verified_at,omitzero" doc:"When it was last verified"`
	Missing    []cell.ID           `json:"missing,omitempty" doc:"Unavailable cells; only with partial=true"`
}

// RollupGroups is a page of groups, or the largest ones.
type RollupGroups struct {
	RollupReading
	Definition *rollup.Definition `json:"definition"`
	Groups     []RollupGroup      `json:"groups"`
	Next       string             `json:"next,omitempty" doc:"Pass it as after to get the next page; missing on the last page only"`
}

// RollupOne is one group with its watermark.
type RollupOne struct {
	RollupReading
	RollupGroup
}

// RollupGroup holds the measures of one group.
type RollupGroup struct {
	Group   []string     `json:"group" doc:"Values of the grouping attributes"`
	Total   Measures     `json:"total"`
	By      []RollupSlot `json:"by" doc:"Ordered by the values of the dimension; empty without one"`
	Skipped int64        `json:"skipped,omitempty" doc:"Number of values left out of the measures because they are not numbers or have too many digits"`
}

// RollupSlot holds the measures of a group for one value of the dimension.
type RollupSlot struct {
	Value  *string  `json:"value" nullable:"true" doc:"Value of the dimension; null for things without one"`
	Values Measures `json:"values"`
}

// Measures are numbers by measure name, in their JSON form.
type Measures map[string]json.RawMessage

// Schema returns the schema of a measure for huma.
func (Measures) Schema(huma.Registry) *huma.Schema {
	number := &huma.Schema{Type: huma.TypeNumber}
	return &huma.Schema{
		Type: huma.TypeObject, Description: "By the name of the measure: a number, a list for top, or null for the average, minimum or maximum of nothing.",
		AdditionalProperties: &huma.Schema{AnyOf: []*huma.Schema{number, {Type: huma.TypeArray, Items: number},
			{Type: "null"}}},
	}
}

// RollupEffects are the latest changes that affected a group.
type RollupEffects struct {
	Rollup  string               `json:"rollup"`
	Group   []string             `json:"group"`
	Effects []rollups.CellEffect `json:"effects" doc:"Newest last, as far as the logs go back; counted and counts are the values of the dimension under which the thing was counted before and after"`
}

// GroupPath returns the path of a group of a rollup.
func GroupPath(name string, group []string) string { return ofGroup(name, "groups", group) }

// ExplainPath returns the path of the changes that affected a group.
func ExplainPath(name string, group []string) string { return ofGroup(name, "explain", group) }

func ofGroup(name, what string, group []string) string {
	path := "/v1/rollups/" + segment(name) + "/" + what
	for _, value := range group {
		path += "/" + segment(value)
	}
	return path
}

func reading(a *rollups.Answer) RollupReading {
	return RollupReading{
		Rollup: a.Name, Watermark: a.Watermark, AsOf: a.AsOf, LagMS: a.Lag.Milliseconds(), Generation: a.Generation,
		State: a.State, VerifiedAt: a.Verified, Missing: a.Missing,
	}
}

func oneGroup(of *rollup.Group) (RollupGroup, error) {
	total, err := measures(of.Total)
	g := RollupGroup{Group: of.Group, Total: total, By: make([]RollupSlot, 0, len(of.By)), Skipped: of.Skipped}
	for i := range of.By {
		values, wrong := measures(of.By[i].Values)
		slot := RollupSlot{Values: values}
		if of.By[i].Value != "" {
			slot.Value = &of.By[i].Value
		}
		g.By, err = append(g.By, slot), errors.Join(err, wrong)
	}
	return g, err
}

func measures(of rollup.Values) (Measures, error) {
	m := make(Measures, len(of))
	for _, v := range of {
		text, err := v.MarshalJSON()
		if err != nil {
			return nil, err
		}
		m[v.Name] = text
	}
	return m, nil
}

// size returns the approximate size of the group in an answer, in bytes.
func (g *RollupGroup) size() int {
	n := itemBytes
	for _, value := range g.Group {
		n += itemBytes + len(value)
	}
	add := func(m Measures) {
		for name, text := range m {
			n += len(name) + len(text) + 4
		}
	}
	add(g.Total)
	for _, slot := range g.By {
		if n += itemBytes; slot.Value != nil {
			n += len(*slot.Value)
		}
		add(slot.Values)
	}
	return n
}

func (s *Server) rollupGroups(c *call) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	q, err := s.groupQuery(c)
	if err != nil {
		return nil, err
	}
	a, err := s.readRollup(c, name, q)
	if err != nil {
		return nil, err
	}
	page := RollupGroups{RollupReading: reading(a), Definition: &a.Definition,
		Groups: make([]RollupGroup, 0, len(a.Groups)), Next: s.groupCursor(c, a.Next)}
	for i, size := 0, 0; i < len(a.Groups); i++ {
		g, err := oneGroup(&a.Groups[i])
		if err != nil {
			return nil, err
		}
		// The page is one snapshot, so it is read completely and then truncated.
		if size += g.size(); size > pageBytes && i > 0 && q.Top == 0 {
			page.Next = s.groupCursor(c, a.Groups[i-1].Group)
			break
		}
		page.Groups = append(page.Groups, g)
	}
	return page, nil
}

// readRollup reads groups of a rollup that the principal may read.
func (s *Server) readRollup(c *call, name string, q rollups.Query) (*rollups.Answer, error) {
	if err := s.seenRollup(c, name); err != nil {
		return nil, err
	}
	a, err := s.svc.Rollups().Query(c, name, q)
	if err == nil {
		err = mayRead(&access.From(c).Restriction, &a.Definition) // another definition may have taken its place
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// groupQuery reads the query for a list of groups.
func (s *Server) groupQuery(c *call) (q rollups.Query, err error) {
	if q.Read, err = c.reading(); err != nil {
		return q, err
	}
	top, largest := c.query["top"]
	if q.By = c.query["by"]; largest != (q.By != "") {
		return q, fault(CodeInvalid, "?top", "top and by go together: the number of groups and the measure to order by")
	}
	if largest {
		for _, other := range []string{"after", "limit"} {
			if _, given := c.query[other]; given {
				return q, fault(CodeInvalid, pointerTo(other), "top excludes %s", other)
			}
		}
		q.Top, err = c.query.atMost("top", top, locus.MaxLimit)
		return q, err
	}
	if q.Limit, err = c.query.limit(); err != nil {
		return q, err
	}
	q.After, err = s.afterGroup(c)
	return q, err
}

// reading reads the parameters of reading groups.
func (c *call) reading() (r rollups.Read, err error) {
	if r.Min, err = c.query.watermark("min_watermark"); err != nil {
		return r, err
	}
	if r.Latest, err = c.query.flag("latest"); err != nil {
		return r, err
	}
	r.Partial, err = c.query.flag("partial")
	return r, err
}

func (s *Server) rollupGroup(c *call) (any, error) {
	name, group, err := c.group()
	if err != nil {
		return nil, err
	}
	q := rollups.Query{Group: group}
	if q.Read, err = c.reading(); err != nil {
		return nil, err
	}
	a, err := s.readRollup(c, name, q)
	if err != nil {
		return nil, err
	}
	if len(a.Groups) != 1 {
		return nil, rollup.ErrNotFound
	}
	g, err := oneGroup(&a.Groups[0])
	return RollupOne{reading(a), g}, err
}

func (s *Server) explainRollup(c *call) (any, error) {
	name, group, err := c.group()
	if err != nil {
		return nil, err
	}
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	if err := s.seenRollup(c, name); err != nil {
		return nil, err
	}
	effects, err := s.svc.Rollups().Explain(c, name, group, limit)
	if err == nil {
		err = s.seenRollup(c, name) // another definition may have taken its place
	}
	if effects == nil {
		effects = []rollups.CellEffect{}
	}
	return RollupEffects{Rollup: name, Group: group, Effects: effects}, err
}

// group reads the name of a rollup and the values of a group from the path, one segment per value. Segments are split
// before they are decoded, because a value may contain a slash.
func (c *call) group() (name string, group []string, err error) {
	if name, err = c.path("name"); err != nil {
		return "", nil, err
	}
	const before = 5 // "", v1, rollups, the name, groups
	parts := strings.Split(c.r.URL.EscapedPath(), "/")
	for _, part := range parts[min(before, len(parts)):] {
		value, err := url.PathUnescape(part)
		if err != nil || value == "" {
			return "", nil, errNoPath
		}
		if !utf8.ValidString(value) {
			return "", nil, fault(CodeInvalidUTF8, "", "the group in the path is not UTF-8")
		}
		group = append(group, value)
	}
	if len(group) == 0 {
		return "", nil, errNoPath
	}
	return name, group, nil
}
