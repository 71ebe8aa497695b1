// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// inTown is a record with a city, a blocking key for records of the same name.
func inTown(source, key, name, phone, address string) records.Input {
	p := record(source, key, name, phone, address)
	p.Attributes["city"] = []string{"Springfield"}
	return p
}

var (
	// oak and mill have the same name at different addresses: a possible match.
	oak  = inTown("a", "oak", "Brass Heron Antiques", "212-555-0101", "12 Oak Ave")
	mill = inTown("b", "mill", "Brass Heron Antiques", "646-555-7878", "99 Mill Lane")
	by   = decisions.By{Author: "ann", Reason: "called them"}
)

func decide(t testing.TB, s *locus.DB, list ...decisions.Input) []decisions.Result {
	t.Helper()
	results, err := s.Decisions().Decide(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil {
			t.Fatalf("decision %d: %v", i, r.Err)
		}
	}
	return results
}

func queue(t testing.TB, s *locus.DB) []review.Pair {
	t.Helper()
	page, err := s.Review().List(t.Context(), review.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Pairs
}

func TestService_ReviewUntilNoPairIsPossible(t *testing.T) {
	t.Parallel()
	for _, verdict := range []entity.Verdict{entity.VerdictSame, entity.VerdictDifferent} {
		s := fresh(t)
		ids := put(t, s, oak, mill)
		pairs := queue(t, s)
		if len(pairs) != 1 || pairs[0].Merges != 2 || pairs[0].EntityA == pairs[0].EntityB ||
			pairs[0].Explanation.Outcome.String() != "possible" {
			t.Fatalf("%+v", pairs)
		}
		r := decide(t, s, decisions.Input{Verdict: verdict, A: pairs[0].A.String(), B: pairs[0].B.String(), Author: "ann"})[0]
		one := verdict == entity.VerdictSame
		if (r.EntityA == r.EntityB) != one || r.Conflict != "" || r.Pending || r.At.IsZero() || r.Author != "ann" {
			t.Errorf("%+v", r)
		}
		if pairs := queue(t, s); len(pairs) != 0 {
			t.Errorf("%s leaves %+v", verdict, pairs)
		}
		withdrawn := decide(t, s, decisions.Input{Verdict: verdict, A: "a:oak", B: "b:mill", Withdraw: true})[0]
		if !withdrawn.Withdrawn || withdrawn.EntityA != ids[0].Entity || withdrawn.EntityB != ids[1].Entity {
			t.Errorf("%+v", withdrawn)
		}
		if pairs := queue(t, s); len(pairs) != 1 {
			t.Errorf("%s withdrawn leaves %+v", verdict, pairs)
		}
	}
}

// The pages of the queue contain each pair once, the best first, over all cells.
func TestService_ReviewInPages(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var puts []records.Input
	for i, name := range []string{"Quillmarsh Heron", "Zephyrine Oakum", "Ostermont Pellgrove", "Vandelay Cragmoor"} {
		for j := range 2 {
			puts = append(puts, inTown("s", fmt.Sprintf("%d-%d", i, j), name+" Noodles", fmt.Sprintf("212-55%d-01%02d", i, 33*j),
				fmt.Sprintf("%d %s Street", 10+97*j, []string{"Oak", "Mill"}[j])))
		}
	}
	put(t, s, puts...)
	all := queue(t, s)
	if len(all) < 4 || len(all) == 20 {
		t.Fatalf("only %d pairs", len(all))
	}
	for _, q := range []review.Query{{Limit: 2}, {Limit: 2, Read: 1}, {Limit: 3, Read: 2, Kinds: []string{"place"}}, {Limit: 3, Read: 1, Kinds: []string{"none"}}} {
		var paged []review.Pair
		pages := 0
		for more := true; more; more = q.After != "" {
			page, err := s.Review().List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			paged, q.After, pages = append(paged, page.Pairs...), page.Next, pages+1
		}
		want := all
		if slices.Contains(q.Kinds, "none") {
			want = nil
		}
		if d := cmp.Diff(want, paged, cmpopts.IgnoreUnexported(review.Pair{})); d != "" {
			t.Errorf("%+v: pages differ (-whole +pages):\n%s", q, d)
		}
		if pages < 2 {
			t.Errorf("%+v: one page reads the whole queue", q)
		}
	}
	for i := 1; i < len(all); i++ {
		if all[i].Explanation.Weight > all[i-1].Explanation.Weight {
			t.Errorf("pair %d is better than the one before", i)
		}
	}
	for _, after := range []string{"x", "1 2", "1 2 3x"} {
		if _, err := s.Review().List(t.Context(), review.Query{After: after}); err == nil && after != "1 2 3x" {
			t.Errorf("%q is a place in the queue", after)
		}
	}
}

// Merge and then unmerge restores ids, members and views.
func TestService_MergeThenUnmergeRestoresIds(t *testing.T) {
	t.Parallel()
	everywhere(t, mergeThenUnmerge)
}

// everywhere runs a test over files, and with two processes over a server.
func everywhere(t *testing.T, test func(t *testing.T, s, other *locus.DB)) {
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		s := fresh(t)
		test(t, s, s)
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
		s := openAt(t, where, &storage.Options{Cells: 2})
		defer s.Close()
		other := openAt(t, where, &storage.Options{MustExist: true})
		defer other.Close()
		test(t, s, other)
	})
}

