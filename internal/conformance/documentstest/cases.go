// SPDX-License-Identifier: Apache-2.0

package documentstest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/rolluptest"
	"github.com/locus-db/locus/internal/documents"
)

func emptyShelf(t tester, s Shelf) {
	d := s.Of("a")
	if d.StoreID() == "" || d.StoreID() != s.Of("b").StoreID() {
		t.Fatalf("the home of two cells is %q and %q", d.StoreID(), s.Of("b").StoreID())
	}
	sameDocuments(t, "documents that are not there", documentsOf(t, d, inOne, "a", "b"), make([]documents.Document, 2))
	sameDocuments(t, "no documents", documentsOf(t, d, inOne), nil)
	sameDocuments(t, "a scan of nothing", scanned(t, d, inOne, nil, 9), nil)
	same(t, "a swap of nothing", swap(t, d, inOne), nil)
	same(t, "documents dropped of nothing", dropped(t, d, 1, 9), 0)
	same(t, "a swap of what is not there", swap(t, d, inOne, over(document("a", "1", 5), 0)), []bool{false})
	sameDocuments(t, "what that left", scanned(t, d, inOne, nil, 9), nil)
}

func documentsComeBackWhole(t tester, s Shelf) {
	d := s.Of("a")
	watermarks := []changelog.Seq{0, -1, 1, 1<<31 + 1, 1<<53 + 1, math.MaxInt64, math.MinInt64}
	var want []documents.Document
	for i, key := range rolluptest.Keys {
		body := rolluptest.Keys[len(rolluptest.Keys)-1-i]
		if i == 5 {
			body = string(slices.Repeat([]byte("\x00\xff'"), 50_000))
		}
		want = append(want, document(key, body, watermarks[i%len(watermarks)]))
	}
	fill(t, d, inOne, want...)
	sameDocuments(t, "documents", scanned(t, d, inOne, nil, everything), want)
	for i, key := range rolluptest.Keys {
		sameDocuments(t, "a document", documentsOf(t, d, inOne, key), want[i:i+1])
	}
}

func documentsInTheOrderAsked(t tester, s Shelf) {
	d := s.Of("a")
	fill(t, d, inOne, document("d", "4", 4), document("a", "1", 1), document("b", "2", 2))
	got := documentsOf(t, d, inOne, "d", "c", "a", "d", "A", "a\x00", "b")
	sameDocuments(t, "documents", got, []documents.Document{
		document("d", "4", 4), {}, document("a", "1", 1), document("d", "4", 4), {}, {}, document("b", "2", 2),
	})
	swaps := []documents.Swap{over(document("d", "5", 5), 4), over(document("c", "3", 5), 4),
		created(document("e", "5", 5)), over(document("a", "2", 5), 4), over(document("b", "3", 5), 2),
		created(document("a", "9", 9))}
	same(t, "which swaps are done", swap(t, d, inOne, swaps...), []bool{true, false, true, false, true, false})
}

func scansInTheOrderOfBytes(t tester, s Shelf) {
	d := s.Of("a")
	var all []documents.Document
	for i := range rolluptest.Keys {
		all = append(all, document(rolluptest.Keys[i*7%len(rolluptest.Keys)], "", 1))
	}
	slices.SortFunc(all, func(a, b documents.Document) int { return slices.Compare(a.Key, b.Key) })
	all = slices.CompactFunc(all, func(a, b documents.Document) bool { return string(a.Key) == string(b.Key) })
	fill(t, d, inOne, all...)
	for _, after := range append(slices.Clone(rolluptest.Keys), "g", "\xfe", "a\x00\x00") {
		var want []documents.Document
		for _, doc := range all {
			if string(doc.Key) > after {
				want = append(want, doc)
			}
		}
		sameDocuments(t, fmt.Sprintf("documents after %.20q", after), scanned(t, d, inOne, []byte(after), everything), want)
		sameDocuments(t, fmt.Sprintf("2 documents after %.20q", after), scanned(t, d, inOne, []byte(after), 2),
			want[:min(2, len(want))])
	}
}

func numbered(n int) []documents.Document {
	docs := make([]documents.Document, n)
	for i := range docs {
		docs[i] = document(fmt.Sprintf("g%05d", i), fmt.Sprint("body ", i), changelog.Seq(i))
	}
	return docs
}

