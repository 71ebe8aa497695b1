// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

func open(t testing.TB, dir string, cells int) *locus.DB {
	t.Helper()
	_, s := openBoth(t, dir, cells)
	return s
}

func openBoth(t testing.TB, dir string, cells int) (*storage.Cells, *locus.DB) {
	t.Helper()
	if !strings.Contains(dir, "://") { // a directory, which need not be created cell by cell
		if err := blank.Fill(dir, cells); err != nil {
			t.Fatal(err)
		}
	}
	c, err := storage.Open(t.Context(), dir, &storage.Options{Cells: cells, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := locus.OpenCells(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func fresh(t testing.TB) *locus.DB {
	s := open(t, t.TempDir(), 3)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func record(source, key, name, phone, address string) records.Input {
	a := entity.Attributes{"name": {name}}
	if phone != "" {
		a["phones"] = []string{phone}
	}
	if address != "" {
		a["address"] = []string{address}
	}
	return records.Input{Ref: entity.Ref{Source: source, Key: key}, Attributes: a}
}

func put(t testing.TB, s *locus.DB, puts ...records.Input) []records.Result {
	t.Helper()
	results, err := s.Records().Put(t.Context(), puts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatalf("%v: %v", r.Ref, r.Err)
		}
	}
	return results
}

func find(t testing.TB, s *locus.DB, id locality.ID) *entities.Entity {
	t.Helper()
	e, err := s.Entities().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func remove(t testing.TB, s *locus.DB, refs ...entity.Ref) {
	t.Helper()
	results, err := s.Records().Delete(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatalf("%v: %v", r.Ref, r.Err)
		}
	}
}

var (
	// left and right have nothing in common; bridge is the same thing as either.
	left   = record("a", "left", "Velvet Quill Books", "415-555-2300", "12 Oak Ave")
	right  = record("b", "right", "Velvet Quill Books", "", "99 Mill Lane, Suite 4")
	bridge = record("c", "bridge", "Velvet Quill Books", "415-555-2300", "99 Mill Lane, Suite 4")
)

func TestP09_AnIdLeadsToItsEntityForEver(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	a := put(t, s, record("a", "1", "Zephyr Trampolines", "415-555-2300", "12 Oak Ave"))[0]
	b := put(t, s, record("b", "1", "Quill Dental", "415-555-7777", "3 Elm St"))[0]
	if a.Entity == b.Entity {
		t.Fatal("two things are one")
	}
	// b now matches a.
	merged := put(t, s, record("b", "1", "Zephyr Trampolines", "415-555-2300", "12 Oak Avenue"))[0]
	if merged.Entity != a.Entity {
		t.Fatalf("the record is in %v, want %v", merged.Entity, a.Entity)
	}
	e := find(t, s, b.Entity)
	if e.ID != a.Entity || !e.Redirected() || e.Requested != b.Entity || len(e.Members) != 2 {
		t.Fatalf("%v leads to %+v", b.Entity, e)
	}
	// b no longer matches: its id is restored.
	if again := put(t, s, record("b", "1", "Quill Dental", "415-555-7777", "3 Elm St"))[0]; again.Entity != b.Entity {
		t.Fatalf("after the unmerge the record is in %v, want %v", again.Entity, b.Entity)
	}
	if e := find(t, s, b.Entity); e.Redirected() || len(e.Members) != 1 {
		t.Fatalf("%v leads to %+v", b.Entity, e)
	}
	// The anchor is deleted: the birth id of the next record takes over, and the old id redirects to it.
	put(t, s, record("b", "1", "Zephyr Trampolines", "415-555-2300", "12 Oak Avenue"))
	remove(t, s, a.Ref)
	if e := find(t, s, a.Entity); e.ID != b.Entity || len(e.Members) != 1 {
		t.Fatalf("%v leads to %+v", a.Entity, e)
	}
	remove(t, s, b.Ref)
	for _, id := range []locality.ID{a.Entity, b.Entity} {
		if _, err := s.Entities().Get(t.Context(), id); !errors.Is(err, entity.ErrErased) {
			t.Errorf("%v: %v, want erased", id, err)
		}
	}
	if _, err := s.Records().Get(t.Context(), a.Ref); !errors.Is(err, entity.ErrErased) {
		t.Errorf("record: %v, want erased", err)
	}
	// The record returns: same puid, same birth id, later version.
	back := put(t, s, record("a", "1", "Zephyr Trampolines", "415-555-2300", "12 Oak Ave"))[0]
	if back.PUID != a.PUID || back.Entity != a.Entity || back.Version <= a.Version {
		t.Errorf("came back as %+v, was %+v", back, a)
	}
	if e := find(t, s, a.Entity); e.ID != a.Entity || len(e.Members) != 1 {
		t.Errorf("%v leads to %+v", a.Entity, e)
	}
	if _, err := s.Entities().Get(t.Context(), locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2")); !errors.Is(err, entity.ErrNotFound) {
		t.Errorf("an id of others: %v, want not found", err)
	}
}

func TestService_ABridgeJoinsAndItsDeletionParts(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	l, r := put(t, s, left)[0], put(t, s, right)[0]
	if l.Entity == r.Entity {
		t.Skip("the two are one without the bridge")
	}
	put(t, s, bridge)
	if e := find(t, s, r.Entity); e.ID != l.Entity || len(e.Members) != 3 {
		t.Fatalf("the bridge joined %+v", e)
	}
	remove(t, s, bridge.Ref)
	for _, res := range []records.Result{l, r} {
		if e := find(t, s, res.Entity); e.ID != res.Entity || len(e.Members) != 1 {
			t.Errorf("%v leads to %+v", res.Entity, e)
		}
	}
}

func TestService_RefusesAndHarmsNoOther(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	good := record("a", "good", "Quill Dental", "", "")
	for name, c := range map[string]struct {
		put     records.Input
		pointer string
	}{
		"source":     {record("A b", "1", "x", "", ""), "/source"},
		"empty key":  {record("a", "", "x", "", ""), "/key"},
		"space":      {record("a", " 1", "x", "", ""), "/key"},
		"zero width": {record("a", "a\u200db", "x", "", ""), "/key"},
		"long key":   {record("a", strings.Repeat("k", records.MaxKey+1), "x", "", ""), "/key"},
		"no name":    {records.Input{Ref: entity.Ref{Source: "a", Key: "1"}}, "/attributes"},
		"blank name": {record("a", "1", " \t", "", ""), "/attributes"},
		"control":    {record("a", "1", "a\x00b", "", ""), "/attributes/name"},
		"unknown": {records.Input{Ref: entity.Ref{Source: "a", Key: "1"},
			Attributes: entity.Attributes{"name": {"x"}, "phnoes": {"1"}}}, "/attributes/phnoes"},
		"in future": {records.Input{Ref: entity.Ref{Source: "a", Key: "1"}, Observed: time.Now().Add(time.Hour),
			Attributes: entity.Attributes{"name": {"x"}}}, "/observed_at"},
		"before 1970": {records.Input{Ref: entity.Ref{Source: "a", Key: "1"}, Observed: time.Unix(-1, 0),
			Attributes: entity.Attributes{"name": {"x"}}}, "/observed_at"},
		"large record": {records.Input{Ref: entity.Ref{Source: "a", Key: "1"}, Attributes: entity.Attributes{"name": {"x"}, "phones": slices.Repeat([]string{strings.Repeat("1", 3000)}, 32)}}, "/attributes"},
	} {
		t.Run(name, func(t *testing.T) {
			results, err := s.Records().Put(t.Context(), []records.Input{c.put, good})
			if err != nil {
				t.Fatal(err)
			}
			var invalid *locus.InvalidError
			if !errors.As(results[0].Err, &invalid) || !strings.HasPrefix(invalid.Problems[0].Pointer, c.pointer) {
				t.Errorf("refused with %v, want %s", results[0].Err, c.pointer)
			}
			if results[1].Err != nil {
				t.Errorf("the good one: %v", results[1].Err)
			}
			if diff := cmp.Diff(invalid.Problems, records.Check(s.Kinds().Schema(""), time.Now(), c.put)); diff != "" {
				t.Errorf("asked before, -Put +Check:\n%s", diff)
			}
		})
	}
	if problems := records.Check(s.Kinds().Schema(""), time.Now(), good); problems != nil {
		t.Errorf("the good one, asked before: %v", problems)
	}
	longest := record("a", strings.Repeat("k", records.MaxKey), "x", "", "")
	put(t, s, longest)
	got, err := s.Records().Get(t.Context(), longest.Ref)
	if err != nil || got.Key != longest.Key {
		t.Errorf("the longest key: %v", err)
	}
}

func TestService_AnOlderObservationDoesNotWin(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	now := time.Now().Truncate(time.Millisecond)
	newer, older := record("a", "1", "New Name", "", ""), record("a", "1", "Old Name", "", "")
	newer.Observed, older.Observed = now, now.Add(-time.Hour)
	put(t, s, newer)
	if r := put(t, s, older)[0]; r.Outcome != resolve.Stale || r.Version != 1 {
		t.Errorf("%+v", r)
	}
	rec, err := s.Records().Get(t.Context(), newer.Ref)
	if err != nil || rec.Attributes["name"][0] != "New Name" || !rec.Observed.Equal(now) {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestService_ListsAndSearches(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var puts []records.Input
	for i := range 57 {
		puts = append(puts, record([]string{"a", "b"}[i%2], fmt.Sprint(i),
			fmt.Sprintf("Tidewater%c%c Yoga", 'a'+i%26, 'a'+i/26), fmt.Sprintf("415-555-%04d", i), ""))
	}
	put(t, s, puts...)
	seen := map[string]bool{}
	for after := entity.PUID(0); ; {
		page, next, err := s.Records().List(t.Context(), records.Query{After: after, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range page {
			seen[rec.String()] = true
		}
		if next == 0 {
			break
		}
		after = next
	}
	if len(seen) != len(puts) {
		t.Errorf("listed %d records of %d", len(seen), len(puts))
	}
	count := func(q entities.Query) (n int) {
		t.Helper()
		q.Limit = 7
		for {
			page, next, err := s.Entities().Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			n += len(page)
			if next == (entity.Place{}) {
				return n
			}
			q.After = next
		}
	}
	for want, q := range map[int]entities.Query{
		len(puts): {},
		57 - 0*1:  {Text: "yoga"},
		26 - 0:    {Text: "yoga tide"},
		1:         {Text: "TIDEWATERCB"},
		0:         {Text: "nobody"},
	} {
		if q.Text == "yoga tide" {
			want = 57
		}
		if got := count(q); got != want {
			t.Errorf("%+v: %d entities, want %d", q, got, want)
		}
	}
	if got := count(entities.Query{Where: []entities.Filter{{Attribute: "phones", Value: "(415) 555 0031"}}}); got != 1 {
		t.Errorf("by phone: %d, want 1", got)
	}
	if got := count(entities.Query{Text: "%"}); got != 0 {
		t.Errorf("%% is no wildcard: %d", got)
	}
	for _, q := range []entities.Query{
		{Limit: 1001},
		{Limit: -1},
		{Where: []entities.Filter{{Attribute: "nmae", Value: "x"}}},
		{Has: []string{"x"}},
		{Without: []string{""}},
		{Kind: "x"},
		{Order: "worst"},
		{Where: []entities.Filter{{Attribute: "latitude", Value: "37"}}},
		{Has: slices.Repeat([]string{"name"}, entities.MaxFilters+1)},
		{Text: strings.Repeat("q", 300)},
	} {
		var invalid *locus.InvalidError
		if _, _, err := s.Entities().Search(t.Context(), q); !errors.As(err, &invalid) {
			t.Errorf("%+v: %v, want refused", q, err)
		}
	}
}

// sides compares an explanation with the names of its records: the later one contains "Inc" and has its number in
// parentheses.
func sides(t *testing.T, a, b entity.Ref, e match.Explanation) {
	t.Helper()
	if e.A != match.NodeKey(a) || e.B != match.NodeKey(b) {
		t.Errorf("%v and %v are explained as %v and %v", a, b, e.A, e.B)
	}
	for _, line := range e.Lines {
		if line.Attribute != "phone" {
			continue
		}
		for ref, values := range map[entity.Ref][]string{a: line.A, b: line.B} {
			late := ref.Source == "b" || ref.Source == "y"
			if len(values) != 1 || strings.HasPrefix(values[0], "(") != late {
				t.Errorf("%v says %q", ref, values)
			}
		}
		return
	}
	t.Errorf("no phone in %+v", e.Lines)
}

func TestService_Explains(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	a := put(t, s, record("a", "1", "Zephyr Trampolines", "415-555-2300", "12 Oak Ave"))[0]
	put(t, s, record("b", "1", "Zephyr Trampolines Inc", "(415) 555-2300", "12 Oak Avenue"),
		record("c", "1", "Quill Dental", "", ""))
	why, err := s.Explain().Why(t.Context(), a.Entity)
	if err != nil || len(why.Joins) != 1 || len(why.Records) != 2 {
		t.Fatalf("%+v, %v", why, err)
	}
	sum := why.Joins[0].Explanation.Weight
	for _, line := range why.Joins[0].Explanation.Lines {
		sum -= line.Weight
	}
	if sum != 0 {
		t.Errorf("the waterfall is off by %v", sum)
	}
	// Each side of an explanation belongs to the record named first or second, in either order.
	for _, pair := range [][2]string{{"a:1", "b:1"}, {"b:1", "a:1"}} {
		w, err := s.Explain().WhyNot(t.Context(), pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		sides(t, w.A, w.B, w.Explanation)
		if w.A.String() != pair[0] {
			t.Errorf("asked for %v, answered for %v first", pair, w.A)
		}
	}
	late := put(t, s, record("z", "1", "Umbra Planetarium", "415-555-7777", "9 Elm Ave"))[0]
	put(t, s, record("y", "1", "Umbra Planetarium Inc", "(415) 555-7777", "9 Elm Avenue"))
	turned, err := s.Explain().Why(t.Context(), late.Entity)
	if err != nil || len(turned.Joins) != 1 || turned.Joins[0].A.Source != "y" {
		t.Fatalf("%+v, %v", turned, err)
	}
	for _, j := range append(why.Joins, turned.Joins...) {
		sides(t, j.A, j.B, j.Explanation)
	}
	for b, reason := range map[string]string{"b:1": "same_entity", "c:1": "no_common_blocking_key"} {
		w, err := s.Explain().WhyNot(t.Context(), "a:1", b)
		if err != nil || w.Reason != reason {
			t.Errorf("a:1 and %s: %+v, %v, want %s", b, w, err, reason)
		}
	}
	if e, err := s.Entities().Find(t.Context(), "b:1"); err != nil || e.Redirected() {
		t.Errorf("a key was redirected: %+v, %v", e, err)
	}
	for _, address := range []string{"a:1", a.PUID.String(), a.Entity.String()} {
		route, err := s.Explain().Route(t.Context(), address)
		if err != nil || !route.Found || *route.Record != a.PUID || *route.Entity != a.Entity {
			t.Errorf("route %s: %+v, %v", address, route, err)
		}
		if e, err := s.Entities().Find(t.Context(), address); err != nil || e.ID != a.Entity || e.Redirected() {
			t.Errorf("find %s: %+v, %v", address, e, err)
		}
	}
	if route, err := s.Explain().Route(t.Context(), "z:unknown"); err != nil || route.Found || route.Key == nil {
		t.Errorf("%+v, %v", route, err)
	}
}

func TestService_RefusesIdsOfOthers(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, record("a", "1", "Quill Dental", "", ""))
	for _, text := range []string{
		"c8c9cef9-7a7f-4d53-7a50-013e4e2afbde", "c8c9cef9-7a7f-7d53-7a50-013e4e2afbde",
		"C8C9CEF9-7A7F-CD53-7A50-013E4E2AFBDE",
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
	} {
		id := locality.MustParse(text)
		for question, ask := range map[string]func() error{
			"entity /id":     func() error { _, err := s.Entities().Get(t.Context(), id); return err },
			"why /id":        func() error { _, err := s.Explain().Why(t.Context(), id); return err },
			"find /address":  func() error { _, err := s.Entities().Find(t.Context(), text); return err },
			"route /address": func() error { _, err := s.Explain().Route(t.Context(), text); return err },
			"why not /a":     func() error { _, err := s.Explain().WhyNot(t.Context(), text, "a:1"); return err },
			"why not /b":     func() error { _, err := s.Explain().WhyNot(t.Context(), "a:1", text); return err },
		} {
			var invalid *locus.InvalidError
			if err := ask(); !errors.As(err, &invalid) || !strings.HasSuffix(question, " "+invalid.Problems[0].Pointer) {
				t.Errorf("%s, %s: %v, want refused", text, question, err)
			}
		}
	}
	for pointer, pair := range map[string][2]string{"/a": {"UPPER:1", "a:1"}, "/b": {"a:1", "x"}} {
		var invalid *locus.InvalidError
		if _, err := s.Explain().WhyNot(t.Context(), pair[0], pair[1]); !errors.As(err, &invalid) || invalid.Problems[0].Pointer != pointer {
			t.Errorf("%v: %v, want %s refused", pair, err, pointer)
		}
	}
}

// TestP10_TheLogNamesNoKey runs every operation on records, and every failure, at log level debug.
func TestP10_TheLogNamesNoKey(t *testing.T) {
	t.Parallel()
	cells, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 2, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	var logs strings.Builder
	s, err := locus.OpenCells(t.Context(), cells, &locus.Options{
		Logger: slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	canary := record("a", "canary", "Canary Dental", "", "")
	e := put(t, s, canary)[0]
	work := func() {
		_, _ = s.Records().Put(t.Context(), []records.Input{canary})
		_, _ = s.Records().Get(t.Context(), canary.Ref)
		_, _ = s.Entities().Find(t.Context(), canary.String())
		_, _ = s.Explain().Route(t.Context(), canary.String())
		_, _ = s.Explain().Why(t.Context(), e.Entity)
		_, _ = s.Explain().WhyNot(t.Context(), canary.String(), canary.String())
		_, _ = s.Cells().Status(t.Context())
		_, _ = s.Records().Delete(t.Context(), []entity.Ref{canary.Ref})
		_, _ = s.Records().Delete(t.Context(), []entity.Ref{canary.Ref})
	}
	work()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	work()
	if got := strings.ToLower(logs.String()); !strings.Contains(got, "batch resolved") || strings.Contains(got, "canary") {
		t.Errorf("the log is\n%s", got)
	}
}

func TestP01_WhatIsAcknowledgedIsThereAfterReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, 3)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 10 {
				put(t, s, record(fmt.Sprint("s", w), fmt.Sprint(i), fmt.Sprintf("Shop %c%c%c", 'a'+w, 'k'+i, 'q'),
					fmt.Sprintf("415-555-%02d%02d", w, i), ""))
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Records().Put(t.Context(), []records.Input{left}); !errors.Is(err, locus.ErrClosed) {
		t.Errorf("put after close: %v", err)
	}
	for name, read := range map[string]func() error{
		"get":     func() error { _, err := s.Records().Get(t.Context(), left.Ref); return err },
		"search":  func() error { _, _, err := s.Entities().Search(t.Context(), entities.Query{Text: "shop"}); return err },
		"changes": func() error { _, _, err := s.Changes().Read(t.Context(), changes.Query{}); return err },
	} {
		if err := read(); !errors.Is(err, locus.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
	s = open(t, dir, 0)
	defer s.Close()
	status, err := s.Cells().Status(t.Context())
	if err != nil || !status.Ready || status.Redo != 0 || status.Counts.Records != 80 {
		t.Errorf("%+v, %v", status, err)
	}
	for w := range 8 {
		for i := range 10 {
			if _, err := s.Records().Get(t.Context(), entity.Ref{Source: fmt.Sprint("s", w), Key: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		}
	}
}

// muted wraps cells in files; one of them is unavailable while it is muted.
type muted struct {
	storage.Driver
	mute atomic.Bool
	lose atomic.Bool // loses the replies of updates
}

var (
	errMute = fmt.Errorf("%w: no answer", cell.ErrUnavailable)
	errLost = fmt.Errorf("%w: no answer", cell.ErrCommitUnknown)
)

// openMuted opens three cells in files; g0-1 can be muted.
func openMuted(t *testing.T, alone bool) (*storage.Cells, *muted) {
	t.Helper()
	return openMutedAt(t, t.TempDir(), "g0-1", alone)
}

// openMutedAt opens three cells in the files of a directory; one can be muted.
func openMutedAt(t *testing.T, dir, which string, alone bool) (*storage.Cells, *muted) {
	t.Helper()
	opts, m := mutedAt(dir, which, alone)
	cells, err := cell.OpenCells(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return cells, m
}

func mutedAt(dir, which string, alone bool) (cell.CellsOptions[storage.Tx], *muted) {
	m := &muted{}
	files := "sqlite:" + filepath.Join(dir, "g{g}-{i}.db")
	return cell.CellsOptions[storage.Tx]{
		Authority: strings.NewReplacer("{g}", "0", "{i}", "0").Replace(files), Alone: alone,
		New: &cell.Spec{Generations: []cell.Generation{{Cells: 3, URLs: []string{files}}}},
		Driver: func(url string) (storage.Driver, error) {
			driver, err := storage.DriverOf(url)
			if err != nil || !strings.HasSuffix(url, which+".db") {
				return driver, err
			}
			m.Driver = driver
			return m, nil
		},
	}, m
}

func (m *muted) Dial(ctx context.Context, url string, create bool) (cell.Opened[storage.Tx], error) {
	c, err := m.Driver.Dial(ctx, url, create)
	return mutedCell{c, m}, err
}

type mutedCell struct {
	cell.Opened[storage.Tx]
	*muted
}

func (c mutedCell) ask(do func(context.Context, func(storage.Tx) error) error, ctx context.Context, fn func(storage.Tx) error) error {
	if c.mute.Load() {
		return errMute
	}
	return do(ctx, fn)
}

func (c mutedCell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	if err := c.ask(c.Opened.Update, ctx, fn); err != nil || !c.lose.Load() {
		return err
	}
	return errLost
}

func (c mutedCell) View(ctx context.Context, fn func(storage.Tx) error) error {
	return c.ask(c.Opened.View, ctx, fn)
}

func (c mutedCell) Read(ctx context.Context, fn func(storage.Tx) error) error {
	return c.ask(c.Opened.Read, ctx, fn)
}

func (c mutedCell) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	return c.ask(c.Opened.Exclusive, ctx, fn)
}

func (c mutedCell) Stats(ctx context.Context) (cell.Stats, error) {
	if c.mute.Load() {
		return cell.Stats{}, errMute
	}
	return c.Opened.Stats(ctx)
}

func TestService_StatusReportsTheOtherCells(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{true, false} {
		cells, muted := openMuted(t, alone)
		s, err := locus.OpenCells(t.Context(), cells, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i := range 30 {
			put(t, s, record("a", fmt.Sprint(i), fmt.Sprintf("Shop %c%c", 'a'+i, 'k'), "", ""))
		}
		muted.mute.Store(true)
		status, err := s.Cells().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.Ready == alone || status.Reason != "cell g0-1 is unavailable" || len(status.Cells) != 3 {
			t.Errorf("%+v", status)
		}
		if want := []cell.ID{{Index: 1}}; !slices.Equal(status.Down, want) {
			t.Errorf("the sums leave out %v, want %v said", status.Down, want)
		}
		if status.Counts.Records == 0 {
			t.Errorf("the sums of the cells that answer are %+v", status.Counts)
		}
		for i, c := range status.Cells {
			if (c.Counts.Records == 0) != (i == 1) || c.Cell.Index != uint32(i) || c.URL == "" {
				t.Errorf("cell %d is %+v", i, c)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Cells().Status(ctx); !errors.Is(err, locus.ErrUnavailable) {
			t.Errorf("status nobody waits for: %v, want ErrUnavailable", err)
		}
	}
}

// Data in an unreachable cell is unavailable, never "not found"; all else works.
func TestP06_ACellThatIsDownIsNeverNotFound(t *testing.T) {
	t.Parallel()
	cells, muted := openMuted(t, false)
	s, err := locus.OpenCells(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	isDown := func(ref entity.Ref) bool {
		return s.Cells().Map().Home(s.Cells().Map().KeyOf(ref.Source, ref.Key).Position()).Index == 1
	}
	shop := func(i int) records.Input {
		return record("a", fmt.Sprint(i), fmt.Sprintf("Shop %c%c", 'a'+i%26, 'a'+i/26), "", "")
	}
	ids := map[entity.Ref]locality.ID{}
	for i := range 20 {
		ids[shop(i).Ref] = put(t, s, shop(i))[0].Entity
	}
	muted.mute.Store(true)
	pending := 0
	for i := range 40 {
		ref := shop(i).Ref
		_, err := s.Records().Get(t.Context(), ref)
		results, errPut := s.Records().Put(t.Context(), []records.Input{shop(i)})
		if errPut != nil {
			t.Fatal(errPut)
		}
		if isDown(ref) {
			if !errors.Is(err, locus.ErrUnavailable) || !errors.Is(results[0].Err, locus.ErrUnavailable) {
				t.Errorf("%v is in the cell that is down: read %v, put %v", ref, err, results[0].Err)
			}
			if id, was := ids[ref]; was {
				if _, err := s.Entities().Get(t.Context(), id); !errors.Is(err, locus.ErrUnavailable) {
					t.Errorf("entity %v is in the cell that is down: %v", id, err)
				}
			}
			continue
		}
		if wantNot := i >= 20; errors.Is(err, entity.ErrNotFound) != wantNot || results[0].Err != nil {
			t.Errorf("%v is in another cell: read %v, put %v", ref, err, results[0].Err)
		}
		if results[0].Pending {
			pending++
		}
	}
	if pending == 0 {
		t.Error("no record had to wait: the test does not reach what it is for")
	}
	muted.mute.Store(false)
	for i := range 40 {
		put(t, s, shop(i))
		if e, err := s.Entities().Find(t.Context(), shop(i).String()); err != nil || ids[shop(i).Ref] != (locality.ID{}) && e.ID != ids[shop(i).Ref] {
			t.Errorf("%v afterwards: %v", shop(i).Ref, err)
		}
	}
}
