// SPDX-License-Identifier: Apache-2.0

package storagetest_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
	"github.com/locus-db/locus/storage/storagetest"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// store is a transaction with at most one planted backend bug.
type store struct {
	storage.Tx
	bug string
}

func (s store) Post(ctx context.Context, add, remove []derived.Posting) error {
	switch s.bug {
	case "blocking keys of 63 bits":
		add = slices.Clone(add)
		for i := range add {
			add[i].Key &^= 1 << 63
		}
	case "long batches are cut":
		add = add[:min(999, len(add))]
	case "removal ends at what is not there":
		for i, p := range remove {
			got, err := s.Tx.RecordsByKey(ctx, []uint64{p.Key}, []int{1 << 20})
			if err != nil || !slices.Contains(got[0], p.PUID) {
				remove = remove[:i]
				break
			}
		}
	}
	return s.Tx.Post(ctx, add, remove)
}

func (s store) RecordsByKey(ctx context.Context, keys []uint64, limits []int) ([][]entity.PUID, error) {
	switch s.bug {
	case "one limit for all":
		if len(limits) > 0 {
			limits = slices.Repeat(limits[:1], len(limits))
		}
	case "blocking keys in the order of the table":
		keys = slices.Sorted(slices.Values(keys))
	case "a limit takes any":
		got, err := s.Tx.RecordsByKey(ctx, keys, slices.Repeat([]int{1 << 20}, len(keys)))
		for i, g := range got {
			got[i] = g[max(0, len(g)-limits[i]):]
		}
		return got, err
	case "empty questions fail":
		if len(keys) == 0 {
			return nil, errors.New("no rows")
		}
	}
	return s.Tx.RecordsByKey(ctx, keys, limits)
}

func (s store) Edges(ctx context.Context, puids []entity.PUID) ([]derived.Edge, error) {
	edges, err := s.Tx.Edges(ctx, puids)
	if s.bug == "edges in the order asked" {
		edges = nil
		for _, p := range puids {
			of, err := s.Tx.Edges(ctx, []entity.PUID{p})
			if err != nil {
				return nil, err
			}
			edges = append(edges, of...)
		}
	}
	return edges, err
}