func mergeThenUnmerge(t *testing.T, s, other *locus.DB) {
	a := put(t, s, record("a", "1", "Zephyr Trampolines", "415-555-2300", "12 Oak Ave"),
		record("a", "2", "Zephyr Trampolines", "415-555-2300", "12 Oak Ave"))[0]
	b := put(t, s, record("b", "1", "Quill Dental", "415-555-7777", "3 Elm St"),
		record("b", "2", "Quill Dental", "415-555-7777", "3 Elm St"))[0]
	before := []*entities.Entity{find(t, s, a.Entity), find(t, s, b.Entity)}
	if len(before[0].Members) != 2 || len(before[1].Members) != 2 || a.Entity == b.Entity {
		t.Fatalf("%+v", before)
	}
	merged, err := other.Decisions().Merge(t.Context(), "a:2", b.Entity.String(), by)
	if err != nil || merged.EntityA != a.Entity || merged.EntityB != a.Entity {
		t.Fatalf("%+v, %v", merged, err)
	}
	if e := find(t, s, b.Entity); len(e.Members) != 4 || !e.Redirected() {
		t.Fatalf("%v leads to %+v", b.Entity, e)
	}
	if _, err := other.Decisions().Merge(t.Context(), "a:1", "b:1", by); err == nil {
		t.Error("one entity is merged with itself")
	}
	for step, want := range map[string]int{"how": 3, "why": 3} {
		decided := 0
		if step == "how" {
			h, err := s.Explain().How(t.Context(), a.Entity)
			if err != nil || len(h.Steps) != want {
				t.Fatalf("%+v, %v", h, err)
			}
			for _, st := range h.Steps {
				if st.Decided != nil && st.Joined && st.Decided.Author == "ann" {
					decided++
				}
			}
		} else {
			why, err := s.Explain().Why(t.Context(), a.Entity)
			if err != nil || len(why.Joins) != want {
				t.Fatalf("%+v, %v", why, err)
			}
			for _, j := range why.Joins {
				if j.Decided != nil && j.Decided.Reason == "called them" {
					decided++
				}
			}
		}
		if decided != 1 {
			t.Errorf("%s names %d decisions", step, decided)
		}
	}
	if _, err := s.Decisions().Unmerge(t.Context(), a.Entity.String(), []string{"b:1", "b:2"}, by); err != nil {
		t.Fatal(err)
	}
	for i, want := range before {
		if d := cmp.Diff(want, find(t, other, want.ID)); d != "" {
			t.Errorf("entity %d is another one:\n%s", i, d)
		}
	}
	w, err := other.Explain().WhyNot(t.Context(), "a:1", "b:1")
	if err != nil || w.Reason != "decided" ||
		!strings.Contains(w.Message, "ann said that they are two things: called them") || len(w.Reasons) < 2 {
		t.Errorf("%+v, %v", w, err)
	}
	again := decisions.Input{Verdict: entity.VerdictSame, A: b.Entity.String(), B: a.Entity.String()}
	supposed, err := other.Explain().WhatIf(t.Context(), explain.Scenario{Of: "a:1", Decide: []decisions.Input{again}})
	if err != nil || len(supposed.After) != 1 || len(supposed.After[0].Records) != 4 {
		t.Errorf("a merge after an unmerge would make %+v, %v", supposed, err)
	}
	if _, err := s.Decisions().Merge(t.Context(), "b:2", "a:2", by); err != nil {
		t.Fatal(err)
	}
	if e := find(t, other, b.Entity); e.ID != a.Entity || len(e.Members) != 4 {
		t.Errorf("a merge after an unmerge makes %+v", e.Members)
	}
	stand, err := s.Decisions().List(t.Context(), decisions.Query{Of: a.Entity.String()})
	if err != nil || len(stand.Decisions) != 1 || stand.Decisions[0].Verdict != entity.VerdictSame {
		t.Errorf("after the merge there are the decisions %+v, %v", stand, err)
	}
}

