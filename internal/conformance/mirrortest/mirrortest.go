// SPDX-License-Identifier: Apache-2.0

// Package mirrortest has the conformance suite of mirror.Target, and a target in memory. An implementation calls
// Run from its own test with a function that opens an empty target.
package mirrortest

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// Run checks an implementation of mirror.Target. open is called once per case and registers its cleanup with
// t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) mirror.Target) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing case.
type tester = conformance.TB

var cases = conformance.Suite[mirror.Target]{
	{Name: "NothingIsThere", Run: nothingIsThere},
	{Name: "DocumentsComeBackWhole", Run: documentsComeBackWhole},
	{Name: "HostileNames", Run: hostileNames},
	{Name: "WhoComesLateWritesNothing", Run: whoComesLateWritesNothing},
	{Name: "RepeatsChangeNothing", Run: repeatsChangeNothing},
	{Name: "OthersOfABatchAreWritten", Run: othersOfABatchAreWritten},
	{Name: "NothingIsLeftOfContent", Run: nothingIsLeftOfContent},
	{Name: "ScanInPages", Run: scanInPages},
	{Name: "HundredsOfDocuments", Run: hundredsOfDocuments},
	{Name: "FillComesBackWhole", Run: fillComesBackWhole},
	{Name: "LateFillsAreRefused", Run: lateFillsAreRefused},
	{Name: "ControlsComeBackWhole", Run: controlsComeBackWhole},
	{Name: "LateControlsAreRefused", Run: lateControlsAreRefused},
}

// idOf returns an ID with the given first and last byte.
func idOf(first, last byte) locality.ID { return locality.ID{0: first, 15: last} }

func tombstone(id locality.ID, version int64) mirror.Document {
	return mirror.Document{State: mirror.State{ID: id, Kind: mirror.Deleted}, Version: version}
}

func redirect(id, to locality.ID, version int64) mirror.Document {
	return mirror.Document{State: mirror.State{ID: id, Kind: mirror.Redirect, To: to, Cell: cell.ID{Gen: 1, Index: 2},
		At: 7}, Version: version}
}

// sample is an entity with numbers that do not fit into 53 bits.
func sample(id locality.ID, version int64) mirror.Document {
	name := "Joe's\nDiner"
	return mirror.Document{Version: version, State: mirror.State{
		ID: id, Kind: mirror.Entity, Cell: cell.ID{Gen: 0, Index: 15}, At: math.MaxInt64,
		Thing: &mirror.Thing{
			Kind: "place", Stamp: math.MaxUint64, Rank: entity.Rank{Sources: 3, Known: 2},
			Members: []entity.Member{
				{PUID: math.MinInt64 + 1, Ref: entity.Ref{Source: "osm", Key: "a:b/\x00$"}, Version: math.MaxInt64},
				{PUID: math.MaxInt64, Ref: entity.Ref{Source: "crawl", Key: ""}, Version: 1},
			},
			Attributes: []mirror.Attribute{
				{Name: "name", Value: &name, Values: []entity.MergedValue{{Value: name, Members: []int{0, 1}}, {
					Value: "JOES", Members: []int{}, Pinned: true,
				}}},
				{Name: "phones", Values: []entity.MergedValue{{Value: "+1 510 5550101", Members: []int{1}}}},
			},
		},
	}}
}

// write writes documents that must all be written.
func write(t tester, target mirror.Target, docs ...mirror.Document) {
	t.Helper()
	if n := writes(t, target, docs...); n != len(docs) {
		t.Fatalf("%d of %d documents were written", n, len(docs))
	}
}

func writes(t tester, target mirror.Target, docs ...mirror.Document) int {
	t.Helper()
	n, err := target.Write(context.Background(), docs)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return n
}

func scan(t tester, target mirror.Target, after locality.ID, limit int) []mirror.Document {
	t.Helper()
	docs, err := target.Scan(context.Background(), after, limit)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return docs
}

func held(t tester, target mirror.Target, ids ...locality.ID) []mirror.Held {
	t.Helper()
	list, err := target.Held(context.Background(), ids)
	if err != nil {
		t.Fatalf("held: %v", err)
	}
	return list
}

func documents(t tester, target mirror.Target, ids ...locality.ID) []mirror.Document {
	t.Helper()
	docs, err := target.Documents(context.Background(), ids)
	if err != nil {
		t.Fatalf("documents: %v", err)
	}
	return docs
}

// same fails unless the documents are equal; a nil list equals an empty one.
func same(t tester, what string, got, want []mirror.Document) {
	t.Helper()
	if len(got) == len(want) && slices.EqualFunc(got, want, func(a, b mirror.Document) bool {
		return a.Same(&b.State) && a.Version == b.Version && a.Cell == b.Cell && a.At == b.At
	}) {
		return
	}
	t.Fatalf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
}

func nothingIsThere(t tester, target mirror.Target) {
	same(t, "scan", scan(t, target, locality.ID{}, 10), nil)
	same(t, "documents", documents(t, target, idOf(1, 1)), nil)
	if got := held(t, target, idOf(1, 1)); len(got) != 1 || got[0] != (mirror.Held{ID: idOf(1, 1)}) {
		t.Fatalf("held %+v", got)
	}
	if got := held(t, target); len(got) != 0 {
		t.Fatalf("held of nothing: %+v", got)
	}
	if n := writes(t, target); n != 0 {
		t.Fatalf("%d written of nothing", n)
	}
	same(t, "documents of nothing", documents(t, target), nil)
}

