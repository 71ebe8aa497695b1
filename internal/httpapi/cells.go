// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
)

// CellList describes the installation: the cell map and the state of each cell.
type CellList struct {
	Epoch       uint64       `json:"epoch" doc:"Version of the cell map"`
	Until       time.Time    `json:"until,omitzero" doc:"End of the time, as ids record it, that the map covers"`
	Authority   cell.ID      `json:"authority" doc:"Cell that holds the newest cell map"`
	Generations []Generation `json:"generations" doc:"The oldest first"`
	Cells       []Cell       `json:"cells" doc:"The oldest generation first"`
}

// Generation is a set of cells that were added together.
type Generation struct {
	Generation int       `json:"generation"`
	Cells      uint64    `json:"cells" doc:"Number of cells"`
	Starts     time.Time `json:"starts" doc:"Ids minted from then on belong to it"`
	Role       cell.Role `json:"role" enum:"retired,older,current,announced"`
	URLs       []string  `json:"urls,omitempty" doc:"Templates of the database URLs of its cells; {g} and {i} stand for generation and index"`
}

// Cell is one cell with its segment of the ring.
type Cell struct {
	Cell cell.ID   `json:"cell"`
	Role cell.Role `json:"role" enum:"retired,older,current,announced" doc:"Role of its generation"`
	URL  string    `json:"url" doc:"URL of its database, without a password"`
	// Answers is false for an unreachable cell; its state is then missing.
	Answers     bool           `json:"answers" doc:"Whether the cell is available; if not, the fields below have no meaning"`
	Keys        cell.KeyState  `json:"keys" enum:"open,sealed,retired" doc:"Whether new keys go to it"`
	Home        cell.Placement `json:"home" enum:"serving,moving,moved"`
	Incarnation int            `json:"incarnation" doc:"Number of databases it has been in"`
	Epoch       uint64         `json:"epoch" doc:"Lowest version of the cell map that may write keys here"`
	KnownEpoch  uint64         `json:"known_epoch" doc:"Highest version of the cell map that it knows of"`
	Filter      bool           `json:"filter" doc:"Whether it has a filter of its keys, as sealed cells do"`
	Records     int64          `json:"records"`
	Entities    int64          `json:"entities"`
	PUIDs       uint64         `json:"puids" doc:"Number of puids allocated"`
	PUIDRoom    uint64         `json:"puid_room" doc:"Number of puids that it can allocate"`
	Writes      bool           `json:"writes" doc:"Whether the cell currently accepts writes; another program may hold a lock"`
	Redo        int            `json:"redo" doc:"Records that are stored but not yet resolved"`
	Bytes       int64          `json:"bytes" doc:"Size on its disk in bytes"`
}

// CellDetail is a cell with all that the map contains about it.
type CellDetail struct {
	Cell
	Cells     uint64      `json:"cells" doc:"Number of cells of its generation"`
	Starts    time.Time   `json:"starts" doc:"Ids minted from then on belong to its generation"`
	Ends      time.Time   `json:"ends,omitzero" doc:"Ids minted from then on belong to the next"`
	SegmentLo uint64      `json:"segment_lo" doc:"First position of its segment of the ring"`
	SegmentHi uint64      `json:"segment_hi" doc:"First position after it"`
	Share     float64     `json:"share" doc:"Share of the ring, 0 to 1"`
	Puids     *cell.Range `json:"puid_range" doc:"Range of its puids; the first number is never allocated"`
}

// ServerList are the database servers of the cells.
type ServerList struct {
	Servers []cell.Server `json:"servers" doc:"By name; none if all cells are files"`
}

// MapHistory lists the stored versions of the cell map.
type MapHistory struct {
	Maps []json.RawMessage `json:"maps" doc:"Cell maps in their stored form, the oldest first"`
}

// cells queries every cell. Unreachable cells are listed and marked.
func (s *Server) cells(c *call) (any, error) {
	status, err := s.svc.Cells().Status(c)
	if err != nil {
		return nil, err
	}
	m := s.svc.Cells().Map()
	spec := m.Spec()
	list := CellList{Epoch: m.Epoch(), Until: m.Until(), Authority: spec.Authority}
	for g, gen := range spec.Generations {
		list.Generations = append(list.Generations, Generation{
			Generation: g, Cells: gen.Cells, Starts: gen.Starts, Role: m.Role(g), URLs: redacted(gen.URLs),
		})
	}
	for _, of := range status.Cells {
		if m.Has(of.Cell) {
			list.Cells = append(list.Cells, oneCell(m, of))
		}
	}
	return list, nil
}