func (s store) PossibleMatches(ctx context.Context, after derived.Edge, limit int) ([]derived.Edge, error) {
	switch s.bug {
	case "of one score there is one page":
		after.A, after.B = math.MaxInt64, math.MaxInt64
	case "pairs that are not sure in any order":
		edges, err := s.Tx.PossibleMatches(ctx, after, limit)
		slices.SortFunc(edges, func(a, b derived.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
		return edges, err
	}
	return s.Tx.PossibleMatches(ctx, after, limit)
}

func (s store) PutEdges(ctx context.Context, edges []derived.Edge) error {
	switch s.bug {
	case "an edge is one row":
		edges = slices.Clone(edges)
		for i, e := range edges {
			edges[i].A, edges[i].B = min(e.A, e.B), max(e.A, e.B)
		}
	case "edges are written once":
		edges = slices.DeleteFunc(slices.Clone(edges), func(e derived.Edge) bool {
			there, err := s.Tx.Edges(ctx, []entity.PUID{e.A})
			return err == nil && slices.ContainsFunc(there, func(t derived.Edge) bool { return t.B == e.B })
		})
	}
	return s.Tx.PutEdges(ctx, edges)
}

func (s store) PutRedo(ctx context.Context, entries []derived.Redo) ([]derived.Redo, error) {
	switch s.bug {
	case "lost blocking keys are signed":
		entries = slices.Clone(entries)
		for i, e := range entries {
			entries[i].LostKeys = slices.DeleteFunc(slices.Clone(e.LostKeys), func(f uint64) bool { return f>>63 == 1 })
		}
	case "an entry is replaced":
		all := make([]derived.Redo, len(entries))
		for i, e := range entries {
			all[i] = derived.Redo{PUID: e.PUID, Version: math.MaxInt64, Decided: math.MaxInt64}
		}
		if err := s.Tx.ClearRedo(ctx, all); err != nil {
			return nil, err
		}
	case "the later version counts":
		for i, e := range entries {
			old, err := s.Tx.Redo(ctx, e.PUID-1, 1)
			if err == nil && len(old) == 1 && old[0].PUID == e.PUID {
				entries = slices.Clone(entries)
				entries[i].LostKeys = append(slices.Clone(e.LostKeys), old[0].LostKeys...)
				err = s.Tx.ClearRedo(ctx, old)
			}
			if err != nil {
				return nil, err
			}
		}
	case "what was there is not told":
		_, err := s.Tx.PutRedo(ctx, entries)
		return entries, err
	}
	return s.Tx.PutRedo(ctx, entries)
}

func (s store) Redo(ctx context.Context, after entity.PUID, limit int) ([]derived.Redo, error) {
	if s.bug == "redo begins at the entry named" {
		after--
	}
	return s.Tx.Redo(ctx, after, limit)
}

func (s store) ClearRedo(ctx context.Context, entries []derived.Redo) error {
	switch s.bug {
	case "only the first is cleared":
		entries = entries[:min(1, len(entries))]
	case "any version is cleared":
		entries = slices.Clone(entries)
		for i := range entries {
			entries[i].Version = math.MaxInt64
		}
	case "a later decision is cleared":
		entries = slices.Clone(entries)
		for i := range entries {
			entries[i].Decided = math.MaxInt64
		}
	}
	return s.Tx.ClearRedo(ctx, entries)
}

func (s store) RedoDepth(ctx context.Context) (int, error) {
	depth, err := s.Tx.RedoDepth(ctx)
	if s.bug == "depth is a guess" && depth > 2 {
		depth = 2
	}
	return depth, err
}

func (s store) Append(ctx context.Context, changes []changelog.Change) error {
	if s.bug == "the log is written elsewhere" {
		return nil
	}
	return s.Tx.Append(ctx, changes)
}

func (s store) PutRows(ctx context.Context, generation int64, rows []rollup.Row) error {
	if s.bug == "rows of rollups are written elsewhere" {
		return nil
	}
	return s.Tx.PutRows(ctx, generation, rows)
}

func (s store) Definition(ctx context.Context, name string) ([]byte, error) {
	if s.bug == "definitions in any case" {
		name = strings.ToLower(name)
	}
	return s.Tx.Definition(ctx, name)
}

func (s store) PutDefinition(ctx context.Context, name string, body []byte) error {
	switch s.bug {
	case "definitions in any case":
		name = strings.ToLower(name)
	case "definitions are texts":
		body = []byte(strings.ToValidUTF8(string(body), "?"))
	case "definitions stay":
		if there, err := s.Tx.Definition(ctx, name); err != nil || there != nil {
			return err
		}
	}
	return s.Tx.PutDefinition(ctx, name, body)
}

func (s store) Skip(ctx context.Context, n uint64) error {
	if s.bug == "skipping is for puids" {
		return nil
	}
	return s.Tx.Skip(ctx, n)
}

// faulty is a cell with at most one planted bug.
type faulty struct {
	storage.Cell
	bug string
}

func (f faulty) Update(ctx context.Context, fn func(storage.Tx) error) error {
	var own error
	run := func(tx storage.Tx) error {
		own = fn(store{tx, f.bug})
		if f.bug == "rollback keeps rows" {
			return nil
		}
		return own
	}
	switch f.bug {
	case "the context is not asked":
		ctx = context.Background()
	case "a panic commits":
		run = func(tx storage.Tx) (err error) {
			defer func() { _ = recover() }()
			return fn(tx)
		}
	}
	err := f.Cell.Update(ctx, run)
	if f.bug == "error is swallowed" {
		return nil
	}
	return errors.Join(err, own)
}

func (f faulty) View(ctx context.Context, fn func(storage.Tx) error) error {
	run := func(tx storage.Tx) error { return fn(store{tx, f.bug}) }
	switch f.bug {
	case "views may write":
		return f.Cell.Update(ctx, run)
	case "a snapshot per statement":
		return f.Cell.View(ctx, func(tx storage.Tx) error { return fn(loose{tx, f.Cell}) })
	}
	return f.Cell.View(ctx, run)
}

// loose is a transaction some of whose calls run in their own transactions.
type loose struct {
	storage.Tx
	cell storage.Cell
}

func (l loose) RedoDepth(ctx context.Context) (depth int, err error) {
	err = l.cell.View(ctx, func(tx storage.Tx) (err error) { depth, err = tx.RedoDepth(ctx); return err })
	return depth, err
}

func open(t *testing.T, bug string) storagetest.Cell {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cell.db")
	id := cell.Identity{Map: "m", Cell: cell.ID{}, Lo: -1 << 63, Hi: -1<<63 + 1<<32 - 1, Rules: "r"}
	c, err := sqlite.Open(t.Context(), path, id, &sqlite.Options{Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return storagetest.Cell{Cell: faulty{c, bug}, Reopen: func() error { return nil }}
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	storagetest.Run(t, storagetest.Backend{Open: func(t *testing.T) storagetest.Cell { t.Helper(); return open(t, "") }}, storagetest.Transaction)
}

// TestRun_FindsEveryBug plants one bug at a time; each must be found by the case that covers it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	storagetest.Cases.FindsEveryBug(t, open, conformance.Bugs{
		ByCase: map[string]string{
			"blocking keys of 63 bits":                "WholeRangeOfNumbers",
			"long batches are cut":                    "ThousandItems",
			"removal ends at what is not there":       "PostingTwiceIsOnce",
			"one limit for all":                       "CarriersInTheOrderAsked",
			"blocking keys in the order of the table": "CarriersInTheOrderAsked",
			"a limit takes any":                       "CarriersInOrderUpToLimits",
			"empty questions fail":                    "EmptyArguments",
			"edges in the order asked":                "EdgesInOrder",
			"an edge is one row":                      "EdgesStandUnderA",
			"edges are written once":                  "EdgesReplaceAndDelete",
			"of one score there is one page":          "UnsureBestFirst",
			"pairs that are not sure in any order":    "UnsureBestFirst",
			"a later decision is cleared":             "RedoKeepsWhatIsThere",
			"lost blocking keys are signed":           "RedoIsASet",
			"an entry is replaced":                    "RedoKeepsWhatIsThere",
			"the later version counts":                "RedoKeepsWhatIsThere",
			"what was there is not told":              "RedoKeepsWhatIsThere",
			"any version is cleared":                  "RedoKeepsWhatIsThere",
			"redo begins at the entry named":          "RedoIsASet",
			"only the first is cleared":               "RedoIsASet",
			"depth is a guess":                        "RedoIsASet",
			"definitions in any case":                 "DefinitionsByName",
			"definitions are texts":                   "DefinitionsByName",
			"definitions stay":                        "DefinitionsByName",
			"the log is written elsewhere":            "StoresCommitTogether",
			"rows of rollups are written elsewhere":   "StoresCommitTogether",
			"skipping is for puids":                   "SkipsTheLogToo",
			"rollback keeps rows":                     "RollbackLeavesNothing",
			"error is swallowed":                      "ErrorsComeBack",
			"the context is not asked":                "CancelledContext",
			"a panic commits":                         "PanicRollsBack",
			"views may write":                         "ViewCannotWrite",
			"a snapshot per statement":                "ViewIsOneSnapshot",
		},
		ByModel: []string{
			"blocking keys of 63 bits", "one limit for all", "blocking keys in the order of the table", "a limit takes any",
			"edges in the order asked", "an edge is one row", "edges are written once", "lost blocking keys are signed",
			"an entry is replaced", "the later version counts", "what was there is not told", "any version is cleared", "redo begins at the entry named",
			"only the first is cleared", "rollback keeps rows", "error is swallowed",
		},
		Tries: 3,
	})
}