func documentsComeBackWhole(t tester, target mirror.Target) {
	want := []mirror.Document{sample(idOf(1, 1), 1), redirect(idOf(2, 1), idOf(0xff, 9), 1), tombstone(idOf(0xff, 1), 1)}
	write(t, target, want...)
	same(t, "scan", scan(t, target, locality.ID{}, 10), want)
	same(t, "documents", documents(t, target, want[0].ID, want[1].ID, idOf(9, 9), want[2].ID), want)
	got := held(t, target, want[2].ID, idOf(9, 9), want[0].ID, want[1].ID)
	if diff := cmp.Diff([]mirror.Held{
		{ID: want[2].ID, Version: 1, Kind: mirror.Deleted, Stamp: want[2].Stamp()},
		{ID: idOf(9, 9)},
		{ID: want[0].ID, Version: 1, Kind: mirror.Entity, Stamp: want[0].Stamp()},
		{ID: want[1].ID, Version: 1, Kind: mirror.Redirect, Stamp: want[1].Stamp()},
	}, got); diff != "" {
		t.Fatalf("held (-want +got):\n%s", diff)
	}
}

func hostileNames(t tester, target mirror.Target) {
	d := sample(idOf(1, 1), 1)
	d.Thing.Attributes = nil
	for _, name := range []string{"", ".", "a.b", "$", "$set", "_id", "\x00", "a\x00b", "__proto__", "\u00e9", "e\u0301", "0"} {
		d.Thing.Attributes = append(d.Thing.Attributes,
			mirror.Attribute{Name: name, Value: &name, Values: []entity.MergedValue{{Value: name, Members: []int{0}}}})
		d.Thing.Members = append(d.Thing.Members, entity.Member{PUID: 1, Ref: entity.Ref{Source: "s", Key: name}})
	}
	d.Thing.Kind = "$kind.\x00"
	write(t, target, d)
	same(t, "document", scan(t, target, locality.ID{}, 10), []mirror.Document{d})
}

func whoComesLateWritesNothing(t tester, target mirror.Target) {
	id := idOf(1, 1)
	write(t, target, redirect(id, idOf(2, 1), 1))
	write(t, target, sample(id, 2))
	for _, late := range []mirror.Document{redirect(id, idOf(3, 1), 1), redirect(id, idOf(3, 1), 2), redirect(id, idOf(3, 1), 4), redirect(idOf(4, 1), idOf(3, 1), 2)} {
		if n := writes(t, target, late); n != 0 {
			t.Fatalf("version %d of %v was written", late.Version, late.ID)
		}
	}
	same(t, "documents", scan(t, target, locality.ID{}, 10), []mirror.Document{sample(id, 2)})
	write(t, target, redirect(id, idOf(3, 1), 3))
	same(t, "documents", scan(t, target, locality.ID{}, 10), []mirror.Document{redirect(id, idOf(3, 1), 3)})
}

func repeatsChangeNothing(t tester, target mirror.Target) {
	docs := []mirror.Document{sample(idOf(1, 1), 1), redirect(idOf(2, 1), idOf(1, 1), 1)}
	write(t, target, docs...)
	if n := writes(t, target, docs...); n != 0 {
		t.Fatalf("%d documents were written twice", n)
	}
	same(t, "documents", scan(t, target, locality.ID{}, 10), docs)
}

func othersOfABatchAreWritten(t tester, target mirror.Target) {
	write(t, target, sample(idOf(2, 1), 1), sample(idOf(4, 1), 1))
	batch := []mirror.Document{
		tombstone(idOf(1, 1), 1), tombstone(idOf(2, 1), 1), tombstone(idOf(3, 1), 2), tombstone(idOf(4, 1), 2),
		tombstone(idOf(5, 1), 1),
	}
	if n := writes(t, target, batch...); n != 3 {
		t.Fatalf("%d documents were written, want 3", n)
	}
	same(t, "documents", scan(t, target, locality.ID{}, 10),
		[]mirror.Document{batch[0], sample(idOf(2, 1), 1), batch[3], batch[4]})
}

func nothingIsLeftOfContent(t tester, target mirror.Target) {
	write(t, target, sample(idOf(1, 1), 1), sample(idOf(2, 1), 1))
	want := []mirror.Document{tombstone(idOf(1, 1), 2), redirect(idOf(2, 1), idOf(1, 1), 2)}
	write(t, target, want...)
	same(t, "documents", scan(t, target, locality.ID{}, 10), want)
}

func scanInPages(t tester, target mirror.Target) {
	want := []mirror.Document{
		tombstone(idOf(0, 1), 1), tombstone(idOf(0, 0xff), 1), tombstone(idOf(0x7f, 1), 1), tombstone(idOf(0x80, 1), 1),
		tombstone(locality.Max(), 1),
	}
	write(t, target, want...)
	same(t, "all", scan(t, target, locality.ID{}, 10), want)
	same(t, "first two", scan(t, target, locality.ID{}, 2), want[:2])
	same(t, "after one that is there", scan(t, target, want[1].ID, 2), want[2:4])
	same(t, "after one that is not", scan(t, target, idOf(0x80, 0), 10), want[3:])
	same(t, "after the last", scan(t, target, locality.Max(), 10), nil)
}

func hundredsOfDocuments(t tester, target mirror.Target) {
	var docs []mirror.Document
	var ids []locality.ID
	for i := range 300 {
		id := locality.ID{0: byte(i >> 8), 1: byte(i), 15: 1}
		docs, ids = append(docs, redirect(id, idOf(9, 9), 1)), append(ids, id)
	}
	write(t, target, docs...)
	for i := range docs {
		docs[i].Version++
	}
	write(t, target, docs...)
	same(t, "scan", scan(t, target, locality.ID{}, 1000), docs)
	same(t, "documents", documents(t, target, ids...), docs)
	for i, h := range held(t, target, ids...) {
		if h.ID != ids[i] || h.Version != 2 {
			t.Fatalf("%d: held %+v", i, h)
		}
	}
}