func (s *Server) servers(c *call) (any, error) {
	list := ServerList{Servers: []cell.Server{}}
	list.Servers = append(list.Servers, s.svc.Cells().Servers(c)...)
	return list, nil
}

func redacted(urls []string) []string {
	shown := make([]string, 0, len(urls))
	for _, u := range urls {
		shown = append(shown, cell.Redact(u))
	}
	return shown
}

func oneCell(m *cell.Map, of cells.CellStatus) Cell {
	return Cell{
		Cell: of.Cell, Role: m.Role(int(of.Cell.Gen)), URL: cell.Redact(of.URL),
		Answers: answers(of), Writes: of.Writes, Keys: of.Head.Keys, Home: of.Head.Home, Incarnation: of.Head.Incarnation,
		Epoch: of.Head.Epoch, KnownEpoch: of.Head.KnownEpoch,
		Filter: of.Filter, Records: of.Counts.Records, Entities: of.Counts.Entities, PUIDs: of.PUIDs, PUIDRoom: of.PUIDRoom,
		Redo: of.Redo, Bytes: of.Bytes,
	}
}

// answers reports whether a cell was reached: the incarnation of a cell is at least 1.
func answers(of cells.CellStatus) bool { return of.Head.Incarnation > 0 }

func (s *Server) cell(c *call) (any, error) {
	id, err := c.cellID()
	if err != nil {
		return nil, err
	}
	m := s.svc.Cells().Map()
	if !m.Has(id) {
		return nil, noCell(m, id)
	}
	of, err := s.svc.Cells().Cell(c, id)
	if err != nil && c.Err() != nil {
		return nil, err
	}
	return detail(m, of), nil // an unreachable cell is marked
}

func detail(m *cell.Map, of cells.CellStatus) CellDetail {
	d := CellDetail{Cell: oneCell(m, of)}
	g := int(of.Cell.Gen)
	d.Cells, d.Starts = m.Count(g), m.Starts(g)
	if g+1 < m.Generations() {
		d.Ends = m.Starts(g + 1)
	}
	lo, _ := m.PuidRange(of.Cell)
	if route, err := cell.NewRouter(m).ExplainPuid(lo); err == nil {
		d.SegmentLo, d.SegmentHi, d.Puids = route.Lo, route.Hi, route.Puids
		d.Share = float64(route.Hi-route.Lo) / (1 << 32)
	}
	return d
}

// noCell returns the fault for a cell that the map does not list.
func noCell(m *cell.Map, id cell.ID) *Fault {
	return fault(CodeNotFound, "/id", "the cell map, epoch %d, has no cell %v", m.Epoch(), id)
}

func (c *call) cellID() (cell.ID, error) {
	text, err := c.path("id")
	if err != nil {
		return cell.ID{}, err
	}
	id, err := cell.ParseID(text)
	if err != nil {
		return cell.ID{}, fault(CodeInvalid, "/id", "%.40q is not a cell: want generation and index like g1-19", text)
	}
	return id, nil
}

// cellMap returns the newest map that this server has, in its stored form.
func (s *Server) cellMap(*call) (any, error) { return s.svc.Cells().Map(), nil }

func (s *Server) mapHistory(c *call) (any, error) {
	maps, err := s.svc.Cells().Maps(c)
	if err != nil {
		return nil, err
	}
	history := MapHistory{Maps: make([]json.RawMessage, 0, len(maps))}
	for _, m := range maps {
		text, err := m.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("write cell map %d: %w", m.Epoch(), err)
		}
		history.Maps = append(history.Maps, text)
	}
	return history, nil
}

// Vacuumed is the answer to POST /v1/vacuum.
type Vacuumed struct {
	Cells  int `json:"cells" doc:"Number of cells rewritten"`
	Behind int `json:"behind" doc:"Number of cells whose logs still contain erased records because a rollup has yet to read them; repeat the request later"`
}

func (s *Server) vacuum(c *call, progress func(any)) (any, error) {
	var all Vacuumed
	err := s.svc.Cells().Vacuum(c, func(v cells.Vacuumed) {
		all.Cells++
		if v.Behind {
			all.Behind++
		}
		progress(v)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
