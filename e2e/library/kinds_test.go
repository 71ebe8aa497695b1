// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// shops are records, many of them joined by names that count as rare until names are counted.
func shops(n int) []records.Input {
	var puts []records.Input
	for i := range n {
		for s := range 2 {
			p := record(fmt.Sprintf("s%d", s), fmt.Sprint(i),
				fmt.Sprintf("Zephyr %s%d", []string{"Quorra", "Zindel", "Maplot"}[i%3], i/6), "", fmt.Sprintf("%d Elm St", 1+i%7))
			p.Attributes["city"] = []string{[]string{"Riverton", "Lakeside"}[i%2]}
			puts = append(puts, p)
		}
	}
	return puts
}

// entitiesOf returns the records of each entity by the key of its anchor, because ids depend on time.
func entitiesOf(t *testing.T, s *locus.DB) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for after := (entity.Place{}); ; {
		page, next, err := s.Entities().Search(t.Context(), entities.Query{After: after, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			var refs []string
			for _, m := range e.Members {
				refs = append(refs, m.String())
			}
			slices.Sort(refs)
			all[e.ID.String()] = refs
		}
		if after = next; next == (entity.Place{}) {
			return all
		}
	}
}

func sets(of map[string][]string) []string {
	var all []string
	for refs := range maps.Values(of) {
		all = append(all, strings.Join(refs, " "))
	}
	slices.Sort(all)
	return all
}

