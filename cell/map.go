// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/protocol"
	"github.com/locus-db/locus/locality"
)

var (
	// ErrNoCell means that a puid lies in no cell's range on this map. A newer map may have the cell: refresh the map
	// and try once more. If the error persists, the puid does not exist.
	ErrNoCell = problem.Class(problem.ErrNotFound, "cell: no such cell: refresh the cell map and try once more")
	// ErrStaleMap means that an ID is dated beyond the period that the map covers.
	ErrStaleMap = problem.Class(problem.ErrUnavailable,
		"cell: the cell map is too old for this id: refresh it and try again")
)

const ring = 1 << 32

// Map is a version of the cell map: where keys, puids and IDs live. It is immutable and safe for concurrent use. Any
// version, however old, routes like the newest or returns an error. NewMap and ParseMap make one.
type Map struct {
	spec   Spec
	gens   []generation
	finest uint64
	// until is the first ID time that the map does not cover; 0 is never.
	until int64
}

// generation is the part of a Generation that routing uses.
type generation struct {
	cells  uint64
	starts int64
	// stride is how many cells of the finest generation one cell of this generation spans.
	stride uint64
}

// NewMap checks spec and makes a map of it; the error is ErrMap with the reason. A first map needs only one generation:
//
//	NewMap(Spec{Generations: []Generation{{Cells: 16, URLs: []string{"sqlite:cells/g0-{i}.db"}}}})
func NewMap(spec Spec) (*Map, error) {
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := spec.check(); err != nil {
		return nil, err
	}
	m := &Map{spec: spec, finest: spec.Generations[len(spec.Generations)-1].Cells}
	for _, g := range spec.Generations {
		m.gens = append(m.gens, generation{cells: g.Cells, starts: g.Starts.UnixMilli(), stride: m.finest / g.Cells})
	}
	if !spec.Until.IsZero() {
		m.until = spec.Until.UnixMilli()
	}
	return m, nil
}

// Spec returns a copy of the map as data, from which the next version is made with a higher Epoch.
func (m *Map) Spec() Spec {
	spec, _ := m.spec.withDefaults() // an ID is set, so no random bytes are read
	return spec
}

// Current returns the generation that new keys go to.
func (m *Map) Current() int { return m.spec.Current }

// Floor returns the oldest generation whose cells still hold keys.
func (m *Map) Floor() int { return m.spec.Floor }

// Epoch returns the number of this version.
func (m *Map) Epoch() uint64 { return m.spec.Epoch }

// Until returns the first moment, in ID time, that the map does not cover; the zero time if there is none. See Spec.
func (m *Map) Until() time.Time { return m.spec.Until }

// Generations returns how many generations the map lists, including announced ones.
func (m *Map) Generations() int { return len(m.gens) }

// Count returns how many cells a generation has.
func (m *Map) Count(gen int) uint64 { return m.gens[gen].cells }

// Starts returns the ID time from which IDs live in a generation, and it may take keys.
func (m *Map) Starts(gen int) time.Time { return m.spec.Generations[gen].Starts }

// Authority returns the cell that stores the newest map.
func (m *Map) Authority() ID { return m.spec.Authority }

// Has reports whether the map lists the cell.
func (m *Map) Has(c ID) bool { return m.spec.has(c) }

// Cells returns all cells, oldest generation first.
func (m *Map) Cells() []ID {
	var ids []ID
	for g, gen := range m.gens {
		ids = slices.Grow(ids, int(gen.cells))
		for i := range gen.cells {
			ids = append(ids, ID{Gen: uint16(g), Index: uint32(i)})
		}
	}
	return ids
}

// URL returns where a cell is, or "" if the map does not say. It panics if the map does not list the cell.
func (m *Map) URL(c ID) string {
	m.must(c)
	return m.spec.url(c)
}

// Key returns the cell of a generation whose segment contains the position of a hash. The directory of an external key
// is looked for there, from the current generation down to the floor. It panics if the map does not list the
// generation.
func (m *Map) Key(gen int, position uint32) ID {
	return ID{Gen: uint16(gen), Index: m.gens[gen].segment(position)}
}

// Home returns the cell that takes a new key, or any other hash, at a position: Key of the current generation.
func (m *Map) Home(position uint32) ID { return m.Key(m.spec.Current, position) }

// Entity returns the cell of an ID: the one whose segment contains its position, in the newest generation that had
// started when the ID was minted. The error is ErrStaleMap. The result depends on the ID and not on a clock, so an ID
// always has the same cell.
func (m *Map) Entity(id locality.ID) (ID, error) {
	z := id.Millis()
	if m.until != 0 && z >= m.until {
		return ID{}, m.stale(id)
	}
	g := m.generationAt(z)
	return ID{Gen: uint16(g), Index: m.gens[g].segment(id.Position())}, nil
}

func (m *Map) stale(id locality.ID) error {
	return fmt.Errorf("route %v: %w (its map, epoch %d, ends at %v)", id, ErrStaleMap, m.spec.Epoch,
		m.spec.Until.Format(time.RFC3339))
}

// generationAt returns the newest generation that had started at z; the first generation takes all older times. It
// counts, without a branch, the starts that are not after z: IDs are in no order, and branch mispredictions cost more
// than these comparisons.
func (m *Map) generationAt(z int64) int {
	g := 0
	for _, gen := range m.gens[1:] {
		g += int(uint64(gen.starts-z-1) >> 63) // 1 if starts <= z: times have 48 bits
	}
	return g
}

// must panics if the map does not list the cell: the cell came from another map, and any result would be the address of
// something else.
func (m *Map) must(c ID) {
	if !m.Has(c) {
		panic(fmt.Sprintf("cell: the map has no cell %v", c))
	}
}

// view returns the part of the map that the key protocol uses, nothing skipped.
func (m *Map) view() protocol.View {
	return protocol.View{
		Epoch: m.spec.Epoch, Generations: uint16(len(m.gens)),
		Current: uint16(m.spec.Current), Floor: uint16(m.spec.Floor),
	}
}
