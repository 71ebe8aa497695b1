// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/rollup"
)

// groupsIn keeps groups in documents, in small pages; a nil store gives nil.
func groupsIn(in documents.Store) rollup.Elsewhere {
	if in == nil {
		return nil
	}
	return documents.Groups{Store: in, Page: 4}
}

// shelf keeps documents in memory.
type shelf map[documents.Namespace]map[string]documents.Document

func (s shelf) StoreID() string { return "shelf" }

func (s shelf) Documents(_ context.Context, in documents.Namespace, keys [][]byte) ([]documents.Document, error) {
	docs := make([]documents.Document, len(keys))
	for i, key := range keys {
		docs[i] = s[in][string(key)]
	}
	return docs, nil
}

func (s shelf) Scan(_ context.Context, in documents.Namespace, after []byte, limit int) (docs []documents.Document, _ error) {
	for _, key := range slices.Sorted(maps.Keys(s[in])) {
		if len(docs) < limit && (after == nil || key > string(after)) {
			docs = append(docs, s[in][key])
		}
	}
	return docs, nil
}

func (s shelf) Swap(_ context.Context, in documents.Namespace, swaps []documents.Swap) ([]bool, error) {
	done := make([]bool, len(swaps))
	for i, swap := range swaps {
		done[i] = s.swap(in, swap)
	}
	return done, nil
}

func (s shelf) swap(in documents.Namespace, swap documents.Swap) bool {
	if s[in] == nil {
		s[in] = map[string]documents.Document{}
	}
	there, is := s[in][string(swap.Key)]
	if is != swap.Is || is && there.Watermark != swap.Was {
		return false
	}
	s[in][string(swap.Key)] = swap.Document
	return true
}

// stored returns the rows of a generation, or its documents that are not empty.
func (c *cell) stored(generation int64) map[string][]byte {
	g := c.generations[generation]
	if g.Definition.Store == rollup.InCell {
		return c.rows[generation]
	}
	bodies := map[string][]byte{}
	for key, doc := range c.docs[documents.Namespace{Generation: generation, BuildID: g.BuildID}] {
		if len(doc.Body) > 0 {
			bodies[key] = doc.Body
		}
	}
	return bodies
}

func (s shelf) Drop(_ context.Context, generation int64, limit int) (n int, _ error) {
	for in, docs := range s {
		for _, key := range slices.Sorted(maps.Keys(docs)) {
			if in.Generation == generation && n < limit {
				delete(docs, key)
				n++
			}
		}
		if len(docs) == 0 {
			delete(s, in)
		}
	}
	return n, nil
}
