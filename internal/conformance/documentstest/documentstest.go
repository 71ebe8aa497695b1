// SPDX-License-Identifier: Apache-2.0

// Package documentstest is the conformance suite of documents.Store. An implementation calls Run from its own test with
// a function that opens a fresh database:
//
//	open ──► Shelf{Of} ──► backend ─┐
//	                                ├─ same calls, same answers
//	    rapid draws swaps ─► model ─┘
package documentstest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/documents"
)

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing case.
type tester = conformance.TB

// Shelf is a fresh, empty document database under test.
type Shelf struct {
	// Of opens the documents of a cell in it.
	Of func(cell string) documents.Store
	// Runs is the number of random runs of AgreesWithModel, see conformance.Check.
	Runs int
}

// Run checks an implementation of documents.Store. open is called once per case and registers its
// cleanup with t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Shelf) {
	t.Helper()
	cases.Run(t, open)
}

var cases = conformance.Suite[Shelf]{
	{Name: "EmptyShelf", Run: emptyShelf},
	{Name: "DocumentsComeBackWhole", Run: documentsComeBackWhole},
	{Name: "DocumentsInTheOrderAsked", Run: documentsInTheOrderAsked},
	{Name: "ScansInTheOrderOfBytes", Run: scansInTheOrderOfBytes},
	{Name: "ScansInPages", Run: scansInPages},
	{Name: "SwapsCompareTheWatermark", Run: swapsCompareTheWatermark},
	{Name: "EmptyDocumentsStay", Run: emptyDocumentsStay},
	{Name: "ManyDocuments", Run: manyDocuments},
	{Name: "SpacesAreApart", Run: spacesAreApart},
	{Name: "DropsGenerationsInPortions", Run: dropsGenerationsInPortions},
	{Name: "CancelledCall", Run: cancelledCall},
	{Name: "OneOfManyWins", Run: oneOfManyWins},
	{Name: conformance.ModelCase, Run: documentsAgreeWithModel},
}

func document(key, body string, at changelog.Seq) documents.Document {
	return documents.Document{Key: []byte(key), Body: []byte(body), Watermark: at}
}

// created creates a document, over replaces one.
func created(d documents.Document) documents.Swap { return documents.Swap{Document: d} }

func over(d documents.Document, was changelog.Seq) documents.Swap {
	return documents.Swap{Document: d, Is: true, Was: was}
}

var inOne = documents.Namespace{Generation: 1, BuildID: 1}

func told[T any](t tester, what string) func(got T, err error) T {
	return func(got T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return got
	}
}

func swap(t tester, d documents.Store, in documents.Namespace, swaps ...documents.Swap) []bool {
	t.Helper()
	return told[[]bool](t, "swap")(d.Swap(context.Background(), in, swaps))
}

func fill(t tester, d documents.Store, in documents.Namespace, docs ...documents.Document) {
	t.Helper()
	swaps := make([]documents.Swap, len(docs))
	for i, doc := range docs {
		swaps[i] = created(doc)
	}
	if i := slices.Index(swap(t, d, in, swaps...), false); i >= 0 {
		t.Fatalf("document %.40q is not new", docs[i].Key)
	}
}

func documentsOf(t tester, d documents.Store, in documents.Namespace, keys ...string) []documents.Document {
	t.Helper()
	all := make([][]byte, len(keys))
	for i, key := range keys {
		all[i] = []byte(key)
	}
	return told[[]documents.Document](t, "documents")(d.Documents(context.Background(), in, all))
}

func scanned(t tester, d documents.Store, in documents.Namespace, after []byte, limit int) []documents.Document {
	t.Helper()
	return told[[]documents.Document](t, "scan")(d.Scan(context.Background(), in, after, limit))
}

func dropped(t tester, d documents.Store, generation int64, limit int) int {
	t.Helper()
	return told[int](t, "drop")(d.Drop(context.Background(), generation, limit))
}

// sameDocuments fails unless both are equal. A nil body equals an empty one: both are an empty group.
func sameDocuments(t tester, what string, got, want []documents.Document) {
	t.Helper()
	show := func(docs []documents.Document) (lines []string) {
		for _, d := range docs {
			lines = append(lines, fmt.Sprintf("%x at %d: %x", d.Key, d.Watermark, d.Body))
		}
		return lines
	}
	same(t, what, show(got), show(want))
}

func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// everything is more than any case writes.
const everything = 1 << 20
