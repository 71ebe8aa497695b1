// SPDX-License-Identifier: Apache-2.0

package mirrortest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// World is an installation in memory for simulations, a mirror.Source: several cells without transactions across
// them, and a resolver that may stop between any two transactions. It is not safe for concurrent use.
type World struct {
	*rand.Rand
	// Tick is the time, a number that increases with every read and write. The At of a state is the tick at which it
	// was true.
	Tick int64
	// Trims makes Act trim logs now and then, without regard to followers.
	Trims bool
	// Pause is called between any two reads; its error fails the read.
	Pause func() error

	cells   []*room
	homes   map[locality.ID]*room
	pending []func() // transactions of the current round, each of one cell
	puids   entity.PUID
	groups  map[entity.PUID]int // the true entity of each record
}

// room is one cell.
type room struct {
	id       cell.ID
	log      []changelog.Change
	trimmed  changelog.Seq
	last     changelog.Seq
	records  map[entity.PUID]*entity.Record
	births   map[locality.ID]entity.Birth
	entities map[entity.PUID]*entity.Entity
}

// NewWorld returns a world with empty cells.
func NewWorld(r *rand.Rand, cells int) *World {
	w := &World{Rand: r, homes: map[locality.ID]*room{}, groups: map[entity.PUID]int{}, Pause: func() error { return nil }}
	for i := range cells {
		w.cells = append(w.cells, &room{
			id: cell.ID{Index: uint32(i)}, records: map[entity.PUID]*entity.Record{}, births: map[locality.ID]entity.Birth{},
			entities: map[entity.PUID]*entity.Entity{},
		})
	}
	return w
}

func (w *World) home(p entity.PUID) *room { return w.cells[int(p)%len(w.cells)] }

func (c *room) append(changes ...changelog.Change) {
	for _, ch := range changes {
		c.last++
		ch.Seq, ch.Time = c.last, time.UnixMilli(int64(c.last)).UTC()
		c.log = append(c.log, ch)
	}
}

func version(r *entity.Record) []changelog.Version {
	return []changelog.Version{{PUID: r.PUID, Version: r.Version}}
}

// put is the first round of a write: a new record, a new version, or one that comes back.
func (w *World) put(p entity.PUID) {
	w.Tick++
	c := w.home(p)
	old := c.records[p]
	rec := &entity.Record{PUID: p, Version: 1, Anchor: p, Attributes: entity.Attributes{}}
	ch := changelog.Change{Kind: changelog.Put}
	if old != nil {
		rec.Version = old.Version + 1
	}
	if old != nil && !old.Deleted() {
		rec.Birth, rec.Anchor, ch.Before = old.Birth, old.Anchor, version(old)
	} else if old != nil && w.IntN(4) > 0 { // otherwise it was erased
		rec.Birth = old.Birth
		c.births[rec.Birth] = entity.Birth{ID: rec.Birth, PUID: p}
	} else {
		rec.Birth = locality.ID{0: byte(w.IntN(256)), 1: byte(w.IntN(256)), 8: byte(w.Tick >> 16), 9: byte(w.Tick >> 8),
			10: byte(w.Tick)}
		w.homes[rec.Birth] = c
		c.births[rec.Birth] = entity.Birth{ID: rec.Birth, PUID: p}
		w.groups[p] = w.IntN(4)
	}
	ch.Entity, ch.After = rec.Birth, version(rec)
	c.records[p] = rec
	c.append(ch)
}

// remove is the first round of a deletion. The successor is a remaining member of the record's entity, as far as
// that is stored.
func (w *World) remove(p entity.PUID) {
	c := w.home(p)
	rec := c.records[p]
	if rec == nil || rec.Deleted() {
		return
	}
	w.Tick++
	birth := entity.Birth{ID: rec.Birth}
	if e := w.home(rec.Anchor).entities[rec.Anchor]; e != nil {
		for _, m := range e.Members {
			if other := w.home(m.PUID).records[m.PUID]; m.PUID != p && !other.Deleted() && birth.Successor.IsZero() {
				birth.Successor = other.Birth
			}
		}
	}
	c.births[rec.Birth] = birth
	c.records[p] = &entity.Record{PUID: p, Version: rec.Version + 1, Birth: rec.Birth, Anchor: rec.Anchor}
	c.append(changelog.Change{Kind: changelog.Deleted, Entity: rec.Birth, Before: version(rec)})
}

