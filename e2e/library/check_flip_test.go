// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// elsewhere lists tables and columns where a flipped byte makes no difference, and why.
var elsewhere = map[string]string{
	"word":                "a list of what entity.words contains: a wrong word is proposed for a misspelled one and finds nothing",
	"goose_db_version":    "the migrations' own, looked at when a cell is opened",
	"search":              "SQLite's own index: an entity that it does not find is a difference",
	"search_config":       "see search",
	"search_content":      "see search",
	"search_data":         "see search",
	"search_docsize":      "see search",
	"search_idx":          "see search",
	"entity.words":        "a hash that says whether the search is to be written: if it is wrong, it is; see search",
	"locus_journal":       "there only while the cell moves: a row that was left out differs from those that repeat it",
	"locus_mark":          "there only while two URLs are compared",
	"redo":                "there only until it is worked off, and doing it again changes nothing: what was not done differs",
	"counter_compacted":   "package counter flips what is packed",
	"locus_pulse.commits": "one that is too low is told by its witnesses",
	"locus_cell.commits":  "as locus_pulse",
	"locus_cell.journal":  "an entry more in a journal that is not read",
	"locus_cell.system":   "compared with the server by every connection",
	"locus_cell.timeline": "as system",
	"locus_cell.oid":      "as system",
	"locus_total.noted":   "see locus_journal",
	"locus_lease.address": "a process that is not there, or refuses: writes take the way through the databases until the next renewal",
}

// lowered are numbers that are safe if too high, because numbers are skipped.
var lowered = map[string]bool{"locus_cell.used": true}

// used are the tables, apart from those of rollups, that the process reads or writes while a byte in them is flipped: a
// follower reads changes, and several parts write the head.
var used = map[string]bool{"change": true, "locus_cell": true}

// A byte is flipped in each column of each table, on both backends. Each time a check finds it, and finds nothing
// before and after. In the gate a part of the columns of each table on the server: checksums are computed by the same
// code for both.
func TestP09_CheckFindsAFlippedByteInAnyTable(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		flipEverywhere(t, dir, 1, func(id cell.ID) database { return openFile(t, filepath.Join(dir, "cells", id.String()+".db")) })
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		url := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
		flipEverywhere(t, url, longtest.Sample(3, 8, 8, 1), func(id cell.ID) database { return openServer(t, url, id) })
	})
}

// database gives access to a cell bypassing its backend.
type database interface {
	// columns returns the columns and the key columns of all tables.
	columns() (of map[string][]string, keys map[string][]string)
	// flip changes a byte of a column in the last row with a value there, and returns the function that undoes it.
	flip(table, column string, keys []string, where string) (what string, undo func())
	// unlock lets rows of the audit log be changed.
	unlock()
	// seal sets the checksum of the row of the head; nil removes it.
	seal(sum *int64)
	// dump returns every row of every table.
	dump() []string
}

// flipEverywhere flips a byte in every stride-th column of each table, at least in one.
func flipEverywhere(t *testing.T, where string, stride int, behind func(cell.ID) database) {
	s, cells := openCellsAt(t, where, 2)
	populate(t, s)
	settled(t, s)
	ids := cells.Map().Cells()
	var at []database
	for _, id := range ids {
		db, err := cells.Cell(id)
		must(t, err)
		must(t, db.Update(t.Context(), func(tx storage.Tx) error { // no row is written again
			// The maintenance of counters, every minute, raises the floor to days ago.
			return errors.Join(tx.RaiseDedupHorizon(t.Context(), time.Now().UnixMilli()), tx.PutLease(t.Context(), "still", lease.Lease{Owner: "o", Address: "a", Token: 2, Beat: 2, TTL: 2, Fence: 2, Epoch: 2, Asked: 2, Done: 2, Asks: "2 a"}),
				tx.Attest(t.Context(), map[cell.ID]cell.Pulse{{Gen: 900, Index: 9}: {Incarnation: 2, Commits: 2}}))
		}))
		at = append(at, behind(id))
		at[len(at)-1].unlock()
	}
	columns, keys := at[0].columns()
	flipped := 0
	for table, names := range columns {
		if elsewhere[table] != "" {
			continue
		}
		turn := 0
		for _, column := range names {
			what := table + "." + column
			if elsewhere[what] != "" || column == "one" {
				continue
			}
			if turn++; (turn-1)%stride != 0 {
				continue
			}
			condition := map[string]string{"locus_key": "puid IS NOT NULL", "birth": "puid <> 0",
				"locus_lease": "name = 'still'", "locus_witness": "gen = 900"}[table]
			if what == "birth.successor" {
				condition = ""
			}
			done := false
			for i, db := range at {
				change, undo := db.flip(table, column, keys[table], condition)
				if undo == nil {
					continue
				}
				found, err := look(t, s, ids[i])
				if len(found) == 0 && err == nil {
					found, err = look(t, s)
				}
				if len(found) == 0 && err == nil {
					t.Errorf("%s: %s, and the check finds nothing", what, change)
				}
				undo()
				if used[table] || strings.HasPrefix(table, "rollup") {
					rebuilt := false
					until(t, what+": "+change+", undone, and what used it to be mended", func() (bool, string) {
						found, err := look(t, s, ids[i]) // the other cells are looked at in the end
						must(t, err)
						accept(t, db, found)
						if !rebuilt && slices.ContainsFunc(found, ofRollup) {
							_, err := s.Rollups().Rebuild(t.Context(), byCategory.Name)
							must(t, err)
							rebuilt = true
						}
						return len(found) == 0, fmt.Sprint(found)
					})
				}
				done = true
				flipped++
				break
			}
			if summed := names[len(names)-1] == cell.SumColumn; !done && !summed {
				t.Errorf("%s: no row has it", what)
			}
		}
	}
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("everything is as it was, and the check finds %d differences, such as %+v", len(found), found[0])
	}
	t.Logf("%d bytes were flipped in %d tables", flipped, len(columns))
}

