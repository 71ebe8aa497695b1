// SPDX-License-Identifier: Apache-2.0

package copytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/storage"
)

func journal(t tester, c storage.Cell, on bool) {
	t.Helper()
	exclusive(t, c, func(ctx context.Context, c cell.Copier) error { return c.Journal(ctx, on) })
}

func journaled(t tester, c storage.Cell, after int64, limit int) []cell.JournalEntry {
	t.Helper()
	return view(t, c, func(ctx context.Context, c cell.Copier) ([]cell.JournalEntry, error) {
		return c.Journaled(ctx, after, limit)
	})
}

// follower replays the journal of From in To.
type follower struct {
	Pair
	tables   map[string]cell.Table
	seq      int64
	entities map[int64]bool // journaled anchors
}

func newFollower(t tester, p Pair) *follower {
	t.Helper()
	f := &follower{Pair: p, tables: map[string]cell.Table{}, entities: map[int64]bool{}}
	for _, table := range tables(t, p.From) {
		if table.Name != cell.Total {
			f.tables[table.Name] = table
		}
	}
	return f
}

// step replays up to limit entries and returns how many there were. It may run concurrently with writers, so it returns
// errors too.
func (f *follower) step(ctx context.Context, limit int) (int, error) {
	var entries []cell.JournalEntry
	keys, rows := map[string][][]any{}, map[string][][]any{}
	if err := f.From.View(ctx, func(tx storage.Tx) (err error) {
		entries, err = copier(tx).Journaled(ctx, f.seq, limit)
		return err
	}); err != nil {
		return 0, err
	}
	for _, e := range entries {
		if e.Seq <= f.seq {
			return 0, fmt.Errorf("entry %d after %d", e.Seq, f.seq)
		}
		f.seq = e.Seq
		if e.Table == cell.JournaledEntity {
			anchor, ok := e.Key[0].(int64)
			if !ok {
				return 0, fmt.Errorf("an entity is noted under %v", e.Key)
			}
			f.entities[anchor] = true
			continue
		}
		if table, ok := f.tables[e.Table]; !ok || len(e.Key) != table.Key {
			return 0, fmt.Errorf("an entry %+v of no table", e)
		}
		keys[e.Table] = append(keys[e.Table], e.Key)
	}
	if err := f.From.View(ctx, func(tx storage.Tx) (err error) {
		for table := range keys {
			if rows[table], err = copier(tx).RowsAt(ctx, table, keys[table]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return 0, err
	}
	return len(entries), f.To.Update(ctx, func(tx storage.Tx) error {
		for table := range rows {
			var there, gone [][]any
			for i, row := range rows[table] {
				if row == nil {
					gone = append(gone, keys[table][i])
				} else {
					there = append(there, row)
				}
			}
			if err := errors.Join(copier(tx).DeleteRows(ctx, table, gone), copier(tx).WriteRows(ctx, table, there)); err != nil {
				return err
			}
		}
		return nil
	})
}

// finish replays the rest and compares.
func (f *follower) finish(t tester) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		if n, err = f.step(context.Background(), 5); err != nil {
			t.Fatalf("follow the journal: %v", err)
		}
	}
	write(t, f.To, cell.Total, read(t, f.From, tables(t, f.From)[len(f.tables)], many)...)
	same(t, "rows", contents(t, f.To), contents(t, f.From))
}

func journalFollows(t tester, p Pair) {
	populate(t, p.From)
	journal(t, p.From, true)
	copyAll(t, p)
	f := newFollower(t, p)
	var first, gone entity.PUID
	conformance.Update(t, p.From.Update, func(ctx context.Context, tx storage.Tx) error {
		puids, err := tx.Lookup(ctx, []cell.Key{keyOf(population), keyOf(5), keyOf(6)})
		if err != nil {
			return err
		}
		first, gone = entity.PUID(puids[1]), entity.PUID(puids[2])
		return errors.Join(put(ctx, tx, population, 3, 1), put(ctx, tx, 5, 1, 9), remove(ctx, tx, 6, gone), trim(ctx, tx, 3),
			tx.Assign(ctx, []entity.Assignment{{PUID: first, Anchor: gone}}), tx.RaiseDedupHorizon(ctx, 99))
	})
	err := p.From.Update(context.Background(), func(tx storage.Tx) error {
		return errors.Join(put(context.Background(), tx, 20, 1, 50), conformance.ErrRollback)
	})
	if !errors.Is(err, conformance.ErrRollback) {
		t.Fatalf("Update returned %v, want the error of its function", err)
	}
	exclusive(t, p.From, func(ctx context.Context, c cell.Copier) error { return nil })
	conformance.Update(t, p.From.Update, func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Drop(ctx, 3)
		return err
	})
	conformance.Update(t, p.From.Update, func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.DropRows(ctx, thingOf(7, 0, 1).generation.Number, 2)
		return err
	})
	f.finish(t)
	same(t, "answers of the Stores", ask(t, p.To, population+4), ask(t, p.From, population+4))
	if len(f.entities) != 5 || !f.entities[int64(first)] || !f.entities[int64(gone)] {
		t.Fatalf("entities %v are noted, want 5, %d and %d among them", f.entities, first, gone)
	}
}

