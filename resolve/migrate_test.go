// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// noPhones is a kind without phones, with a term-frequency table counted over a world. Compared with the default kind
// many pairs share different blocking keys, or none.
var noPhones = sync.OnceValue(func() *match.Matcher {
	s := match.Place()
	s.Version++
	for i := range s.Attributes {
		if s.Attributes[i].Type == match.TypePhone {
			s.Attributes[i].Type, s.Attributes[i].Region = match.TypeText, ""
		}
	}
	terms := match.CountTerms(s, func(yield func(match.Attributes) bool) {
		for _, op := range world(9, 30) {
			if !yield(match.Attributes(op.Attributes)) {
				return
			}
		}
	})
	return match.New(s, terms)
})

// change switches to other rules and waits until that is done.
func (in *installation) change(t testing.TB, m *match.Matcher, progress func(*resolve.Migration)) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	_, err := in.Migrate(ctx, m.Schema(), m.TermFrequencies())
	if err == nil {
		err = in.Resume(ctx, progress)
	}
	if err != nil {
		t.Fatal(err)
	}
	in.by = m
}

// checkPostings fails the test unless the postings are exactly those of the live records: all blocking keys of leaders,
// and only the content key of followers.
func (in *installation) checkPostings(t testing.TB) {
	t.Helper()
	_, live := in.state(t)
	want := map[derived.Posting]bool{}
	slices.SortFunc(live, func(a, b *entity.Record) int { return cmp.Compare(a.PUID, b.PUID) })
	said := map[uint64]bool{}
	for _, rec := range live {
		norm := in.by.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
		follows := said[norm.Equal()]
		said[norm.Equal()] = norm.Equal() != 0
		for _, f := range norm.BlockingKeys() {
			if follows && !match.IsEqual(f.Hash) {
				continue
			}
			want[derived.Posting{Key: f.Hash, PUID: rec.PUID}] = true
		}
	}
	stale := 0
	missing := maps.Clone(want)
	in.each(t, func(tx storage.Tx, _ entity.PUID) error {
		rows, err := tx.ReadRows(t.Context(), "posting", nil, 1<<20)
		for _, row := range rows {
			p := derived.Posting{Key: uint64(row[0].(int64)), PUID: entity.PUID(row[1].(int64))}
			if !want[p] {
				stale++
			}
			delete(missing, p) // a cell of a former generation may have it, too
		}
		return err
	})
	if stale > 0 || len(missing) > 0 {
		t.Errorf("%d postings of blocking keys that no record has, %d are missing", stale, len(missing))
	}
}

// A kind is migrated back and forth while records are added, changed and deleted; the result equals that of a fresh
// installation.
func TestP09_AMigrationEndsWhereAFreshStartEnds(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 77))
		in := open(t, t.TempDir(), nil)
		ops := shuffled(r, world(9, 40))
		in.apply(t, ops[:len(ops)/2])
		ops = ops[len(ops)/2:]
		for _, m := range []*match.Matcher{noPhones(), matcher, noPhones()} {
			in.change(t, m, func(*resolve.Migration) {
				n := min(len(ops), 10)
				in.apply(t, ops[:n])
				ops = ops[n:]
				in.apply(t, altered(r, world(9, 40), 15))
			})
			in.check(t)
			in.checkPostings(t)
		}
		in.apply(t, altered(r, world(9, 40), 30))
		in.check(t)
		in.checkPostings(t)
	}
}

// Cells are added and compacted during a migration, while records are written.
func TestP09_AMigrationWhileCellsAreAdded(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	things := longtest.Sample(0, 16, max(20, longtest.Part(40)), 40)
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 79))
		in := open(t, t.TempDir(), nil)
		in.apply(t, world(9, things))
		for i, m := range []*match.Matcher{noPhones(), matcher} {
			grown := false
			in.change(t, m, func(c *resolve.Migration) {
				in.apply(t, altered(r, world(9, things*3/2), 6))
				if done := len(c.Cells); !grown && done > i {
					grown = true
					at := in.cells.Map()
					if err := cell.Grow(t.Context(), in.cells, cell.Growth{Cells: 2 * at.Count(at.Current())}, nil); err != nil {
						t.Fatal(err)
					}
					in.apply(t, altered(r, world(9, things*3/2), 30))
				}
			})
			if !grown {
				t.Error("no cell was added")
			}
			in.check(t)
			in.checkPostings(t)
			if err := in.Compact(t.Context(), in.cells, in.cells.Map().Current(), nil); err != nil {
				t.Fatal(err)
			}
			in.apply(t, altered(r, world(9, things*3/2), 20))
			in.check(t)
		}
	}
}

// altered returns new versions of records, with the phones and names of others, and deletions.
func altered(r *rand.Rand, ops []resolve.Op, n int) []resolve.Op {
	var out []resolve.Op
	for range n {
		op, other := ops[r.IntN(len(ops))], ops[r.IntN(len(ops))]
		switch r.IntN(5) {
		case 0:
			op = resolve.Op{Ref: op.Ref, Delete: true}
		default:
			op.Attributes, op.Observed = other.Attributes, op.Observed.AddDate(1, r.IntN(100), 0)
		}
		out = append(out, op)
	}
	return out
}

// stopCell is a cell of a process that crashes after a number of commits of any kind.
type stopCell struct {
	storage.Cell
	*crash
}

