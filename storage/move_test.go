// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// A cell moves to another database while records are written: no write fails, and every acknowledged record is
// found with its puid.
func TestMove_WhileRecordsAreWritten(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, urls := range map[string]func(t *testing.T) (from, to string, id cell.ID){
		"within a directory": func(t *testing.T) (string, string, cell.ID) {
			return t.TempDir(), "sqlite:moved/g0-1.db", cell.ID{Index: 1}
		},
		"out of a directory": func(t *testing.T) (string, string, cell.ID) {
			return t.TempDir(), "sqlite:" + filepath.Join(t.TempDir(), "deep", "er", "g0-1.db"), cell.ID{Index: 1}
		},
		"the authority": func(t *testing.T) (string, string, cell.ID) {
			return t.TempDir(), "sqlite:moved/g0-0.db", cell.ID{}
		},
		"from a directory to a server": func(t *testing.T) (string, string, cell.ID) {
			return t.TempDir(), pgtest.Start(t, nil).URL("moved"), cell.ID{Index: 1}
		},
		"from server to server": func(t *testing.T) (string, string, cell.ID) {
			return pgtest.Start(t, nil).URL("locus"), pgtest.Start(t, nil).URL("moved"), cell.ID{Index: 1}
		},
		"from a server to a file": func(t *testing.T) (string, string, cell.ID) {
			return pgtest.Start(t, nil).URL("locus"), "sqlite:" + filepath.Join(t.TempDir(), "g0-1.db"), cell.ID{Index: 1}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to, id := urls(t)
			moves(t, from, to, id)
		})
	}
}

var matcher = match.New(match.Place(), match.DefaultTermFrequencies())

// place returns the n-th record; two in a row are one place.
func place(n int) resolve.Op {
	phone := fmt.Sprintf("415-555-%04d", n/2)
	return resolve.Op{
		Ref: entity.Ref{Source: "vendor", Key: fmt.Sprintf("place-%d", n)}, Observed: time.UnixMilli(1_700_000_000_000),
		Attributes: entity.Attributes{"name": {fmt.Sprintf("Pizza Number %d", n/2)}, "phones": {phone}, "address": {fmt.Sprintf("%d Market Street", n/2)}},
	}
}

func resolver(t *testing.T, cells *storage.Cells) *resolve.Resolver {
	t.Helper()
	var mu sync.Mutex
	tick := uint64(1_650_000_000_000)
	r, err := resolve.New(resolve.Options{
		Cells: cells, Rules: resolve.NewRules(1, matcher), Now: time.Now,
		Mint: func(_ entity.Ref, s locality.Segment) (id locality.ID, _ error) {
			mu.Lock()
			defer mu.Unlock()
			tick++
			binary.BigEndian.PutUint32(id[0:], s.Lo)
			binary.BigEndian.PutUint64(id[8:], tick)
			return id, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func moves(t *testing.T, from, to string, id cell.ID) {
	cells, err := storage.Open(t.Context(), from, &storage.Options{Cells: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := resolver(t, cells)
	puids := map[string]entity.PUID{}
	n := 0
	write := func(count int) error {
		ops := make([]resolve.Op, count)
		for i := range ops {
			ops[i] = place(n)
			n++
		}
		for i, res := range r.Apply(t.Context(), ops) {
			if res.Err != nil {
				return fmt.Errorf("%v: %w", ops[i].Ref, res.Err)
			}
			puids[ops[i].Key] = res.PUID
		}
		return nil
	}
	for range 10 {
		if err := write(50); err != nil {
			t.Fatal(err)
		}
	}
	before := n

	var wg sync.WaitGroup
	done := make(chan struct{})
	var failed error
	wg.Go(func() {
		for failed == nil {
			select {
			case <-done:
				return
			default:
				failed = write(7)
			}
		}
	})
	progress, err := r.Move(context.WithoutCancel(t.Context()), cells, id, cell.Destination{URL: to}, nil)
	close(done)
	wg.Wait()
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records, then %d during the move: %d rows copied, %d followed, writers paused %v", before, n-before, progress.Rows, progress.Followed, progress.Pause)
	if err := errors.Join(write(50), r.Drain(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := cells.Map().URL(id); got != to {
		t.Errorf("the map says that cell %v is at %s, want %s", id, got, to)
	}
	want := inspect(t, cells)
	if err := cells.Close(); err != nil {
		t.Fatal(err)
	}

	// As the next start finds it.
	if cells, err = storage.Open(t.Context(), from, &storage.Options{MustExist: true}); err != nil {
		t.Fatal(err)
	}
	defer cells.Close()
	if diff := cmp.Diff(want, inspect(t, cells)); diff != "" {
		t.Errorf("after opening again (-want +got):\n%s", diff)
	}
	if want.Records != n || want.Entities != (n+1)/2 || want.Found != want.Entities {
		t.Errorf("%d records of %d, %d entities of %d, of which %d are found", want.Records, n, want.Entities, (n+1)/2, want.Found)
	}
	r = resolver(t, cells)
	given := map[entity.PUID]bool{}
	for i := range n {
		op := place(i)
		res := r.Apply(t.Context(), []resolve.Op{op})[0]
		if res.Err != nil || res.Outcome != resolve.Unchanged || res.PUID != puids[op.Key] || given[res.PUID] {
			t.Fatalf("%v has puid %v and was %s, had puid %v: %v", op.Ref, res.PUID, res.Outcome, puids[op.Key], res.Err)
		}
		given[res.PUID] = true
	}
}

// contents are the totals of all cells.
type contents struct{ Records, Entities, Found, Changes int }

func inspect(t *testing.T, cells *storage.Cells) (c contents) {
	t.Helper()
	ctx := t.Context()
	for _, id := range cells.Map().Cells() {
		db, err := cells.Cell(id)
		if err != nil {
			t.Fatal(err)
		}
		lo, _ := cells.Map().PuidRange(id)
		if err := db.View(ctx, func(tx storage.Tx) error {
			const all = 1 << 20
			records, err1 := tx.ListRecords(ctx, "", entity.PUID(lo), all)
			entities, err2 := tx.ListEntities(ctx, entity.PUID(lo), all)
			found, err3 := tx.Search(ctx, entity.Query{Words: []string{"pizza"}, After: entity.PUID(lo), Limit: all})
			changes, err4 := tx.Changes(ctx, 0, all)
			counts, err5 := tx.Counts(ctx)
			if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
				return err
			}
			if counts.Records != int64(len(records)) || counts.Entities != int64(len(entities)) {
				t.Errorf("cell %v counts %+v, and has %d records and %d entities", id, counts, len(records), len(entities))
			}
			for i, change := range changes {
				// A cell that moves skips log positions.
				if place := int(change.Seq); place%(1<<20) != (i+1)%(1<<20) || i > 0 && change.Seq <= changes[i-1].Seq {
					t.Errorf("cell %v: change %d has place %d in the log", id, i+1, change.Seq)
					break
				}
			}
			c.Records += len(records)
			c.Entities += len(entities)
			c.Found += len(found)
			c.Changes += len(changes)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
