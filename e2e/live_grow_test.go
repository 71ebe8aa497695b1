// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
)

// An installation grows under load while one of its processes is suspended. Later that process continues with its old
// map, and another process and the database servers are killed in turn. No row moves, no key has two puids or two
// entities, acknowledged records stay in their first cells, and requests are refused only because of the kills. The
// literal scheme, with the same keys at the same times, does give keys two puids; otherwise the test has proved
// nothing.
func TestP06_P08_LiveGrowth(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP06_P08_LiveDirectory does it with SQLite")
	sizes, rounds := []int{6}, 1
	if long() {
		sizes, rounds = []int{64, 256}, 3
	}
	f := newFleet(t, scaled(2, 4), 3, scaled(2, 16))
	cells := f.witness()
	tr := newTraffic(f, 1)
	literal := tr.literally(cells)
	tr.begin()
	tr.advance(30)
	maps := []*cell.Map{f.nodes[0].cellMap()}
	var troubles []trouble
	for _, size := range sizes {
		troubles = append(troubles, tr.during("process 2 was stopped", 2, stopping, func() { growWithout(tr, f.nodes[2], size) }))
		maps = append(maps, f.nodes[0].cellMap())
		tr.advance(30)
	}
	for range rounds {
		for server := range f.pg {
			codes := killing
			if server == 0 { // which has the map: it ends two seconds later, and no ids are minted until it comes back
				codes = append(slices.Clone(killing), httpapi.CodeStaleMap)
			}
			troubles = append(troubles, tr.during(fmt.Sprintf("database server %d was killed", server), -1, codes, func() {
				f.crash(server)
				tr.suffer(15)
				f.revive(server)
				f.whole()
			}))
			tr.advance(30)
		}
		troubles = append(troubles, tr.during("process 1 was killed", 1, killing, func() {
			f.nodes[1].kill()
			tr.advance(10)
			f.nodes[1].start()
		}))
		tr.advance(30)
	}
	s := tr.judge(troubles...)
	rows := tr.checkRows(s, cells, maps...)
	sealed(t, cells)
	literal.verdict(s, cells.Map())
	t.Logf("%d keys, %d rows of keys, %d acknowledged puts (%d more with a lost answer), %d reads, %d keys raced for; %d activations, %d kills; %.0f s of load",
		len(s.puids), rows, s.acks, s.lost, s.reads, s.contended, len(sizes), rounds*(1+len(f.pg)), s.loaded.Seconds())
}

// stopping are the codes that clients may see from a process that was suspended for longer than their timeout, in some
// cases between a commit and its reply.
var stopping = []httpapi.Code{httpapi.CodeOverloaded, httpapi.CodeUnavailable, httpapi.CodeCommitUnknown}

// growWithout adds a generation through another process while one is suspended: from before the generation becomes
// current until other processes have put new keys into it.
func growWithout(tr *traffic, stopped *node, size int) {
	tr.t.Helper()
	paused := false
	tr.fleet.nodes[0].grow(size, func(step string) {
		if step == cell.StepAnnounced && !paused {
			paused = true
			stopped.pause()
		}
	})
	tr.advance(40)
	stopped.resume()
	tr.advance(20)
}

// sealed checks that the cells of all generations but the current one are sealed and have filters.
func sealed(t *testing.T, cells *storage.Cells) {
	t.Helper()
	m, ctx := cells.Map(), t.Context()
	for _, id := range m.Cells() {
		look(t, cells, id, func(tx storage.Tx) error {
			head, err := tx.Head(ctx)
			if err != nil {
				return err
			}
			filter, err := tx.Filter(ctx)
			if older := int(id.Gen) < m.Current(); older != (head.Keys == cell.Sealed) || older != (len(filter) > 0) {
				t.Errorf("cell %v is %v, with a filter of %d bytes", id, head.Keys, len(filter))
			}
			return err
		})
	}
}
