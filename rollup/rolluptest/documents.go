// SPDX-License-Identifier: Apache-2.0

package rolluptest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/rollup"
)

// Shelf is a fresh, empty document database under test.
type Shelf struct {
	// Of opens the documents of a cell in it.
	Of func(cell string) rollup.Documents
	// Runs is the number of random runs of AgreesWithModel, see conformance.Check.
	Runs int
}

// RunDocuments checks an implementation of rollup.Documents. open is called once per case and registers its
// cleanup with t.Cleanup; cases run in parallel.
func RunDocuments(t *testing.T, open func(t *testing.T) Shelf) {
	t.Helper()
	documentCases.Run(t, open)
}

var documentCases = conformance.Suite[Shelf]{
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

func document(key, body string, at changelog.Seq) rollup.Document {
	return rollup.Document{Key: []byte(key), Body: []byte(body), Watermark: at}
}

// created creates a document, over replaces one.
func created(d rollup.Document) rollup.Swap { return rollup.Swap{Document: d} }

func over(d rollup.Document, was changelog.Seq) rollup.Swap {
	return rollup.Swap{Document: d, Is: true, Was: was}
}

var inOne = rollup.Namespace{Generation: 1, BuildID: 1}

func told[T any](t tester, what string) func(got T, err error) T {
	return func(got T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return got
	}
}

func swap(t tester, d rollup.Documents, in rollup.Namespace, swaps ...rollup.Swap) []bool {
	t.Helper()
	return told[[]bool](t, "swap")(d.Swap(context.Background(), in, swaps))
}

func fill(t tester, d rollup.Documents, in rollup.Namespace, docs ...rollup.Document) {
	t.Helper()
	swaps := make([]rollup.Swap, len(docs))
	for i, doc := range docs {
		swaps[i] = created(doc)
	}
	if i := slices.Index(swap(t, d, in, swaps...), false); i >= 0 {
		t.Fatalf("document %.40q is not new", docs[i].Key)
	}
}

func documentsOf(t tester, d rollup.Documents, in rollup.Namespace, keys ...string) []rollup.Document {
	t.Helper()
	all := make([][]byte, len(keys))
	for i, key := range keys {
		all[i] = []byte(key)
	}
	return told[[]rollup.Document](t, "documents")(d.Documents(context.Background(), in, all))
}

func scanned(t tester, d rollup.Documents, in rollup.Namespace, after []byte, limit int) []rollup.Document {
	t.Helper()
	return told[[]rollup.Document](t, "scan")(d.Scan(context.Background(), in, after, limit))
}

func dropped(t tester, d rollup.Documents, generation int64, limit int) int {
	t.Helper()
	return told[int](t, "drop")(d.Drop(context.Background(), generation, limit))
}

// sameDocuments fails unless both are equal. A nil body equals an empty one: both are an empty group.
func sameDocuments(t tester, what string, got, want []rollup.Document) {
	t.Helper()
	show := func(docs []rollup.Document) (lines []string) {
		for _, d := range docs {
			lines = append(lines, fmt.Sprintf("%x at %d: %x", d.Key, d.Watermark, d.Body))
		}
		return lines
	}
	same(t, what, show(got), show(want))
}
