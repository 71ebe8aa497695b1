// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// Ids, redirects, records, decisions, kinds, definitions and counters are the same after a restore, into any number of
// cells.
func TestDump_RestoresEverything(t *testing.T) {
	t.Parallel()
	w := shared(t)
	c, is := w.clock, w.dumped
	if h := is.of(t, "horizon")[0]["horizon"]; h == 0.0 {
		t.Error("the dump has no horizon")
	}
	counts := []int{1, 4, 16, 48}
	if testing.Short() {
		counts = counts[:2] // opening many files takes most of the time
	}
	for _, n := range counts {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			where := filepath.Join(t.TempDir(), "restored")
			r := restore(t, where, is.file, n)
			if r.Deleted == 0 || r.Births == 0 || r.Decisions == 0 || r.Rollups == 0 || r.Imports == 0 || r.Buckets == 0 || r.Batches == 0 {
				t.Fatalf("the dump lacks something: %+v", r)
			}
			db := open(t, where, &locus.Options{Now: c.now})
			check(t, db)
			if d := cmp.Diff(w.want, dump(t, db).same(t, db.Cells().Map())); d != "" {
				t.Errorf("a dump of the restored installation (-want +got):\n%s", d)
			}
			if d := cmp.Diff(w.seen, answers(t, db, c)); d != "" {
				t.Errorf("what readers see (-want +got):\n%s", d)
			}
			for _, b := range onceBatches(c) {
				if answer, err := db.Counters().Add(t.Context(), b); err != nil || !answer.Replayed {
					t.Errorf("a batch that was counted counts again: %+v, %v", answer, err)
				}
			}
			// A deleted key gets its id back and the next version, an erased one begins again.
			for _, in := range []records.Input{record("a", "10", "Returned", ""), record("a", "13", "Returned", "")} {
				put(t, db, in)
				rec, err := db.Records().Get(t.Context(), in.Ref)
				must(t, err)
				was := w.former[in.Key]
				if (rec.Birth == was.Birth) != (in.Key == "10") || rec.Version <= was.Version+1 {
					t.Errorf("%v returned with version %d and id %v, was %+v", in.Ref, rec.Version, rec.Birth, was)
				}
			}
			check(t, db)
		})
	}
}

// A dump of any backend can be restored in any other.
func TestDump_BetweenBackends(t *testing.T) {
	t.Parallel()
	w := shared(t)
	c, is := w.clock, w.dumped
	server := pgtest.Shared(t)
	for i, where := range []string{server.URL(server.Database(t)), filepath.Join(t.TempDir(), "back")} {
		restore(t, where, is.file, 3-i)
		db := open(t, where, &locus.Options{Now: c.now})
		check(t, db)
		is = dump(t, db)
		if d := cmp.Diff(w.want, is.same(t, db.Cells().Map())); d != "" {
			t.Errorf("a dump of %s (-want +got):\n%s", where, d)
		}
		if d := cmp.Diff(w.seen, answers(t, db, c)); d != "" {
			t.Errorf("what readers of %s see (-want +got):\n%s", where, d)
		}
	}
}

// A kind that is being migrated is restored in the form to which it is being migrated. The entities of such a dump
// cannot be compared.
func TestDump_WhileAKindMigrates(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), &locus.Options{Storage: storage.Options{Cells: 2}})
	put(t, db, record("a", "1", "Joes Pizza", "415-555-2300"), record("a", "2", "Blue Dorr", ""))
	next, err := match.ParseSchema([]byte(strings.Replace(string(db.Kinds().Schema("place").YAML()), "version: 1", "version: 2", 1)))
	must(t, err)
	var d dumped
	must(t, db.Kinds().Migrate(t.Context(), kinds.Proposal{Schema: next}, func(kinds.Progress) {
		if d.file == nil {
			d = dump(t, db)
		}
	}))
	if end := d.of(t, "end")[0]; end["unsettled"] != "kind place was being migrated" || end["hash"] != "" {
		t.Fatalf("the end is %v", end)
	}
	where := filepath.Join(t.TempDir(), "restored")
	r, err := locus.Restore(t.Context(), where, bytes.NewReader(d.file),
		&locus.Options{Storage: storage.Options{Cells: 1, Scratch: true}})
	if err != nil || r.Expected != "" || r.Unsettled == "" || r.Differs() {
		t.Fatalf("%+v, %v", r, err)
	}
	restored := open(t, where, nil)
	check(t, restored)
	if is := dump(t, restored); !slices.Equal(is.same(t, restored.Cells().Map()), dump(t, db).same(t, db.Cells().Map())) {
		t.Error("it is not what the migration has made")
	}
}

