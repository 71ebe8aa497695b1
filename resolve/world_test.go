// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

var matcher = match.New(match.Place(), match.DefaultTermFrequencies())

// birth derives the id from the key, so that any order of arrival and any cells give the same ids: its position is that
// of the key.
func birth(ref entity.Ref, segment locality.Segment) (locality.ID, error) {
	h := xxhash.Sum64String(ref.String())
	var id locality.ID
	position := cell.Position(cell.Hash(ref.Source, ref.Key))
	if position < segment.Lo || uint64(position) >= segment.Hi {
		position = segment.Lo
	}
	binary.BigEndian.PutUint32(id[0:], position)
	binary.BigEndian.PutUint16(id[4:], uint16(h>>16))
	binary.BigEndian.PutUint32(id[6:], 0xb0000000|uint32(h>>36))
	binary.BigEndian.PutUint16(id[10:], 0x0190)
	binary.BigEndian.PutUint32(id[12:], uint32(h>>8))
	return id, nil
}

// installation is a resolver with its own data directory.
type installation struct {
	*resolve.Resolver
	cells *storage.Cells
	by    *match.Matcher // the rules of the expected result
}

// wrapped is an installation with wrapped cells.
type wrapped struct {
	*storage.Cells
	wrap func(cell.ID, storage.Cell) storage.Cell
}

func (w wrapped) Cell(id cell.ID) (storage.Cell, error) {
	c, err := w.Cells.Cell(id)
	if err == nil && w.wrap != nil {
		c = w.wrap(id, c)
	}
	return c, err
}

// fill makes a directory an installation of three cells without records.
var fill = blank.New(func(dir string) error {
	cells, err := sqlite.OpenDir(context.Background(), dir, &sqlite.DirOptions{Cells: 3, Rules: "test", Notice: time.Second, Scratch: true})
	if err != nil {
		return err
	}
	return cells.Close()
})

// open opens an installation of three cells in a directory, which may be empty.
func open(t testing.TB, dir string, wrap func(cell.ID, storage.Cell) storage.Cell) *installation {
	t.Helper()
	if err := fill(dir); err != nil {
		t.Fatal(err)
	}
	cells, err := sqlite.OpenDir(t.Context(), dir, &sqlite.DirOptions{Cells: 3, Rules: "test", Notice: time.Second, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cells.Close() })
	return process(t, cells, "", wrap)
}

