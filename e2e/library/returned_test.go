// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// Records come, join, go, are erased and return in any order. A record always has the birth id it first had, and that
// id resolves to its entity. An erased record gets another id.
func TestP09_AReturningRecordHasItsIdAgain(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, where := range map[string]func(*testing.T) string{
		"files":  func(t *testing.T) string { return t.TempDir() },
		"server": func(t *testing.T) string { return pgtest.Shared(t).URL(pgtest.Shared(t).Database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, where(t), 2)
			defer s.Close()
			runs, failed, most := 0, false, longtest.Sample(0, 20, 100, 100)
			rapid.Check(t, func(t *rapid.T) {
				if runs++; runs > most && !failed { // a failed run is repeated to find a shorter one
					return
				}
				passed := false
				defer func() { failed = failed || !passed }()
				returnIn(t, s, fmt.Sprintf("run%d-", runs), fmt.Sprintf("415-55%d-%04d", runs/10_000, runs%10_000))
				passed = true
			})
		})
	}
}

func returnIn(t *rapid.T, s *locus.DB, prefix, phone string) {
	ctx := context.Background()
	ref := func(n int) entity.Ref { return entity.Ref{Source: "a", Key: fmt.Sprint(prefix, n)} }
	defer func() { _, _ = s.Records().Delete(ctx, []entity.Ref{ref(0), ref(1), ref(2)}) }() // no later run meets them
	// of the keys that were not erased
	born := map[int]locality.ID{}
	former := map[locality.ID]bool{}
	live := map[int]bool{}
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		n := rapid.IntRange(0, 2).Draw(t, "key")
		switch step := rapid.SampledFrom([]string{"put", "put", "delete", "erase"}).Draw(t, "step"); step {
		case "put":
			name := rapid.SampledFrom([]string{"Zephyr Trampolines", "Quill Dental"}).Draw(t, "name")
			results, err := s.Records().Put(ctx,
				[]records.Input{{Ref: ref(n), Attributes: entity.Attributes{"name": {prefix + name}, "phones": {phone}}}})
			if err != nil || results[0].Err != nil {
				t.Fatal(err, results)
			}
			live[n] = true
		default:
			forget := map[string]func(context.Context, []entity.Ref) ([]records.DeleteResult, error){"delete": s.Records().Delete, "erase": s.Records().Erase}[step]
			if _, err := forget(ctx, []entity.Ref{ref(n)}); err != nil {
				t.Fatal(err)
			}
			if live[n] = false; step == "erase" && !born[n].IsZero() {
				former[born[n]] = true
				delete(born, n)
			}
		}
		some := false
		for k := range 3 {
			if some = some || live[k]; !live[k] {
				continue
			}
			rec, err := s.Records().Get(ctx, ref(k))
			if err != nil {
				t.Fatal(err)
			}
			if born[k].IsZero() && !former[rec.Birth] {
				born[k] = rec.Birth
			}
			if rec.Birth != born[k] {
				t.Fatalf("record %d has birth id %v, was born as %v", k, rec.Birth, born[k])
			}
			if e, err := s.Entities().Get(ctx, rec.Birth); err != nil || e.ID != rec.Entity {
				t.Fatalf("%v of record %d leads to %+v, %v, want %v", rec.Birth, k, e, err, rec.Entity)
			}
		}
		for k, id := range born {
			if _, err := s.Entities().Get(ctx, id); !some && !errors.Is(err, entity.ErrErased) {
				t.Fatalf("nothing is there, and %v of record %d is answered with %v", id, k, err)
			}
		}
	}
}

// An erased id stays erased, whether or not the record was deleted before. The former id does not resolve when the key
// returns.
func TestP14_AnErasedIdDoesNotComeBack(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, first := range []bool{false, true} {
		ref := entity.Ref{Source: "a", Key: fmt.Sprint(first)}
		r := records.Input{Ref: ref, Attributes: entity.Attributes{"name": {"Zephyr Trampolines " + ref.Key}}}
		was := put(t, s, r)[0]
		if first {
			remove(t, s, ref)
		}
		if _, err := s.Records().Erase(t.Context(), []entity.Ref{ref}); err != nil {
			t.Fatal(err)
		}
		is := put(t, s, r)[0]
		if is.PUID != was.PUID || is.Entity == was.Entity || is.Version <= was.Version {
			t.Errorf("came back as %+v, was %+v", is, was)
		}
		if _, err := s.Entities().Get(t.Context(), was.Entity); !errors.Is(err, entity.ErrErased) {
			t.Errorf("%v: %v, want erased", was.Entity, err)
		}
	}
}

// Two processes concurrently delete two records of one entity, and each names the other record as successor: both ids
// are erased, and resolving one terminates.
func TestP09_IdsThatLeadToEachOtherAreErased(t *testing.T) {
	t.Parallel()
	cells, s := openBoth(t, t.TempDir(), 2)
	defer s.Close()
	var ids []locality.ID
	for _, name := range []string{"Zephyr Trampolines", "Quill Dental"} {
		r := record("a", name, name, "", "")
		ids = append(ids, put(t, s, r)[0].Entity)
		remove(t, s, r.Ref)
	}
	for i, id := range ids {
		home, err := s.Cells().Map().Entity(id)
		if err != nil {
			t.Fatal(err)
		}
		c, err := cells.Cell(home)
		if err == nil {
			err = c.Update(t.Context(), func(tx storage.Tx) error {
				return tx.PutBirths(t.Context(), []entity.Birth{{ID: id, Successor: ids[1-i]}})
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Entities().Get(t.Context(), ids[0]); !errors.Is(err, entity.ErrErased) {
		t.Errorf("%v: %v, want erased", ids[0], err)
	}
}
