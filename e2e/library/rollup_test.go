// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/storage"
)

var (
	byCategory = rollup.Definition{Name: "by_category", Kind: "place", Group: []string{"category"}, Dimension: "city"}
	bySource   = rollup.Definition{Name: "by_source", Kind: "place", Over: rollup.Records, Group: []string{"source"},
		Dimension: "outcome"}
	byNumber = rollup.Definition{
		Name: "by_number", Kind: "place", Group: []string{"category", "source"},
		Where: []rollup.Condition{{Attribute: "postcode", Exists: true}},
		Measures: []rollup.Measure{
			{Name: "n", Func: rollup.Count},
			{Name: "sum", Func: rollup.Sum, Attribute: "postcode"},
			{Name: "least", Func: rollup.Min, Attribute: "postcode"},
			{Name: "top", Func: rollup.Top, Attribute: "postcode", K: 2},
			{Name: "cities", Func: rollup.Distinct, Attribute: "city"},
		},
	}
)

func define(t testing.TB, s *locus.DB, definitions ...rollup.Definition) {
	t.Helper()
	for _, d := range definitions {
		if _, _, err := s.Rollups().Define(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
}

// latest reads all groups of a rollup once it includes everything committed.
func latest(t testing.TB, s *locus.DB, name string) *rollups.Answer {
	t.Helper()
	answer, err := s.Rollups().Query(t.Context(), name, rollups.Query{
		Read: rollups.Read{Latest: true, Patience: patience(t)}, Limit: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// wantTrue fails unless a rollup equals its recomputation in every cell. If the active generation is replaced during a
// verification, it verifies again.
func wantTrue(t testing.TB, s *locus.DB, name string) {
	t.Helper()
	for late := time.Now().Add(patience(t)); ; {
		err := s.Rollups().Verify(t.Context(), name, func(v rollups.CellVerification) error {
			if v.Differs > 0 {
				return fmt.Errorf("cell %v: %d rows differ: %+v", v.Cell, v.Differs, v.Differences)
			}
			return nil
		}, nil)
		if err == nil {
			return
		}
		busy := errors.Is(err, rollup.ErrGone) || errors.Is(err, rollup.ErrBehind) || errors.Is(err, rollup.ErrBuilding)
		if !busy || time.Now().After(late) {
			t.Errorf("rollup %s: %v", name, err)
			return
		}
		engine.Sleep(t.Context(), pace, nil)
	}
}

// patience returns how long to wait for an eventual result: the remaining time of the tests, minus time for the report.
func patience(t testing.TB) time.Duration {
	of, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return 10 * time.Minute
	}
	if deadline, set := of.Deadline(); set {
		return time.Until(deadline) - time.Minute
	}
	return 10 * time.Minute
}

// numbers returns the first measure of each group by group and dimension values.
func numbers(a *rollups.Answer) map[string]string {
	all := map[string]string{}
	for _, g := range a.Groups {
		all[fmt.Sprint(g.Group)] = g.Total[0].String()
		for _, slot := range g.By {
			all[fmt.Sprintf("%s %s", g.Group, slot.Value)] = slot.Values[0].String()
		}
	}
	return all
}

func place(key, name, category, city string) records.Input {
	a := entity.Attributes{"name": {name}}
	for attribute, value := range map[string]string{"category": category, "city": city} {
		if value != "" {
			a[attribute] = []string{value}
		}
	}
	return records.Input{Ref: entity.Ref{Source: "crawl", Key: key}, Attributes: a}
}

func TestRollup_FollowsEveryChange(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, place("1", "Zephyr Trampolines", "sport", "Springfield"),
		place("2", "Quill Dental", "dentist", "Springfield"))
	define(t, s, byCategory, bySource)
	want := func(name string, want map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, numbers(latest(t, s, name))); diff != "" {
			t.Errorf("rollup %s (-want +got):\n%s", name, diff)
		}
	}
	want("by_category", map[string]string{"[sport]": "1", "[sport] Springfield": "1", "[dentist]": "1",
		"[dentist] Springfield": "1"})
	put(t, s, place("1", "Zephyr Trampolines", "sport", "Shelbyville"), place("3", "Velvet Books", "", "Springfield"),
		place("4", "Basalt Forge", "smith", ""))
	want("by_category", map[string]string{
		"[sport]": "1", "[sport] Shelbyville": "1", "[dentist]": "1", "[dentist] Springfield": "1", "[smith]": "1",
		"[smith] ": "1",
	})
	remove(t, s, entity.Ref{Source: "crawl", Key: "2"})
	want("by_category", map[string]string{"[sport]": "1", "[sport] Shelbyville": "1", "[smith]": "1", "[smith] ": "1"})
	want("by_source", map[string]string{"[crawl]": "3", "[crawl] created": "3"})
	put(t, s, left) // the oldest
	put(t, s, right)
	want("by_source", map[string]string{"[crawl]": "3", "[crawl] created": "3", "[a]": "1", "[a] created": "1", "[b]": "1",
		"[b] created": "1"})
	put(t, s, bridge)
	want("by_source", map[string]string{
		"[crawl]": "3", "[crawl] created": "3", "[a]": "1", "[a] created": "1", "[b]": "1", "[b] matched": "1", "[c]": "1",
		"[c] matched": "1",
	})
	remove(t, s, bridge.Ref)
	want("by_source", map[string]string{"[crawl]": "3", "[crawl] created": "3", "[a]": "1", "[a] created": "1", "[b]": "1",
		"[b] created": "1"})
	wantTrue(t, s, "by_category")
	wantTrue(t, s, "by_source")
}

func TestRollup_ReadsItsOwnWrites(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	define(t, s, byCategory)
	latest(t, s, "by_category")
	for i := range 20 {
		done := put(t, s, place(fmt.Sprint(i), fmt.Sprintf("Zephyr %d Trampolines %d", i*i, i), "sport", ""))
		a, err := s.Rollups().Query(t.Context(), "by_category", rollups.Query{
			Group: []string{"sport"}, Read: rollups.Read{Min: done[0].Watermark, Patience: patience(t)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := a.Groups[0].Total[0].N, int64(i+1); got != want || !a.Watermark.Contains(done[0].Watermark) {
			t.Fatalf("after put %d the group has %d things at %v, want %d at %v", i, got, a.Watermark, want, done[0].Watermark)
		}
	}
}

func TestRollup_PagesAndTop(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var puts []records.Input
	for i := range 30 {
		for n := range i%7 + 1 {
			puts = append(puts, place(fmt.Sprint(i, n), fmt.Sprintf("Place%dof%d Quill%d", n, i, i*31+n),
				fmt.Sprintf("c%02d", i), "Springfield"))
		}
	}
	put(t, s, puts...)
	define(t, s, byCategory)
	whole := latest(t, s, "by_category")
	if len(whole.Groups) != 30 || whole.Next != nil {
		t.Fatalf("%d groups, next %q", len(whole.Groups), whole.Next)
	}
	var paged []rollup.Group
	for q := (rollups.Query{Limit: 7}); ; {
		a, err := s.Rollups().Query(t.Context(), "by_category", q)
		if err != nil {
			t.Fatal(err)
		}
		paged = append(paged, a.Groups...)
		if q.After = a.Next; q.After == nil {
			break
		}
	}
	groups := func(gs []rollup.Group) (names []string) {
		for _, g := range gs {
			names = append(names, fmt.Sprint(g.Group, g.Total[0]))
		}
		return names
	}
	if diff := cmp.Diff(groups(whole.Groups), groups(paged)); diff != "" {
		t.Errorf("pages (-whole +paged):\n%s", diff)
	}
	top, err := s.Rollups().Query(t.Context(), "by_category", rollups.Query{Top: 5, By: "count"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"[c06] 7", "[c13] 7", "[c20] 7", "[c27] 7", "[c05] 6"}, groups(top.Groups)); diff != "" {
		t.Errorf("largest (-want +got):\n%s", diff)
	}
}

func TestRollup_Errors(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	ctx := t.Context()
	if _, err := s.Rollups().Get(ctx, "nothing"); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("status of nothing: %v", err)
	}
	if _, err := s.Rollups().Query(ctx, "nothing", rollups.Query{}); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("groups of nothing: %v", err)
	}
	if err := s.Rollups().Drop(ctx, "nothing"); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("drop nothing: %v", err)
	}
	if _, err := s.Rollups().Rebuild(ctx, "nothing"); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("rebuild nothing: %v", err)
	}
	var invalid *rollup.InvalidError
	if _, _, err := s.Rollups().Define(ctx, rollup.Definition{Name: "x", Kind: "animal", Group: []string{"tags"}, Dimension: "phones"}); !errors.As(err, &invalid) || len(invalid.Problems) != 3 {
		t.Errorf("a wrong definition: %v", err)
	}
	define(t, s, byCategory)
	latest(t, s, "by_category")
	if _, err := s.Rollups().Query(ctx, "by_category", rollups.Query{Group: []string{"nothing"}}); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("a group of nothing: %v", err)
	}
	for name, q := range map[string]rollups.Query{
		"two values":   {Group: []string{"a", "b"}},
		"no measure":   {Top: 3, By: "sum"},
		"limit":        {Limit: 1001},
		"after nobody": {After: []string{"a", "b"}},
	} {
		var problem *locus.InvalidError
		if _, err := s.Rollups().Query(ctx, "by_category", q); !errors.As(err, &problem) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Rollups().Query(ctx, "by_category", rollups.Query{Read: rollups.Read{Min: changelog.Watermark{{}: 1 << 40}}}); !errors.Is(err, changelog.ErrTrimmed) {
		t.Errorf("a watermark of the future: %v", err)
	}
	if _, err := s.Rollups().Query(ctx, "by_category", rollups.Query{Read: rollups.Read{Min: changelog.Watermark{{Gen: 7}: 1}}}); !errors.Is(err, cell.ErrNoCell) {
		t.Errorf("a watermark of no cell: %v", err)
	}
	if err := s.Rollups().Drop(ctx, "by_category"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rollups().Query(ctx, "by_category", rollups.Query{}); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("groups of a dropped rollup: %v", err)
	}
}

// TestP04_P05_LiveService runs writers, readers, verifications, new definitions, rebuilds, a growth and a drop
// concurrently. Readers never go back in time, and every verification equals its recomputation.
func TestP04_P05_LiveService(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := openAt(t, t.TempDir(), &storage.Options{Cells: 3, Notice: time.Second}) // a growth starts while the others write
	defer func() { must(t, s.Close()) }()
	live(t, s, func(n int) rollup.Definition {
		d := byCategory
		if n%2 == 0 {
			d.Dimension = "region"
		}
		return d
	}, byCategory, bySource, byNumber)
}

// live runs everything concurrently for a while; next returns the definitions made during that time.
func live(t *testing.T, s *locus.DB, next func(n int) rollup.Definition, definitions ...rollup.Definition) {
	t.Helper()
	define(t, s, definitions...)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var work sync.WaitGroup
	var mu sync.Mutex
	newest := changelog.Watermark{}
	for seed := range uint64(3) {
		work.Go(func() {
			r := rand.New(rand.NewPCG(seed, 5))
			for ctx.Err() == nil {
				at := randomWrite(t, s, r)
				mu.Lock()
				newest = newest.Union(at)
				mu.Unlock()
			}
		})
	}
	for _, name := range []string{"by_category", "by_source", "by_number"} {
		work.Go(func() { readForward(ctx, t, s, name) })
		work.Go(func() {
			for ctx.Err() == nil {
				wantTrue(t, s, name)
			}
		})
	}
	work.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			define(t, s, next(n))
			if _, err := s.Rollups().Rebuild(t.Context(), "by_source"); err != nil {
				t.Error(err)
			}
			if n == 3 {
				if err := s.Cells().Grow(t.Context(), cell.Growth{Cells: 9}, func(cell.Progress) {}); err != nil {
					t.Error(err)
				}
			}
			served(ctx, s, "by_category", "by_source")
		}
	})
	work.Wait()
	for _, name := range []string{"by_category", "by_source", "by_number"} {
		a := latest(t, s, name)
		mu.Lock()
		if !a.Watermark.Contains(newest) {
			t.Errorf("the latest watermark is %v, and writes went up to %v", a.Watermark, newest)
		}
		mu.Unlock()
		wantTrue(t, s, name)
	}
	served(t.Context(), s, "by_category", "by_source", "by_number")
}

