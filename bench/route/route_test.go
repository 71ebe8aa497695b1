// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/dgryski/go-jump"
	"github.com/hashicorp/go-memdb"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// Finding a cell does not allocate.
func TestRoute_AllocatesNothing(t *testing.T) { // not parallel: it counts allocations
	puids, ids := draw(100)
	keys := external(100)
	i := 0
	if n := testing.AllocsPerRun(100, func() {
		_, errPuid := grown.Puid(puids[i%100])
		_, errID := grown.Entity(ids[i%100])
		cellsOf(keys[i%100])
		if errPuid != nil || errID != nil {
			t.Fatal(errPuid, errID)
		}
		i++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPuid(b *testing.B) {
	puids, _ := draw(million())
	names := names(puids[:pool], func(p int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(p)) })
	subjects := []subject{{Peer: "locus", Loop: func(n int) {
		var c cell.ID
		var err error
		for i := range n {
			c, err = grown.Puid(puids[i&(pool-1)])
			compare.Fail(err)
		}
		runtime.KeepAlive(c)
	}}, vitess(b, puids)}
	subjects = append(subjects, jumps(func(i int) uint64 { return uint64(puids[i]) })...)
	subjects = append(subjects, rings(names)...)
	suite.Run(b, append(subjects, remembered("puids", puids, grown.Puid, &byPuid{})...)...)
}

func BenchmarkEntity(b *testing.B) {
	_, ids := draw(million())
	names := names(ids[:pool], func(id locality.ID) []byte { return id[:] })
	young, err := cell.NewMap(cell.Spec{ID: "young", Generations: []cell.Generation{{Cells: uint64(16 * nodes())}}})
	if err != nil {
		b.Fatal(err)
	}
	by := func(m *cell.Map) loop {
		return func(n int) {
			var c cell.ID
			var err error
			for i := range n {
				c, err = m.Entity(ids[i&(pool-1)])
				compare.Fail(err)
			}
			runtime.KeepAlive(c)
		}
	}
	subjects := []subject{{Peer: "locus", Loop: by(grown)}, {Peer: "young", Loop: by(young)}}
	subjects = append(subjects, jumps(func(i int) uint64 { return xxhash.Sum64(ids[i][:]) })...)
	subjects = append(subjects, rings(names)...)
	suite.Run(b, append(subjects, remembered("ids", ids, grown.Entity, &byID{})...)...)
}

// BenchmarkKeys goes from an external key to all cells that may have it.
func BenchmarkKeys(b *testing.B) {
	keys := external(pool)
	on := func(nodes int) loop { // one cell, the same encoding and hash
		return func(n int) {
			var at int32
			for i := range n {
				k := keys[i&(pool-1)]
				at = jump.Hash(cell.Hash(k[0], k[1]), nodes)
			}
			runtime.KeepAlive(at)
		}
	}
	suite.Run(b,
		subject{Peer: "locus", Loop: func(n int) {
			var last cell.ID
			for i := range n {
				last = cellsOf(keys[i&(pool-1)])
			}
			runtime.KeepAlive(last)
		}},
		subject{Peer: "jump", Loop: on(nodes())},
		subject{Peer: "jump-large", Loop: on(16 * nodes())},
	)
}

// cellsOf finds all cells that may have a key, newest generation first, and returns the last.
func cellsOf(key [2]string) (last cell.ID) {
	position := cell.Position(cell.Hash(key[0], key[1]))
	for g := grown.Current(); g >= grown.Floor(); g-- {
		last = grown.Key(g, position)
	}
	return last
}

// external returns external keys: a source, and a name in it.
func external(n int) [][2]string {
	keys := make([][2]string, n)
	for i := range keys {
		keys[i] = [2]string{"foursquare", fmt.Sprintf("4b%022x", uint64(i)*0x9e3779b97f4a7c15)}
	}
	return keys
}

// byPuid and byID are minimal indexes of go-memdb.
type byPuid struct{}

func (byPuid) FromArgs(args ...any) ([]byte, error) {
	return binary.BigEndian.AppendUint64(nil, uint64(args[0].(int64))), nil
}

func (x byPuid) FromObject(row any) (bool, []byte, error) {
	b, err := x.FromArgs(row.(*route[int64]).Address)
	return true, b, err
}

type byID struct{}

func (byID) FromArgs(args ...any) ([]byte, error) {
	id := args[0].(locality.ID)
	return id[:], nil
}

func (byID) FromObject(row any) (bool, []byte, error) {
	return true, row.(*route[locality.ID]).Address[:], nil
}

var (
	_ memdb.SingleIndexer = byPuid{}
	_ memdb.SingleIndexer = byID{}
)