func ofRollup(d cells.Difference) bool { return d.What == "rollup" }

func writeHead(t *testing.T, cells *storage.Cells, id cell.ID, change func(*cell.Head)) {
	t.Helper()
	db, err := cells.Cell(id)
	must(t, err)
	must(t, db.Exclusive(t.Context(), func(tx storage.Tx) error {
		head, err := tx.Head(t.Context())
		if err != nil {
			return err
		}
		change(&head)
		return tx.SetHead(t.Context(), head)
	}))
}

// A write of the head does not hide an earlier flipped byte in its row: a check still finds it. After an operator
// accepts the row, it is compared again.
func TestP09_AWriteOfTheHeadHidesNoDamage(t *testing.T) {
	t.Parallel()
	for name, column := range map[string]string{"a part of the head": "epoch", "another part": "rules"} {
		for _, backend := range []string{"files", "server"} {
			t.Run(backend+" "+name, func(t *testing.T) {
				t.Parallel()
				where, behind := t.TempDir(), func(where string, id cell.ID) database {
					return openFile(t, filepath.Join(where, "cells", id.String()+".db"))
				}
				if backend == "server" {
					where = pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
					behind = func(where string, id cell.ID) database { return openServer(t, where, id) }
				}
				s, opened := openCellsAt(t, where, 1)
				id := opened.Map().Authority()
				writeHead(t, opened, id, func(h *cell.Head) { h.Fence++ })
				damages := func(when string, want bool) {
					t.Helper()
					found, err := look(t, s)
					if err != nil || want != slices.ContainsFunc(found, func(d cells.Difference) bool { return d.What == "checksum" && strings.HasPrefix(d.ID, "locus_cell") }) {
						t.Errorf("%s: found %+v, %v; want a damaged row of the head: %v", when, found, err, want)
					}
				}
				damages("written", false)
				db := behind(where, id)
				what, undo := db.flip("locus_cell", column, []string{"one"}, "")
				if undo == nil {
					t.Fatal("there is no row of the cell")
				}
				damages(what, true)
				writeHead(t, opened, id, func(h *cell.Head) { h.Fence++ })
				damages(what+", and the head is written", true)
				undo()
				damages("the row is restored, and its checksum is not", true)
				db.seal(nil)
				damages("its checksum is lost", true)
				writeHead(t, opened, id, func(h *cell.Head) { h.Fence++ })
				damages("its checksum is lost, and the head is written", true)
				found, err := look(t, s)
				must(t, err)
				accept(t, db, found)
				damages("the row is accepted", false)
				writeHead(t, opened, id, func(h *cell.Head) { h.Fence++ })
				damages("the row is accepted, and the head is written", false)
				_, _ = db.flip("locus_cell", column, []string{"one"}, "")
				damages("flipped again", true)
			})
		}
	}
}

