// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
)

// A custom follower of the feed computes the same counts as a rollup.
func TestChanges_AreWhatRollupsFollow(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := fresh(t)
	define(t, s, byCategory)
	latest(t, s, "by_category")
	counts := map[string]int{}
	var at changelog.Watermark
	follow := func() {
		for {
			changes, next, err := s.Changes().Read(t.Context(), changes.Query{After: at, Limit: 3})
			if err != nil {
				t.Fatal(err)
			}
			if at = next; len(changes) == 0 {
				return
			}
			for _, c := range changes {
				for im, n := range map[*changelog.Image]int{c.Was: -1, c.Is: 1} {
					if im != nil && !c.Kind.OfRecord() {
						for _, category := range im.Attributes["category"] {
							if counts[category] += n; counts[category] == 0 {
								delete(counts, category)
							}
						}
					}
				}
			}
		}
	}
	for i := range 12 {
		put(t, s, place(fmt.Sprint(i%7), fmt.Sprintf("Zephyr %d Quill%d", i%7, i%7*31), fmt.Sprint("category ", i%4),
			"Springfield"))
	}
	follow()
	remove(t, s, entity.Ref{Source: "crawl", Key: "2"}, entity.Ref{Source: "crawl", Key: "5"})
	follow()
	want := map[string]int{}
	for _, g := range latest(t, s, "by_category").Groups {
		want[g.Group[0]] = int(g.Total[0].N)
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("counts (-rollup +feed):\n%s", diff)
	}
	tail, err := s.Changes().Tail(t.Context(), nil)
	if err != nil || tail.String() != at.Union(tail).String() ||
		!at.Contains(changelog.Watermark{{Index: 1}: tail[cell.ID{Index: 1}]}) {
		t.Errorf("the feed ends at %v, the logs at %v, %v", at, tail, err)
	}
}

func TestChanges_Errors(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	done := put(t, s, place("1", "Zephyr Trampolines", "", ""), place("2", "Quill Dental", "", ""))
	list, next, err := s.Changes().Read(t.Context(), changes.Query{})
	if err != nil || len(list) != 4 || done[0].Watermark != nil {
		t.Fatalf("%d changes up to %v, %v; the puts are at %v, though no rollup counts", len(list), next, err,
			done[0].Watermark)
	}
	for _, c := range list {
		if c.Was != nil || c.Is != nil {
			t.Errorf("change %+v has images, and no rollup counts", c)
		}
	}
	at := list[0].Cell
	for name, c := range map[string]struct {
		q    changes.Query
		want error
	}{
		"a place of the future": {changes.Query{After: changelog.Watermark{at: 1 << 40}}, changelog.ErrTrimmed},
		"no such cell":          {changes.Query{Cells: []cell.ID{{Gen: 9}}}, cell.ErrNoCell},
	} {
		if _, _, err := s.Changes().Read(t.Context(), c.q); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var invalid *locus.InvalidError
	if _, _, err := s.Changes().Read(t.Context(), changes.Query{Limit: 1001}); !errors.As(err, &invalid) {
		t.Errorf("a limit of 1001: %v", err)
	}
}

// Changes that a restored cell skipped belong to a lost history.
func TestChanges_OfALostHistory(t *testing.T) {
	t.Parallel()
	cells, service := openBoth(t, t.TempDir(), 1)
	defer service.Close()
	define(t, service, byCategory)
	put(t, service, place("1", "Zephyr Trampolines", "sport", ""))
	latest(t, service, "by_category")
	tail, err := service.Changes().Tail(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	lost := changelog.Watermark{{}: tail[cell.ID{}] + 3}
	if err := cell.Reincarnate[storage.Tx](t.Context(), cells); err != nil {
		t.Fatal(err)
	}
	if a := latest(t, service, "by_category"); !a.Watermark.Contains(lost) || len(a.Groups) != 1 {
		t.Errorf("after the numbers that were passed over: %+v", a)
	}
	put(t, service, place("2", "Quill Dental", "", ""))
	if _, _, err := service.Changes().Read(t.Context(), changes.Query{After: lost}); !errors.Is(err, changelog.ErrTrimmed) {
		t.Errorf("a place that was lost: %v", err)
	}
	changes, _, err := service.Changes().Read(t.Context(), changes.Query{After: tail})
	if err != nil || len(changes) != 2 {
		t.Errorf("after a place that was kept: %d changes, %v", len(changes), err)
	}
}