// prepared returns the closed directory of an installation that prepare has filled.
func prepared(t testing.TB, prepare func(in *installation)) string {
	t.Helper()
	dir := t.TempDir()
	in := open(t, dir, nil)
	prepare(in)
	if err := in.cells.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// copied returns a copy of such a directory, which is faster than preparing it again.
func copied(t testing.TB, base string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// process returns a process with a name among those that write to the same cells; "" is the only one.
func process(t testing.TB, cells *storage.Cells, owner string, wrap func(cell.ID, storage.Cell) storage.Cell) *installation {
	t.Helper()
	return processOver(t, wrapped{cells, wrap}, cells, owner, time.Now)
}

func processOver(t testing.TB, src cell.Source[storage.Tx], cells *storage.Cells, owner string, now func() time.Time) *installation {
	t.Helper()
	r, err := resolve.New(resolve.Options{
		Cells: src, Owner: owner, Rules: resolve.NewRules(1, matcher),
		Mint: birth, Now: now, Cache: 200,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &installation{r, cells, matcher}
}

func (in *installation) apply(t testing.TB, ops []resolve.Op) {
	t.Helper()
	results := in.Apply(t.Context(), ops)
	for i, r := range results {
		if r.Err != nil && !errors.Is(r.Err, entity.ErrNotFound) {
			t.Fatalf("%v: %v", ops[i].Ref, r.Err)
		}
	}
}

// each looks into every cell; lo is below its first puid.
func (in *installation) each(t testing.TB, look func(tx storage.Tx, lo entity.PUID) error) {
	t.Helper()
	for _, id := range in.cells.Map().Cells() {
		c, err := in.cells.Cell(id)
		if err != nil {
			t.Fatal(err)
		}
		lo, _ := in.cells.Map().PuidRange(id)
		if err := c.View(t.Context(), func(tx storage.Tx) error { return look(tx, entity.PUID(lo)) }); err != nil {
			t.Fatalf("cell %v: %v", id, err)
		}
	}
}

// state reads everything that is stored: the entities as lists of keys by id, and the live records. It
// fails the test if the two disagree.
func (in *installation) state(t testing.TB) (entities map[locality.ID]string, live []*entity.Record) {
	t.Helper()
	ctx := t.Context()
	entities = map[locality.ID]string{}
	member := map[entity.PUID]entity.PUID{}
	var counted entity.Counts
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		counts, err := tx.Counts(ctx)
		if err != nil {
			return err
		}
		counted = counted.Add(counts)
		depth, err := tx.RedoDepth(ctx)
		if err != nil {
			return err
		}
		if depth != 0 {
			t.Errorf("cell that begins at %v: %d redo entries are left", lo, depth)
		}
		records, err := tx.ListRecords(ctx, "", lo, 1<<20)
		if err != nil {
			return err
		}
		live = append(live, records...)
		found, err := tx.ListEntities(ctx, lo, 1<<20)
		for _, e := range found {
			var refs []string
			for _, m := range e.Members {
				refs = append(refs, m.String())
				if other, twice := member[m.PUID]; twice {
					t.Errorf("record %v is in the entities of %v and %v", m.Ref, other, e.Anchor())
				}
				member[m.PUID] = e.Anchor()
			}
			entities[e.ID] = strings.Join(refs, " ")
		}
		return err
	})
	in.checkEdges(t, live)
	for _, rec := range live {
		if member[rec.PUID] != rec.Anchor {
			t.Errorf("record %v says that its anchor is %v, the entities say %v", rec.Ref, rec.Anchor, member[rec.PUID])
		}
	}
	if len(member) != len(live) {
		t.Errorf("%d records, %d members", len(live), len(member))
	}
	if int(counted.Records) != len(live) || int(counted.Entities) != len(entities) {
		t.Errorf("counted %+v, there are %d records and %d entities", counted, len(live), len(entities))
	}
	return entities, live
}

// checkEdges fails the test if an edge is not stored under both of its records, names a deleted record, or
// differs from a fresh comparison.
func (in *installation) checkEdges(t testing.TB, live []*entity.Record) {
	t.Helper()
	norms := map[entity.PUID]*match.Record{}
	edges := map[derived.Pair]derived.Edge{}
	for _, rec := range live {
		norms[rec.PUID] = in.by.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
	}
	by := in.by.Among(match.CountNames(slices.Collect(maps.Values(norms))))
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		keys, err := tx.ReadRows(t.Context(), "edge", nil, 1<<20)
		if err != nil {
			return err
		}
		var puids []entity.PUID
		for _, row := range keys {
			puids = append(puids, entity.PUID(row[0].(int64)))
		}
		slices.Sort(puids)
		puids = slices.Compact(puids)
		rows, err := tx.Edges(t.Context(), puids)
		for _, e := range rows {
			edges[derived.Pair{A: e.A, B: e.B}] = e
		}
		return err
	})
	for pair, e := range edges {
		if other, ok := edges[derived.Pair{A: pair.B, B: pair.A}]; !ok || other.Vector != e.Vector || other.Weight != e.Weight {
			t.Errorf("edge %+v: under the other record stands %+v", e, other)
		}
		a, b := norms[e.A], norms[e.B]
		if a == nil || b == nil {
			t.Errorf("edge %+v leads to a record that is gone", e)
		} else if v := by.Compare(a, b); v != e.Vector {
			t.Errorf("edge %+v: the records say %v", e, v)
		}
	}
}

// batch returns the expected entities of these records.
func batch(m *match.Matcher, records []*entity.Record, decisions []entity.Decision) map[locality.ID]string {
	want := map[locality.ID]string{}
	for _, members := range resolve.Batch(m, records, decisions...) {
		var refs []string
		for _, rec := range members {
			refs = append(refs, rec.String())
		}
		want[members[0].Birth] = strings.Join(refs, " ")
	}
	return want
}