// accept accepts the row of the head as it is stored, like an operator.
func accept(t *testing.T, db database, found []cells.Difference) {
	t.Helper()
	for _, d := range found {
		if d.What == "checksum" && strings.HasPrefix(d.ID, "locus_cell") {
			var sum int64
			_, err := fmt.Sscanf(d.Stored, "values whose checksum is %d", &sum)
			must(t, err)
			db.seal(&sum)
		}
	}
}

func look(t *testing.T, s *locus.DB, only ...cell.ID) (found []cells.Difference, err error) {
	t.Helper()
	err = s.Cells().Check(t.Context(), cells.Checking{Cells: only}, func(d cells.Difference) error {
		found = append(found, d)
		return nil
	}, nil)
	return found, err
}

func openCellsAt(t *testing.T, where string, n int) (*locus.DB, *storage.Cells) {
	t.Helper()
	cells, err := storage.Open(t.Context(), where, &storage.Options{Cells: n, Scratch: true, Notice: time.Hour})
	must(t, err)
	s, err := locus.OpenCells(t.Context(), cells, nil)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, cells
}

// populate writes rows to every table.
func populate(t *testing.T, s *locus.DB) {
	t.Helper()
	define(t, s, byCategory)
	for i := range 8 {
		for _, source := range []string{"a", "b"} {
			p := place(fmt.Sprint(i), fmt.Sprintf("Zephyr Trampolines %d", i), "sport", "Springfield")
			p.Ref.Source = source
			p.Attributes["phones"] = []string{fmt.Sprintf("415-555-23%02d", i)}
			put(t, s, p)
		}
	}
	for i := range 4 {
		decide(t, s, decisions.Input{Verdict: entity.VerdictDifferent, A: fmt.Sprintf("a:%d", i), B: fmt.Sprintf("b:%d", 4+i),
			Author: "ann"})
	}
	_, err := s.Records().Delete(t.Context(), []entity.Ref{{Source: "a", Key: "7"}}) // its former id redirects
	must(t, err)
	b := counter.Batch{Key: "k"}
	for i := range 8 {
		b.Hits = append(b.Hits, counter.Hit{Metric: counter.Metric(fmt.Sprintf("visits/%d", i)), At: time.Now(), N: 3},
			counter.Hit{Metric: counter.Metric(fmt.Sprintf("heat/%d", i)), At: time.Now(), N: 7, Kind: counter.Gauge})
	}
	answer, err := s.Counters().Add(t.Context(), b)
	must(t, errors.Join(append(answer.Results, err)...))
	latest(t, s, byCategory.Name)
	_, err = s.Audit().Begin(t.Context(), audit.Entry{Class: audit.Admin, Action: "test"})
	must(t, err)
}

func settled(t *testing.T, s *locus.DB) {
	t.Helper()
	until(t, "redo to be worked off", func() (bool, string) {
		status, err := s.Cells().Status(t.Context())
		return err == nil && status.Redo == 0, fmt.Sprint(err)
	})
	if found := differences(t, s); len(found) > 0 {
		t.Fatalf("%d differences before anything is flipped, such as %+v", len(found), found[0])
	}
}

// A stored record is altered. A repair reports it and leaves its entity and the other records as they were.
func TestP09_ARepairDoesNotFollowADamagedRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, opened := openCellsAt(t, dir, 2)
	p := place("1", "Zephyr Trampolines", "sport", "Springfield")
	was := put(t, s, p)[0]
	id, err := opened.Map().Puid(int64(was.PUID))
	must(t, err)
	settled(t, s) // records in the redo set are resolved from the stored rows
	db := openFile(t, filepath.Join(dir, "cells", id.String()+".db")).(file).db
	_, err = db.ExecContext(t.Context(), "UPDATE record SET body = replace(body, 'Zephyr', 'Zephyq')")
	must(t, err)

	var found []cells.Difference
	must(t, s.Cells().Check(t.Context(), cells.Checking{Repair: true}, func(d cells.Difference) error { found = append(found, d); return nil }, nil))
	if len(found) < 2 || found[0].What != "checksum" || found[0].Advice == "" {
		t.Errorf("found %+v, want the record first, and what differs from it", found)
	}
	for _, d := range found {
		if d.Repaired {
			t.Errorf("%+v was repaired from a damaged record", d)
		}
	}
	e, err := s.Entities().Get(t.Context(), was.Entity)
	must(t, err)
	if !strings.Contains(fmt.Sprint(e.View), "Zephyr") {
		t.Errorf("the entity says %v", e.View)
	}
	put(t, s, p)
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("put again, %d rows differ, such as %+v", len(found), found[0])
	}
}