func scansInPages(t tester, s Shelf) {
	d := s.Of("a")
	want := numbered(25)
	fill(t, d, inOne, want...)
	var got []documents.Document
	for pages := 0; ; pages++ {
		var after []byte
		if len(got) > 0 {
			after = got[len(got)-1].Key
		}
		page := scanned(t, d, inOne, after, 10)
		if len(page) > 10 {
			t.Fatalf("a page of 10 has %d documents", len(page))
		}
		if len(page) == 0 {
			same(t, "pages", pages, 3)
			break
		}
		got = append(got, page...)
	}
	sameDocuments(t, "the pages", got, want)
}

func swapsCompareTheWatermark(t tester, s Shelf) {
	d := s.Of("a")
	for _, at := range []changelog.Seq{0, -7, 5, 1<<53 + 1, math.MaxInt64 - 1} {
		key := fmt.Sprint("k", at)
		first := document(key, "first", at)
		same(t, "a new document", swap(t, d, inOne, created(first)), []bool{true})
		same(t, "a new document where one is", swap(t, d, inOne, created(document(key, "other", at+1))), []bool{false})
		for _, was := range []changelog.Seq{at - 1, at + 1} {
			if done := swap(t, d, inOne, over(document(key, "other", at+9), was)); done[0] {
				t.Fatalf("a document at %d was written over by who found %d", at, was)
			}
		}
		sameDocuments(t, "a document with no later write", documentsOf(t, d, inOne, key), []documents.Document{first})
		second := document(key, "second", at-3) // may be lower: documents do not interpret watermarks
		same(t, "a swap", swap(t, d, inOne, over(second, at)), []bool{true})
		same(t, "the same again", swap(t, d, inOne, over(document(key, "third", at-2), at)), []bool{false})
		sameDocuments(t, "a document that was written over", documentsOf(t, d, inOne, key), []documents.Document{second})
	}
}

func emptyDocumentsStay(t tester, s Shelf) {
	d := s.Of("a")
	fill(t, d, inOne, document("a", "", 3), document("b", "1", 3))
	same(t, "a document that becomes empty", swap(t, d, inOne, over(document("b", "", 4), 3)), []bool{true})
	same(t, "new documents where empty ones are",
		swap(t, d, inOne, created(document("a", "1", 5)), created(document("b", "1", 5))), []bool{false, false})
	want := []documents.Document{document("a", "", 3), document("b", "", 4)}
	sameDocuments(t, "empty documents", documentsOf(t, d, inOne, "a", "b"), want)
	sameDocuments(t, "a scan of empty documents", scanned(t, d, inOne, nil, 9), want)
	same(t, "documents that are not empty any more",
		swap(t, d, inOne, over(document("a", "1", 5), 3), over(document("b", "2", 5), 4)), []bool{true, true})
	sameDocuments(t, "these", scanned(t, d, inOne, nil, 9),
		[]documents.Document{document("a", "1", 5), document("b", "2", 5)})
}

func manyDocuments(t tester, s Shelf) {
	d := s.Of("a")
	docs := numbered(230)
	fill(t, d, inOne, docs...)
	sameDocuments(t, "documents", scanned(t, d, inOne, nil, everything), docs)
	var swaps []documents.Swap
	var keys []string
	var want []bool
	for i := range 600 {
		keys = append(keys, fmt.Sprint("g", i), fmt.Sprint("h", i)) // does not exist
	}
	for i := range docs {
		is := &docs[len(docs)-1-i]
		keys = append(keys, string(is.Key), string(is.Key)+"\x00")
		next := document(string(is.Key), fmt.Sprint("next ", i), is.Watermark+1)
		if i%3 == 0 {
			swaps, want = append(swaps, over(next, is.Watermark+1)), append(want, false)
			continue
		}
		swaps, want = append(swaps, over(next, is.Watermark)), append(want, true)
		*is = next
	}
	same(t, "which swaps are done", swap(t, d, inOne, swaps...), want)
	sameDocuments(t, "documents, most of them written over", scanned(t, d, inOne, nil, everything), docs)
	got := documentsOf(t, d, inOne, keys...)
	for i, doc := range got {
		if there := doc.Key != nil; there != (i >= 1200 && i%2 == 0) || there && string(doc.Key) != keys[i] {
			t.Fatalf("document %d of %d is %q, asked for was %q", i, len(got), doc.Key, keys[i])
		}
	}
}

