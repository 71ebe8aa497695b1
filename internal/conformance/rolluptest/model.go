// SPDX-License-Identifier: Apache-2.0

package rolluptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/rollup"
)

// model is a cell's rollup state.
type model struct {
	rollups     map[string]rollup.Rollup
	generations map[int64]rollup.Generation
	rows        map[int64]map[string][]byte
}

var _ rollup.Store = (*model)(nil)

func newModel() *model {
	return &model{map[string]rollup.Rollup{}, map[int64]rollup.Generation{}, map[int64]map[string][]byte{}}
}

func (m *model) clone() *model {
	c := &model{maps.Clone(m.rollups), maps.Clone(m.generations), map[int64]map[string][]byte{}}
	for g, rows := range m.rows {
		c.rows[g] = maps.Clone(rows)
	}
	return c
}

func (m *model) Rollups(ctx context.Context) (all []rollup.Rollup, _ error) {
	for _, name := range slices.Sorted(maps.Keys(m.rollups)) {
		all = append(all, m.rollups[name])
	}
	return all, ctx.Err()
}

func (m *model) PutRollup(ctx context.Context, r rollup.Rollup) error {
	m.rollups[r.Name] = r
	return ctx.Err()
}

func (m *model) Generations(ctx context.Context) (all []rollup.Generation, _ error) {
	for _, n := range slices.Sorted(maps.Keys(m.generations)) {
		all = append(all, m.generations[n])
	}
	return all, ctx.Err()
}

func (m *model) PutGeneration(ctx context.Context, g rollup.Generation) error {
	m.generations[g.Number] = g
	return ctx.Err()
}

func (m *model) DeleteGeneration(ctx context.Context, number int64) error {
	delete(m.generations, number)
	return ctx.Err()
}

func (m *model) Rows(ctx context.Context, generation int64, keys [][]byte) ([][]byte, error) {
	bodies := make([][]byte, len(keys))
	for i, key := range keys {
		bodies[i] = m.rows[generation][string(key)]
	}
	return bodies, ctx.Err()
}

func (m *model) ScanRows(ctx context.Context, generation int64, ranges []rollup.Range) ([][]rollup.Row, error) {
	var rows []rollup.Row
	for key, body := range m.rows[generation] {
		rows = append(rows, rollup.Row{Key: []byte(key), Body: body})
	}
	answers := make([][]rollup.Row, len(ranges))
	for i, r := range ranges {
		answers[i] = rowsIn(rows, r)
	}
	return answers, ctx.Err()
}

func (m *model) PutRows(ctx context.Context, generation int64, rows []rollup.Row) error {
	if m.rows[generation] == nil {
		m.rows[generation] = map[string][]byte{}
	}
	for _, r := range rows {
		if r.Body == nil {
			delete(m.rows[generation], string(r.Key))
		} else {
			m.rows[generation][string(r.Key)] = bytes.Clone(r.Body)
		}
	}
	return ctx.Err()
}

// DropRows drops the first rows; a store may drop any.
func (m *model) DropRows(ctx context.Context, generation int64, limit int) (int, error) {
	keys := slices.Sorted(maps.Keys(m.rows[generation]))
	keys = keys[:min(limit, len(keys))]
	for _, key := range keys {
		delete(m.rows[generation], key)
	}
	return len(keys), ctx.Err()
}

type step struct {
	call       string
	generation int64
	n          int64
	rows       []rollup.Row
	keys       [][]byte
	ranges     []rollup.Range
}

// DrawKey draws keys that are prefixes of others. DrawEnd draws them or no key.
var (
	DrawKey = rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("\x00\x01aA\u00ff")), 1, 3, -1), func(s string) []byte {
		var key []byte // of those characters as bytes
		for _, r := range s {
			key = append(key, byte(r))
		}
		return key
	})
	DrawEnd = rapid.OneOf(rapid.Just[[]byte](nil), rapid.Just([]byte{}), DrawKey)
)

var (
	drawRange = rapid.Custom(func(t *rapid.T) rollup.Range {
		return rollup.Range{
			Prefix: DrawEnd.Draw(t, "prefix"), After: DrawEnd.Draw(t, "after"),
			Limit: rapid.IntRange(1, 6).Draw(t, "limit"), Last: rapid.Bool().Draw(t, "last"),
		}
	})
	drawRows = rapid.Map(rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) rollup.Row {
		body := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "body")
		if len(body) == 0 {
			body = nil
		}
		return rollup.Row{Key: DrawKey.Draw(t, "key"), Body: body}
	}), 0, 12, func(r rollup.Row) string { return string(r.Key) }), slices.Clone[[]rollup.Row])

	drawStep = rapid.Custom(func(t *rapid.T) step {
		return step{
			call: rapid.SampledFrom([]string{
				"put rows", "put rows", "rows", "scan", "scan", "drop", "put rollup", "put generation", "delete generation",
			}).Draw(t, "call"),
			generation: rapid.Int64Range(1, 3).Draw(t, "generation"), n: rapid.Int64Range(0, 9).Draw(t, "n"),
			rows: drawRows.Draw(t, "rows"), keys: rapid.SliceOfN(DrawKey, 0, 6).Draw(t, "keys"),
			ranges: rapid.SliceOfN(drawRange, 0, 3).Draw(t, "ranges"),
		}
	})
)

func init() { conformance.Share(DrawKey, DrawEnd, drawRange, drawRows, drawStep) }

func (m *model) step(ctx context.Context, s rollup.Store, do step) error {
	var got, want any
	var err error
	switch do.call {
	case "put rows":
		err = errors.Join(m.PutRows(ctx, do.generation, do.rows), s.PutRows(ctx, do.generation, do.rows))
	case "rows":
		want, _ = m.Rows(ctx, do.generation, do.keys)
		got, err = s.Rows(ctx, do.generation, do.keys)
	case "scan":
		want, _ = m.ScanRows(ctx, do.generation, do.ranges)
		got, err = s.ScanRows(ctx, do.generation, do.ranges)
	case "drop":
		// All or nothing, since the store chooses which rows go.
		want, _ = m.DropRows(ctx, do.generation, everything)
		got, err = s.DropRows(ctx, do.generation, everything)
	case "put rollup":
		r := rollup.Rollup{Name: fmt.Sprint("r", do.n), Serving: version(do.generation, plain), Last: do.generation}
		err = errors.Join(m.PutRollup(ctx, r), s.PutRollup(ctx, r))
	case "put generation":
		g := generation(do.n)
		g.Groups = do.generation
		err = errors.Join(m.PutGeneration(ctx, g), s.PutGeneration(ctx, g))
	case "delete generation":
		err = errors.Join(m.DeleteGeneration(ctx, do.n), s.DeleteGeneration(ctx, do.n))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", do.call, err)
	}
	if diff := differ(got, want); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", do.call, diff)
	}
	return nil
}

// agreesWithModel draws transactions, some of which roll back.
func agreesWithModel(t tester, c Cell) {
	committed := newModel()
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 3).Draw(t, "transactions") {
			steps := rapid.SliceOfN(drawStep, 1, 6).Draw(t, "steps")
			rollback, m := rapid.Bool().Draw(t, "rollback"), committed
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, s rollup.Store) error {
				m = committed.clone()
				for i, do := range steps {
					if err := m.step(ctx, s, do); err != nil {
						return fmt.Errorf("call %d: %w", i, err)
					}
				}
				return nil
			})
			if !rollback {
				committed = m
			}
		}
		want, _ := stateOf(context.Background(), committed)
		same(t, "what there is in the end", ask(t, c, stateOf), want)
	})
}
