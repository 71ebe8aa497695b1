// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

var rewrite = flag.Bool("rewrite", false, "write golden files anew")

// whole matches scans of one-row tables and the sequence, which are read as a whole.
var whole = regexp.MustCompile(`Seq Scan on (locus_cell|locus_total|locus_filter|locus_puid|locus_pulse|counter_horizon)\b`)

// identified returns a new cell with one connection.
func identified(t *testing.T) *Cell {
	t.Helper()
	s := pgtest.Shared(t)
	opened, err := NewDriver(&Options{Connections: 1}).Dial(t.Context(), s.URL(s.Database(t)), true)
	if err != nil {
		t.Fatal(err)
	}
	c := opened.(*Cell)
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Identify(t.Context(), cell.Identity{Map: "m", Lo: 0, Hi: 1<<32 - 1}); err != nil {
		t.Fatal(err)
	}
	return c
}

// The plan of every statement of a transaction, whatever the contents of the tables: only one-row tables are read
// as a whole, and never a whole generation. Plans are pinned for this version; others need not agree.
func TestPlans(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := pgtest.Shared(t)
	c := identified(t)
	plans := map[string]string{}
	for _, run := range []func(context.Context, func(storage.Tx) error) error{c.Update, c.Exclusive, c.View} {
		if err := run(ctx, func(rt storage.Tx) error {
			if err := useAll(ctx, rt.(*tx)); err != nil {
				return err
			}
			return explainAll(ctx, rt.(*tx).conn.Conn, plans)
		}); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, sql := range slices.Sorted(maps.Keys(plans)) {
		fmt.Fprintf(&b, "%s\n----\n%s\n", sql, plans[sql])
		for line := range strings.Lines(plans[sql]) {
			if strings.Contains(line, "Seq Scan") && !whole.MatchString(line) {
				t.Errorf("%s\nreads a whole table:\n%s", sql, plans[sql])
			}
			if strings.Contains(line, "Cond: (generation = $1)") && !strings.Contains(sql, "LIMIT $2") {
				t.Errorf("%s\nreads a whole generation:\n%s", sql, plans[sql])
			}
		}
	}
	const pinned = "15"
	golden := filepath.Join("testdata", "plans.txt")
	if *rewrite {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if v := s.Exec(t, "postgres", "SHOW server_version_num")[0][0]; !strings.HasPrefix(v, pinned) {
		t.Logf("plans are pinned for PostgreSQL %s, this is %s", pinned, v)
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("plans differ; if that is meant, run with -rewrite and read what it changes (-want +got):\n%s", diff)
	}
}

// explainAll reads the generic plans of all statements that the connection has prepared.
func explainAll(ctx context.Context, on *pgx.Conn, plans map[string]string) error {
	if _, err := on.Exec(ctx, "SET LOCAL plan_cache_mode = force_generic_plan"); err != nil {
		return err
	}
	rows, err := on.Query(ctx, "SELECT name, statement, cardinality(parameter_types) FROM pg_prepared_statements WHERE NOT from_sql", pgx.QueryExecModeExec)
	if err != nil {
		return err
	}
	type prepared struct {
		name, sql string
		args      int
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (p prepared, err error) {
		return p, r.Scan(&p.name, &p.sql, &p.args)
	})
	if err != nil {
		return err
	}
	for _, p := range all {
		sql := strings.Join(strings.Fields(p.sql), " ")
		if !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, strings.Fields(sql)[0]) {
			continue
		}
		execute := p.name
		if p.args > 0 {
			execute += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", p.args), ", ") + ")"
		}
		rows, err := on.Query(ctx, "EXPLAIN (COSTS OFF) EXECUTE "+execute, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return fmt.Errorf("explain %s: %w", sql, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("explain %s: %w", sql, err)
		}
		plans[sql] = strings.Join(lines, "\n") + "\n"
	}
	return nil
}

// useAll calls every method that the transaction may call, so that each of its statements is prepared.
func useAll(ctx context.Context, t *tx) error {
	for i, call := range allCalls(ctx, t) {
		if err := call(); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	return t.flush(ctx)
}

// manyPostings returns more postings than wait for others.
func manyPostings() (all []derived.Posting) {
	for i := range 200 {
		all = append(all, derived.Posting{Key: uint64(i), PUID: 1})
	}
	return all
}

// allCalls returns calls of every method that the transaction may call, except Head, which it has read.
func allCalls(ctx context.Context, t *tx) []func() error {
	id := locality.Max()
	e := &entity.Entity{ID: id, Members: []entity.Member{{PUID: 1}}}
	k := cell.Key{Ring: 1}
	definition := rollup.Definition{Name: "a", Kind: "place", Over: rollup.Entities}
	reads := []func() error{
		func() error { _, err := t.Lookup(ctx, []cell.Key{k}); return err },
		func() error { _, err := t.Scan(ctx, nil, 1); return err },
		func() error { _, err := t.Scan(ctx, &k, 1); return err },
		func() error { _, _, err := t.CellMap(ctx); return err },
		func() error { _, err := t.CellMaps(ctx); return err },
		func() error { _, err := t.Filter(ctx); return err },
		func() error { _, err := t.Records(ctx, []entity.PUID{1}); return err },
		func() error { _, err := t.ListRecords(ctx, "", 0, 1); return err },
		func() error { _, err := t.ListRecords(ctx, "osm", 0, 1); return err },
		func() error { _, _, err := t.CountRecords(ctx, 0, 1); return err },
		func() error { _, err := t.Births(ctx, []locality.ID{id}); return err },
		func() error { _, err := t.ListBirths(ctx, id, 1); return err },
		func() error { _, err := t.Entities(ctx, []entity.PUID{1}); return err },
		func() error { _, err := t.ListEntities(ctx, 0, 1); return err },
		func() error { _, err := t.Search(ctx, entity.Query{Words: []string{"a"}, Limit: 1}); return err },
		func() error { _, err := t.Counts(ctx); return err },
		func() error { _, err := t.Changes(ctx, math.MaxInt64, 1); return err },
		func() error { _, err := t.Bounds(ctx); return err },
		func() error { _, err := t.Rollups(ctx); return err },
		func() error { _, err := t.Generations(ctx); return err },
		func() error { _, err := t.Rows(ctx, 1, [][]byte{{1}}); return err },
		func() error { _, err := t.ScanRows(ctx, 1, []rollup.Range{{}, {Last: true}}); return err },
		func() error { _, err := t.RecordsByKey(ctx, []uint64{1}, []int{1}); return err },
		func() error { _, err := t.Edges(ctx, []entity.PUID{1}); return err },
		func() error { _, err := t.PossibleMatches(ctx, derived.Edge{}, 1); return err },
		func() error { _, err := t.Decisions(ctx, []entity.PUID{1}); return err },
		func() error { _, err := t.ListDecisions(ctx, entity.DecisionKey{}, 1); return err },
		func() error { _, err := t.Redo(ctx, math.MinInt64, 1); return err },
		func() error { _, err := t.RedoDepth(ctx); return err },
		func() error { _, err := t.Lease(ctx, "resolve"); return err },
		func() error { _, err := t.stats(ctx); return err },
	}
	writes := []func() error{
		func() error { return t.AddCounts(ctx, entity.Counts{Records: 1}) },
		func() error { _, err := t.Allocate(ctx, []cell.Key{k}); return err },
		func() error { return t.Copy(ctx, []cell.Row{{Key: k, PUID: 1}}) },
		func() error { return t.PutRecords(ctx, []*entity.Record{{PUID: 1, Attributes: entity.Attributes{}}}) },
		func() error { return t.Assign(ctx, []entity.Assignment{{PUID: 1, Anchor: 1}}) },
		func() error { return t.PutBirths(ctx, []entity.Birth{{ID: id, PUID: 1}}) },
		func() error { return t.PutEntities(ctx, []entity.Indexed{{Entity: e, Words: []string{"a"}}}) },
		func() error { _, err := t.Occurrences(ctx, entity.Occurrence{}, 1); return err },
		func() error {
			_, err := t.Unfound(ctx, []entity.Indexed{{Entity: e, Words: []string{"a"}}})
			return err
		},
		func() error { _, err := t.Search(ctx, entity.Query{Best: true, Points: 1, Limit: 1}); return err },
		func() error {
			_, err := t.Search(ctx, entity.Query{Words: []string{"a"}, Without: []uint64{1}, Best: true, Points: 1, Limit: 1})
			return err
		},
		func() error { return t.DeleteEntities(ctx, []entity.PUID{1}) },
		func() error { return t.Append(ctx, []changelog.Change{{Time: time.UnixMilli(0), Kind: changelog.Put}}) },
		func() error { _, err := t.Trim(ctx, 1, 1); return err },
		func() error { return t.PutRollup(ctx, rollup.Rollup{Name: "a"}) },
		func() error { return t.PutGeneration(ctx, rollup.Generation{Number: 1, Definition: definition}) },
		func() error { return t.DeleteGeneration(ctx, 1) },
		func() error { return t.PutRows(ctx, 1, []rollup.Row{{Key: []byte{1}, Body: []byte{1}}}) },
		func() error { return t.PutRows(ctx, 1, []rollup.Row{{Key: []byte{2}}}) },
		func() error { _, err := t.DropRows(ctx, 1, 1); return err },
		func() error {
			return t.Post(ctx, manyPostings(), []derived.Posting{{Key: 1, PUID: 1}})
		},
		func() error { return t.MergePostings(ctx, true) },
		func() error { return t.PutDecisions(ctx, []entity.Decision{{A: 1}}) },
		func() error { return t.DeleteDecisions(ctx, []entity.PUID{1}) },
		func() error { return t.PutEdges(ctx, []derived.Edge{{A: 1, B: 2}}) },
		func() error { return t.DeleteEdges(ctx, []derived.Pair{{A: 1, B: 2}}) },
		func() error { _, err := t.PutRedo(ctx, []derived.Redo{{PUID: 1}}); return err },
		func() error { return t.ClearRedo(ctx, []derived.Redo{{PUID: 1}}) },
		func() error { return t.PutLease(ctx, "resolve", lease.Lease{}) },
		func() error { return t.SetFilter(ctx, []byte{1}) },
		func() error { return t.SetFilter(ctx, nil) },
		func() error { _, err := t.Drop(ctx, 1); return err },
		func() error { return t.Skip(ctx, 1) },
	}
	alones := []func() error{
		func() error { return t.SetHead(ctx, t.head) },
		func() error { return t.PutCellMap(ctx, 1, []byte("{}")) },
	}
	calls := reads
	if t.mode >= writing {
		calls = append(writes, reads...)
	}
	if t.mode >= alone {
		calls = append(calls, alones...)
	}
	return append(calls, counting(ctx, t)...)
}

// A failing statement makes its method or the transaction fail: an unreadable row does not count as absent. Each method
// is called on a database without tables.
func TestErrors_OfStatementsAreReturned(t *testing.T) {
	t.Parallel()
	c := identified(t)
	ctx := t.Context()
	rollback := errors.New("rolled back")
	err := c.run(ctx, alone, func(own *tx) error {
		on := own.conn.Conn
		for i, call := range allCalls(ctx, own) {
			if _, err := on.Exec(ctx, "SAVEPOINT before; SET LOCAL search_path = nowhere", pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
			err := call()
			own.queueTotals() // written with the commit
			if own.queue.Len() == 0 && err == nil {
				t.Errorf("call %d succeeds without any table", i)
			} else if err = errors.Join(err, own.flush(ctx)); err == nil {
				t.Errorf("call %d fails neither by itself nor with its transaction", i)
			}
			if own.err == nil {
				t.Errorf("call %d, %v: the transaction can still be committed", i, err)
			}
			own.err, own.queue, own.held, own.notes = nil, new(pgx.Batch), [2]bool{}, nil
			if _, err := on.Exec(ctx, "ROLLBACK TO SAVEPOINT before", pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		return rollback
	})
	if !errors.Is(err, rollback) {
		t.Fatal(err)
	}
}

// counting returns calls of the methods of counters.
func counting(ctx context.Context, t *tx) []func() error {
	keys, hit := []counter.BucketKey{1}, counter.DedupRecord{Newest: 1}
	calls := []func() error{
		func() error { _, err := t.Metrics(ctx, []counter.ID{1}); return err },
		func() error { _, err := t.ListMetrics(ctx, "a", "", 1); return err },
		func() error { _, err := t.CountMetrics(ctx); return err },
		func() error { _, err := t.CompactedDays(ctx, keys); return err },
		func() error { _, err := t.DetailedDays(ctx, counter.Quarters, 0, 1, 1); return err },
		func() error { _, err := t.DetailedDays(ctx, counter.Minutes, 0, 1, 1); return err },
		func() error { _, err := t.TopMetrics(ctx, 1, "", 1); return err },
		func() error { _, err := t.TopMetrics(ctx, 1, "a", 1); return err },
		func() error { _, err := t.DedupHorizon(ctx); return err },
		func() error { _, err := t.Batches(ctx, []counter.Key{"a"}); return err },
		func() error { _, err := t.Producers(ctx, []counter.Producer{{}}); return err },
	}
	for _, table := range counter.Tables {
		calls = append(calls,
			func() error { _, err := t.Buckets(ctx, table, keys); return err },
			func() error { _, err := t.FirstBuckets(ctx, table, 1, 1); return err })
	}
	if t.mode == reading {
		return calls
	}
	for _, table := range counter.Tables {
		calls = append(calls,
			func() error { _, err := t.PrepareBuckets(ctx, table, keys); return err },
			func() error {
				return t.PutBuckets(ctx, table, []counter.Bucket{{Key: 1, Values: make([]int64, table.Width())}})
			},
			func() error { return t.DeleteBuckets(ctx, table, keys) })
	}
	return append(calls,
		func() error { return t.PutMetrics(ctx, []counter.Meta{{ID: 1, Name: "a"}}) },
		func() error {
			t.guess = true
			_, err := t.AddTallies(ctx, []counter.Tally{{ID: 1, N: 1}}) // creates its spans
			return err
		},
		func() error { _, err := t.AddTallies(ctx, []counter.Tally{{ID: 1, N: 1}}); return err },
		func() error {
			_, err := t.AddTallies(ctx, []counter.Tally{{ID: 1, N: 1}, {ID: 1, Minute: 15, N: 1}})
			return err
		},
		func() error { return t.PutCompactedDays(ctx, []counter.CompactedDay{{Key: 1}}) },
		func() error { return t.RaiseDedupHorizon(ctx, 1) },
		func() error { return t.PutBatches(ctx, []counter.KeyedBatch{{Key: "a", DedupRecord: hit}}) },
		func() error { _, err := t.DropBatches(ctx, 1, 1); return err },
		func() error { return t.PutProducers(ctx, []counter.ProducedBatch{{DedupRecord: hit}}) },
		func() error { _, err := t.DropProducers(ctx, 1, 1); return err })
}