// differ describes how two states differ, "" if they do not.
func differ(got, want map[locality.ID]string) string {
	var lines []string
	for id, members := range want {
		if got[id] != members {
			lines = append(lines, fmt.Sprintf("entity %v: got %q, want %q", id, got[id], members))
		}
	}
	for id, members := range got {
		if want[id] == "" {
			lines = append(lines, fmt.Sprintf("entity %v: got %q, want none", id, members))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines[:min(len(lines), 5)], "\n")
}

// check drains, and compares what is stored with the oracle.
func (in *installation) check(t testing.TB) map[locality.ID]string {
	t.Helper()
	if err := in.Drain(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	got, live := in.state(t)
	if d := differ(got, batch(in.by, live, in.decided(t))); d != "" {
		t.Fatalf("the store is not what its records make:\n%s", d)
	}
	return got
}

// warmed returns an installation in which ops were applied, after using everything that is built at its first use: what is
// built within a synctest bubble cannot be used outside.
func warmed(t testing.TB, ops []resolve.Op) *installation {
	t.Helper()
	table, err := match.DefaultTermFrequencies().MarshalBinary()
	if err == nil {
		err = new(match.TermFrequencies).UnmarshalBinary(table)
	}
	if err != nil {
		t.Fatal(err)
	}
	in := open(t, t.TempDir(), nil)
	in.apply(t, ops)
	in.check(t)
	process(t, in.cells, "another", nil).check(t)
	return in
}

// madeOf returns the entities that a single resolver makes of these ops in one batch.
func madeOf(t testing.TB, ops []resolve.Op) map[locality.ID]string {
	t.Helper()
	alone := open(t, t.TempDir(), nil)
	alone.apply(t, ops)
	return alone.check(t)
}

var (
	firsts  = []string{"Golden", "Blue", "Old", "Corner", "Harbor", "Maple", "Royal", "Sunny", "Twin", "Velvet", "Quill", "Zephyr"}
	seconds = []string{"Pizza", "Bakery", "Garage", "Books", "Dental", "Yoga", "Noodles", "Optics"}
	streets = []string{"Market Street", "Oak Ave", "5th Street", "Harbor Road", "Mill Lane", "Elm St."}
	cities  = []string{"Springfield", "Riverton", "Lakeside"}
)

// seeds counts to n, to one under -short and the race detector, or to LOCUS_SEEDS for a longer run.
func seeds(n uint64) uint64 {
	if long, err := strconv.ParseUint(os.Getenv("LOCUS_SEEDS"), 10, 64); err == nil {
		return long
	}
	if testing.Short() || longtest.Raced {
		return 1
	}
	return uint64(longtest.Part(int(n)))
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// world invents records of about n things with two to four records each: so few words and numbers that many
// things resemble each other, a switchboard that more than MaxBlockSize share, and a chain that makes a
// component of more than match.MaxComponent.
func world(seed uint64, n int) []resolve.Op {
	r := rand.New(rand.NewPCG(seed, 1))
	var ops []resolve.Op
	put := func(source, key string, a entity.Attributes) {
		ops = append(ops, resolve.Op{
			Ref: entity.Ref{Source: source, Key: key}, Attributes: a,
			Observed: time.UnixMilli(1700000000000 + int64(len(ops))*86_400_000%50_000_000_000),
		})
	}
	for i := range n {
		name := pick(r, firsts) + " " + pick(r, seconds)
		street := fmt.Sprintf("%d %s", 1+r.IntN(30), pick(r, streets))
		city, phone := pick(r, cities), fmt.Sprintf("415-555-%04d", r.IntN(3*n))
		if r.IntN(4) == 0 {
			phone = "415-555-9000"
		}
		if i%5 == 0 {
			name, street = "Cosmo Burger", fmt.Sprintf("%d %s", 1+r.IntN(6), pick(r, streets))
		}
		for s := range 2 + r.IntN(3) {
			a := entity.Attributes{"name": {name}, "city": {city}, "postcode": {pick(r, []string{"94103", "00000", "N/A", "null"})}}
			if r.IntN(5) > 0 {
				a["phones"] = []string{phone}
			}
			if r.IntN(5) > 0 {
				a["address"] = []string{strings.Replace(street, "Street", "St.", r.IntN(2))}
			}
			if r.IntN(6) == 0 {
				a["name"] = []string{strings.ToUpper(name[:len(name)-1])}
			}
			put([]string{"chamber", "crawl", "sales", "vendor"}[s], fmt.Sprint(i), a)
		}
	}
	return ops
}

// groups splits ops into batches of random sizes.
func groups(r *rand.Rand, ops []resolve.Op, most int) [][]resolve.Op {
	var cut [][]resolve.Op
	for len(ops) > 0 {
		n := min(1+r.IntN(most), len(ops))
		cut = append(cut, ops[:n])
		ops = ops[n:]
	}
	return cut
}

func shuffled(r *rand.Rand, ops []resolve.Op) []resolve.Op {
	ops = slices.Clone(ops)
	r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	return ops
}
