// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Plan describes what Grow would do, and the installation before and after.
type Plan struct {
	// Epoch of the map that the plan is made from.
	Epoch uint64 `json:"epoch"`
	// Generation that is added, or resumed if Announced.
	Generation int    `json:"generation"`
	Cells      uint64 `json:"cells"`
	Announced  bool   `json:"announced"`
	// Starts is the earliest start of the generation, which is announced for as long as the map is valid. Wait is the
	// time until then.
	Starts time.Time     `json:"starts"`
	Wait   time.Duration `json:"wait_ns"`
	// Generations that hold keys after the growth, oldest first.
	Generations []PlanGeneration `json:"generations"`
	// Before and After are the costs of finding a key.
	Before Probes `json:"before"`
	After  Probes `json:"after"`
	// Room is how often the installation can grow by the same factor again, RoomCells the resulting number of cells of
	// a generation.
	Room      int    `json:"room"`
	RoomCells uint64 `json:"room_cells"`
	// Servers are all that hold cells, ordered by name.
	Servers []PlanServer `json:"servers"`
}

// PlanGeneration is a generation in a Plan.
type PlanGeneration struct {
	Generation int    `json:"generation"`
	Cells      uint64 `json:"cells"`
	Role       Role   `json:"role"`
	// Share is the part of the ring that one cell covers, 0 to 1.
	Share float64 `json:"share"`
}

// Probes is how many cells are read to find a key, on average, if all cells that take or took keys hold equally many.
type Probes struct {
	// New is for a new key, There for an existing one, while older cells have no filters.
	New   float64 `json:"new"`
	There float64 `json:"there"`
	// The same with filters.
	FilteredNew   float64 `json:"filtered_new"`
	FilteredThere float64 `json:"filtered_there"`
}

// PlanServer is the number of cells on a server or in a directory.
type PlanServer struct {
	Server string `json:"server"`
	// Before and After are the numbers of cells of the installation, New how many of them take new keys afterwards.
	Before int `json:"before"`
	After  int `json:"after"`
	New    int `json:"new"`
}

// passed is the false-positive rate of a filter.
const passed = 1.0 / 256

// PlanGrowth returns what Grow would do. If Grow would fail, the error is ErrMap and lists valid numbers of cells.
func PlanGrowth(m *Map, g Growth, now time.Time) (*Plan, error) {
	next, g, err := m.growing(g, now)
	if err != nil {
		return nil, refusal(m, g, err)
	}
	gen := next.Generations() - 1
	p := &Plan{
		Epoch: m.Epoch(), Generation: gen, Cells: next.gens[gen].cells, Announced: gen < len(m.gens),
		Starts: next.spec.Generations[gen].Starts,
		Before: m.probes(m.spec.Current), After: next.probes(gen),
		Servers: servers(m, next, gen),
	}
	if m.spec.Current < gen {
		p.Wait = max(0, p.Starts.Sub(now))
	}
	for i := m.spec.Floor; i <= gen; i++ {
		pg := PlanGeneration{Generation: i, Cells: next.gens[i].cells, Role: RoleOlder,
			Share: 1 / float64(next.gens[i].cells)}
		if i == gen {
			pg.Role = RoleCurrent
		}
		p.Generations = append(p.Generations, pg)
	}
	p.Room, p.RoomCells = next.room(p.Cells / next.gens[max(gen-1, 0)].cells)
	return p, nil
}

// refusal adds valid numbers of cells to the error if the number was the reason.
func refusal(m *Map, g Growth, err error) error {
	newest := m.gens[len(m.gens)-1].cells
	fits := func(cells uint64) bool {
		return checkCounts(append(m.Spec().Generations, Generation{Cells: cells})) == nil
	}
	if fits(g.Cells) {
		return err
	}
	var next []string
	for n := max(1, g.Cells/newest); len(next) < 3 && fits(n*newest); n++ {
		next = append(next, fmt.Sprint(n*newest))
	}
	switch {
	case len(next) > 0:
		return fmt.Errorf("%w; %s would do", err, strings.Join(next, ", "))
	case fits(newest):
		return fmt.Errorf("%w; %d would do", err, newest)
	}
	return fmt.Errorf("%w; no number of cells would do", err)
}

// probes returns the lookup costs of a map with the given current generation.
func (m *Map) probes(current int) (p Probes) {
	older := float64(current - m.spec.Floor)
	p.New, p.FilteredNew = 1+older, 1+older*passed
	all := 0.0
	for g := m.spec.Floor; g <= current; g++ {
		cells, above := float64(m.gens[g].cells), float64(current-g)
		all += cells
		p.There += cells * (1 + above)
		if p.FilteredThere += cells; above > 0 {
			p.FilteredThere += cells * (1 + (above-1)*passed)
		}
	}
	p.There /= all
	p.FilteredThere /= all
	return p
}

// room returns how often the map can grow by a factor, and the resulting number of cells. The limit is reached when no
// further range of puids fits between two starts (T3).
func (m *Map) room(factor uint64) (times int, cells uint64) {
	gens := uint64(len(m.gens))
	cells = m.finest
	if factor == 1 {
		return int(min(ring/cells, math.MaxUint16) - gens), cells
	}
	for cells <= ring/factor && gens+1 <= min(ring/(cells*factor), math.MaxUint16) {
		times, gens, cells = times+1, gens+1, cells*factor
	}
	return times, cells
}

// servers counts the cells of two versions of a map by server.
func servers(before, after *Map, gen int) []PlanServer {
	at := map[string]*PlanServer{}
	count := func(id ID) {
		name := serverOf(after.URL(id))
		s := at[name]
		if s == nil {
			s = &PlanServer{Server: name}
			at[name] = s
		}
		s.After++
		if before.Has(id) {
			s.Before++
		}
		if int(id.Gen) == gen {
			s.New++
		}
	}
	for g, placed := range after.spec.Generations {
		if len(placed.URLs) > 0 { // otherwise there may be billions
			for _, id := range after.cells(g) {
				count(id)
			}
		}
	}
	all := make([]PlanServer, 0, len(at))
	for _, name := range slices.Sorted(maps.Keys(at)) {
		all = append(all, *at[name])
	}
	return all
}

// serverOf returns the part of a URL that cells on one server have in common.
func serverOf(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return Redact(s)
	case u.Host != "":
		return u.Scheme + "://" + u.Host
	}
	return strings.TrimSuffix(u.Scheme+":"+path.Dir(cmp.Or(u.Opaque, u.Path)), ":.")
}