// A record whose id is of another cell than its key, as at a border of cells that the dumped installation did not have,
// lives in the cell of its id and is found by its key.
func TestRestore_PlacesRecordsByTheirIDs(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	w := shared(t)
	c, d := w.clock, dumped{w.file, slices.Clone(w.lines)}
	// Every third record, and every deleted one, gets the id of the one before it of its type.
	last := map[string]int{}
	for i, line := range d.lines {
		var of struct{ Type, Birth string }
		must(t, json.Unmarshal([]byte(line), &of))
		j, is := last[of.Type]
		if last[of.Type] = i; !is || of.Birth == "" || i%3 == 0 {
			continue
		}
		var before struct{ Birth string }
		must(t, json.Unmarshal([]byte(d.lines[j]), &before))
		if before.Birth != "" {
			d.lines[i], d.lines[j] = strings.Replace(line, of.Birth, before.Birth, 1), strings.Replace(d.lines[j], before.Birth,
				of.Birth, 1)
		}
	}
	where := filepath.Join(t.TempDir(), "restored")
	_, err := locus.Restore(t.Context(), where, bytes.NewReader(pack(t, d.lines)),
		&locus.Options{Storage: storage.Options{Cells: 7, Scratch: true}})
	must(t, err)
	db := open(t, where, &locus.Options{Now: c.now})
	check(t, db)
	away := 0
	for _, l := range d.of(t, "record") {
		ref := entity.Ref{Source: l["source"].(string), Key: l["key"].(string)}
		rec, err := db.Records().Get(t.Context(), ref)
		if err != nil || rec.Birth.String() != l["birth"] {
			t.Fatalf("%v: %v", ref, err)
		}
		m := db.Cells().Map()
		home, err := m.Puid(int64(rec.PUID))
		must(t, err)
		if home != m.Home(m.KeyOf(ref.Source, ref.Key).Position()) {
			away++
		}
	}
	if away < 10 {
		t.Errorf("only %d records live away from their keys", away)
	}
	put(t, db, record("a", "2", "New Name", "")) // version 3
	deleted, err := db.Records().Delete(t.Context(), []entity.Ref{{Source: "a", Key: "2"}, {Source: "a", Key: "3"}})
	must(t, errors.Join(err, deleted[0].Err, deleted[1].Err))
	put(t, db, record("a", "2", "Again", ""), record("a", "10", "Returned", ""))
	check(t, db)
	is := dump(t, db)
	restore(t, filepath.Join(t.TempDir(), "again"), is.file, 2)
}

