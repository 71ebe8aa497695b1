// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/locus-db/locus/locality"
)

// Router explains where addresses live. It is pure: it uses its map and reads no cell.
type Router struct {
	m *Map
}

// NewRouter returns a router of a map.
func NewRouter(m *Map) *Router { return &Router{m: m} }

// ExplainKey returns where an external key may live. No probe has been made.
func (r *Router) ExplainKey(source, key string) KeyRoute {
	k := r.m.KeyOf(source, key)
	at := k.Position()
	route := KeyRoute{
		Source: source, Key: key,
		Hash: fmt.Sprintf("%016x", k.Hash()), Position: at,
		Ring: k.Ring, Digest: hex.EncodeToString(k.Digest[:]),
		Layers: r.m.Layers(at),
		Mint:   r.m.Segment(r.m.Home(at), at),
	}
	route.Window = window(route.Mint)
	for g := r.m.Current(); g >= r.m.Floor(); g-- {
		why := fmt.Sprintf("older generation %d may hold it", g)
		if g == r.m.Current() {
			why = fmt.Sprintf("generation %d is current: it takes new keys", g)
		}
		route.Probes = append(route.Probes, Probe{Place: *r.m.place(r.m.Key(g, at)), Why: why, Answer: AnswerNotAsked})
	}
	route.Cost = len(route.Probes)
	return route
}

// ExplainPuid returns where a puid lives. With ErrNoCell the route still explains why no cell has it.
func (r *Router) ExplainPuid(puid int64) (PuidRoute, error) {
	route := PuidRoute{PUID: puid, Slot: slotOf(puid)}
	route.Finest, route.Distance = r.m.invert(route.Slot)
	route.Slots = r.m.Slots(route.Finest)
	c, err := r.m.Puid(puid)
	if err != nil {
		if gens := uint64(r.m.Generations()); route.Distance >= gens {
			route.Why = fmt.Sprintf("its range is %d after a start, but there are only %d generations", route.Distance, gens)
			if gens == 1 {
				route.Why = fmt.Sprintf("its range is %d after a start, but there is only 1 generation", route.Distance)
			}
		} else {
			route.Why = fmt.Sprintf("its range would be of generation %d, which has no cell that starts there", route.Distance)
		}
		return route, err
	}
	lo, hi := r.m.PuidRange(c)
	route.Place, route.Puids = r.m.place(c), &Range{Lo: lo, Hi: hi}
	route.Why = fmt.Sprintf("its range lies %d behind the start of the cell: generation %d", route.Distance, c.Gen)
	return route, nil
}

// ExplainEntity returns where an entity ID lives. With ErrStaleMap the route contains the fields of the ID and no cell.
func (r *Router) ExplainEntity(id locality.ID) (EntityRoute, error) {
	z := id.Millis()
	route := EntityRoute{
		ID: id, Position: id.Position(), Millis: z, Time: time.UnixMilli(z).UTC().Format(timeFormat),
		Layers: r.m.Layers(id.Position()),
	}
	c, err := r.m.Entity(id)
	if err != nil {
		route.Why = "its time is after the end of the map, " + r.m.spec.Until.Format(timeFormat)
		return route, err
	}
	gen := int(c.Gen)
	route.Place = r.m.place(c)
	starts := route.Layers[gen].Starts
	switch {
	case gen == 0 && z < r.m.gens[0].starts:
		route.Why = "generation 0 takes all ids older than itself"
	case gen+1 < r.m.Generations():
		route.Why = fmt.Sprintf("generation %d started at %s, the next at %s", gen, starts, route.Layers[gen+1].Starts)
	case gen > r.m.Current():
		route.Why = fmt.Sprintf("generation %d, announced, takes ids dated from %s on", gen, starts)
	default:
		route.Why = fmt.Sprintf("generation %d, the newest, started at %s", gen, starts)
	}
	return route, nil
}

// Layers returns the generations at a position, the oldest first, including announced and retired ones.
func (m *Map) Layers(position uint32) []Layer {
	layers := make([]Layer, len(m.gens))
	for g := range m.gens {
		c := m.Key(g, position)
		lo, hi := m.PuidRange(c)
		layers[g] = Layer{
			Place: *m.place(c), Cells: m.gens[g].cells,
			Starts: m.spec.Generations[g].Starts.Format(timeFormat), Role: m.Role(g), Puids: Range{Lo: lo, Hi: hi},
		}
	}
	return layers
}

// Role returns the role of a generation.
func (m *Map) Role(gen int) Role {
	switch {
	case gen > m.spec.Current:
		return RoleAnnounced
	case gen == m.spec.Current:
		return RoleCurrent
	case gen < m.spec.Floor:
		return RoleRetired
	default:
		return RoleOlder
	}
}

// Slots returns the ranges of puids that begin at the start of a cell of the finest generation, generation 0 first. It
// panics if there is no such cell.
func (m *Map) Slots(finest uint64) []Slot {
	last := len(m.gens) - 1
	base, _ := m.PuidRange(ID{Gen: uint16(last), Index: uint32(finest)})
	slots := make([]Slot, len(m.gens))
	for g, gen := range m.gens {
		lo := base - int64(last-g)<<puidBits
		slots[g] = Slot{Gen: g, Range: Range{Lo: lo, Hi: lo + 1<<puidBits - 1}}
		if finest%gen.stride == 0 {
			slots[g].Cell = &ID{Gen: uint16(g), Index: uint32(finest / gen.stride)}
		}
	}
	return slots
}

func (m *Map) place(c ID) *Place {
	lo, hi := m.bounds(c)
	return &Place{Cell: c, URL: Redact(m.URL(c)), Lo: lo, Hi: hi}
}

func window(s locality.Segment) Window {
	w := Window{Lo: uint64(s.Lo), Hi: s.Hi}
	if s.From != 0 {
		w.From = time.UnixMilli(s.From).UTC().Format(timeFormat)
	}
	if s.Until != 0 {
		w.Until = time.UnixMilli(s.Until).UTC().Format(timeFormat)
	}
	return w
}
