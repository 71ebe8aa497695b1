// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

var rewrite = flag.Bool("rewrite", false, "write golden files anew")

// The plan of every statement of a transaction is pinned: a scan instead of an index lookup, or a sort instead of
// table order, shows in the difference.
func TestPlans(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := openCell(t)
	var b strings.Builder
	if err := c.Update(ctx, func(rt storage.Tx) error {
		for i, call := range allCalls(ctx, rt) {
			if err := call(); err != nil {
				return fmt.Errorf("call %d: %w", i, err)
			}
		}
		if err := rt.(*tx).keep(t.Context()); err != nil {
			return err
		}
		on := rt.(*tx).conn
		for _, sql := range slices.Sorted(func(yield func(string) bool) {
			for sql := range on.stmts {
				if !yield(strings.Join(strings.Fields(sql), " ")) {
					return
				}
			}
		}) {
			switch strings.Fields(sql)[0] {
			case "BEGIN", "COMMIT", "ROLLBACK":
				continue
			}
			if strings.Contains(sql, "LIMIT ?") {
				t.Errorf("%s\nis compiled again each time it runs: write LIMIT +?", sql)
			}
			fmt.Fprintf(&b, "%s\n----\n", sql)
			s, err := on.prepare("EXPLAIN QUERY PLAN " + sql)
			if err != nil {
				return err
			}
			if err := s.query(ctx, func(r row) error { b.WriteString(r.text(3) + "\n"); return nil }, make([]any, s.values)...); err != nil {
				return err
			}
			b.WriteString("\n")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "plans.txt")
	if *rewrite {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("plans differ; if that is meant, run with -rewrite and read what it changes (-want +got):\n%s", diff)
	}
}

// manyPostings returns more postings than wait for others.
func manyPostings() (all []derived.Posting) {
	for i := range 200 {
		all = append(all, derived.Posting{Key: uint64(i), PUID: 1})
	}
	return all
}

// dedup is the number of calls, at the end of the list, that return what the transaction read at its
// beginning.
const dedup = 2

// allCalls returns calls of every method, which prepare each of its statements.
func allCalls(ctx context.Context, t storage.Tx) []func() error {
	id := locality.Max()
	e := &entity.Entity{ID: id, Members: []entity.Member{{PUID: 1}}}
	best := func() error {
		_, err := t.Search(ctx, entity.Query{Words: []string{"a"}, Without: []uint64{1}, Best: true, Points: 1, Limit: 1})
		return err
	}
	var many []entity.Indexed // more than a handful
	for i := range handful {
		many = append(many, entity.Indexed{Entity: &entity.Entity{ID: locality.ID{byte(i + 1)}, Members: []entity.Member{{PUID: entity.PUID(i + 2)}}}, Words: []string{"a"}})
	}
	return append(counterCalls(ctx, t),
		func() error { _, err := t.Allocate(ctx, []cell.Key{{Ring: 1}}); return err },
		func() error { return t.Copy(ctx, []cell.Row{{PUID: 1}}) },
		func() error { _, err := t.Scan(ctx, nil, 1); return err },
		func() error { _, err := t.Drop(ctx, 1); return err },
		func() error { return t.Skip(ctx, 1) },
		func() error { return t.PutCellMap(ctx, 1, []byte("{}")) },
		func() error { _, _, err := t.CellMap(ctx); return err },
		func() error { _, err := t.CellMaps(ctx); return err },
		func() error { return t.SetFilter(ctx, []byte{1}) },
		func() error { return t.SetFilter(ctx, nil) },
		func() error { _, err := t.Filter(ctx); return err },
		func() error { return t.PutLease(ctx, "resolve", lease.Lease{}) },
		func() error { _, err := t.Lease(ctx, "resolve"); return err },
		func() error { return t.PutRecords(ctx, []*entity.Record{{PUID: 1, Attributes: entity.Attributes{}}}) },
		func() error { _, err := t.Records(ctx, []entity.PUID{1}); return err },
		func() error { return t.Assign(ctx, []entity.Assignment{{PUID: 1, Anchor: 1}}) },
		func() error { _, err := t.ListRecords(ctx, "", 0, 1); return err },
		func() error { _, err := t.ListRecords(ctx, "osm", 0, 1); return err },
		func() error { _, _, err := t.CountRecords(ctx, 0, 1); return err },
		func() error { return t.PutBirths(ctx, []entity.Birth{{ID: id, PUID: 1}}) },
		func() error { _, err := t.Births(ctx, []locality.ID{id}); return err },
		func() error { _, err := t.ListBirths(ctx, id, 1); return err },
		func() error { return t.PutEntities(ctx, []entity.Indexed{{Entity: e, Words: []string{"a"}}}) },
		func() error { _, err := t.Entities(ctx, []entity.PUID{1}); return err },
		func() error { _, err := t.ListEntities(ctx, 0, 1); return err },
		func() error { _, err := t.Search(ctx, entity.Query{Words: []string{"a"}, Limit: 1}); return err },
		func() error { _, err := t.Occurrences(ctx, entity.Occurrence{}, 1); return err },
		func() error {
			_, err := t.Unfound(ctx, []entity.Indexed{{Entity: e, Words: []string{"a"}}})
			return err
		},
		func() error { _, err := t.Search(ctx, entity.Query{Best: true, Points: 1, Limit: 1}); return err },
		best,
		func() error { return t.PutEntities(ctx, many) },
		best,
		func() error { return t.DeleteEntities(ctx, []entity.PUID{1}) },
		func() error { return t.PutDecisions(ctx, []entity.Decision{{A: 1}}) },
		func() error { _, err := t.Decisions(ctx, []entity.PUID{1}); return err },
		func() error { _, err := t.ListDecisions(ctx, entity.DecisionKey{}, 1); return err },
		func() error { return t.DeleteDecisions(ctx, []entity.PUID{1}) },
		func() error { return t.AddCounts(ctx, entity.Counts{Records: 1}) },
		func() error { return t.Append(ctx, []changelog.Change{{Time: time.UnixMilli(0), Kind: changelog.Put}}) },
		func() error { _, err := t.Changes(ctx, 0, 1); return err },
		func() error { _, err := t.Trim(ctx, 1, 1); return err },
		func() error { return t.PutRollup(ctx, rollup.Rollup{Name: "r"}) },
		func() error { _, err := t.Rollups(ctx); return err },
		func() error {
			return t.PutGeneration(ctx, rollup.Generation{Definition: rollup.Definition{Name: "r", Kind: "place", Group: []string{"city"}}})
		},
		func() error { _, err := t.Generations(ctx); return err },
		func() error { return t.DeleteGeneration(ctx, 1) },
		func() error { return t.PutRows(ctx, 1, []rollup.Row{{Key: []byte("a"), Body: []byte("1")}}) },
		func() error { _, err := t.Rows(ctx, 1, [][]byte{[]byte("a")}); return err },
		func() error {
			_, err := t.ScanRows(ctx, 1, []rollup.Range{{Limit: 1}, {Limit: 1, Last: true}})
			return err
		},
		func() error { _, err := t.DropRows(ctx, 1, 1); return err },
		func() error {
			return t.Post(ctx, manyPostings(), []derived.Posting{{Key: 1, PUID: 1}})
		},
		func() error { return t.MergePostings(ctx, true) },
		func() error { _, err := t.RecordsByKey(ctx, []uint64{1}, []int{1}); return err },
		func() error { return t.PutEdges(ctx, []derived.Edge{{A: 1, B: 2}}) },
		func() error { _, err := t.Edges(ctx, []entity.PUID{1}); return err },
		func() error { _, err := t.PossibleMatches(ctx, derived.Edge{}, 1); return err },
		func() error { return t.DeleteEdges(ctx, []derived.Pair{{A: 1, B: 2}}) },
		func() error { _, err := t.PutRedo(ctx, []derived.Redo{{PUID: 1}}); return err },
		func() error { _, err := t.PutRedo(ctx, []derived.Redo{{PUID: 1, Version: 2}}); return err }, // exists already
		func() error { _, err := t.Redo(ctx, 0, 1); return err },
		func() error { return t.ClearRedo(ctx, []derived.Redo{{PUID: 1, Version: 2}}) },
		func() error { _, err := t.RedoDepth(ctx); return err },
		func() error { _, err := t.Counts(ctx); return err },
		func() error { _, err := t.Bounds(ctx); return err },
	)
}

// counterCalls returns the calls of allCalls for the methods of counters.
func counterCalls(ctx context.Context, t counter.Store) []func() error {
	print := counter.DedupRecord{Print: [16]byte{1}}
	calls := []func() error{
		func() error { return t.PutMetrics(ctx, []counter.Meta{{ID: 1, Name: "a"}}) },
		func() error { _, err := t.Metrics(ctx, []counter.ID{1}); return err },
		func() error { _, err := t.ListMetrics(ctx, "a", "b", 1); return err },
		func() error { _, err := t.CountMetrics(ctx); return err },
		func() error { _, err := t.AddTallies(ctx, []counter.Tally{{ID: 1, N: 1}}); return err },
		func() error { return t.PutCompactedDays(ctx, []counter.CompactedDay{{Key: 1, N: 1}}) },
		func() error { _, err := t.CompactedDays(ctx, []counter.BucketKey{1}); return err },
		func() error { _, err := t.DetailedDays(ctx, counter.NoDetail, 0, 1, 1); return err },
		func() error { _, err := t.DetailedDays(ctx, counter.Minutes, 0, 1, 1); return err },
		func() error { _, err := t.TopMetrics(ctx, 0, "a", 1); return err },
		func() error { _, err := t.DedupHorizon(ctx); return err },
		func() error { return t.RaiseDedupHorizon(ctx, 1) },
		func() error { return t.PutBatches(ctx, []counter.KeyedBatch{{Key: "a", DedupRecord: print}}) },
		func() error { _, err := t.Batches(ctx, []counter.Key{"a"}); return err },
		func() error { _, err := t.DropBatches(ctx, 1, 1); return err },
		func() error { return t.PutProducers(ctx, []counter.ProducedBatch{{DedupRecord: print}}) },
		func() error { _, err := t.Producers(ctx, []counter.Producer{{}}); return err },
		func() error { _, err := t.DropProducers(ctx, 1, 1); return err },
	}
	for _, table := range counter.Tables {
		calls = append(calls,
			func() error {
				return t.PutBuckets(ctx, table, []counter.Bucket{{Key: 1, Values: make([]int64, table.Width())}})
			},
			func() error { _, err := t.PrepareBuckets(ctx, table, []counter.BucketKey{2}); return err },
			func() error { _, err := t.Buckets(ctx, table, []counter.BucketKey{1}); return err },
			func() error { _, err := t.FirstBuckets(ctx, table, 2, 1); return err },
			func() error { return t.DeleteBuckets(ctx, table, []counter.BucketKey{1}) })
	}
	return calls
}

// A failing statement makes its method fail: an unreadable row does not count as absent.
func TestErrors_OfStatementsAreReturned(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := openCell(t)
	rollback := errors.New("rolled back")
	for i, more := 0, true; more; i++ {
		if err := c.Update(ctx, func(rt storage.Tx) error {
			calls, own := allCalls(ctx, rt), rt.(*tx)
			more = i+1 < len(calls)-dedup
			tables, err := rows(ctx, own, func(r row) (string, error) { return r.text(0), nil }, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
			if err != nil {
				return err
			}
			for _, table := range tables {
				if err := own.exec("DROP TABLE IF EXISTS " + table); err != nil {
					return err
				}
			}
			if err := errors.Join(calls[i](), own.keep(ctx)); err == nil {
				t.Errorf("call %d succeeds without any table", i)
			}
			return rollback
		}); !errors.Is(err, rollback) {
			t.Fatalf("call %d: %v", i, err)
		}
	}
}