// A term-frequency table is counted from the data, compared, and migrated to. The result is what the comparison
// predicted and what a new installation with that term-frequency table produces; ids stay.
func TestP09_AKindMigratesToTerms(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	puts := shops(60)
	put(t, s, puts...)
	before := entitiesOf(t, s)
	pack, err := s.Kinds().BuildTermFrequencies(t.Context(), "place", nil)
	if err != nil {
		t.Fatal(err)
	}
	if pack.Records != len(puts) || pack.Tokens == 0 {
		t.Errorf("the term-frequency table of %d records: %+v", len(puts), pack)
	}
	p := kinds.Proposal{Kind: "place", Terms: pack.Hash}
	diff, err := s.Kinds().Compare(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again := entitiesOf(t, s); !maps.EqualFunc(before, again, slices.Equal) || s.Kinds().List()[0].Terms == pack.Hash {
		t.Error("a comparison has changed something")
	}
	if diff.Merged+diff.Split == 0 || diff.Records != len(puts) || diff.Before != len(before) {
		t.Errorf("the comparison says %+v: the test does not reach what it is for", diff)
	}
	if err := s.Kinds().Migrate(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	after := entitiesOf(t, s)
	if len(after) != diff.After {
		t.Errorf("%d entities, the comparison said %d", len(after), diff.After)
	}
	for _, e := range append(diff.Merges, diff.Splits...) {
		for _, id := range e.To {
			if after[id.String()] == nil {
				t.Errorf("there is no entity %v, as the comparison said there would be", id)
			}
		}
	}
	if diff, err := s.Kinds().Compare(t.Context(), p, nil); err != nil || diff.Stay != len(after) || diff.Merged+diff.Split+diff.Changed != 0 {
		t.Errorf("compared with what is: %+v, %v", diff, err)
	}
	for id := range before {
		if _, err := s.Entities().Find(t.Context(), id); err != nil {
			t.Errorf("entity %v leads nowhere after the migration: %v", id, err)
		}
	}

	counted := match.CountTerms(match.Place(), func(yield func(match.Attributes) bool) {
		for _, p := range puts {
			if !yield(match.Attributes(p.Attributes)) {
				return
			}
		}
	})
	cells, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 2, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	other, err := locus.OpenCells(t.Context(), cells, &locus.Options{TermFrequencies: counted})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	put(t, other, puts...)
	if got, want := sets(after), sets(entitiesOf(t, other)); !slices.Equal(got, want) {
		t.Errorf("%d entities after the migration, %d in a fresh installation with the pack", len(got), len(want))
	}
}

// A kind created at run time resolves records, and still exists after reopening.
func TestKinds_AreCreatedAtRunTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, 2)
	ship := &match.Schema{Kind: "ship", Version: 1, Attributes: []match.Attribute{
		{Name: "name", Type: match.TypeName, Required: true},
		{Name: "phones", Type: match.TypePhone, Many: true},
	}}
	puts := []records.Input{record("a", "1", "Queen of Zephyria", "415-555-2300", ""),
		record("b", "1", "Queen of Zephyria", "415-555-2300", "")}
	puts[0].Kind, puts[1].Kind = "ship", "ship"
	if results, err := s.Records().Put(t.Context(), puts); err != nil || results[0].Err == nil {
		t.Fatalf("there is a kind that nobody created: %+v, %v", results, err)
	}
	for _, want := range []bool{true, false} {
		if created, err := s.Kinds().Create(t.Context(), ship); err != nil || created != want {
			t.Fatalf("created: %v, %v; want %v", created, err, want)
		}
	}
	if results := put(t, s, puts...); results[0].Entity != results[1].Entity {
		t.Errorf("two records of a ship are %v and %v", results[0].Entity, results[1].Entity)
	}
	other := *ship
	other.Version = 2
	if _, err := s.Kinds().Create(t.Context(), &other); !errors.Is(err, kinds.ErrOtherKind) {
		t.Errorf("created twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, schemas := range [][]*match.Schema{nil, {match.Place(), ship}, {&other}} {
		cells, err := storage.Open(t.Context(), dir, &storage.Options{Cells: 2, Scratch: true})
		if err != nil {
			t.Fatal(err)
		}
		s, err := locus.OpenCells(t.Context(), cells, &locus.Options{Kinds: schemas})
		if differs := len(schemas) == 1; differs != errors.Is(err, kinds.ErrOtherKind) || !differs && err != nil {
			t.Fatal(err)
		} else if differs {
			continue
		}
		if results := put(t, s, puts...); results[0].Outcome != resolve.Unchanged {
			t.Errorf("opened again: %+v", results[0])
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Two processes over PostgreSQL: one switches a kind while the other writes by the old rules. Both end with the new
// rules.
func TestP09_ProcessesSwitchTogether(t *testing.T) {
	t.Parallel()
	where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
	a := openAt(t, where, &storage.Options{Cells: 2})
	defer a.Close()
	puts := shops(40)
	put(t, a, puts[:40]...)
	b := openAt(t, where, &storage.Options{MustExist: true})
	defer b.Close()
	put(t, b, puts[40:60]...)
	pack, err := a.Kinds().BuildTermFrequencies(t.Context(), "place", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := kinds.Proposal{Kind: "place", Terms: pack.Hash}
	done := make(chan error, 1)
	go func() { done <- a.Kinds().Migrate(t.Context(), p, nil) }()
	for _, one := range puts[60:] {
		put(t, b, one)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	put(t, b, puts[:10]...)
	until(t, "nothing is left to do", func() (bool, string) {
		status, err := b.Cells().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return status.Redo == 0 && status.Migrating == "", fmt.Sprintf("%d in the redo set, migrating %q", status.Redo,
			status.Migrating)
	})
	for _, s := range []*locus.DB{a, b} {
		diff, err := s.Kinds().Compare(t.Context(), p, nil)
		if err != nil || diff.Records != len(puts) || diff.Merged+diff.Split+diff.Changed > 0 || diff.Stay != diff.Before {
			t.Errorf("compared with what the term-frequency table makes: %+v, %v", diff, err)
		}
	}
}

// The kinds of an installation are the stored ones, also for a process that is opened with others.
func TestKinds_AreThoseStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own, err := match.ParseSchema([]byte(strings.Replace(string(match.Kinds()[0].YAML()), "kind: place", "kind: parlour", 1)))
	must(t, err)
	first, err := locus.Open(t.Context(), dir,
		&locus.Options{Storage: storage.Options{Cells: 1, Scratch: true}, Kinds: []*match.Schema{own}})
	must(t, err)
	must(t, first.Close())
	for _, given := range [][]*match.Schema{nil, {}} {
		db, err := locus.Open(t.Context(), dir, &locus.Options{Kinds: given})
		must(t, err)
		if db.Kinds().Schema("parlour") == nil || db.Kinds().Schema("").Kind != "parlour" {
			t.Errorf("opened with %d kinds, the default is %s", len(given), db.Kinds().Schema("").Kind)
		}
		must(t, db.Close())
	}
}
