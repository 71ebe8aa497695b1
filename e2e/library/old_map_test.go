// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/storage"
)

// A process is suspended while cells are added, and another answers from the new cells. When it continues with its old
// map, its answers include everything that the answers of the other did.
func TestP04_ReadersGoToAProcessWithAnOldMap(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
	a := openAt(t, where, &storage.Options{Cells: 2, Notice: time.Second})
	defer a.Close()
	define(t, a, rollup.Definition{Name: "persons", Kind: "person", Over: rollup.Records, Group: []string{"name"}})
	put := func(from, to int) {
		var all []records.Input
		for n := from; n < to; n++ {
			all = append(all, person(n))
		}
		_, err := a.Records().Put(t.Context(), all)
		must(t, err)
	}
	put(0, 30)
	latest(t, a, "persons")

	questions := map[string]func(t *testing.T, s *locus.DB) int{
		"rollup": func(t *testing.T, s *locus.DB) int {
			answer, err := s.Rollups().Query(t.Context(), "persons", rollups.Query{})
			must(t, err)
			return len(answer.Watermark)
		},
		"latest of a rollup": func(t *testing.T, s *locus.DB) int {
			return len(latest(t, s, "persons").Groups)
		},
		"state of a rollup": func(t *testing.T, s *locus.DB) int {
			state, err := s.Rollups().Get(t.Context(), "persons")
			must(t, err)
			return len(state.Cells) // the watermark leaves out a cell that does not answer in time
		},
		"end of the logs": func(t *testing.T, s *locus.DB) int {
			tail, err := s.Changes().Tail(t.Context(), nil)
			must(t, err)
			return len(tail)
		},
		"changes": func(t *testing.T, s *locus.DB) int {
			all, _, err := s.Changes().Read(t.Context(), changes.Query{Limit: 1000})
			must(t, err)
			return len(all)
		},
		"page of records": func(t *testing.T, s *locus.DB) int {
			page, _, err := s.Records().List(t.Context(), records.Query{Limit: 1000})
			must(t, err)
			return len(page)
		},
		"all records": func(t *testing.T, s *locus.DB) (n int) {
			for _, err := range s.Records().All(t.Context(), nil) {
				must(t, err)
				n++
			}
			return n
		},
		"all entities": func(t *testing.T, s *locus.DB) (n int) {
			for _, err := range s.Entities().All(t.Context(), nil) {
				must(t, err)
				n++
			}
			return n
		},
		"sources": func(t *testing.T, s *locus.DB) (n int) {
			all, err := s.Records().Sources(t.Context())
			must(t, err)
			for _, of := range all {
				n += int(of.Records)
			}
			return n
		},
		"search": func(t *testing.T, s *locus.DB) int {
			found, _, err := s.Entities().Search(t.Context(), entities.Query{Text: "anna", Limit: 1000})
			must(t, err)
			return len(found)
		},
		"decisions": func(t *testing.T, s *locus.DB) int {
			page, err := s.Decisions().List(t.Context(), decisions.Query{Limit: 1000})
			must(t, err)
			return len(page.Decisions)
		},
	}
	stopped := time.Now()
	suspended := map[string]*locus.DB{}
	for name := range questions {
		cells, err := storage.Open(t.Context(), where, &storage.Options{MustExist: true})
		must(t, err)
		s, err := locus.OpenCells(t.Context(), cells, &locus.Options{ReadOnly: true, Now: func() time.Time { return stopped }})
		must(t, err)
		defer s.Close()
		suspended[name] = s
	}
	must(t, a.Cells().Grow(t.Context(), cell.Growth{Cells: 6}, nil))
	put(30, 90)
	var kept []decisions.Input
	for n := 30; n < 90; n += 3 {
		kept = append(kept, decisions.Input{Verdict: "anchor", A: person(n).Ref.String()})
	}
	decided, err := a.Decisions().Decide(t.Context(), kept)
	must(t, err)
	for _, d := range decided {
		must(t, d.Err)
	}
	want := map[string]int{}
	latest(t, a, "persons")
	for name, ask := range questions {
		want[name] = ask(t, a)
	}
	for name, ask := range questions {
		if got := ask(t, suspended[name]); got != want[name] {
			t.Errorf("%s: a process with an old map says %d, another had said %d", name, got, want[name])
		}
	}
}
