// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// process is one of several that share cells.
type process struct {
	*locus.DB
	applied atomic.Int64 // operations that its own resolver applied
}

// openProcesses opens an installation in several processes, which listen for each other at addr.
func openProcesses(t *testing.T, n int, addr string) []*process {
	t.Helper()
	where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
	all := make([]*process, n)
	for i := range all {
		cells, err := storage.Open(t.Context(), where, &storage.Options{Cells: 2, Scratch: true})
		must(t, err)
		p := &process{}
		p.DB, err = locus.OpenCells(t.Context(), cells, &locus.Options{PeerAddr: addr, OnBatch: func(b resolve.Batched) { p.applied.Add(int64(b.Ops)) }})
		must(t, err)
		t.Cleanup(func() { _ = p.Close() })
		all[i] = p
	}
	return all
}

// person returns a record of one of many persons, each of which has three.
func person(n int) records.Input {
	return records.Input{
		Ref: entity.Ref{Source: fmt.Sprint("source-", n%3), Key: fmt.Sprint(n)}, Kind: "person",
		Attributes: entity.Attributes{"name": {fmt.Sprintf("Anna Number%c%c", 'a'+n/3%26, 'a'+n/78%26)},
			"emails": {fmt.Sprintf("anna%d@example.com", n/3)}},
	}
}

// Writes reach the process that holds the lease from any process, in one round trip, and their results report the
// outcome.
func TestPeers_WritesGoToTheHolder(t *testing.T) {
	t.Parallel()
	all := openProcesses(t, 3, "127.0.0.1:0")
	put := func(p *process, n int) records.Result {
		results, err := p.Records().Put(t.Context(), []records.Input{person(n)})
		must(t, err)
		return results[0]
	}
	first := put(all[0], 0)
	if first.Err != nil || first.Outcome != resolve.Created {
		t.Fatalf("%+v", first)
	}
	// The others learn who holds the lease within half a second, or with their first write. It need not be the first: a
	// holder that does not write for a moment gives the lease back.
	until(t, "one process applies what all put", func() (bool, string) {
		var before, after [3]int64
		for i, p := range all {
			before[i] = p.applied.Load()
		}
		for i, p := range all {
			if r := put(p, min(i, 1)); r.Err != nil || r.Entity != first.Entity {
				t.Fatalf("%+v", r)
			}
		}
		holders := 0
		for i, p := range all {
			if after[i] = p.applied.Load(); after[i] > before[i] {
				holders++
			}
		}
		return holders == 1, fmt.Sprint("applied ", before, ", then ", after)
	})
	r, err := all[2].Records().Put(t.Context(), []records.Input{person(2), {Ref: entity.Ref{Source: "s", Key: "k"}, Kind: "person", Attributes: entity.Attributes{"name": {"Bo Other"}}}})
	must(t, err)
	if r[0].Outcome != resolve.Matched || r[0].Entity != first.Entity || r[1].Outcome != resolve.Created || r[0].Pending ||
		r[1].Pending {
		t.Errorf("forwarded: %+v", r)
	}
	if _, err := all[1].Entities().Get(t.Context(), r[1].Entity); err != nil {
		t.Errorf("read by another process: %v", err)
	}
	deleted, err := all[1].Records().DeleteIf(t.Context(), []records.Deletion{{Ref: person(2).Ref, IfVersion: 7}})
	must(t, err)
	if !errors.Is(deleted[0].Err, entity.ErrVersion) || !errors.Is(deleted[0].Err, locus.ErrConflict) {
		t.Errorf("a condition that does not hold: %v", deleted[0].Err)
	}
	refused, err := all[1].Records().DeleteIf(t.Context(), []records.Deletion{{Ref: person(2).Ref, Unless: func(*entity.Record) bool { return true }}})
	must(t, err)
	if !errors.Is(refused[0].Err, entity.ErrRefused) {
		t.Errorf("a condition of the caller: %v", refused[0].Err)
	}
}

// Processes end one after the other while all of them are written to. Acknowledged records exist, and are resolved as
// by a single process.
func TestP09_PeersThatLeave(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	all := openProcesses(t, 4, "127.0.0.1:0")
	persons := longtest.Sample(60, 60, 60, 1000)
	var next, acknowledged atomic.Int64
	var wg sync.WaitGroup
	leave := make(chan *process, len(all))
	for i, p := range all {
		for range 2 {
			wg.Go(func() {
				for {
					n := int(next.Add(1) - 1)
					if n >= 3*persons {
						return
					}
					if n > 0 && n%(3*persons/len(all)) == 0 && i > 0 {
						leave <- p
					}
					for put := p; ; put = all[0] {
						results, err := put.Records().Put(context.Background(), []records.Input{person(n)})
						if err == nil {
							err = results[0].Err
						}
						if err == nil {
							acknowledged.Add(1)
							break
						}
						if put == all[0] && !errors.Is(err, locus.ErrCommitUnknown) {
							t.Errorf("record %d: %v", n, err)
							return
						}
					}
				}
			})
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for p := range leave {
			if err := p.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	}()
	wg.Wait()
	close(leave)
	<-ended
	settled(t, all[0].DB)
	for n := range 3 * persons {
		rec, err := all[0].Records().Get(t.Context(), person(n).Ref)
		must(t, err)
		if n%3 > 0 {
			with, err := all[0].Records().Get(t.Context(), person(n-n%3).Ref)
			must(t, err)
			if with.Entity != rec.Entity {
				t.Errorf("record %d is of %v, record %d of %v", n, rec.Entity, n-n%3, with.Entity)
			}
		}
	}
	if n := acknowledged.Load(); n != int64(3*persons) {
		t.Errorf("%d of %d records were acknowledged", n, 3*persons)
	}
	if found, err := look(t, all[0].DB); err != nil || len(found) > 0 {
		t.Errorf("the check finds %v, %v", found, err)
	}
}
