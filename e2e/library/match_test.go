// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// A match predicts what the put then does, over files and over a server, there also through a read-only process.
// Records are added and deleted in between.
func TestMatch_SaysWhatPutDoes(t *testing.T) {
	t.Parallel()
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		s := fresh(t)
		matchThenPut(t, s, s)
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
		s := openAt(t, where, &storage.Options{Cells: 2})
		defer s.Close()
		cells, err := storage.Open(t.Context(), where, &storage.Options{MustExist: true, Scratch: true})
		must(t, err)
		reader, err := locus.OpenCells(t.Context(), cells, &locus.Options{ReadOnly: true})
		must(t, err)
		defer reader.Close()
		matchThenPut(t, s, reader)
	})
}

func matchThenPut(t *testing.T, s, reader *locus.DB) {
	t.Helper()
	r := rand.New(rand.NewPCG(2, 3))
	draw := func(source string, key int) records.Input {
		name := []string{"Zephyr Trampolines", "Quill Dental", "Golden Optics", "Zephyr Optics", "Harbor Noodles",
			"Quill Bakery"}[r.IntN(6)]
		return record(source, fmt.Sprint(key), name, fmt.Sprintf("415-555-23%02d", r.IntN(30)),
			fmt.Sprintf("%d Oak Ave", 1+r.IntN(20)))
	}
	var first []records.Input
	for i := range 25 {
		first = append(first, draw("first", i))
	}
	put(t, s, first...)
	seen := map[string]int{}
	for i := range 60 {
		in := draw([]string{"first", "second"}[i%2], r.IntN(25))
		found, err := reader.Entities().Match(t.Context(), []entities.Probe{{Ref: in.Ref, Attributes: in.Attributes}},
			&entities.MatchOptions{Put: true})
		if err != nil || found[0].Err != nil || found[0].Put == nil {
			t.Fatalf("%v, %+v", err, found)
		}
		got := found[0].Put
		before, err := s.Records().Get(t.Context(), in.Ref)
		stored := err == nil
		res := put(t, s, in)[0]
		want := string(res.Outcome)
		if got.Outcome != want || !got.Entity.IsZero() && got.Entity != res.Entity || got.Entity.IsZero() &&
			(want != "created" || stored && before.Entity == res.Entity) {
			t.Fatalf("%d, %v: match says %+v, put %+v", i, in, got, res)
		}
		for _, id := range got.Merges {
			if e := find(t, s, id); e.ID != res.Entity || !e.Redirected() {
				t.Errorf("%d: %v should redirect to %v, and leads to %v", i, id, res.Entity, e.ID)
			}
		}
		if best := func(c entities.Candidate) locality.ID { return find(t, s, c.Entity.ID).ID }; want == "matched" && len(got.Merges)+len(got.Splits) == 0 &&
			!slices.ContainsFunc(found[0].Candidates, func(c entities.Candidate) bool { return c.Level == entities.LevelSame && best(c) == res.Entity }) {
			t.Errorf("%d: %v is in %v, which is not among the candidates %+v", i, in.Ref, res.Entity, found[0].Candidates)
		}
		seen[got.Outcome]++
		seen["merges"] += len(got.Merges)
		if i%4 == 0 {
			_, err := s.Records().Delete(t.Context(), []entity.Ref{in.Ref})
			must(t, err)
		}
	}
	if seen["created"] == 0 || seen["matched"] == 0 || seen["updated"] == 0 || seen["merges"] == 0 {
		t.Errorf("not all outcomes were seen: %v", seen)
	}
}