func TestService_UnmergeRefuses(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	id := put(t, s, left, right, bridge)[0].Entity.String()
	put(t, s, record("x", "1", "Lone Gull Ferries", "", ""))
	for name, records := range map[string][]string{
		"/records":   {},
		"/records/1": {"a:left", "x:1"},
		"/records/0": {"no address"},
	} {
		_, err := s.Decisions().Unmerge(t.Context(), id, records, by)
		if invalid, ok := errors.AsType[*locus.InvalidError](err); !ok || invalid.Problems[0].Pointer != name {
			t.Errorf("%v: %v", records, err)
		}
	}
	if _, err := s.Decisions().Unmerge(t.Context(), id, []string{"a:left", "b:right", "c:bridge"}, by); err == nil {
		t.Error("all records are taken out")
	}
}

// The scenario predicts the effect of a decision.
func TestService_WhatIfSomebodyDecided(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]decisions.Input{
		"same":      {Verdict: entity.VerdictSame, A: "a:oak", B: "b:mill"},
		"different": {Verdict: entity.VerdictDifferent, A: "a:left", B: "c:bridge"},
		"anchor":    {Verdict: entity.VerdictAnchor, A: "c:bridge"},
		"value":     {Verdict: entity.VerdictValue, A: "c:bridge", Attribute: "phones", Value: "415-555-9999"},
	} {
		s := fresh(t)
		e := find(t, s, put(t, s, left, right, bridge, oak, mill)[0].Entity)
		if d.Verdict == entity.VerdictAnchor {
			d.A = e.Members[1].Ref.String() // any but the current anchor
		}
		sup, err := s.Explain().WhatIf(t.Context(), explain.Scenario{Of: d.A, Decide: []decisions.Input{d}})
		if err != nil || len(sup.After) == 0 {
			t.Fatalf("%s: %+v, %v", name, sup, err)
		}
		decide(t, s, d)
		for _, want := range sup.After {
			e := find(t, s, want.ID)
			var members []entity.Ref
			for _, m := range e.Members {
				members = append(members, m.Ref)
			}
			if e.ID != want.ID || refs(members) != refs(want.Records) || fmt.Sprint(e.View) != fmt.Sprint(want.View) {
				t.Errorf("%s: hypothetical %+v, came %+v", name, want, e.Entity)
			}
		}
		// The same for its withdrawal.
		d.Withdraw = true
		sup, err = s.Explain().WhatIf(t.Context(), explain.Scenario{Of: d.A, Decide: []decisions.Input{d}})
		if err != nil {
			t.Fatal(err)
		}
		decide(t, s, d)
		for _, want := range sup.After {
			if e := find(t, s, want.ID); e.ID != want.ID || len(e.Members) != len(want.Records) || fmt.Sprint(e.View) != fmt.Sprint(want.View) {
				t.Errorf("%s withdrawn: hypothetical %+v, came %+v", name, want, e.Entity)
			}
		}
	}
}