// journalOfRows reads the journal of a cell that is itself written by rows.
func journalOfRows(t tester, p Pair) {
	populate(t, p.From)
	all := contents(t, p.From)
	journal(t, p.From, true)
	copyAll(t, p)
	f := newFollower(t, p)
	for name, table := range f.tables {
		rows := all[name]
		if hasOne(table) {
			value := any(int64(77))
			if _, is := rows[0][1].([]byte); is {
				value = []byte{}
			}
			update(t, p.From, func(ctx context.Context, c cell.Copier) error {
				return c.WriteRows(ctx, name, [][]any{{int64(1), value, cell.Sum(int64(1), value)}})
			})
			continue
		}
		update(t, p.From, func(ctx context.Context, c cell.Copier) error {
			return errors.Join(c.DeleteRows(ctx, name, keysOf(table, rows[:2])), c.WriteRows(ctx, name, rows[1:2]),
				c.WriteRows(ctx, name, [][]any{append(key(table, rows[3]), rows[2][table.Key:]...)}))
		})
	}
	f.finish(t)
	if len(f.entities) > 0 {
		t.Fatalf("entities %v are noted, and none was written", f.entities)
	}
}

func journalBeginsAndEnds(t tester, p Pair) {
	write := func(n int) {
		t.Helper()
		conformance.Update(t, p.From.Update, func(ctx context.Context, tx storage.Tx) error { return put(ctx, tx, n, 1, 1) })
	}
	none := func(when string) {
		t.Helper()
		if got := journaled(t, p.From, math.MinInt64, many); len(got) > 0 {
			t.Fatalf("%s the journal notes %v", when, got)
		}
	}
	write(0)
	none("before it begins")
	journal(t, p.From, false)
	journal(t, p.From, true)
	none("when it begins")
	write(1)
	one := journaled(t, p.From, math.MinInt64, many)
	if len(one) < 8 {
		t.Fatalf("a journal notes %v of a thing with a row in each table", one)
	}
	journal(t, p.From, true)
	same(t, "after it has begun twice", journaled(t, p.From, math.MinInt64, many), one)
	write(2)
	two := journaled(t, p.From, math.MinInt64, many)
	if len(two) != 2*len(one) {
		t.Fatalf("a journal that has begun twice notes %d entries of two things, %d of one", len(two), len(one))
	}
	same(t, "from the middle", journaled(t, p.From, two[3].Seq, 4), two[4:8])
	same(t, "after the end", journaled(t, p.From, two[len(two)-1].Seq, 4), nil)
	for range 2 {
		journal(t, p.From, false)
		none("after it has ended")
		write(3)
		none("after it has ended")
	}
	journal(t, p.From, true)
	none("when it begins again")
	write(4)
	if again := journaled(t, p.From, math.MinInt64, many); len(again) != len(one) {
		t.Fatalf("a journal that has begun again notes %d entries of a thing, before it were %d", len(again), len(one))
	}
}

func journalOnlyInExclusive(t tester, p Pair) {
	ctx := context.Background()
	for _, on := range []bool{true, false} {
		if err := p.From.Update(ctx, func(tx storage.Tx) error { return copier(tx).Journal(ctx, on) }); err == nil {
			t.Fatalf("Journal(%v) in an Update is no error", on)
		}
	}
}

// journalInTheOrderOfCommits follows concurrent writers: an entry that appears behind those already read would be
// missed.
func journalInTheOrderOfCommits(t tester, p Pair) {
	const writers, each = 6, 8
	journal(t, p.From, true)
	f := newFollower(t, p)
	errs := make([]error, writers+1)
	done := make(chan struct{})
	var wg, follow sync.WaitGroup
	ctx := context.Background()
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				errs[w] = errors.Join(errs[w], p.From.Update(ctx, func(tx storage.Tx) error {
					return put(ctx, tx, w*each+i, 2, int64(1+w)) // the second key is shared with another writer
				}))
			}
		})
	}
	follow.Go(func() {
		for errs[writers] == nil {
			select {
			case <-done:
				return
			default:
				_, errs[writers] = f.step(ctx, 50)
			}
		}
	})
	wg.Wait()
	close(done)
	follow.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("writers and who follows them: %v", err)
	}
	f.finish(t)
}