func (c stopCell) commit(run func(context.Context, func(storage.Tx) error) error, ctx context.Context, fn func(storage.Tx) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return errCrash
	}
	c.left--
	return run(ctx, fn)
}

func (c stopCell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return c.commit(c.Cell.Update, ctx, fn)
}

func (c stopCell) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	return c.commit(c.Cell.Exclusive, ctx, fn)
}

// A process crashes after any number of commits of a migration, during which records are written, and another
// process continues.
func TestP09_AMigrationThatStopsAnywhereGoesOn(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	base := prepared(t, func(in *installation) { in.apply(t, world(9, 12)) })
	for step := 0; ; step += longtest.Sample(5, 12, 5, 1) {
		r := rand.New(rand.NewPCG(uint64(step), 78))
		dir := copied(t, base)
		fault := &crash{left: step}
		in := open(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return stopCell{c, fault} })
		m := noPhones()
		_, err := in.Migrate(t.Context(), m.Schema(), m.TermFrequencies())
		if err == nil {
			err = in.Resume(t.Context(), func(*resolve.Migration) { in.Apply(t.Context(), altered(r, world(9, 12), 4)) })
		}
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		in = open(t, dir, nil)
		in.change(t, m, nil)
		in.check(t)
		in.checkPostings(t)
		in.apply(t, altered(r, world(9, 12), 20))
		in.check(t)
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil && fault.left > 0 {
			t.Logf("%d places to stop", step)
			return
		}
	}
}

// Processes with and without knowledge of a migration write the same records.
func TestP09_NobodyWritesByFormerRules(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 79))
		a := open(t, t.TempDir(), nil)
		a = process(t, a.cells, "a", nil)
		b := process(t, a.cells, "b", nil)
		all := world(9, 30)
		a.apply(t, all)
		a.Leave(t.Context())
		b.apply(t, altered(r, all, 10))
		b.Leave(t.Context())
		for i, m := range []*match.Matcher{noPhones(), matcher} {
			a.change(t, m, func(*resolve.Migration) {
				a.Leave(t.Context()) // otherwise the other process waits for its whole patience
				b.apply(t, altered(r, all, 10))
				b.Leave(t.Context())
				a.apply(t, altered(r, all, 10))
			})
			a.Leave(t.Context())
			b.by = m
			b.apply(t, altered(r, all, 5+i))
			b.Leave(t.Context())
			a.check(t)
			a.checkPostings(t)
			a.Leave(t.Context())
		}
	}
}

// A process that gets the lease after an unnoticed switch works off unfinished work under the new rules.
func TestP09_TheLeaseComesWithTheRules(t *testing.T) {
	t.Parallel()
	all := world(9, 30)
	old := open(t, t.TempDir(), nil)
	old = process(t, old.cells, "old", nil)
	old.apply(t, all[:len(all)/2])
	old.Leave(t.Context())
	m := noPhones()
	fault := &crash{left: -1}
	a := process(t, old.cells, "new", func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
	a.change(t, m, nil)
	a.Leave(t.Context())
	// It puts records and crashes before it has the lease.
	fault.left = 3
	a.Apply(t.Context(), all[len(all)/2:])
	old.by = m
	if old.depth(t) == 0 {
		t.Fatal("nothing was left behind: the test does not reach what it is for")
	}
	old.check(t)
	old.checkPostings(t)
}

// A blocking key that one version lost and a later one has again is not removed by late repairs.
func TestP09_AKeyThatComesBackStays(t *testing.T) {
	t.Parallel()
	op := func(key, name, phone string) []resolve.Op {
		return []resolve.Op{{Ref: entity.Ref{Source: "s" + key, Key: key}, Attributes: entity.Attributes{"name": {name}, "phones": {phone}, "address": {"1 Elm St."}, "city": {"Riverton"}}}}
	}
	fault := &crash{left: -1}
	in := open(t, t.TempDir(), func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
	in.apply(t, op("1", "Zephyr Optics", "415-555-2300"))
	for _, phone := range []string{"415-555-7777", "415-555-2300"} {
		fault.left = 1 // the record is written, and nothing else
		if res := in.Apply(t.Context(), op("1", "Zephyr Optics", phone)); res[0].Err != nil || !res[0].Pending {
			t.Fatalf("%+v", res[0])
		}
	}
	fault.left = -1
	in.check(t)
	in.checkPostings(t)
}

// A change that would leave rollups with counts that cannot be subtracted is refused, and so is a second
// switch.
func TestMigrate_Refuses(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	in.apply(t, world(9, 5))
	s := match.Place()
	s.Version++
	i := slices.IndexFunc(s.Attributes, func(a match.Attribute) bool { return a.Many })
	s.Attributes[i].Many = false
	if _, err := in.Migrate(t.Context(), s, nil); !errors.Is(err, resolve.ErrRules) {
		t.Errorf("an attribute has one value now: %v", err)
	}
	m := noPhones()
	if more, err := in.Migrate(t.Context(), m.Schema(), m.TermFrequencies()); err != nil || !more {
		t.Fatal(more, err)
	}
	if _, err := in.Migrate(t.Context(), match.Place(), nil); !errors.Is(err, resolve.ErrMigrating) {
		t.Errorf("a migration in a migration: %v", err)
	}
	in.change(t, m, nil)
	in.check(t)
	if more, err := in.Migrate(t.Context(), m.Schema(), m.TermFrequencies()); err != nil || more {
		t.Error("the same again:", more, err)
	}
}
