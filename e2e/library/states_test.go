// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// mirrored brings a target up to date.
func mirrored(t *testing.T, s *locus.DB, target mirror.Target) {
	t.Helper()
	if err := mirror.New(s.Changes().Source(), target, &mirror.Options{Once: true, Poll: time.Millisecond}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantMirror fails unless every document is correct and its id resolves as in the installation.
func wantMirror(t *testing.T, s *locus.DB, target mirror.Target) {
	t.Helper()
	v, err := mirror.Verify(t.Context(), s.Changes().Source(), target, &mirror.VerifyOptions{Patience: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if v.Differ() > 0 || v.Settling > 0 {
		t.Fatalf("%+v", v)
	}
	docs, err := target.Scan(t.Context(), locality.ID{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(docs)) != v.Compared {
		t.Fatalf("%d documents, and %d ids were compared", len(docs), v.Compared)
	}
	of := map[locality.ID]mirror.Document{}
	for _, d := range docs {
		of[d.ID] = d
	}
	for _, d := range docs {
		at := d
		for hops := 0; at.Kind == mirror.Redirect && hops < len(docs); hops++ {
			at = of[at.To]
		}
		e, err := s.Entities().Get(t.Context(), d.ID)
		switch {
		case at.Kind == mirror.Deleted && errors.Is(err, entity.ErrErased):
		case err != nil || at.Kind != mirror.Entity:
			t.Fatalf("%v leads to %q by the mirror, and by the installation: %v", d.ID, at.Kind, err)
		case at.ID != e.ID || at.Thing.Stamp != e.Stamp || len(at.Thing.Members) != len(e.Members):
			t.Fatalf("%v leads to %v by the mirror, and to %v by the installation", d.ID, at.ID, e.ID)
		}
	}
}

// A mirror of a real installation is correct whenever it has reached the end of the logs: after merges, splits,
// erasures and decisions, followed and rebuilt.
func TestP15_MirrorOfAnInstallation(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := fresh(t)
	r := rand.New(rand.NewPCG(15, 1))
	followed := mirrortest.NewModel()
	key := func() string { return fmt.Sprint(r.IntN(30)) }
	put(t, s, place("alone", "Xanthippe Diner", "diner", "Oakland"))
	for round := range 30 {
		if round == 20 {
			remove(t, s, entity.Ref{Source: "crawl", Key: "alone"})
		}
		for range 1 + r.IntN(5) {
			switch k := key(); r.IntN(6) {
			case 0:
				ref := entity.Ref{Source: "crawl", Key: k}
				if _, err := s.Records().Erase(t.Context(), []entity.Ref{ref}); err != nil && !errors.Is(err, entity.ErrNotFound) {
					t.Fatal(err)
				}
			default:
				// Few names, so that records join and split.
				n := r.IntN(7)
				put(t, s, record("crawl", k, fmt.Sprintf("Zephyr%d Quill", n), fmt.Sprintf("415-555-230%d", n),
					fmt.Sprintf("%d Main St", 100*n)))
			}
		}
		if round%3 == 0 {
			mirrored(t, s, followed)
			wantMirror(t, s, followed)
		}
	}
	mirrored(t, s, followed)
	wantMirror(t, s, followed)
	filled := mirrortest.NewModel()
	mirrored(t, s, filled)
	wantMirror(t, s, filled)
	docs, err := filled.Scan(t.Context(), locality.ID{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[mirror.Kind]int{}
	for _, d := range docs {
		kinds[d.Kind]++
	}
	if kinds[mirror.Entity] == 0 || kinds[mirror.Redirect] == 0 || kinds[mirror.Deleted] == 0 || len(kinds) != 3 {
		t.Errorf("documents: %v", kinds)
	}
}

// An erased thing is in no document, and its id is still answered.
func TestP14_MirrorForgets(t *testing.T) {
	t.Parallel()
	s, target := fresh(t), mirrortest.NewModel()
	put(t, s, place("1", "Xanthippe Diner", "diner", "Springfield"))
	put(t, s, place("2", "Golden Bakery", "bakery", "Oakland"))
	mirrored(t, s, target)
	said := func() string {
		t.Helper()
		docs, err := target.Scan(t.Context(), locality.ID{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(docs)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := said(); !strings.Contains(text, "Xanthippe") {
		t.Fatal(text)
	}
	if _, err := s.Records().Erase(t.Context(), []entity.Ref{{Source: "crawl", Key: "1"}}); err != nil {
		t.Fatal(err)
	}
	mirrored(t, s, target)
	if text := said(); strings.Contains(text, "Xanthippe") || !strings.Contains(text, `"deleted"`) || !strings.Contains(text, "Golden") {
		t.Error(text)
	}
	wantMirror(t, s, target)
}

func TestStates(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, place("1", "Golden Bakery", "bakery", "Oakland"))
	e, err := s.Entities().Find(t.Context(), "crawl:1")
	if err != nil {
		t.Fatal(err)
	}
	never := locality.New()
	states, err := s.Changes().States(t.Context(), []locality.ID{e.ID, never, e.ID},
		[]entity.PUID{e.Anchor(), e.Anchor() + 1})
	if err != nil || len(states) != 2 {
		t.Fatalf("%+v, %v", states, err)
	}
	for _, st := range states {
		switch st.ID {
		case e.ID:
			if st.Kind != mirror.Entity || st.Settling || st.At < 1 || st.Thing.Stamp != e.Stamp || st.Thing.Kind != "place" {
				t.Errorf("%+v", st)
			}
			if a := st.Thing.Attributes; len(a) == 0 || a[0].Name != "name" || a[0].Value == nil || *a[0].Value != "Golden Bakery" {
				t.Errorf("%+v", a)
			}
		case never:
			if st.Kind != mirror.Unknown {
				t.Errorf("%+v", st)
			}
		}
	}
	if _, err := s.Changes().States(t.Context(), make([]locality.ID, mirror.MostStates+1), nil); err == nil {
		t.Error("too many are answered")
	}
	for _, limit := range []int{0, mirror.MostStates + 1} {
		if _, _, err := s.Changes().ListStates(t.Context(), states[0].Cell, locality.ID{}, limit); err == nil {
			t.Errorf("limit %d is taken", limit)
		}
	}
}
