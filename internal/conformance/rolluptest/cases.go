// SPDX-License-Identifier: Apache-2.0

package rolluptest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/rollup"
)

var (
	at = time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC)

	// plain is a minimal definition, rich one with every part.
	plain = rollup.Definition{
		Name: "plain", Kind: "place", Over: rollup.Entities, Group: []string{"city"},
		Measures: []rollup.Measure{{Name: "count", Func: rollup.Count}},
	}
	rich = rollup.Definition{
		Name: "rich-1_a", Kind: "place", Over: rollup.Records,
		Where: []rollup.Condition{
			{Attribute: "country", Values: []string{`'"\`, "寿司"}, Not: true},
			{Attribute: "phones", Exists: true},
			{Attribute: "stars", Min: "1.5", Max: "5"},
		},
		Group: []string{"city", "categories", "outcome"}, Dimension: "source",
		Measures: []rollup.Measure{
			{Name: "best", Func: rollup.Top, Attribute: "stars", Scale: 2, K: 3},
			{Name: "count", Func: rollup.Count},
			{Name: "mean", Func: rollup.Avg, Attribute: "stars", Scale: 1},
			{Name: "names", Func: rollup.Distinct, Attribute: "name"},
		},
	}
)

func version(n int64, d rollup.Definition) *rollup.Version {
	return &rollup.Version{Generation: n, Definition: d, Since: at}
}

func generation(n int64) rollup.Generation {
	return rollup.Generation{Number: n, Definition: plain, State: rollup.Following, Watermark: changelog.Seq(n), At: at}
}

func emptyCell(t tester, c Cell) {
	same(t, "rollups of an empty cell", rollups(t, c), nil)
	same(t, "generations of an empty cell", generations(t, c), nil)
	same(t, "rows of no generation", bodies(t, c, 1, []byte("a"), []byte("b")), [][]byte{nil, nil})
	same(t, "a range of no generation", scan(t, c, 1, rollup.Range{Limit: 9}, rollup.Range{Limit: 9, Last: true}),
		[][]rollup.Row{{}, {}})
	same(t, "rows dropped of no generation", drop(t, c, 1, 9), 0)
	put(t, c, 1)
	same(t, "no rows", bodies(t, c, 1), nil)
	same(t, "no ranges", scan(t, c, 1), nil)
	put(t, c, 1, rollup.Row{Key: []byte("a")})
	update(t, c, func(ctx context.Context, s rollup.Store) error { return s.DeleteGeneration(ctx, 1) })
	same(t, "rows of an empty cell from which one was deleted", all(t, c, 1), nil)
}

func rollupsComeBackWhole(t tester, c Cell) {
	for _, want := range []rollup.Rollup{
		{Name: "rich-1_a", Serving: version(1, rich), Next: version(math.MaxInt64, plain), Last: math.MaxInt64},
		{Name: "rich-1_a", Serving: version(3, plain), Last: 4},
		{Name: "rich-1_a", Next: version(5, rich), Last: 5},
		{Name: "rich-1_a", Last: 5}, // dropped
	} {
		update(t, c, func(ctx context.Context, s rollup.Store) error { return s.PutRollup(ctx, want) })
		same(t, "rollups", rollups(t, c), []rollup.Rollup{want})
	}
}

// rollupsInOrder uses names that collations order differently.
func rollupsInOrder(t tester, c Cell) {
	names := []string{"a", "a-b", "a0", "a9", "a_b", "aa", "ab", "b", "ba", "z"}
	var want []rollup.Rollup
	for i, name := range names {
		want = append(want, rollup.Rollup{Name: name, Last: int64(i)})
	}
	update(t, c, func(ctx context.Context, s rollup.Store) error {
		for i := range want {
			if err := s.PutRollup(ctx, want[i*7%len(want)]); err != nil {
				return err
			}
		}
		return nil
	})
	same(t, "rollups", rollups(t, c), want)
}

func generationsComeBackWhole(t tester, c Cell) {
	for _, want := range []rollup.Generation{
		{Number: 7, Definition: plain, State: rollup.Building, At: at},
		{
			Number: 7, Definition: rich, State: rollup.Failed, Watermark: math.MaxInt64, At: at, Groups: math.MaxInt64,
			FrozenFor: math.MaxInt64,
			BuildID:   math.MaxInt64, StoreID: "寿司", History: math.MaxInt64, FrozenAt: math.MaxInt64,
			Reason: "'\"\\\n寿司 " + strconv.Itoa(1<<30), Verified: at.Add(time.Hour),
		},
		{Number: 7, Definition: rich, State: rollup.Dropping, Watermark: -1, At: at},
	} {
		update(t, c, func(ctx context.Context, s rollup.Store) error { return s.PutGeneration(ctx, want) })
		same(t, "generations", generations(t, c), []rollup.Generation{want})
	}
}

func generationsInOrder(t tester, c Cell) {
	numbers := []int64{1, 2, 9, 10, 11, 100, 1<<53 + 1, math.MaxInt64}
	var want []rollup.Generation
	for _, n := range numbers {
		want = append(want, generation(n))
	}
	update(t, c, func(ctx context.Context, s rollup.Store) error {
		for i := range want {
			if err := s.PutGeneration(ctx, want[i*3%len(want)]); err != nil {
				return err
			}
		}
		return nil
	})
	same(t, "generations", generations(t, c), want)
	for range 2 {
		update(t, c, func(ctx context.Context, s rollup.Store) error {
			return errors.Join(s.DeleteGeneration(ctx, 10), s.DeleteGeneration(ctx, math.MaxInt64), s.DeleteGeneration(ctx, 5))
		})
		same(t, "generations without two", generations(t, c), slices.Concat(want[:3], want[4:7]))
	}
}

func deletedGenerationKeepsRows(t tester, c Cell) {
	rows := []rollup.Row{{Key: []byte("a"), Body: []byte("1")}}
	update(t, c, func(ctx context.Context, s rollup.Store) error {
		return errors.Join(s.PutGeneration(ctx, generation(1)), s.PutRows(ctx, 1, rows))
	})
	update(t, c, func(ctx context.Context, s rollup.Store) error { return s.DeleteGeneration(ctx, 1) })
	same(t, "generations", generations(t, c), nil)
	same(t, "rows of a deleted generation", all(t, c, 1), rows)
}

// state is the whole content of a cell with generations 1 to 3.
type state struct {
	Rollups     []rollup.Rollup
	Generations []rollup.Generation
	Rows        [3][]rollup.Row
}

func stateOf(ctx context.Context, s rollup.Store) (st state, err error) {
	if st.Rollups, err = s.Rollups(ctx); err != nil {
		return st, err
	}
	if st.Generations, err = s.Generations(ctx); err != nil {
		return st, err
	}
	for i := range st.Rows {
		rows, err := s.ScanRows(ctx, int64(i+1), []rollup.Range{{Limit: everything}})
		if err != nil {
			return st, err
		}
		st.Rows[i] = rows[0]
	}
	return st, nil
}

// everyWrite calls every write method.
func everyWrite(ctx context.Context, s rollup.Store, n int64) error {
	key := []byte{byte(n)}
	_, err := s.DropRows(ctx, 2, 1)
	return errors.Join(err,
		s.PutRollup(ctx, rollup.Rollup{Name: "r", Last: n}), s.PutGeneration(ctx, generation(n)),
		s.DeleteGeneration(ctx, n-1),
		s.PutRows(ctx, 1, []rollup.Row{{Key: key, Body: key}, {Key: []byte("a"), Body: key}, {Key: []byte{byte(n - 1)}}}))
}

// prepare stores data for everyWrite to change.
func prepare(t tester, c Cell) state {
	t.Helper()
	update(t, c, func(ctx context.Context, s rollup.Store) error {
		rows := []rollup.Row{{Key: []byte("a"), Body: []byte("1")}, {Key: []byte{4}, Body: []byte{4}}}
		return errors.Join(s.PutRollup(ctx, rollup.Rollup{Name: "r", Serving: version(1, rich)}),
			s.PutGeneration(ctx, generation(4)),
			s.PutRows(ctx, 1, rows), s.PutRows(ctx, 2, rows), s.PutRows(ctx, 3, rows))
	})
	return ask(t, c, stateOf)
}

func seesItsOwnWrites(t tester, c Cell) {
	prepare(t, c)
	update(t, c, func(ctx context.Context, s rollup.Store) error {
		for n := int64(5); n < 7; n++ {
			if err := everyWrite(ctx, s, n); err != nil {
				return err
			}
			got, err := stateOf(ctx, s)
			if err != nil {
				return err
			}
			if len(got.Rollups) != 1 || got.Rollups[0].Last != n || len(got.Generations) != 1 ||
				got.Generations[0].Number != n ||
				len(got.Rows[0]) != 2 || got.Rows[0][0].Key[0] != byte(n) || got.Rows[0][1].Body[0] != byte(n) || int64(len(got.Rows[1])) != 6-n {
				return fmt.Errorf("write %d, read in its transaction: %+v", n, got)
			}
			one, err := s.Rows(ctx, 1, [][]byte{{byte(n)}, {byte(n - 1)}})
			if err != nil || len(one[0]) != 1 || one[1] != nil {
				return fmt.Errorf("write %d, rows read in its transaction: %v, %w", n, one, err)
			}
		}
		return nil
	})
}

func rollbackLeavesNothing(t tester, c Cell) {
	before := prepare(t, c)
	conformance.Ends(t, c.Update, true, func(ctx context.Context, s rollup.Store) error { return everyWrite(ctx, s, 5) })
	same(t, "what there is after a rollback", ask(t, c, stateOf), before)
}

func survivesReopening(t tester, c Cell) {
	before := prepare(t, c)
	conformance.Reopen(t, c.Reopen)
	same(t, "what there is after reopening", ask(t, c, stateOf), before)
}

func cancelledContext(t tester, c Cell) {
	before := prepare(t, c)
	conformance.Cancelled(t, c.Update, func(ctx context.Context, s rollup.Store) error {
		return everyWrite(ctx, s, 5)
	}, func(ctx context.Context, s rollup.Store) error {
		return s.PutRows(ctx, 1, []rollup.Row{{Key: []byte("late"), Body: []byte("1")}})
	})
	same(t, "what there is after a cancelled update", ask(t, c, stateOf), before)
}

// together runs 8 times 5 updates concurrently, and fails if one of them fails.
func together(t tester, c Cell, do func(ctx context.Context, s rollup.Store, who, i int) error) {
	t.Helper()
	conformance.Together(t, c.Update, 5, do)
}

// nobodyElseChangesGenerations increments a counter concurrently, in a generation that does not exist initially.
func nobodyElseChangesGenerations(t tester, c Cell) {
	together(t, c, func(ctx context.Context, s rollup.Store, _, _ int) error {
		g := generation(1)
		there, err := s.Generations(ctx)
		if err != nil {
			return err
		}
		if len(there) > 0 {
			g = there[0]
		}
		g.Groups++
		return s.PutGeneration(ctx, g)
	})
	if got := generations(t, c); len(got) != 1 || got[0].Groups != 40 {
		t.Fatalf("40 updates that each add one to what they read made %+v", got)
	}
}

// nobodyElseChangesRollups gives every new rollup the number after the highest one, concurrently.
func nobodyElseChangesRollups(t tester, c Cell) {
	together(t, c, func(ctx context.Context, s rollup.Store, who, i int) error {
		there, err := s.Rollups(ctx)
		if err != nil {
			return err
		}
		return s.PutRollup(ctx, rollup.Rollup{Name: fmt.Sprintf("r%d-%d", who, i), Last: rollup.Catalog(there).Highest() + 1})
	})
	seen := map[int64]string{}
	for _, r := range rollups(t, c) {
		if other, twice := seen[r.Last]; twice {
			t.Fatalf("rollups %s and %s both have number %d", other, r.Name, r.Last)
		}
		seen[r.Last] = r.Name
	}
	if len(seen) != 40 {
		t.Fatalf("%d rollups of 40 are there", len(seen))
	}
}
