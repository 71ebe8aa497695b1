// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/locus-db/locus/locality"
)

// Router answers for one process where an address lives, and explains it. It is
// pure: it asks its map and no cell.
type Router struct {
	m *Map
}

// NewRouter returns a router of a map.
func NewRouter(m *Map) *Router { return &Router{m: m} }

// Map returns the map that the router answers from.
func (r *Router) Map() *Map { return r.m }

// Place is a cell and the piece of the ring that it holds.
type Place struct {
	Cell ID `json:"cell"`
	// URL is where the cell is, "" if the map does not say.
	URL string `json:"url,omitempty"`
	// Lo to Hi-1 are the positions of the cell.
	Lo uint64 `json:"segment_lo"`
	Hi uint64 `json:"segment_hi"`
}

// Probe is a cell to ask for an external key.
type Probe struct {
	Place
	// Why says in words what chose the cell.
	Why string `json:"why"`
}

// Range is what PuidRange returns, Lo to Hi.
type Range struct {
	Lo int64 `json:"lo,string"`
	Hi int64 `json:"hi,string"`
}

// KeyRoute explains where an external key may live. Its probes are the cells whose
// directories can have it, the first being the one that takes it if none does.
type KeyRoute struct {
	Source string `json:"source"`
	Key    string `json:"key"`
	// Hash is the 64-bit hash in hex, Position its upper half.
	Hash     string `json:"hash"`
	Position uint32 `json:"position"`
	// Ring and Digest are what a directory stores.
	Ring   int64  `json:"ring,string"`
	Digest string `json:"digest"`
	// Probes in the order in which they are made.
	Probes []Probe `json:"probes"`
	// Mint is where an id is minted to live beside the key.
	Mint locality.Segment `json:"-"`
	// Cost is the number of directories to ask at most.
	Cost int `json:"cost"`
}

// PuidRoute explains where a puid lives.
type PuidRoute struct {
	PUID int64 `json:"puid,string"`
	// Slot numbers the ranges from the lowest puids up; Finest is the cell of the
	// finest generation that the slot lies in, Distance how far behind its start.
	Slot     uint64 `json:"slot"`
	Finest   uint64 `json:"finest"`
	Distance uint64 `json:"distance"`
	// Place and Puids are the cell and its range, nil if no cell has the puid.
	*Place
	Puids *Range `json:"puids,omitempty"`
	// Why says in words what chose the cell, or why none has the puid.
	Why string `json:"why"`
	// Cost is 0: arithmetic only.
	Cost int `json:"cost"`
}

// EntityRoute explains where an entity id lives.
type EntityRoute struct {
	ID       locality.ID `json:"id"`
	Position uint32      `json:"position"`
	// Millis is the time in the id, milliseconds since 1970; Time the same in words.
	Millis int64  `json:"time_ms"`
	Time   string `json:"time"`
	// Place is nil if the map does not speak about the time of the id.
	*Place
	// Why says in words what chose the cell, or why none was.
	Why string `json:"why"`
	// Cost is 0: arithmetic only.
	Cost int `json:"cost"`
}

// ExplainKey answers where an external key may live.
func (r *Router) ExplainKey(source, key string) KeyRoute {
	k := r.m.KeyOf(source, key)
	at := k.Position()
	route := KeyRoute{
		Source: source, Key: key,
		Hash: fmt.Sprintf("%016x", k.Hash()), Position: at,
		Ring: k.Ring, Digest: hex.EncodeToString(k.Digest[:]),
		Mint: r.m.Segment(r.m.Home(at), at),
	}
	for g := r.m.Current(); g >= r.m.Floor(); g-- {
		why := fmt.Sprintf("older generation %d may hold it", g)
		if g == r.m.Current() {
			why = fmt.Sprintf("generation %d is current: it takes new keys", g)
		}
		route.Probes = append(route.Probes, Probe{Place: *r.place(r.m.Key(g, at)), Why: why})
	}
	route.Cost = len(route.Probes)
	return route
}

// ExplainPuid answers where a puid lives. With ErrNoCell the route still says why
// none has it.
func (r *Router) ExplainPuid(puid int64) (PuidRoute, error) {
	route := PuidRoute{PUID: puid, Slot: slotOf(puid)}
	route.Finest, route.Distance = r.m.invert(route.Slot)
	c, err := r.m.Puid(puid)
	if err != nil {
		if gens := uint64(r.m.Generations()); route.Distance >= gens {
			route.Why = fmt.Sprintf("its range lies %d behind a start, and there are %d generations", route.Distance, gens)
		} else {
			route.Why = fmt.Sprintf("its range would be of generation %d, which has no cell that starts there", route.Distance)
		}
		return route, err
	}
	lo, hi := r.m.PuidRange(c)
	route.Place, route.Puids = r.place(c), &Range{Lo: lo, Hi: hi}
	route.Why = fmt.Sprintf("its range lies %d behind the start of the cell: generation %d", route.Distance, c.Gen)
	return route, nil
}

// ExplainEntity answers where an entity id lives. With ErrStaleMap the route says
// what the id contains and names no cell.
func (r *Router) ExplainEntity(id locality.ID) (EntityRoute, error) {
	z := id.Millis()
	route := EntityRoute{ID: id, Position: id.Position(), Millis: z, Time: time.UnixMilli(z).UTC().Format(timeFormat)}
	c, err := r.m.Entity(id)
	if err != nil {
		route.Why = "it is dated beyond what the map speaks about"
		return route, err
	}
	gen := int(c.Gen)
	starts := r.m.spec.Generations[gen].Starts.Format(timeFormat)
	route.Place = r.place(c)
	switch {
	case gen == 0 && z < r.m.gens[0].starts:
		route.Why = "generation 0 takes all ids older than itself"
	case gen+1 < r.m.Generations():
		route.Why = fmt.Sprintf("generation %d started at %s, the next at %s", gen, starts, r.m.spec.Generations[gen+1].Starts.Format(timeFormat))
	default:
		route.Why = fmt.Sprintf("generation %d, the newest, started at %s", gen, starts)
	}
	return route, nil
}

func (r *Router) place(c ID) *Place {
	lo, hi := r.m.bounds(c)
	return &Place{Cell: c, URL: r.m.URL(c), Lo: lo, Hi: hi}
}
