// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/resolve"
)

// A process that is stopped while a generation is added goes on with the old map, and with requests that came
// while it was stopped. The cells refuse it by themselves: no row of a key comes into a sealed cell, and the
// first new keys that it puts go to the new cells.
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

	// These wait in front of the stopped process, which meets them before it can hear of anything new.
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
				t.Errorf("the process that was stopped answers %v with puid %v in cell %v, %v, %v", r.Key, r.PUID, home, r.Error, err)
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

// postAndTell puts records, and calls wrote when the request is on its way, or cannot be.
func postAndTell(ctx context.Context, base string, batch httpapi.PutRequest, wrote func(), answer *httpapi.PutResponse) error {
	defer wrote()
	body, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote() }}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodPost, base+"/v1/records", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return decode(response, answer)
}

// rowsOf are the rows of keys in all cells of a generation.
func (f *fleet) rowsOf(gen int) (rows []cell.Row) {
	f.t.Helper()
	cells, ctx := f.witness(), f.t.Context()
	for _, arc := range cells.Map().Ring(gen) {
		c, err := cells.Cell(arc.Cell)
		if err == nil {
			err = c.View(ctx, func(tx resolve.Tx) error {
				found, err := tx.Scan(ctx, nil, 1<<20)
				rows = append(rows, found...)
				return err
			})
		}
		if err != nil {
			f.t.Fatalf("cell %v: %v", arc.Cell, err)
		}
	}
	return rows
}

// The database of a cell is lost and comes back from a backup that is older than what was acknowledged since.
// Until it is said that it was restored nobody works with it; then no puid and no id is given twice, whatever
// the backup does not know of.
func TestP07_RestoredBackup(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, 2, 4)
	l := newLedger(t)
	m := f.nodes[0].cellMap()
	lost := cell.ID{Index: 2}
	there := func(position uint32) bool { return m.Home(position) == lost }
	kept, forgotten := l.fresh(m, 30, there), l.fresh(m, 30, there)
	ids := map[string]entity.Ref{} // each with the key that it was minted beside
	put := func(n *node, refs []entity.Ref) {
		t.Helper()
		l.put(n, refs, "")
		for _, ref := range refs {
			var r httpapi.Record
			if err := n.get(httpapi.RecordPath(ref.Source, ref.Key), &r); err != nil {
				t.Fatalf("key %v: %v", ref, err)
			}
			id := r.Entity.String()
			if other, twice := ids[id]; twice && other != ref {
				t.Errorf("id %s was given to %v and to %v", id, other, ref)
			}
			ids[id] = ref
		}
	}
	put(f.nodes[0], kept)
	server, name := f.pg[f.on(m, lost)], database(m, lost)
	backup := server.Copy(t, name)
	put(f.nodes[1], forgotten)
	for _, n := range f.nodes {
		n.drain()
	}
	server.Exec(t, "postgres", fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name))
	server.Exec(t, "postgres", fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", backup, name))
	if _, err := runCell(t, nil, append([]string{"restored"}, f.place...)...); err != nil {
		t.Fatal(err)
	}
	for _, n := range f.nodes {
		n.start()
	}
	f.whole()
	f.drained()
	l.read(f.nodes[0], kept, "")
	put(f.nodes[1], kept)
	// What the backup does not know of is gone, and its keys get puids again: others than before.
	gone := map[entity.PUID]bool{}
	for _, ref := range forgotten {
		gone[l.puids[ref]] = true
		delete(l.puids, ref)
	}
	l.read(f.nodes[0], forgotten, httpapi.CodeNotFound)
	for id, ref := range ids {
		if !slices.Contains(kept, ref) {
			ids[id] = entity.Ref{} // nobody's any more
		}
	}
	for _, n := range f.nodes {
		put(n, l.fresh(m, 30, there))
	}
	for i, n := range f.nodes {
		put(n, forgotten[15*i:15*i+15])
	}
	for ref, p := range l.puids {
		if gone[p] {
			t.Errorf("puid %v, which was given away after the backup, was given again to %v", p, ref)
		}
	}
	f.drained()
	partition(t, f.nodes[0].url())
	t.Logf("%d keys, %d ids, %d puids that the backup did not know of", len(l.puids), len(ids), len(gone))
}