func TestService_DecideRefuses(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, left, right)
	for name, c := range map[string]struct {
		d             decisions.Input
		pointer, code string
	}{
		"no verdict":      {decisions.Input{A: "a:left"}, "/verdict", "invalid"},
		"unknown verdict": {decisions.Input{Verdict: "merge", A: "a:left"}, "/verdict", "invalid"},
		"no record":       {decisions.Input{Verdict: "anchor"}, "/a", "required"},
		"no other":        {decisions.Input{Verdict: "same", A: "a:left"}, "/b", "required"},
		"one too many":    {decisions.Input{Verdict: "anchor", A: "a:left", B: "b:right"}, "/b", "invalid"},
		"itself":          {decisions.Input{Verdict: "same", A: "a:left", B: "a:left"}, "/b", "invalid"},
		"no address":      {decisions.Input{Verdict: "same", A: "a:left", B: "??"}, "/b", "invalid"},
		"no attribute":    {decisions.Input{Verdict: "value", A: "a:left", Value: "x"}, "/attribute", "required"},
		"no value":        {decisions.Input{Verdict: "value", A: "a:left", Attribute: "phones"}, "/value", "required"},
		"not of the kind": {decisions.Input{Verdict: "value", A: "a:left", Attribute: "wings", Value: "2"}, "/attribute",
			"unknown_attribute"},
		"says nothing": {decisions.Input{Verdict: "value", A: "a:left", Attribute: "phones", Value: "n/a"},
			"/value", "invalid"},
		"of no attribute": {decisions.Input{Verdict: "anchor", A: "a:left", Attribute: "phones"}, "/attribute", "invalid"},
		"a long author": {decisions.Input{Verdict: "anchor", A: "a:left", Author: strings.Repeat("x", 256)}, "/author",
			"too_large"},
		"a long reason": {decisions.Input{Verdict: "anchor", A: "a:left", Reason: strings.Repeat("x", 1025)}, "/reason",
			"too_large"},
		"an escape": {decisions.Input{Verdict: "anchor", A: "a:left", Reason: "\x1b[2J"}, "/reason", "invalid"},
		"no UTF-8":  {decisions.Input{Verdict: "anchor", A: "a:left", Author: "\xff"}, "/author", "invalid_utf8"},
		"nothing to undo": {decisions.Input{Verdict: "same", A: "a:left", B: "b:right", Withdraw: true}, "/withdraw",
			"not_decided"},
		"no value to undo": {decisions.Input{Verdict: "value", A: "a:left", Attribute: "phones", Withdraw: true}, "/withdraw",
			"not_decided"},
	} {
		results, err := s.Decisions().Decide(t.Context(), []decisions.Input{c.d, {Verdict: "anchor", A: "b:right"}})
		if err != nil {
			t.Fatal(err)
		}
		invalid, ok := errors.AsType[*locus.InvalidError](results[0].Err)
		if !ok || invalid.Problems[0].Pointer != c.pointer || invalid.Problems[0].Code != c.code {
			t.Errorf("%s: %v", name, results[0].Err)
		}
		if results[1].Err != nil {
			t.Errorf("%s: it harms another: %v", name, results[1].Err)
		}
	}
	results, err := s.Decisions().Decide(t.Context(), []decisions.Input{{Verdict: "anchor", A: "a:nobody"}})
	if err != nil || !errors.Is(results[0].Err, entity.ErrNotFound) {
		t.Errorf("%+v, %v", results, err)
	}
	if _, err := s.Decisions().Decide(t.Context(), make([]decisions.Input, records.MaxBatch+1)); err == nil {
		t.Error("a batch of any size is taken")
	}
}

