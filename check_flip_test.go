// SPDX-License-Identifier: Apache-2.0

package locus_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/backend/all"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/resolve"
)

// unrepeated are columns that nothing else in an installation repeats, at least not for every row, so no comparison
// can find every byte that was flipped there. docs/operations.md says so.
var unrepeated = map[string]string{
	"change":            "seq at kind entity into_id before after was became cause",
	"counter_key":       "key newest print results",
	"counter_producer":  "producer seq newest print results",
	"metric":            "first",
	"record":            "observed",
	"counter_floor":     "one floor",
	"rollup":            "name body",
	"definition":        "name body",
	"rollup_generation": "number body",
	cell.Total:          "one seq trimmed merges splits used",
}

// A byte is flipped in each column of each table, on both backends: a check finds it, and finds nothing before and after.
func TestP09_CheckFindsAFlippedByteInAnyTable(t *testing.T) {
	t.Parallel()
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		flipEverywhere(t, t.TempDir())
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		flipEverywhere(t, pgtest.Shared(t).URL(pgtest.Shared(t).Database(t)))
	})
}

func flipEverywhere(t *testing.T, where string) {
	s, cells := openCellsAt(t, where, 2)
	populate(t, s)
	settled(t, s)
	tables := map[string]cell.Table{}
	update := func(id cell.ID, fn func(tx resolve.Tx) error) {
		t.Helper()
		db, err := cells.Cell(id)
		must(t, err)
		must(t, db.Update(t.Context(), fn))
	}
	ids := cells.Map().Cells()
	update(ids[0], func(tx resolve.Tx) error {
		for _, table := range tx.Tables() {
			tables[table.Name] = table
		}
		return nil
	})
	flipped := 0
	for name, table := range tables {
		for column := range table.Columns {
			what := name + "." + table.Columns[column]
			if contains(unrepeated[name], table.Columns[column]) {
				continue
			}
			done := false
			for _, id := range ids {
				var was, is []any
				update(id, func(tx resolve.Tx) error {
					rows, err := tx.ReadRows(t.Context(), name, nil, 1000)
					if err != nil {
						return err
					}
					was, is = flip(table, rows, column)
					return replace(t, tx, table, was, is)
				})
				if was == nil {
					continue
				}
				found, err := look(t, s)
				if len(found) == 0 && err == nil {
					t.Errorf("%s: %v became %v, and the check finds nothing", what, was, is)
				}
				update(id, func(tx resolve.Tx) error { return replace(t, tx, table, is, was) })
				done = true
				flipped++
				break
			}
			if !done && name != "redo" && name != "counter_closed" { // redo is empty; package counter flips what is packed
				t.Errorf("%s: no row has it", what)
			}
		}
	}
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("everything is as it was, and the check finds %d differences, such as %+v", len(found), found[0])
	}
	t.Logf("%d bytes were flipped in %d tables", flipped, len(tables))
}

func contains(fields, field string) bool {
	return slices.ContainsFunc(bytes.Fields([]byte(fields)), func(f []byte) bool { return string(f) == field })
}

// flip changes a bit of a column of the last row that has something there. A record is one that is there.
func flip(table cell.Table, rows [][]any, column int) (was, is []any) {
	for _, row := range slices.Backward(rows) {
		if table.Name == "record" && row[7] == nil || table.Name == "locus_key" && row[2] == nil {
			continue
		}
		is = slices.Clone(row)
		switch v := row[column].(type) {
		case int64:
			is[column] = v ^ 1
			if column < table.Key {
				is[column] = v ^ 1<<12 // no key of another row
			}
		case string:
			is[column] = letter(v)
		case []byte:
			is[column] = slices.Clone(v)
			is[column].([]byte)[len(v)/2] ^= 1 //nolint:forcetypeassert // it was set above
		default:
			continue
		}
		return row, is
	}
	return nil, nil
}

// letter flips a bit of a letter or digit near the middle that stays one: PostgreSQL takes no JSON that is none.
func letter(text string) string {
	is := []byte(text)
	for n := range is {
		at := (len(is)/2 + n) % len(is)
		if c := is[at] ^ 1; alphanumeric(is[at]) && alphanumeric(c) {
			is[at] = c
			return string(is)
		}
	}
	return text + "x"
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func replace(t *testing.T, tx resolve.Tx, table cell.Table, old, row []any) error {
	if row == nil {
		return nil
	}
	if table.Name != cell.Total {
		if err := tx.DeleteRows(t.Context(), table.Name, [][]any{old[:table.Key]}); err != nil {
			return err
		}
	}
	return tx.WriteRows(t.Context(), table.Name, [][]any{row})
}

func look(t *testing.T, s *locus.Service) (found []locus.Difference, err error) {
	t.Helper()
	err = s.CheckCells(t.Context(), locus.Checking{}, func(d locus.Difference) error {
		found = append(found, d)
		return nil
	}, nil)
	return found, err
}

func openCellsAt(t *testing.T, where string, n int) (*locus.Service, *locus.Cells) {
	t.Helper()
	cells, err := all.Open(t.Context(), where, &all.Options{Cells: n, Rules: locus.Rules})
	must(t, err)
	s, err := locus.Open(t.Context(), cells, nil)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, cells
}

// populate puts something in every table.
func populate(t *testing.T, s *locus.Service) {
	t.Helper()
	define(t, s, byCategory)
	for i := range 16 {
		for _, source := range []string{"a", "b"} {
			p := place(fmt.Sprint(i), fmt.Sprintf("Zephyr Trampolines %d", i), "sport", "Springfield")
			p.Ref.Source = source
			p.Attributes["phones"] = []string{fmt.Sprintf("415-555-23%02d", i)}
			put(t, s, p)
		}
	}
	for i := range 4 {
		decide(t, s, locus.Decide{Verdict: entity.VerdictDifferent, A: fmt.Sprintf("a:%d", i), B: fmt.Sprintf("b:%d", 10+i), Author: "ann"})
	}
	_, err := s.Delete(t.Context(), []entity.Ref{{Source: "a", Key: "15"}}) // its former id leads on
	must(t, err)
	b := counter.Batch{Key: "k"}
	for i := range 8 {
		b.Hits = append(b.Hits, counter.Hit{Metric: counter.Metric(fmt.Sprintf("visits/%d", i)), At: time.Now(), N: 3},
			counter.Hit{Metric: counter.Metric(fmt.Sprintf("heat/%d", i)), At: time.Now(), N: 7, Kind: counter.Gauge})
	}
	answer, err := s.AddHits(t.Context(), b)
	must(t, errors.Join(append(answer.Results, err)...))
	latest(t, s, byCategory.Name)
}

func settled(t *testing.T, s *locus.Service) {
	t.Helper()
	until(t, "redo to be worked off", func() (bool, string) {
		status, err := s.Status(t.Context())
		return err == nil && status.Redo == 0, fmt.Sprint(err)
	})
	if found := differences(t, s); len(found) > 0 {
		t.Fatalf("%d differences before anything is flipped, such as %+v", len(found), found[0])
	}
}