// resolve plans the third round: what each cell must write so that entities match the groups.
func (w *World) resolve() {
	if len(w.pending) > 0 {
		return
	}
	clusters := map[int][]*entity.Record{}
	var live []*entity.Record
	for _, c := range w.cells {
		for _, r := range c.records {
			if !r.Deleted() {
				live = append(live, r)
			}
		}
	}
	slices.SortFunc(live, func(a, b *entity.Record) int { return int(a.PUID - b.PUID) })
	for _, r := range live {
		clusters[w.groups[r.PUID]] = append(clusters[w.groups[r.PUID]], r)
	}
	writes := map[*room][]func(){}
	led := map[entity.PUID]bool{}
	for _, g := range slices.Sorted(maps.Keys(clusters)) {
		records := clusters[g]
		if g%2 == 1 { // people chose another anchor
			slices.Reverse(records)
		}
		anchor := records[0]
		led[anchor.PUID] = true
		e := &entity.Entity{ID: anchor.Birth, Kind: "place"}
		for _, r := range records {
			e.Members = append(e.Members, entity.Member{PUID: r.PUID, Version: r.Version})
			if r.Anchor != anchor.PUID {
				c := w.home(r.PUID)
				writes[c] = append(writes[c], func() {
					moved := *c.records[r.PUID]
					moved.Anchor = anchor.PUID
					c.records[r.PUID] = &moved
				})
			}
		}
		e.Stamp = entity.Stamp(e.Members, uint64(anchor.PUID)) ^ uint64(anchor.Birth[0])
		c := w.home(anchor.PUID)
		old := c.entities[anchor.PUID]
		if old != nil && old.Stamp == e.Stamp {
			continue
		}
		kind := []changelog.Kind{changelog.Created, changelog.Changed, changelog.Merged, changelog.Split}[w.IntN(4)]
		writes[c] = append(writes[c], func() {
			c.entities[anchor.PUID] = e
			c.append(changelog.Change{Kind: kind, Entity: e.ID, Before: members(old), After: members(e)})
		})
	}
	for _, c := range w.cells {
		for _, anchor := range slices.Sorted(maps.Keys(c.entities)) {
			if !led[anchor] {
				old := c.entities[anchor]
				writes[c] = append(writes[c], func() {
					delete(c.entities, anchor)
					c.append(changelog.Change{Kind: changelog.Retired, Entity: old.ID, Before: members(old)})
				})
			}
		}
	}
	for _, c := range w.cells {
		if list := writes[c]; list != nil {
			w.pending = append(w.pending, func() {
				for _, do := range list {
					do()
				}
			})
		}
	}
	w.Shuffle(len(w.pending), func(i, j int) { w.pending[i], w.pending[j] = w.pending[j], w.pending[i] })
}

func members(e *entity.Entity) (versions []changelog.Version) {
	if e != nil {
		for _, m := range e.Members {
			versions = append(versions, changelog.Version{PUID: m.PUID, Version: m.Version})
		}
	}
	return versions
}

// commit commits the next transaction of the current round.
func (w *World) commit() {
	if len(w.pending) > 0 {
		w.Tick++
		w.pending[0]()
		w.pending = w.pending[1:]
	}
}

// Act does one random thing.
func (w *World) Act() {
	switch n := w.IntN(100); {
	case n < 25:
		if w.puids < 40 {
			w.puids++
		}
		w.put(1 + entity.PUID(w.IntN(int(w.puids))))
	case n < 35 && w.puids > 0:
		w.remove(1 + entity.PUID(w.IntN(int(w.puids))))
	case n < 45 && w.puids > 0:
		w.groups[1+entity.PUID(w.IntN(int(w.puids)))] = w.IntN(8)
	case n < 60:
		w.resolve()
	case n < 63:
		w.pending = nil // the resolver is killed
	case n < 64 && w.Trims:
		c := w.cells[w.IntN(len(w.cells))]
		if c.trimmed < c.last {
			c.trimmed += changelog.Seq(1 + w.IntN(int(c.last-c.trimmed)))
		}
	default:
		w.commit()
	}
}

// Settle completes all pending work.
func (w *World) Settle() {
	for range 3 {
		for len(w.pending) > 0 {
			w.commit()
		}
		w.resolve()
	}
}
