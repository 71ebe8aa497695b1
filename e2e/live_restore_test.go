// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"slices"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
)

// A process that is suspended while a generation is added continues with the old map, and with requests that arrived in
// between. The cells reject its writes: no row of a key is added to a sealed cell, and the first new keys that it puts
// go to the new cells.
func TestP08_StoppedServerCannotWriteWithItsMap(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, 2, 4)
	l := newLedger(t)
	m := f.nodes[0].cellMap()
	anywhere := func(uint32) bool { return true }
	old := l.fresh(m, 40, anywhere)
	l.put(f.nodes[1], old, "")
	f.nodes[1].pause()
	f.nodes[0].grow(8, nil)
	m = f.nodes[0].cellMap()
	l.put(f.nodes[0], l.fresh(m, 40, anywhere), "")
	before := f.rowsOf(0)

	// These requests wait for the suspended process, which handles them before it can learn anything new.
	fresh := l.fresh(m, 40, anywhere)
	var sent, answered sync.WaitGroup
	got := make([]httpapi.PutResponse, 4)
	for i := range got {
		var batch httpapi.PutRequest
		for _, ref := range fresh[10*i : 10*i+10] {
			batch.Records = append(batch.Records, unique(ref))
		}
		sent.Add(1)
		answered.Go(func() {
			if err := postAndTell(t.Context(), f.nodes[1].url(), batch, sync.OnceFunc(sent.Done), &got[i]); err != nil {
				t.Errorf("the process that was stopped: %v", err)
			}
		})
	}
	sent.Wait()
	f.nodes[1].resume()
	answered.Wait()
	for i, answer := range got {
		for n, r := range answer.Results {
			home, err := m.Puid(int64(r.PUID))
			if r.Error != nil || err != nil || home.Gen != 1 {
				t.Errorf("the process that was stopped answers %v with puid %v in cell %v, %v, %v", r.Key, r.PUID, home,
					r.Error, err)
			}
			l.enter(fresh[10*i+n], r.PUID)
		}
	}
	l.put(f.nodes[1], old, "")
	l.put(f.nodes[0], slices.Concat(old, fresh), "")
	if after := f.rowsOf(0); !slices.Equal(before, after) {
		t.Errorf("sealed cells had %d rows of keys and have %d", len(before), len(after))
	}
}

// postAndTell puts records, and calls wrote once the request has been sent, or has failed.
func postAndTell(ctx context.Context, base string, batch httpapi.PutRequest, wrote func(), answer *httpapi.PutResponse) error {
	defer wrote()
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote() }}
	return put(httptrace.WithClientTrace(ctx, trace), base, batch, answer)
}

// rowsOf returns the rows of keys in all cells of a generation.
func (f *fleet) rowsOf(gen int) (rows []cell.Row) {
	f.t.Helper()
	cells, ctx := f.witness(), f.t.Context()
	for _, arc := range cells.Map().Ring(gen) {
		look(f.t, cells, arc.Cell, func(tx storage.Tx) error {
			found, err := tx.Scan(ctx, nil, 1<<20)
			rows = append(rows, found...)
			return err
		})
	}
	return rows
}

// The database of a cell is lost and restored from a backup older than the last acknowledged writes: while the
// processes are stopped, as recommended, and while they run and have cached newer state. No puid and no id is assigned
// twice, and no key has two puids.
func TestP07_RestoredBackup(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP07_ARestoredInstallation does it without a server")
	for _, name := range []string{"stopped", "running"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, 2, 2, 4)
			r := &restored{fleet: f, ledger: newLedger(t), lost: cell.ID{Index: 2}, ids: map[string]entity.Ref{}}
			m := f.nodes[0].cellMap()
			there := func(position uint32) bool { return m.Home(position) == r.lost }
			kept, forgotten := r.fresh(m, 30, there), r.fresh(m, 30, there)
			r.put(f.nodes[0], kept)
			server, db := f.pg[f.on(m, r.lost)], database(m, r.lost)
			backup := server.Copy(t, db)
			r.put(f.nodes[1], forgotten)
			if name == "stopped" {
				for _, n := range f.nodes {
					n.drain()
				}
			}
			server.Exec(t, "postgres", fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", db))
			server.Exec(t, "postgres", fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", backup, db))
			if name == "stopped" {
				if _, err := runCell(t, nil, append([]string{"restored"}, f.place...)...); err != nil {
					t.Fatal(err)
				}
				for _, n := range f.nodes {
					n.start()
				}
			}
			f.whole()
			gone := r.forget(forgotten)
			for i, n := range f.nodes {
				r.read(n, kept, "")
				r.read(n, forgotten[:10], httpapi.CodeNotFound)
				r.put(n, forgotten[10+10*i:20+10*i])
			}
			for _, n := range f.nodes {
				r.put(n, kept)
				r.put(n, forgotten)
				r.put(n, r.fresh(m, 30, there))
			}
			for ref, p := range r.puids {
				if gone[p] {
					t.Errorf("puid %v, which was allocated after the backup, was given again to %v", p, ref)
				}
			}
			f.drained()
			partition(t, f.nodes[0].url())
			t.Logf("%d keys, %d ids, %d puids that the backup did not know of", len(r.puids), len(r.ids), len(gone))
		})
	}
}

// restored is an installation with a cell restored from a backup.
type restored struct {
	*ledger
	fleet *fleet
	lost  cell.ID
	ids   map[string]entity.Ref // each with the key that it was minted close to
}

// put puts keys, and checks that each gets an id of its own.
func (r *restored) put(n *node, refs []entity.Ref) {
	r.t.Helper()
	r.ledger.put(n, refs, "")
	for _, ref := range refs {
		var record httpapi.Record
		if err := n.get(httpapi.RecordPath(ref.Source, ref.Key), &record); err != nil {
			r.t.Fatalf("process %d, key %v: %v", n.index, ref, err)
		}
		id := record.Entity.String()
		if other, twice := r.ids[id]; twice && other != ref {
			r.t.Errorf("id %s was given to %v and to %v", id, other, ref)
		}
		r.ids[id] = ref
	}
}

// forget marks keys that the backup does not contain: they get new puids and ids.
func (r *restored) forget(refs []entity.Ref) (gone map[entity.PUID]bool) {
	gone = map[entity.PUID]bool{}
	for _, ref := range refs {
		gone[r.puids[ref]] = true
		delete(r.puids, ref)
	}
	for id, ref := range r.ids {
		if slices.Contains(refs, ref) {
			r.ids[id] = entity.Ref{} // belongs to no record now
		}
	}
	return gone
}
