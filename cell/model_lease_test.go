// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
)

// A model of routing by ID: two routers with maps of any age, an authority whose map is extended and grows, IDs of any
// date. Append decides which map may follow, and Map.Entity where an ID lives; no two routers may ever disagree:
//
//	until is the time up to which a map routes; a generation starts at or after it. No clock.
const (
	leaseTimes    = 6 // dates of IDs: 0 to 5
	leaseGens     = 3
	leaseVersions = 4
)

// leaseMap is a version of the map; starts of generation 0 is 0.
type leaseMap struct {
	starts [leaseGens]int8
	gens   int8
	until  int8
}

type leaseState struct {
	newest  leaseMap
	version int8
	routers [2]leaseMap
	// lives has, for each date, a bit for each generation that an ID of the date was routed to.
	lives [leaseTimes]uint8
}

type leaseModel struct {
	maps map[leaseMap]*cell.Map
	bad  string
	emit func(leaseState)
}

// at returns the Map of a version, with an epoch.
func (m *leaseModel) at(v leaseMap, epoch int8) *cell.Map {
	spec := cell.Spec{ID: "lease", Epoch: uint64(epoch), Until: ms(int64(v.until))}
	for g := range v.gens {
		spec.Generations = append(spec.Generations, cell.Generation{Cells: 1 << g, Starts: ms(int64(v.starts[g]))})
	}
	made, err := cell.NewMap(spec)
	if err != nil {
		return nil
	}
	return made
}

func (m *leaseModel) router(v leaseMap) *cell.Map {
	if m.maps[v] == nil {
		m.maps[v] = m.at(v, 1)
	}
	return m.maps[v]
}

func leaseID(z int8) locality.ID {
	var id locality.ID
	id[15] = byte(z)
	return id
}

func (m *leaseModel) successors(s leaseState) {
	for i, v := range s.routers {
		if v != s.newest {
			n := s
			n.routers[i] = s.newest
			m.emit(n)
		}
		for z := range int8(leaseTimes) {
			c, err := m.router(v).Entity(leaseID(z))
			if err != nil {
				continue
			}
			n := s
			n.lives[z] |= 1 << c.Gen
			if bits.OnesCount8(n.lives[z]) > 1 {
				m.bad = fmt.Sprintf("an id dated %d was routed to generations %03b; router %d has %+v, the newest map is %+v", z,
					n.lives[z], i, v, s.newest)
			}
			m.emit(n)
		}
	}
	if s.version == leaseVersions {
		return
	}
	old := m.at(s.newest, s.version)
	follow := func(next leaseMap) {
		made := m.at(next, s.version+1)
		if made == nil || cell.Append(old, made) != nil {
			return
		}
		n := s
		n.newest, n.version = next, s.version+1
		m.emit(n)
	}
	for until := range int8(leaseTimes + 1) {
		next := s.newest
		next.until = until
		follow(next)
		for starts := range int8(leaseTimes) {
			if next := next; next.gens < leaseGens {
				next.starts[next.gens] = starts
				next.gens++
				follow(next)
			}
		}
	}
}

// TestP08_LeasesModel: no interleaving of extending, growing, refreshing and routing ever routes an ID to two cells.
func TestP08_LeasesModel(t *testing.T) {
	t.Parallel()
	first := leaseMap{gens: 1, until: 1}
	begin := leaseState{newest: first, version: 1, routers: [2]leaseMap{first, first}}
	m := &leaseModel{maps: map[leaseMap]*cell.Map{}}
	seen, level, next := map[leaseState]bool{begin: true}, []leaseState(nil), []leaseState{begin}
	m.emit = func(n leaseState) {
		if n.routers[0].gens > n.routers[1].gens { // the routers are interchangeable
			n.routers[0], n.routers[1] = n.routers[1], n.routers[0]
		}
		if !seen[n] {
			seen[n] = true
			next = append(next, n)
		}
	}
	steps := 0
	most := longtest.Sample(3_000, 10_000, math.MaxInt, math.MaxInt)
	for ; len(next) > 0 && len(seen) < most; steps++ {
		level, next = next, nil
		for _, s := range level {
			if m.successors(s); m.bad != "" {
				t.Fatalf("after %d states, %d steps: %s", len(seen), steps+1, m.bad)
			}
		}
	}
	t.Logf("%d states, %d steps deep", len(seen), steps)
}
