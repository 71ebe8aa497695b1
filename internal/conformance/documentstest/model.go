// SPDX-License-Identifier: Apache-2.0

package documentstest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/rolluptest"
	"github.com/locus-db/locus/internal/documents"
)

type documentsModel map[documents.Namespace]map[string]documents.Document

func (m documentsModel) swap(in documents.Namespace, s documents.Swap) bool {
	there, is := m[in][string(s.Key)]
	if is != s.Is || is && there.Watermark != s.Was {
		return false
	}
	if m[in] == nil {
		m[in] = map[string]documents.Document{}
	}
	m[in][string(s.Key)] = s.Document
	return true
}

// alike reports whether two documents are equal; both results of a swap are then correct.
func alike(a, b documents.Document) bool {
	return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Body, b.Body) && a.Watermark == b.Watermark
}

func (m documentsModel) scan(in documents.Namespace, after []byte, limit int) (docs []documents.Document) {
	for _, key := range slices.Sorted(maps.Keys(m[in])) {
		if len(docs) < limit && (after == nil || key > string(after)) {
			docs = append(docs, m[in][key])
		}
	}
	return docs
}

var (
	drawNamespace = rapid.Custom(func(t *rapid.T) documents.Namespace {
		return documents.Namespace{Generation: rapid.Int64Range(1, 2).Draw(t, "generation"),
			BuildID: rapid.Int64Range(0, 1).Draw(t, "fill")}
	})
	drawSwap = rapid.Custom(func(t *rapid.T) documents.Swap {
		at := rapid.Int64Range(-1, 2)
		return documents.Swap{
			Document: documents.Document{Key: rolluptest.DrawKey.Draw(t, "key"),
				Body: rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "body"), Watermark: changelog.Seq(at.Draw(t, "watermark"))},
			Is: rapid.Bool().Draw(t, "is"), Was: changelog.Seq(at.Draw(t, "was")),
		}
	})
	drawSwaps = rapid.SliceOfNDistinct(drawSwap, 0, 8, func(s documents.Swap) string { return string(s.Key) })
)

func init() { conformance.Share(drawNamespace, drawSwap, drawSwaps) }

// documentsAgreeWithModel draws calls, each history in its own cell.
func documentsAgreeWithModel(t tester, s Shelf) {
	cell := 0
	conformance.Check(t, s.Runs, func(t *rapid.T) {
		cell++
		d, m := s.Of(fmt.Sprint("cell ", cell)), documentsModel{}
		for range rapid.IntRange(1, 10).Draw(t, "calls") {
			in := drawNamespace.Draw(t, "space")
			switch rapid.SampledFrom([]string{"swap", "swap", "swap", "documents", "scan", "drop"}).Draw(t, "call") {
			case "swap":
				swaps := drawSwaps.Draw(t, "swaps")
				got := swap(t, d, in, swaps...)
				for i, s := range swaps {
					there := m[in][string(s.Key)]
					if want := m.swap(in, s); i >= len(got) || got[i] != want && (!s.Is || !alike(there, s.Document)) {
						t.Fatalf("of %+v these are done: %v; number %d is %v", swaps, got, i, want)
					}
				}
			case "documents":
				var keys []string
				var want []documents.Document
				for _, key := range rapid.SliceOfN(rolluptest.DrawKey, 0, 6).Draw(t, "keys") {
					keys, want = append(keys, string(key)), append(want, m[in][string(key)])
				}
				sameDocuments(t, "documents", documentsOf(t, d, in, keys...), want)
			case "scan":
				after, limit := rolluptest.DrawEnd.Draw(t, "after"), rapid.IntRange(1, 6).Draw(t, "limit")
				sameDocuments(t, "a scan", scanned(t, d, in, after, limit), m.scan(in, after, limit))
			case "drop": // all of them, since the store chooses which ones go first
				want := 0
				for of, docs := range m {
					if of.Generation == in.Generation {
						want += len(docs)
						delete(m, of)
					}
				}
				same(t, "how many are dropped", dropped(t, d, in.Generation, everything), want)
			}
		}
		for generation := range int64(2) {
			for fill := range int64(2) {
				in := documents.Namespace{Generation: generation + 1, BuildID: fill}
				sameDocuments(t, "what there is in the end", scanned(t, d, in, nil, everything), m.scan(in, nil, everything))
			}
		}
	})
}
