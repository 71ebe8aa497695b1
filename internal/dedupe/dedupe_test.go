// SPDX-License-Identifier: Apache-2.0

package dedupe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// messy writes generated records of places as a file of JSON lines.
func messy(t testing.TB, n int64) (name string, inputs []records.Input) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "in.jsonl")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := json.NewEncoder(file)
	for r := range demo.New(7, n).All() {
		inputs = append(inputs, records.Input{Ref: entity.Ref{Source: "in", Key: fmt.Sprint("row ", len(inputs)+1)}, Attributes: r.Attributes})
		if err := lines.Encode(r.Attributes); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name, inputs
}

// opened opens a session.
func opened(t testing.TB) *dedupe.Session {
	t.Helper()
	s, err := dedupe.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// read reads a file of places with fn.
func read(t testing.TB, name string, fn func(*dedupe.Input) error) {
	t.Helper()
	plan, err := bulk.Recognise(name, nil, match.Kinds(), &bulk.Options{Source: "in", Kind: "place", Unstored: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := plan.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := fn(&dedupe.Input{Reader: r, Source: "in", Kind: "place"}); err != nil {
		t.Fatal(err)
	}
}

// nothingRefused fails for a row that is no record.
func nothingRefused(r dedupe.Refusal) error { return r }

// clusters dedupes a file.
func clusters(t testing.TB, name string) (list []dedupe.Cluster) {
	t.Helper()
	s := opened(t)
	read(t, name, func(in *dedupe.Input) error { return s.Add(t.Context(), in, nothingRefused) })
	c, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Len() {
		list = append(list, c.Row(i))
	}
	return list
}

// The clusters are the entities that an installation makes of the same records, put in other batches into more cells.
func TestFinish_ClustersAreEntities(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	name, inputs := messy(t, 1500)
	list := clusters(t, name)
	db, err := locus.Open(context.WithoutCancel(t.Context()), blank.Dir(t, 2), &locus.Options{Storage: storage.Options{Scratch: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := 0; i < len(inputs); i += 100 {
		if _, err := db.Records().Put(t.Context(), inputs[i:i+100]); err != nil {
			t.Fatal(err)
		}
	}
	of := map[string]string{}
	for rec, err := range db.Records().All(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		of[rec.Key] = rec.Entity.String()
	}
	numbers, sizes := map[string]int{}, map[int]int{}
	for i := range list {
		id := of[fmt.Sprint("row ", i+1)]
		if numbers[id] == 0 {
			numbers[id] = len(numbers) + 1
		}
		if list[i].ID != numbers[id] {
			t.Fatalf("row %d is in cluster %d, its entity's number is %d", i+1, list[i].ID, numbers[id])
		}
		sizes[list[i].ID]++
	}
	several := 0
	for i, c := range list {
		if c.Size != sizes[c.ID] || c.Weighed != (c.Size > 1) || c.Weighed && c.Weight < match.Threshold {
			t.Errorf("row %d: %+v, of %d rows", i+1, c, sizes[c.ID])
		}
		if c.Size > 1 {
			several++
		}
	}
	if several < 500 {
		t.Errorf("%d rows are in clusters of several", several)
	}
	if diff := cmp.Diff(list, clusters(t, name)); diff != "" {
		t.Errorf("the second time -first +second:\n%s", diff)
	}
}

// A second file has more rows than one call matches.
func TestPairs_ManyRows(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const first, second = 50, entities.MaxProbes + 50
	name, _ := messy(t, second)
	lines, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	last := filepath.Join(t.TempDir(), "last.jsonl")
	all := bytes.SplitAfter(lines, []byte("\n"))
	if err := os.WriteFile(last, bytes.Join(all[second-first:], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t)
	read(t, last, func(in *dedupe.Input) error { return s.Add(t.Context(), in, nothingRefused) })
	var pairs []dedupe.Pair
	rows := 0
	read(t, name, func(in *dedupe.Input) (err error) {
		pairs, rows, err = s.Pairs(t.Context(), in, nothingRefused)
		return err
	})
	if rows != second {
		t.Errorf("%d rows", rows)
	}
	for i := range first {
		itself := func(p dedupe.Pair) bool { return p.A == i && p.B == second-first+i }
		if !slices.ContainsFunc(pairs, itself) {
			t.Errorf("row %d of the first file is not in a pair with itself", i)
		}
	}
}

func BenchmarkDedupe(b *testing.B) {
	name, _ := messy(b, 20_000)
	for b.Loop() {
		clusters(b, name)
	}
}

// Long steps show progress: each row is counted as it is read, and the steps of resolving end with all rows.
func TestOpen_Progress(t *testing.T) {
	t.Parallel()
	steps := map[resolve.LoadStep]int{}
	s, err := dedupe.Open(t.Context(), &dedupe.Options{Resolving: func(p resolve.LoadProgress) { steps[p.Step] = p.Done }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	name, inputs := messy(t, 40)
	counted := int64(0)
	read(t, name, func(in *dedupe.Input) error {
		in.Count = func(row int64) {
			if row == counted+1 {
				counted = row
			}
		}
		return s.Add(t.Context(), in, nothingRefused)
	})
	if _, err := s.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := int64(len(inputs)); counted != n || steps[resolve.LoadWrite] != len(inputs) {
		t.Errorf("%d of %d rows counted; steps %v", counted, n, steps)
	}
}
