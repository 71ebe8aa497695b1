// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

// undecided puts n pairs of possible matches, each with a name of its own, from the sources a and b; every second one
// from c and b.
func undecided(t testing.TB, s *locus.DB, n int) {
	t.Helper()
	names := []string{"Brass Heron Antiques", "Gilded Otter Books", "Silver Badger Hardware", "Copper Falcon Records"}
	var list []records.Input
	for i, name := range names[:n] {
		list = append(list,
			inTown([]string{"a", "c"}[i%2], fmt.Sprint(i), name, fmt.Sprintf("212-555-01%02d", 7*i),
				fmt.Sprintf("%d Oak Ave", 12+i)),
			inTown("b", fmt.Sprint(i), name, fmt.Sprintf("646-555-78%02d", 11*i), fmt.Sprintf("%d Mill Lane", 99+i)))
	}
	put(t, s, list...)
	if pairs := queue(t, s); len(pairs) != n {
		t.Fatalf("%d pairs: %+v", len(pairs), pairs)
	}
}

func team(t testing.TB, s *locus.DB) *review.Team {
	t.Helper()
	found, err := s.Review().Team(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestBulk_DecidesWhatWasShownAndIsUndone(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	undecided(t, s, 4)
	ofC := &review.Selection{Filter: review.Filter{Source: "c"}}
	effect, err := s.Review().Foresee(t.Context(), ofC, entity.VerdictSame)
	if err != nil || len(effect.Pairs) != 2 || effect.Merged != 4 || effect.Split != 0 || effect.Largest == nil ||
		effect.Largest.Records != 2 || len(effect.Largest.Of) != 2 {
		t.Fatalf("%+v, %v", effect, err)
	}
	if apart, err := s.Review().Foresee(t.Context(), ofC, entity.VerdictDifferent); err != nil || apart.Merged != 0 || apart.Largest != nil {
		t.Errorf("keeping two apart changes %+v, %v", apart, err)
	}
	if len(queue(t, s)) != 4 {
		t.Fatal("a preview decided")
	}
	if _, _, err := s.Review().DecideAll(t.Context(), ofC, "", entity.VerdictSame, by); err == nil {
		t.Error("pairs were decided that were not shown")
	}
	// If one of the pairs is answered before the others are decided, the chosen pairs are no longer those that were
	// shown.
	first := effect.Pairs[0]
	decide(t, s, decisions.Input{Verdict: entity.VerdictDifferent, A: first.A.String(), B: first.B.String(),
		Author: "ben"})
	if _, _, err := s.Review().DecideAll(t.Context(), ofC, effect.Stamp, entity.VerdictSame, by); !errors.Is(err, review.ErrChanged) {
		t.Errorf("decided although other pairs are chosen: %v", err)
	}
	decide(t, s, decisions.Input{Verdict: entity.VerdictDifferent, A: first.A.String(), B: first.B.String(), Author: "ben",
		Withdraw: true})
	batch, results, err := s.Review().DecideAll(t.Context(), ofC, effect.Stamp, entity.VerdictSame, by)
	if err != nil || len(results) != 2 || batch == "" {
		t.Fatalf("%v, %v", results, err)
	}
	for _, r := range results {
		if r.Err != nil || r.Batch != batch || r.Author != "ann" || r.EntityA != r.EntityB {
			t.Errorf("%+v", r)
		}
	}
	if left := queue(t, s); len(left) != 2 || slices.ContainsFunc(left, func(p review.Pair) bool { return p.A.Source == "c" || p.B.Source == "c" }) {
		t.Errorf("left are %+v", left)
	}
	told := team(t, s)
	if len(told.Batches) != 1 || told.Batches[0].ID != batch || told.Batches[0].Stands != 2 || told.Left != 2 {
		t.Errorf("%+v", told)
	}
	// Decisions that a person makes later stay.
	decide(t, s, decisions.Input{Verdict: entity.VerdictSame, A: first.A.String(), B: first.B.String(), Author: "ben"})
	undone, err := s.Decisions().Undo(t.Context(), batch, nil, by)
	if err != nil || len(undone) != 1 || !undone[0].Withdrawn || undone[0].EntityA == undone[0].EntityB {
		t.Fatalf("%+v, %v", undone, err)
	}
	if left := queue(t, s); len(left) != 3 {
		t.Errorf("left are %+v", left)
	}
	if _, err := s.Decisions().Undo(t.Context(), batch, nil, by); err == nil {
		t.Error("undone twice")
	}
	named := &review.Selection{Pairs: []review.Chosen{{A: "a:0", B: "b:0"}, {A: "b:0", B: "a:0"}}}
	if _, results, err := s.Review().DecideAll(t.Context(), named, "", entity.VerdictDifferent, by); err != nil || len(results) != 1 {
		t.Errorf("by name: %+v, %v", results, err)
	}
	if _, err := s.Review().Choose(t.Context(), named); err == nil {
		t.Error("an answered pair is chosen again")
	}
}

func TestBulk_UndoLeavesNone(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	undecided(t, s, 4)
	all := &review.Selection{}
	effect, err := s.Review().Foresee(t.Context(), all, entity.VerdictDifferent)
	if err != nil {
		t.Fatal(err)
	}
	batch, _, err := s.Review().DecideAll(t.Context(), all, effect.Stamp, entity.VerdictDifferent, by)
	if err != nil || len(queue(t, s)) != 0 {
		t.Fatal(err)
	}
	if undone, err := s.Decisions().Undo(t.Context(), batch, nil, by); err != nil || len(undone) != 4 || len(queue(t, s)) != 4 {
		t.Errorf("%d undone, %d pairs are back, %v", len(undone), len(queue(t, s)), err)
	}
}

func TestAssign_GivesReleasesAndExpires(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	undecided(t, s, 3)
	pairs := queue(t, s)
	seen := func(f review.Filter) int {
		t.Helper()
		page, err := s.Review().List(t.Context(), review.Query{Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Pairs)
	}
	assign := func(pairs []review.Pair, to string, keep time.Duration) {
		t.Helper()
		if n, err := s.Review().Assign(t.Context(), pairs, to, "lea", keep); err != nil || n != len(pairs) {
			t.Fatalf("%d assigned, %v", n, err)
		}
	}
	assign(pairs[:2], "ann", 0)
	assign(pairs[2:], "ben", 0)
	for f, want := range map[review.Filter]int{
		{}:                                  3,
		{Assigned: "ann"}:                   2,
		{Assigned: "none"}:                  0,
		{Assigned: "mine", Person: "ben"}:   1,
		{Assigned: "open", Person: "ben"}:   1,
		{Assigned: "open", Person: "carol"}: 0,
	} {
		if got := seen(f); got != want {
			t.Errorf("%+v: %d pairs, want %d", f, got, want)
		}
	}
	if a := queue(t, s)[0].Assigned; a == nil || a.To != "ann" || a.By != "lea" || a.Until.Before(time.Now().Add(review.DefaultAssigned-time.Hour)) {
		t.Errorf("%+v", a)
	}
	if p := team(t, s).People; len(p) != 2 || p[0].Person != "ann" || p[0].Assigned != 2 || p[1].Assigned != 1 {
		t.Errorf("%+v", p)
	}
	assign(pairs[:1], "", 0)
	if seen(review.Filter{Assigned: "none"}) != 1 || seen(review.Filter{Assigned: "ann"}) != 1 {
		t.Error("a released pair is not free")
	}
	assign(pairs[2:], "ben", time.Nanosecond) // is over at once
	if seen(review.Filter{Assigned: "ben"}) != 0 || seen(review.Filter{Assigned: "none"}) != 2 {
		t.Error("an assignment does not expire")
	}
	for to, keep := range map[string]time.Duration{"mine": 0, " ann": 0, "ann": -1, "ben": 400 * 24 * time.Hour} {
		if _, err := s.Review().Assign(t.Context(), pairs, to, "", keep); err == nil {
			t.Errorf("assigned to %q for %v", to, keep)
		}
	}
	if _, err := s.Review().List(t.Context(), review.Query{Filter: review.Filter{Assigned: "mine"}}); err == nil {
		t.Error("the pairs of an unknown person")
	}
}

func TestTeam_CountsAgreesAndSettles(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	undecided(t, s, 3)
	pairs := queue(t, s)
	answer := func(i int, verdict entity.Verdict, author string, settles bool) {
		t.Helper()
		decide(t, s, decisions.Input{Verdict: verdict, A: pairs[i].A.String(), B: pairs[i].B.String(), Author: author,
			Settles: settles})
	}
	answer(0, entity.VerdictSame, "ann", false)
	answer(1, entity.VerdictDifferent, "ann", false)
	answer(2, entity.VerdictDifferent, "agent:helper", false)
	page, err := s.Review().List(t.Context(),
		review.Query{Order: review.Second, Filter: review.Filter{Person: "ben"}})
	if err != nil || len(page.Pairs) != 2 {
		t.Fatalf("for a second opinion: %+v, %v", page, err)
	}
	if own, err := s.Review().List(t.Context(), review.Query{Order: review.Second, Filter: review.Filter{Person: "ann"}}); err != nil || len(own.Pairs) != 0 {
		t.Errorf("ann is asked again: %+v, %v", own, err)
	}
	answer(0, entity.VerdictSame, "ben", false)
	answer(1, entity.VerdictSame, "ben", false)
	answer(1, entity.VerdictSame, "ben", false) // a person has one answer
	told := team(t, s)
	if len(told.Agreement) != 1 || told.Agreement[0] != (review.Agreement{A: "ann", B: "ben", Pairs: 2, Agree: 1}) {
		t.Errorf("%+v", told.Agreement)
	}
	if told.Unsettled != 1 || len(told.Disagreements) != 1 || len(told.Disagreements[0].Answers) != 2 ||
		told.Disagreements[0].RefA.String() == "" {
		t.Fatalf("%+v", told.Disagreements)
	}
	if len(told.People) != 2 || told.People[0].Today != 2 || told.People[0].Week != 2 || told.People[0].All != 2 ||
		told.People[0].Rate < 1 {
		t.Errorf("%+v", told.People)
	}
	answer(1, entity.VerdictDifferent, "ann", true)
	told = team(t, s)
	if told.Unsettled != 0 || len(told.Disagreements) != 0 || len(told.Agreement) != 1 || told.Agreement[0].Agree != 1 ||
		told.Agreement[0].Pairs != 2 {
		t.Errorf("settled, and %+v", told)
	}
	answer(1, entity.VerdictDifferent, "ben", false)
	if told = team(t, s); told.Agreement[0].Agree != 2 || told.Unsettled != 0 {
		t.Errorf("ben came round, and %+v", told)
	}
	in := decisions.Input{Verdict: entity.VerdictSame, A: pairs[2].A.String(), B: pairs[2].B.String(), Author: "cy"}
	after := in
	after.Author = "dee"
	decide(t, s, in, after)
	for _, p := range team(t, s).People {
		if (p.Person == "cy" || p.Person == "dee") && p.Today+p.Week < 1 { // it may be midnight
			t.Errorf("two answers of one call: %+v", p)
		}
	}
}