// The decisions of a batch are applied in order.
func TestService_ABatchIsDecidedInItsOrder(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	ids := put(t, s, oak, mill)
	batch := []decisions.Input{
		{Verdict: "same", A: "a:oak", B: "b:mill"},
		{Verdict: "different", A: "b:mill", B: "a:oak"},
		{Verdict: "same", A: "b:mill", B: "a:oak"},
		{Verdict: "different", A: "b:mill", B: "a:oak", Withdraw: true},
	}
	sup, err := s.Explain().WhatIf(t.Context(), explain.Scenario{Of: "a:oak", Decide: batch[:3]})
	if err != nil || len(sup.After) != 1 {
		t.Fatalf("%+v, %v", sup, err)
	}
	results := decide(t, s, batch...)
	if last := results[3]; !last.Withdrawn || last.Verdict != "same" || last.EntityA != ids[1].Entity || last.EntityB != ids[0].Entity {
		t.Errorf("%+v", last)
	}
	page, err := s.Decisions().List(t.Context(), decisions.Query{Withdrawn: true})
	if err != nil || len(page.Decisions) != 1 || !page.Decisions[0].Withdrawn {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestService_DecisionsAreListedOnce(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	results := put(t, s, left, right, bridge, oak, mill)
	decide(t, s,
		decisions.Input{Verdict: "different", A: "a:oak", B: "b:mill"},
		decisions.Input{Verdict: "same", A: "b:right", B: "a:left"},
		decisions.Input{Verdict: "anchor", A: "c:bridge"},
		decisions.Input{Verdict: "value", A: "a:left", Attribute: "phones", Value: "415-555-9999"},
	)
	decide(t, s, decisions.Input{Verdict: "anchor", A: "c:bridge", Withdraw: true})
	count := func(q decisions.Query) (n int) {
		t.Helper()
		for {
			page, err := s.Decisions().List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if n += len(page.Decisions); page.Next == "" {
				return n
			}
			q.After = page.Next
		}
	}
	for _, limit := range []int{1, 2, 100} {
		for want, q := range map[int]decisions.Query{
			3: {}, 4: {Withdrawn: true}, 2: {Of: results[0].Entity.String()}, 1: {Of: "b:mill"},
		} {
			q.Limit = limit
			if got := count(q); got != want {
				t.Errorf("%+v lists %d, want %d", q, got, want)
			}
		}
	}
	// A decision outlives its record, and can still be withdrawn.
	remove(t, s, mill.Ref)
	page, err := s.Decisions().List(t.Context(), decisions.Query{Of: "b:mill"})
	if err != nil || len(page.Decisions) != 1 || page.Decisions[0].RefA != (entity.Ref{}) &&
		page.Decisions[0].RefB != (entity.Ref{}) {
		t.Fatalf("%+v, %v", page, err)
	}
	if r := decide(t, s, decisions.Input{Verdict: "different", A: "a:oak", B: "b:mill", Withdraw: true})[0]; !r.Withdrawn || r.EntityA == (locality.ID{}) {
		t.Errorf("%+v", r)
	}
}

// Of contradicting decisions the newer counts, and the older one reports the conflict.
func TestService_AConflictIsReported(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, record("a", "1", "Zephyr Trampolines", "", ""), record("b", "1", "Quill Dental", "", ""),
		record("c", "1", "Lone Gull Ferries", "", ""))
	decide(t, s, decisions.Input{Verdict: "different", A: "a:1", B: "c:1"})
	decide(t, s, decisions.Input{Verdict: "same", A: "a:1", B: "b:1"})
	last := decide(t, s, decisions.Input{Verdict: "same", A: "b:1", B: "c:1"})[0]
	if last.Conflict != "" || last.EntityA != last.EntityB {
		t.Errorf("the newest: %+v", last)
	}
	page, err := s.Decisions().List(t.Context(), decisions.Query{})
	if err != nil || len(page.Decisions) != 3 {
		t.Fatalf("%+v, %v", page, err)
	}
	for _, d := range page.Decisions {
		if (d.Conflict != "") != (d.Verdict == "different") {
			t.Errorf("%+v", d)
		}
	}
}
