// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
)

func refs(list []entity.Ref) string {
	var names []string
	for _, r := range list {
		names = append(names, r.String())
	}
	return strings.Join(names, " ")
}

func TestService_How(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	a := put(t, s, left, right, bridge)[0]
	h, err := s.Explain().How(t.Context(), a.Entity)
	if err != nil {
		t.Fatal(err)
	}
	if h.Entity.ID != a.Entity || h.Component != 3 || h.Cut != match.Threshold || len(h.Steps) != 2 {
		t.Fatalf("%+v", h)
	}
	for i, st := range h.Steps {
		if !st.Joined || st.Decided != nil || st.Against != "" || len(st.Pair.Explanation.Lines) == 0 {
			t.Errorf("step %d: %+v", i, st)
		}
	}
	last := h.Steps[1]
	if n := len(last.A) + len(last.B); n != 3 {
		t.Errorf("the last step joins %d records", n)
	}
	kinds := map[string]int{}
	for _, e := range h.Events {
		kinds[string(e.Kind)]++
	}
	if kinds["put"] != 3 || !h.Since.IsZero() {
		t.Errorf("events %v since %v", kinds, h.Since)
	}
	// A query by an id that was merged away returns the survivor.
	var former entity.Member
	for _, m := range h.Entity.Members[1:] {
		former = m
	}
	rec, err := s.Records().Get(t.Context(), former.Ref)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Explain().How(t.Context(), rec.Birth)
	if err != nil || again.Entity.ID != a.Entity || again.Requested != rec.Birth {
		t.Fatalf("%+v, %v", again, err)
	}
	if again, err := s.Explain().How(t.Context(), put(t, s, record("x", "1", "Lone Gull Ferries", "", ""))[0].Entity); err != nil || len(again.Steps) != 0 || again.Component != 1 {
		t.Fatalf("one record alone: %+v, %v", again, err)
	}
}