func spacesAreApart(t tester, s Shelf) {
	spaces := []documents.Namespace{{Generation: 1, BuildID: 1}, {Generation: 1, BuildID: 2}, {Generation: 2, BuildID: 1},
		{Generation: 1, BuildID: math.MaxInt64}, {Generation: 1 << 40}, {}, {Generation: 16, BuildID: 1}}
	cells := []string{"a", "b", "a/1", "A", "", "g0-1", "g0-10", "ä"}
	name := func(cell string, in documents.Namespace) string { return fmt.Sprint(cell, in) }
	for _, cell := range cells {
		for _, in := range spaces {
			fill(t, s.Of(cell), in, document("\x00", name(cell, in), 1), document("\xff", name(cell, in), 2))
		}
	}
	check := func(gone func(cell string, in documents.Namespace) bool) {
		t.Helper()
		for _, cell := range cells {
			for _, in := range spaces {
				want := []documents.Document{document("\x00", name(cell, in), 1), document("\xff", name(cell, in), 2)}
				found := slices.Clone(want)
				if gone(cell, in) {
					want, found = nil, make([]documents.Document, 2)
				}
				sameDocuments(t, "a scan of "+name(cell, in), scanned(t, s.Of(cell), in, nil, 9), want)
				sameDocuments(t, "documents of "+name(cell, in), documentsOf(t, s.Of(cell), in, "\x00", "\xff"), found)
			}
		}
	}
	check(func(string, documents.Namespace) bool { return false })
	same(t, "documents dropped of three fills", dropped(t, s.Of("a"), 1, everything), 6)
	check(func(cell string, in documents.Namespace) bool { return cell == "a" && in.Generation == 1 })
}

func dropsGenerationsInPortions(t tester, s Shelf) {
	d := s.Of("a")
	docs := numbered(25)
	fill(t, d, inOne, docs[:15]...)
	fill(t, d, documents.Namespace{Generation: 1, BuildID: 2}, docs[15:]...)
	fill(t, d, documents.Namespace{Generation: 2, BuildID: 1}, docs...)
	left := 25
	for i, want := range []int{10, 10, 5, 0} {
		same(t, fmt.Sprintf("dropped by call %d", i), dropped(t, d, 1, 10), want)
		left -= want
		there := len(scanned(t, d, inOne, nil, 99)) + len(scanned(t, d, documents.Namespace{Generation: 1, BuildID: 2},
			nil, 99))
		same(t, fmt.Sprintf("left by call %d", i), there, left)
	}
	sameDocuments(t, "another generation", scanned(t, d, documents.Namespace{Generation: 2, BuildID: 1}, nil, 99), docs)
	fill(t, d, inOne, docs[:3]...)
	sameDocuments(t, "documents that are there again", scanned(t, d, inOne, nil, 99), docs[:3])
}

func cancelledCall(t tester, s Shelf) {
	d := s.Of("a")
	fill(t, d, inOne, document("a", "1", 1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, errDocuments := d.Documents(ctx, inOne, [][]byte{[]byte("a")})
	_, errScan := d.Scan(ctx, inOne, nil, 9)
	_, errSwap := d.Swap(ctx, inOne, []documents.Swap{over(document("a", "2", 2), 1)})
	_, errDrop := d.Drop(ctx, 1, 9)
	for call, err := range map[string]error{"Documents": errDocuments, "Scan": errScan, "Swap": errSwap, "Drop": errDrop} {
		if err == nil {
			t.Errorf("%s under a cancelled context says nothing", call)
		}
	}
}

// oneOfManyWins runs concurrent swaps of the same documents from the same watermark: exactly one succeeds for
// each.
func oneOfManyWins(t tester, s Shelf) {
	d := s.Of("a")
	docs := numbered(30)
	fill(t, d, inOne, docs[:20]...)
	var mu sync.Mutex
	won := make([]int, len(docs))
	var wg sync.WaitGroup
	for who := range conformance.Writers {
		wg.Go(func() {
			var swaps []documents.Swap
			for i, doc := range docs {
				next := document(string(doc.Key), fmt.Sprint("by ", who), 1000+changelog.Seq(who))
				if swaps = append(swaps, over(next, doc.Watermark)); i >= 20 {
					swaps[i] = created(next)
				}
			}
			done, err := d.Swap(context.Background(), inOne, swaps)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for i := range won {
				if done[i] {
					won[i] += 1 + 100*who
				}
			}
		})
	}
	wg.Wait()
	for i, doc := range scanned(t, d, inOne, nil, 99) {
		if won[i]%100 != 1 || string(doc.Body) != fmt.Sprint("by ", won[i]/100) {
			t.Fatalf("document %d is %q; %d say that they wrote it, the sum of their numbers is %d", i, doc.Body,
				won[i]%100, won[i]/100)
		}
	}
}