// A truncated or changed file gives an error with its line, and the incomplete installation cannot be opened.
func TestRestore_RefusesDamagedFiles(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	d := shared(t).dumped
	line := func(kind string) int {
		return slices.IndexFunc(d.lines, func(l string) bool { return strings.HasPrefix(l, `{"type":"`+kind+`"`) })
	}
	without := func(i int) []byte { return pack(t, slices.Delete(slices.Clone(d.lines), i, i+1)) }
	with := func(i int, old, new string) []byte {
		lines := slices.Clone(d.lines)
		if lines[i] = strings.Replace(lines[i], old, new, 1); lines[i] == d.lines[i] {
			t.Fatalf("%q is not in line %d: %s", old, i+1, lines[i])
		}
		return pack(t, lines)
	}
	flipped := slices.Clone(d.file)
	flipped[len(flipped)*2/3] ^= 0x10
	twice := slices.Insert(slices.Clone(d.lines), line("record"), d.lines[line("record")])
	for name, tc := range map[string]struct {
		file []byte
		says string
	}{
		"no dump": {[]byte("id,name\n1,x\n"), "line 1"},
		"empty":   {nil, "line 1"},
		"cut":     {d.file[:len(d.file)*2/3], "line "},
		"without the end": {pack(t, d.lines[:len(d.lines)-1]),
			fmt.Sprintf("line %d: the file ends before", len(d.lines))},
		"flipped":           {flipped, "line "},
		"newer":             {with(0, `"format":3`, `"format":4`), "line 1: format 4"},
		"without a record":  {without(line("record")), fmt.Sprintf("line %d", len(d.lines)-1)},
		"without a birth":   {without(line("birth")), fmt.Sprintf("line %d", len(d.lines)-1)},
		"without an import": {without(line("import")), fmt.Sprintf("line %d", len(d.lines)-1)},
		"without a bucket":  {without(line("bucket")), fmt.Sprintf("line %d", len(d.lines)-1)},
		"without the rules": {without(line("rules")), "line 2"},
		"without a table":   {without(line("terms")), "line 2"},
		"without a metric":  {without(line("metric")), "has no line before it"},
		"unknown member": {with(line("decision"), `"verdict"`, `"x":1,"verdict"`),
			fmt.Sprintf("line %d", line("decision")+1)},
		"unknown type": {with(line("birth"), `"birth"`, `"berth"`),
			fmt.Sprintf("line %d: unknown type", line("birth")+1)},
		"unknown kind": {with(line("record"), `"kind":"place"`, `"kind":"plaice"`),
			fmt.Sprintf("line %d", line("record")+1)},
		"two of a key":        {pack(t, twice), "is there twice"},
		"a damaged day":       {with(line("day"), `"n":`, `"n":1`), fmt.Sprintf("line %d", line("day")+1)},
		"an id of the future": {with(line("record"), `"birth":"`, `"birth":"x`), fmt.Sprintf("line %d", line("record")+1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := filepath.Join(t.TempDir(), "restored")
			_, err := locus.Restore(t.Context(), where, bytes.NewReader(tc.file),
				&locus.Options{Storage: storage.Options{Cells: 1, Scratch: true}})
			if err == nil || !strings.Contains(err.Error(), tc.says) || !errors.Is(err, locus.ErrInvalid) &&
				!errors.Is(err, locus.ErrUnavailable) {
				t.Fatalf("%v; want %s", err, tc.says)
			}
			_, err = locus.Open(t.Context(), where, &locus.Options{Storage: storage.Options{MustExist: true}})
			if !errors.Is(err, locus.ErrUnfinished) && !errors.Is(err, cell.ErrMissing) {
				t.Errorf("what is left opens: %v", err)
			}
		})
	}
}

// Entities that differ from the dump's are reported: here a decision is missing.
func TestRestore_ReportsOtherEntities(t *testing.T) {
	t.Parallel()
	source := open(t, t.TempDir(), &locus.Options{Storage: storage.Options{Cells: 1}})
	put(t, source, record("c", "x", "Nothing Alike", ""), record("c", "y", "Wholly Other", ""))
	decide(t, source, decisions.Input{Verdict: entity.VerdictSame, A: "c:x", B: "c:y"})
	d := dump(t, source)
	if n := strings.Count(strings.Join(d.lines, ""), `{"type":"decision"`); n != 2 {
		t.Fatalf("%d lines of decisions", n)
	}
	lines := slices.DeleteFunc(d.lines, func(l string) bool { return strings.HasPrefix(l, `{"type":"decision"`) })
	last := len(lines) - 1
	lines[last] = strings.Replace(lines[last], `"decisions":2`, `"decisions":0`, 1)
	r, err := locus.Restore(t.Context(), filepath.Join(t.TempDir(), "restored"), bytes.NewReader(pack(t, lines)),
		&locus.Options{Storage: storage.Options{Cells: 1, Scratch: true}})
	if err != nil || !r.Differs() || r.Entities != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// An interrupted restore is neither opened nor continued; at another place it can be repeated.
func TestRestore_InterruptedIsUnfinished(t *testing.T) {
	t.Parallel()
	d := shared(t).dumped
	where := filepath.Join(t.TempDir(), "restored")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	half := io.MultiReader(bytes.NewReader(d.file[:len(d.file)/2]), readerFunc(func([]byte) (int, error) { cancel(); return 0, context.Canceled }))
	one := &locus.Options{Storage: storage.Options{Cells: 1}}
	if _, err := locus.Restore(ctx, where, half, one); err == nil {
		t.Fatal("it was not interrupted")
	}
	if _, err := locus.Open(t.Context(), where, nil); !errors.Is(err, locus.ErrUnfinished) {
		t.Errorf("opened: %v", err)
	}
	if _, err := locus.Restore(t.Context(), where, bytes.NewReader(d.file), nil); !errors.Is(err, locus.ErrUnfinished) {
		t.Errorf("restored again: %v", err)
	}
	must(t, os.RemoveAll(where))
	restore(t, where, d.file, 1)
	if _, err := locus.Restore(t.Context(), where, bytes.NewReader(d.file), nil); !errors.Is(err, locus.ErrOccupied) {
		t.Errorf("restored over an installation: %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
