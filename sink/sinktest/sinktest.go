// SPDX-License-Identifier: Apache-2.0

// Package sinktest has the conformance suite of sink.Sink, and a target and a store in memory. An implementation
// calls Run from its own test with a function that opens an empty target.
package sinktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

// Target is an empty target with a way to look into it.
type Target struct {
	sink.Sink
	// Get returns the target's event of an ID, the zero Event if there is none. It may leave out At.
	Get func(ctx context.Context, id locality.ID) (sink.Event, error)
	// Reader reads the target, unless the Sink does. Nil if it cannot be read.
	Reader sink.Reader
}

// Run checks an implementation of sink.Sink. open is called once per case and registers its cleanup with t.Cleanup;
// cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Target) {
	t.Helper()
	cases.Run(t, open)
}

type tester = conformance.TB

var cases = conformance.Suite[Target]{
	{Name: "NothingIsThere", Run: nothingIsThere},
	{Name: "EventsComeBackWhole", Run: eventsComeBackWhole},
	{Name: "RepeatsChangeNothing", Run: repeatsChangeNothing},
	{Name: "LateEventsChangeNothing", Run: lateEventsChangeNothing},
	{Name: "ManyEvents", Run: manyEvents},
	{Name: "PositionsComeBackWhole", Run: positionsComeBackWhole},
	{Name: "FormerOwnersAreRefused", Run: formerOwnersAreRefused},
	{Name: "SweepDeletesTheRest", Run: sweepDeletesTheRest},
	{Name: "WhatWasDeliveredIsRead", Run: whatWasDeliveredIsRead},
}

// Rev returns the rev of the n-th event of an owner.
func Rev(token, n int64) int64 { return token<<40 + n }

func idOf(n int) locality.ID { return locality.ID{0: byte(n), 1: byte(n >> 8), 15: 1} }

func upsert(id locality.ID, rev int64, name string) sink.Event {
	return sink.Event{
		ID: id, Rev: rev, Op: sink.Upsert, Kind: "place", At: "g0-3:18", Records: []string{"crawl:a7", "osm:a:b/'\"$"},
		View: map[string]any{"name": name, "phones": []string{"+1 212 555 0100", "555\t0101"}},
	}
}

// keeps reports whether the target stores positions.
func keeps(t tester, s sink.Sink) bool {
	t.Helper()
	_, err := s.Position(context.Background())
	if err != nil && !errors.Is(err, sink.ErrNoPosition) {
		t.Fatal(err)
	}
	return err == nil
}

// position returns the position of a sink that is being filled, in the form that a batch for this target needs.
func position(t tester, s sink.Sink) *sink.Position {
	t.Helper()
	if !keeps(t, s) {
		return nil
	}
	begun := time.Date(2026, 11, 23, 1, 2, 3, 4_000_000, time.UTC)
	return &sink.Position{
		Installation: "7f3c", Token: 1 << 22, Begun: begun, Base: Rev(1, 1),
		Cells: map[cell.ID]sink.CellPosition{
			{}:                   {At: 1 << 60, Time: begun.Add(time.Second), Filled: true, Count: 12},
			{Gen: 1, Index: 300}: {At: 3, Time: begun, After: idOf(7), Count: 1 << 40},
		},
		Again: []locality.ID{idOf(1), idOf(2)},
	}
}

func deliver(t tester, s sink.Sink, token int64, events ...sink.Event) {
	t.Helper()
	if err := s.Deliver(context.Background(), sink.Batch{Token: token, Events: events, Position: position(t, s)}); err != nil {
		t.Fatal(err)
	}
}