func TestService_HistoryIsThatOfAllItsRecords(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	a, b := put(t, s, left)[0], put(t, s, right)[0]
	put(t, s, bridge)
	remove(t, s, bridge.Ref)
	for _, id := range []entity.PUID{a.PUID, b.PUID} {
		want := map[entity.PUID][]string{a.PUID: {"put", "created", "merged", "split"},
			b.PUID: {"put", "created", "retired", "split"}}[id]
		e, err := s.Entities().Find(t.Context(), id.String())
		if err != nil {
			t.Fatal(err)
		}
		h, err := s.Explain().History(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ev := range h.Events {
			got = append(got, string(ev.Kind))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("history of %v:\n%s", e.Members, d)
		}
	}
}

func TestService_WhatIfARecordWereDeleted(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	results := put(t, s, left, right, bridge)
	sup, err := s.Explain().WhatIf(t.Context(), explain.Scenario{Of: "a:left", Delete: []string{"c:bridge"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(sup.Before) != 1 || len(sup.After) != 2 || sup.Before[0].ID != results[0].Entity {
		t.Fatalf("%+v", sup)
	}
	if e := find(t, s, results[0].Entity); len(e.Members) != 3 {
		t.Fatalf("the scenario changed the entity: %+v", e)
	}
	// The scenario predicts what happens.
	remove(t, s, bridge.Ref)
	for _, supposed := range sup.After {
		e := find(t, s, supposed.ID)
		var members []entity.Ref
		for _, m := range e.Members {
			members = append(members, m.Ref)
		}
		if e.ID != supposed.ID || refs(members) != refs(supposed.Records) || cmp.Diff(e.View, supposed.View) != "" {
			t.Errorf("hypothetical %+v, came %+v", supposed, e)
		}
	}
}

// A low threshold merges everything and a high one separates everything; current weights change nothing.
func TestService_WhatIfTheWeightsWereOthers(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := fresh(t)
	put(t, s, left, right, bridge)
	for name, c := range map[string]struct {
		q             explain.Scenario
		before, after int
	}{
		"much is needed":       {explain.Scenario{Threshold: 4000}, 1, 3},
		"the threshold as is":  {explain.Scenario{Threshold: match.Threshold}, 0, 0},
		"a phone says nothing": {explain.Scenario{Weights: map[string]match.Weight{"phone: equal": -9000}}, 1, 2},
		"a phone as it is":     {explain.Scenario{Weights: map[string]match.Weight{"phone: equal": 900}}, 0, 0},
		"weights below and enough": {explain.Scenario{Weights: map[string]match.Weight{"phone: equal": 1}, Threshold: 1},
			0, 0},
	} {
		c.q.Of = "a:left"
		sup, err := s.Explain().WhatIf(t.Context(), c.q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(sup.Before) != c.before || len(sup.After) != c.after {
			t.Errorf("%s: %d entities before and %d after, want %d and %d", name, len(sup.Before), len(sup.After),
				c.before, c.after)
		}
	}
}

func TestService_WhatIfRefuses(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, left)
	many := make([]string, explain.MaxScenario+1)
	for name, c := range map[string]struct {
		q       explain.Scenario
		pointer string
	}{
		"nothing hypothetical": {explain.Scenario{Of: "a:left"}, ""},
		"no address":           {explain.Scenario{Of: "??", Threshold: 1}, "/of"},
		"no address to go":     {explain.Scenario{Of: "a:left", Delete: []string{"a:left", "??"}}, "/delete/1"},
		"too many":             {explain.Scenario{Of: "a:left", Delete: many}, ""},
		"unknown level": {explain.Scenario{Of: "a:left", Weights: map[string]match.Weight{"phone: blue": 1}},
			"/weights"},
		"weights beyond reason": {explain.Scenario{Of: "a:left", Weights: map[string]match.Weight{"phone: equal": 10001}},
			"/weights"},
		"threshold below 0":   {explain.Scenario{Of: "a:left", Threshold: -1}, "/threshold"},
		"threshold too large": {explain.Scenario{Of: "a:left", Threshold: 10001}, "/threshold"},
	} {
		_, err := s.Explain().WhatIf(t.Context(), c.q)
		invalid, ok := errors.AsType[*locus.InvalidError](err)
		if !ok || invalid.Problems[0].Pointer != c.pointer {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Explain().WhatIf(t.Context(), explain.Scenario{Of: "a:nobody", Threshold: 1}); !errors.Is(err, entity.ErrNotFound) {
		t.Errorf("a record that is not there: %v", err)
	}
}

// loaded returns an installation with n records of the demo.
func loaded(t testing.TB, n int64) *locus.DB {
	t.Helper()
	s := open(t, t.TempDir(), 16)
	t.Cleanup(func() { _ = s.Close() })
	var puts []records.Input
	flush := func() {
		put(t, s, puts...)
		puts = puts[:0]
	}
	for rec := range demo.New(1, n).All() {
		if puts = append(puts, records.Input{Ref: entity.Ref{Source: rec.Source, Key: rec.Key}, Attributes: rec.Attributes}); len(puts) == 1000 {
			flush()
		}
	}
	flush()
	return s
}

// How finds the clusters that the resolver made, and an empty scenario changes nothing.
func TestService_HowAgreesWithTheResolver(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := loaded(t, int64(longtest.Sample(0, 500, 1000, 3000)))
	var after entity.Place
	for {
		page, next, err := s.Entities().Search(t.Context(), entities.Query{After: after, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			h, err := s.Explain().How(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			in := map[entity.Ref]bool{}
			for _, m := range e.Members {
				in[m.Ref] = true
			}
			joined := 0
			one := map[entity.Ref]entity.Ref{} // records already in one group, by its name
			for _, m := range e.Members {
				one[m.Ref] = m.Ref
			}
			for _, st := range h.Steps {
				if st.Joined {
					for _, ref := range slices.Concat(st.A, st.B) {
						if was, is := one[ref], one[st.A[0]]; was != is {
							joined++ // one step joins all identical records
							for r, name := range one {
								if name == was {
									one[r] = is
								}
							}
						}
						if !in[ref] {
							t.Errorf("entity %v came to be with %v, which is not in it", e.ID, ref)
						}
					}
				} else if st.Against == "" {
					t.Errorf("entity %v: nothing speaks against %v and %v", e.ID, st.A, st.B)
				}
			}
			if joined != len(e.Members)-1 {
				t.Errorf("entity %v of %d records came to be in %d steps", e.ID, len(e.Members), joined)
			}
			for _, q := range []explain.Scenario{{Threshold: match.Threshold}, {Weights: map[string]match.Weight{"phone: equal": 900}}} {
				q.Of = e.ID.String()
				if sup, err := s.Explain().WhatIf(t.Context(), q); err != nil || len(sup.Before)+len(sup.After) != 0 {
					t.Errorf("entity %v: %+v, %v", e.ID, sup, err)
				}
			}
		}
		if after = next; next == (entity.Place{}) {
			break
		}
	}
}
