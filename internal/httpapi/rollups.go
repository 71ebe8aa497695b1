// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// RollupDefinition documents a rollup.Definition.
type RollupDefinition struct {
	Rollup    string         `json:"rollup,omitempty" doc:"Name, as in the path: [a-z][a-z0-9_-]{0,62}"`
	Kind      string         `json:"kind" doc:"Kind of the things"`
	Over      rollup.Over    `json:"over,omitempty" enum:"entities,records" doc:"What is counted; entities by default"`
	Where     map[string]any `json:"where,omitempty" doc:"By attribute: a value or a list of them, {min, max}, {exists}, or {not} around one of these; all must hold"`
	Group     []string       `json:"group" minItems:"1" maxItems:"3" doc:"Grouping attributes"`
	Dimension string         `json:"dimension,omitempty" doc:"Attribute with one value, which divides each group"`
	Measures  map[string]any `json:"measures,omitempty" doc:"By name: count, or {sum, avg, min, max, top or distinct: attribute} with scale and, for top, k; a count by default"`
}

// RollupRequest is the body of PUT /v1/rollups/{name}.
type RollupRequest struct{ RollupDefinition }

// RollupList are all rollups in the order of their names.
type RollupList struct {
	Rollups []Rollup `json:"rollups"`
}

// Rollup is the state of a rollup.
type Rollup struct {
	Name       string              `json:"name"`
	State      rollups.State       `json:"state" enum:"building,following,failed,partial" doc:"partial: a cell is unavailable"`
	Definition rollup.Definition   `json:"definition" doc:"Definition of the serving generation, or of the first one while it is being built"`
	Generation int64               `json:"generation" doc:"Serving generation; 0 if none serves yet"`
	Building   int64               `json:"building,omitempty" doc:"Generation being built"`
	Built      int                 `json:"built,omitempty" doc:"Number of cells in which it is built"`
	Trouble    string              `json:"trouble,omitempty" doc:"Why the build fails in one of them"`
	Groups     int64               `json:"groups" doc:"Sum over all cells: a group in two cells counts twice"`
	Watermark  changelog.Watermark `json:"watermark" doc:"Watermark of the changes it includes"`
	LagMS      int64               `json:"lag_ms" doc:"Age of the oldest change that it does not include, in the cell where that is longest"`
	VerifiedAt time.Time           `json:"verified_at,omitzero" doc:"When it was last verified, in the cell where that is longest ago"`
	Cells      []RollupCell        `json:"cells" doc:"In the order of the cell map"`
}

// RollupCell is the state of a rollup in one cell.
type RollupCell struct {
	Cell       cell.ID       `json:"cell"`
	State      rollup.State  `json:"state,omitempty" enum:"building,following,failed,dropping" doc:"Missing if the cell holds no generation of it or is unavailable"`
	Watermark  changelog.Seq `json:"watermark,string" doc:"Last change that it includes"`
	Last       changelog.Seq `json:"last,string" doc:"Last change of the cell"`
	LagMS      int64         `json:"lag_ms"`
	Groups     int64         `json:"groups"`
	Owner      string        `json:"owner,omitempty" doc:"Process that follows the cell"`
	Token      int64         `json:"token" doc:"Token of its lease, which each of its commits checks"`
	VerifiedAt time.Time     `json:"verified_at,omitzero"`
	Reason     string        `json:"reason,omitempty"`
}

// RollupCounted is a line of progress of POST /v1/rollups/{name}/verify.
type RollupCounted struct {
	Step   string  `json:"step" enum:"counted"`
	Cell   cell.ID `json:"cell"`
	Things int     `json:"things" doc:"Number counted so far in this cell"`
}

// RollupVerified is the last line of POST /v1/rollups/{name}/verify: sums over its cells.
type RollupVerified struct {
	Cells   int `json:"cells" doc:"Number of cells compared, each with a line of type verified"`
	Things  int `json:"things" doc:"Number counted"`
	Rows    int `json:"rows" doc:"Number of rows compared"`
	Differs int `json:"differs" doc:"Number of rows that differ; anything but 0 is a bug"`
}

func oneRollup(of *rollups.Status) Rollup {
	r := Rollup{
		Name: of.Name, State: of.State, Definition: of.Definition, Generation: of.Generation, Building: of.Building,
		Built: of.Built, Trouble: printable(of.Trouble), Groups: of.Groups,
		Watermark: of.Watermark, LagMS: of.Lag.Milliseconds(), VerifiedAt: of.Verified,
		Cells: make([]RollupCell, 0, len(of.Cells)),
	}
	for _, c := range of.Cells {
		r.Cells = append(r.Cells, RollupCell{
			Cell: c.Cell, State: c.State, Watermark: c.Watermark, Last: c.Last, LagMS: c.Lag.Milliseconds(), Groups: c.Groups,
			Owner: c.Owner, Token: c.Token, VerifiedAt: c.Verified, Reason: printable(c.Reason),
		})
	}
	return r
}

func (s *Server) listRollups(c *call) (any, error) {
	all, err := s.svc.Rollups().List(c)
	if err != nil {
		return nil, err
	}
	all = s.seenRollups(c, all)
	list := RollupList{Rollups: make([]Rollup, 0, len(all))}
	for i := range all {
		list.Rollups = append(list.Rollups, oneRollup(&all[i]))
	}
	return list, nil
}

func (s *Server) getRollup(c *call) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	if err := s.seenRollup(c, name); err != nil {
		return nil, err
	}
	of, err := s.svc.Rollups().Get(c, name)
	if err == nil {
		err = mayRead(&access.From(c).Restriction, &of.Definition)
	}
	if err != nil {
		return nil, err
	}
	return oneRollup(of), nil
}

func (s *Server) putRollup(c *call) (any, error) {
	d, err := c.definition()
	if err != nil {
		return nil, err
	}
	of, changed, err := s.svc.Rollups().Define(c, *d)
	if err != nil {
		return nil, err
	}
	if changed {
		c.status = http.StatusCreated
	}
	return oneRollup(of), nil
}

// definition reads the body. JSON is validated as JSON before it is parsed as YAML.
func (c *call) definition() (*rollup.Definition, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	if mediaOf(c.r.Header.Get("Content-Type")) == mediaJSON {
		if _, err := strictjson.Parse(c.body); err != nil {
			return nil, err
		}
	}
	return rollup.ParseNamed(name, c.body)
}

func (s *Server) deleteRollup(c *call) (any, error) {
	name, err := c.path("name")
	if err == nil {
		err = s.svc.Rollups().Drop(c, name)
	}
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, nil
}

func (s *Server) rebuildRollup(c *call) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	of, err := s.svc.Rollups().Rebuild(c, name)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusAccepted
	return oneRollup(of), nil
}

func (s *Server) verifyRollup(c *call, progress func(any)) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	var all RollupVerified
	err = s.svc.Rollups().Verify(c, name, func(v rollups.CellVerification) error {
		all.Cells++
		all.Things += v.Things
		all.Rows += v.Rows
		all.Differs += v.Differs
		progress(v)
		return nil
	}, func(id cell.ID, things int) { progress(RollupCounted{"counted", id, things}) })
	if err != nil {
		return nil, err
	}
	return all, nil
}