// served waits until no generation of the rollups is being built.
func served(ctx context.Context, s *locus.DB, names ...string) {
	for ctx.Err() == nil {
		all, err := s.Rollups().List(ctx)
		if err == nil && !slices.ContainsFunc(all, func(r rollups.Status) bool { return slices.Contains(names, r.Name) && r.Building != 0 }) {
			return
		}
		engine.Sleep(ctx, pace, nil)
	}
}

// pace is the pause of clients between requests, so that they leave processor time to the work that runs at the same
// time.
const pace = 10 * time.Millisecond

// readForward reads a rollup repeatedly: watermarks must not decrease.
func readForward(ctx context.Context, t *testing.T, s *locus.DB, name string) {
	last := changelog.Watermark{}
	for ctx.Err() == nil {
		a, err := s.Rollups().Query(t.Context(), name, rollups.Query{Read: rollups.Read{Patience: patience(t)}, Limit: 1000})
		if err != nil {
			t.Error(err)
			return
		}
		if !a.Watermark.Contains(last) {
			t.Errorf("rollup %s went from %v back to %v", name, last, a.Watermark)
		}
		last = a.Watermark
		engine.Sleep(ctx, pace, nil)
	}
}

// randomWrite puts or deletes some of a few places that are similar enough to merge and split.
func randomWrite(t *testing.T, s *locus.DB, r *rand.Rand) changelog.Watermark {
	words := []string{"Velvet Quill Books", "Zephyr Trampolines", "Basalt Forge", "Quill Dental"}
	if r.IntN(4) == 0 {
		ref := entity.Ref{Source: string(rune('a' + r.IntN(3))), Key: fmt.Sprint(r.IntN(20))}
		done, err := s.Records().Delete(t.Context(), []entity.Ref{ref})
		if err != nil {
			t.Error(err)
			return nil
		}
		return done[0].Watermark
	}
	puts := make([]records.Input, 1+r.IntN(5))
	for i := range puts {
		n := r.IntN(len(words))
		puts[i] = record(string(rune('a'+r.IntN(3))), fmt.Sprint(r.IntN(20)), words[n],
			fmt.Sprintf("415-555-23%02d", n*10+r.IntN(3)), fmt.Sprintf("%d Oak Ave", r.IntN(3)+1))
		a := puts[i].Attributes
		a["city"], a["postcode"] = []string{fmt.Sprint("City ", r.IntN(3))}, []string{fmt.Sprint(90000 + r.IntN(9))}
		for c := range r.IntN(3) {
			a["category"] = append(a["category"], fmt.Sprint("category ", (n+c*r.IntN(3))%4))
		}
	}
	done, err := s.Records().Put(t.Context(), puts)
	if err != nil {
		t.Error(err)
		return nil
	}
	at := changelog.Watermark{}
	for _, d := range done {
		if d.Err != nil {
			t.Error(d.Err)
		}
		at = at.Union(d.Watermark)
	}
	return at
}