func get(t tester, target Target, id locality.ID) sink.Event {
	t.Helper()
	e, err := target.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// has checks the target's event of an ID.
func has(t tester, target Target, want sink.Event) {
	t.Helper()
	got := get(t, target, want.ID)
	if got.At == "" {
		want.At = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the target has (-want +got)\n%s", diff)
	}
}

func nothingIsThere(t tester, target Target) {
	if at, err := target.Position(context.Background()); at.Installation != "" || err != nil && !errors.Is(err, sink.ErrNoPosition) {
		t.Errorf("an empty target is at %+v, %v", at, err)
	}
	if e := get(t, target, idOf(1)); e.Rev != 0 {
		t.Errorf("an empty target has %+v", e)
	}
	deliver(t, target, 1)
}

func eventsComeBackWhole(t tester, target Target) {
	events := []sink.Event{
		upsert(idOf(1), Rev(1, 1), "Joe's \"Diner\"\n寿 \\ <b>&amp; 𝄞"),
		{ID: idOf(2), Rev: Rev(1, 2), Op: sink.Redirect, Into: idOf(1), At: "g0-3:19"},
		{ID: idOf(3), Rev: Rev(1, 3), Op: sink.Delete, At: "g0-3:20"},
		upsert(idOf(4), Rev(1<<22, 1<<39), ""),
	}
	deliver(t, target, 1, events...)
	for _, e := range events {
		has(t, target, e)
	}
	// An ID changes its type of state.
	later := []sink.Event{
		{ID: idOf(1), Rev: Rev(2, 1), Op: sink.Redirect, Into: idOf(3), At: "g0-3:21"},
		upsert(idOf(2), Rev(2, 2), "was a redirect"),
		upsert(idOf(3), Rev(2, 3), "was deleted"),
	}
	deliver(t, target, 2, later...)
	for _, e := range later {
		has(t, target, e)
	}
}

func repeatsChangeNothing(t tester, target Target) {
	first, second := upsert(idOf(1), Rev(1, 1), "a"), upsert(idOf(2), Rev(1, 2), "b")
	for range 3 {
		deliver(t, target, 1, first, second)
	}
	has(t, target, first)
	has(t, target, second)
}

func lateEventsChangeNothing(t tester, target Target) {
	newest := upsert(idOf(1), Rev(2, 7), "newest")
	deliver(t, target, 2, newest)
	deliver(t, target, 2, upsert(idOf(1), Rev(2, 6), "older"), upsert(idOf(2), Rev(2, 8), "other"))
	has(t, target, newest)
	has(t, target, upsert(idOf(2), Rev(2, 8), "other"))
	deliver(t, target, 2, sink.Event{ID: idOf(1), Rev: Rev(1, 1<<39), Op: sink.Delete})
	has(t, target, newest)
}

func manyEvents(t tester, target Target) {
	events := make([]sink.Event, 700)
	for i := range events {
		events[i] = upsert(idOf(i), Rev(1, int64(i+1)), fmt.Sprint("name ", i))
	}
	deliver(t, target, 1, events...)
	for i := 0; i < len(events); i += 99 {
		has(t, target, events[i])
	}
}

func positionsComeBackWhole(t tester, target Target) {
	if !keeps(t, target) {
		t.Skip("the target stores no positions")
	}
	for i, want := range []*sink.Position{position(t, target), {Installation: "7f3c", Begun: time.Unix(1, 0).UTC(), Swept: true, Cells: map[cell.ID]sink.CellPosition{}}} {
		if err := target.Deliver(context.Background(), sink.Batch{Token: int64(i + 1), Position: want}); err != nil {
			t.Fatal(err)
		}
		got, err := target.Position(context.Background())
		if diff := cmp.Diff(*want, got); diff != "" || err != nil {
			t.Errorf("%v; the position is (-want +got)\n%s", err, diff)
		}
	}
}

func formerOwnersAreRefused(t tester, target Target) {
	if !keeps(t, target) {
		t.Skip("the target stores no positions")
	}
	deliver(t, target, 5, upsert(idOf(1), Rev(5, 1), "a"))
	at := position(t, target)
	at.Base = Rev(9, 9)
	for _, events := range [][]sink.Event{{upsert(idOf(2), Rev(4, 9), "b")}, nil} {
		err := target.Deliver(context.Background(), sink.Batch{Token: 4, Events: events, Position: at})
		if !errors.Is(err, sink.ErrFenced) {
			t.Errorf("a former owner gets %v", err)
		}
	}
	if e := get(t, target, idOf(2)); e.Rev != 0 {
		t.Errorf("a former owner has written %+v", e)
	}
	if got, err := target.Position(context.Background()); err != nil || got.Base == at.Base {
		t.Errorf("a former owner has written the position %+v, %v", got, err)
	}
}

func sweepDeletesTheRest(t tester, target Target) {
	if !keeps(t, target) {
		t.Skip("the target stores no positions")
	}
	lost, kept := upsert(idOf(1), Rev(1, 1), "lost"), upsert(idOf(2), Rev(3, 1), "kept")
	deliver(t, target, 1, lost, upsert(idOf(2), Rev(1, 2), "kept"))
	deliver(t, target, 3, kept)
	for range 2 {
		if err := target.Deliver(context.Background(), sink.Batch{Token: 3, Position: position(t, target), Sweep: Rev(3, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	has(t, target, kept)
	if got := get(t, target, lost.ID); got.Op != sink.Delete || got.View != nil || got.Records != nil {
		t.Errorf("what the installation has lost is %+v", got)
	}
	back := upsert(idOf(1), Rev(3, 2), "back")
	deliver(t, target, 3, back)
	has(t, target, back)
}

func whatWasDeliveredIsRead(t tester, target Target) {
	if r, is := target.Sink.(sink.Reader); is {
		target.Reader = r
	}
	if target.Reader == nil {
		t.Skip("the target cannot be read")
	}
	read := func(ids ...locality.ID) (all []sink.Held) {
		if err := target.Reader.Read(context.Background(), ids, func(h sink.Held) error {
			all = append(all, h)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := read(); len(all) > 0 {
		t.Errorf("an empty target has %+v", all)
	}
	events := []sink.Event{ // in the order of the IDs
		{ID: idOf(256), Rev: Rev(1, 1), Op: sink.Redirect, Into: idOf(1), At: "g0-3:19"},
		upsert(idOf(1), Rev(1, 2), "Joe's \"Diner\"\n寿 \\ <b>&amp; 𝄞"),
		{ID: idOf(2), Rev: Rev(1, 3), Op: sink.Delete, At: "g0-3:20"},
		{ID: idOf(3), Rev: Rev(1, 4), Op: sink.Upsert, Kind: "place", Records: []string{"crawl:a7"}, View: map[string]any{}},
	}
	for i := 4; i < 256; i++ {
		events = append(events, upsert(idOf(i), Rev(1, int64(i)), fmt.Sprint("name ", i)))
	}
	deliver(t, target, 1, events...)
	later := upsert(idOf(4), Rev(2, 1), "another name")
	deliver(t, target, 2, later)
	events[4] = later
	want := make([]sink.Held, len(events))
	for i := range events {
		want[i] = sink.HeldOf(&events[i])
	}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("all (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]sink.Held{want[1], want[4]}, read(idOf(1), idOf(4), idOf(1000))); diff != "" {
		t.Errorf("two of them (-want +got)\n%s", diff)
	}
	if want[4].Sum == want[5].Sum || want[0].Sum == (sink.Sum{}) {
		t.Error("sums do not tell events apart")
	}
}
