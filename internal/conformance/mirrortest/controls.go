// SPDX-License-Identifier: Apache-2.0

package mirrortest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

func controls(t tester, target mirror.Target) []mirror.Control {
	t.Helper()
	list, err := target.Controls(context.Background())
	if err != nil {
		t.Fatalf("controls: %v", err)
	}
	slices.SortFunc(list, func(a, b mirror.Control) int { return a.Cell.Compare(b.Cell) })
	return list
}

func putControl(t tester, target mirror.Target, was, is mirror.Control, want bool) {
	t.Helper()
	if ok, err := target.PutControl(context.Background(), was, is); err != nil || ok != want {
		t.Fatalf("control document %+v in the place of %+v: %v, %v", is, was, ok, err)
	}
}

func sampleControl(index uint32) mirror.Control {
	return mirror.Control{
		Cell: cell.ID{Gen: 3, Index: index}, Fill: "one", After: locality.Max(), Filled: true,
		Count: math.MaxInt64, At: math.MaxInt64, Time: time.UnixMilli(1_700_000_000_123).UTC(),
		Settling: []locality.ID{idOf(1, 1), idOf(2, 1)}, Version: 1,
	}
}

func controlsComeBackWhole(t tester, target mirror.Target) {
	if got := controls(t, target); len(got) != 0 {
		t.Fatalf("controls of nothing: %+v", got)
	}
	want := []mirror.Control{{Fill: "two", Version: 1, Time: time.UnixMilli(0).UTC()}, sampleControl(4096)}
	putControl(t, target, mirror.Control{}, want[1], true)
	putControl(t, target, mirror.Control{}, want[0], true)
	got := controls(t, target)
	if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)); diff != "" {
		t.Fatalf("controls (-want +got):\n%s", diff)
	}
}

func lateControlsAreRefused(t tester, target mirror.Target) {
	first := sampleControl(0)
	second, third, other := first, first, first
	second.Version, second.At = 2, 5
	third.Version = 3
	other.Fill, other.Version = "another filling", 1
	putControl(t, target, mirror.Control{}, first, true)
	putControl(t, target, mirror.Control{}, other, false)
	putControl(t, target, other, second, false)
	putControl(t, target, first, second, true)
	putControl(t, target, first, second, false)
	if got := controls(t, target); len(got) != 1 || got[0].At != 5 {
		t.Fatalf("controls %+v", got)
	}
	putControl(t, target, second, other, true)
	putControl(t, target, second, third, false)
}

func sampleFill(name string) mirror.Fill {
	return mirror.Fill{
		Name: name, Installation: "map", Format: 7, Begun: time.UnixMilli(1_700_000_000_123).UTC(),
		From: map[cell.ID]changelog.Seq{{}: 0, {Gen: 1, Index: 4095}: math.MaxInt64, {Gen: 12, Index: 3}: 1},
	}
}

// wantFill fails unless the fill is this one.
func wantFill(t tester, target mirror.Target, want mirror.Fill) {
	t.Helper()
	got, err := target.Fill(context.Background())
	if err != nil {
		t.Fatalf("fill: %v", err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("fill (-want +got):\n%s", diff)
	}
}

func putFill(t tester, target mirror.Target, was, is mirror.Fill, want bool) {
	t.Helper()
	if ok, err := target.PutFill(context.Background(), was, is); err != nil || ok != want {
		t.Fatalf("fill %s in the place of %q: %v, %v", is.Name, was.Name, ok, err)
	}
}

func fillComesBackWhole(t tester, target mirror.Target) {
	wantFill(t, target, mirror.Fill{})
	putFill(t, target, mirror.Fill{}, sampleFill("one"), true)
	wantFill(t, target, sampleFill("one"))
	if got := controls(t, target); len(got) != 0 {
		t.Fatalf("a fill is among the controls: %+v", got)
	}
}

func lateFillsAreRefused(t tester, target mirror.Target) {
	one, two := sampleFill("one"), sampleFill("two")
	two.From = map[cell.ID]changelog.Seq{{Gen: 1}: 5}
	putFill(t, target, one, two, false)
	putFill(t, target, mirror.Fill{}, one, true)
	putFill(t, target, mirror.Fill{}, two, false)
	putFill(t, target, two, two, false)
	wantFill(t, target, one)
	putFill(t, target, one, two, true)
	putFill(t, target, one, two, false)
	wantFill(t, target, two)
}