// A definition that cannot be built leaves the active one unchanged, and reports why.
func TestRollup_ADefinitionThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := open(t, t.TempDir(), 1)
	t.Cleanup(func() { must(t, s.Close()) })
	chain := make([]records.Input, 1001) // a group has at most 1,000 values of the dimension in a cell
	for i := range chain {
		chain[i] = place(fmt.Sprint(i), "Zephyr Trampolines", fmt.Sprint("category ", i), fmt.Sprint("City ", i))
	}
	for some := range slices.Chunk(chain, 250) {
		put(t, s, some...)
	}
	define(t, s, byCategory)
	latest(t, s, "by_category")
	byName := byCategory
	byName.Group = []string{"name"}
	define(t, s, byName)
	for {
		st, err := s.Rollups().Get(t.Context(), "by_category")
		if err != nil {
			t.Fatal(err)
		}
		if st.Trouble == "" && st.Building != 0 {
			continue
		}
		if st.Building == 0 || st.State != rollups.Following || st.Generation != 1 {
			t.Errorf("status is %+v", st)
		}
		break
	}
	if a := latest(t, s, "by_category"); a.Generation != 1 || len(a.Groups) == 0 {
		t.Errorf("generation %d has %d groups", a.Generation, len(a.Groups))
	}
	wantTrue(t, s, "by_category")
	define(t, s, byCategory)
	served(t.Context(), s, "by_category")
	wantTrue(t, s, "by_category")
}

// TestLimits defines as many rollups and kinds as there may be, and one more of each.
func TestLimits(t *testing.T) {
	t.Parallel()
	s, err := locus.Open(t.Context(), t.TempDir(),
		&locus.Options{Storage: storage.Options{Cells: 1, Scratch: true}, MaxRollups: 2, MaxKinds: len(match.Kinds()) + 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	define(t, s, byCategory, bySource)
	if _, _, err := s.Rollups().Define(t.Context(), byNumber); !errors.Is(err, locus.ErrInvalid) || !strings.Contains(err.Error(), "there are 2 rollups") {
		t.Errorf("a third one: %v", err)
	}
	other := bySource
	other.Dimension = ""
	define(t, s, other) // a change no longer touches any group
	if err := s.Rollups().Drop(t.Context(), byCategory.Name); err != nil {
		t.Fatal(err)
	}
	define(t, s, byNumber)
	for i, name := range []string{"ship", "boat"} {
		kind := *match.Kinds()[0]
		kind.Kind = name
		_, err := s.Kinds().Create(t.Context(), &kind)
		if refused := errors.Is(err, locus.ErrInvalid) && strings.Contains(err.Error(), "kinds cannot be dropped"); refused != (i > 0) || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
