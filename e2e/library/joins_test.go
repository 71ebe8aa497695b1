// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"fmt"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// joinsOf returns the latest matches as text.
func joinsOf(t testing.TB, s *locus.DB) (joins []string) {
	t.Helper()
	for _, j := range s.Changes().Matches(t.Context()) {
		joins = append(joins, fmt.Sprint(j.Record, " ", j.Name))
		e, err := s.Entities().Find(t.Context(), j.Entity.String())
		must(t, err)
		if e.ID != j.Entity || len(e.Members) < 2 {
			t.Errorf("%v joined %v of %d records", j.Record, j.Entity, len(e.Members))
		}
	}
	return joins
}

// Joins lists joined records, whichever process wrote them, and no deleted ones.
func TestJoins_OfEveryProcess(t *testing.T) {
	t.Parallel()
	where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
	reader := openAt(t, where, &storage.Options{Cells: 2})
	defer reader.Close()
	writer := openAt(t, where, &storage.Options{MustExist: true})
	defer writer.Close()
	shop := func(source, key string) records.Input {
		return record(source, key, "Velvet Quill Books", "415-555-2300", "12 Oak Ave")
	}
	want := func(all ...string) {
		t.Helper()
		for _, s := range []*locus.DB{reader, writer} {
			if got := joinsOf(t, s); fmt.Sprint(got) != fmt.Sprint(all) {
				t.Errorf("joins %q, want %q", got, all)
			}
		}
	}
	want()
	put(t, writer, shop("a", "1"))
	want() // it created the entity
	put(t, writer, shop("b", "2"))
	want("b:2 Velvet Quill Books")
	put(t, reader, shop("c", "3"))
	want("c:3 Velvet Quill Books", "b:2 Velvet Quill Books")
	put(t, writer, shop("b", "2")) // again, unchanged
	remove(t, writer, shop("b", "2").Ref)
	want("c:3 Velvet Quill Books")
}

// The latest joins are found behind many other changes, and the list is bounded.
func TestJoins_AreBounded(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := fresh(t)
	var many []records.Input
	for i := range 30 {
		many = append(many, record("s", fmt.Sprint(i), "Velvet Quill Books", "415-555-2300", "12 Oak Ave"))
	}
	put(t, s, many...) // one batch: one record founds the entity, the others join
	if got := len(joinsOf(t, s)); got != 20 {
		t.Errorf("%d joins are listed, want 20", got)
	}
	for i := range 100 {
		put(t, s, record("t", fmt.Sprint(i), fmt.Sprintf("Shop %c%c", 'a'+i/26, 'a'+i%26),
			fmt.Sprintf("415-666-%04d", i), ""))
	}
	put(t, s, record("u", "last", "Velvet Quill Books", "415-555-2300", "12 Oak Ave"))
	got := joinsOf(t, s)
	if len(got) != 20 || got[0] != "u:last Velvet Quill Books" {
		t.Errorf("joins %q", got)
	}
}
