// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/rollup"
)

// shelf keeps documents in memory.
type shelf map[rollup.Namespace]map[string]rollup.Document

func (s shelf) StoreID() string { return "shelf" }

func (s shelf) Documents(_ context.Context, in rollup.Namespace, keys [][]byte) ([]rollup.Document, error) {
	docs := make([]rollup.Document, len(keys))
	for i, key := range keys {
		docs[i] = s[in][string(key)]
	}
	return docs, nil
}

func (s shelf) Scan(_ context.Context, in rollup.Namespace, after []byte, limit int) (docs []rollup.Document, _ error) {
	for _, key := range slices.Sorted(maps.Keys(s[in])) {
		if len(docs) < limit && (after == nil || key > string(after)) {
			docs = append(docs, s[in][key])
		}
	}
	return docs, nil
}

func (s shelf) Swap(_ context.Context, in rollup.Namespace, swaps []rollup.Swap) ([]bool, error) {
	done := make([]bool, len(swaps))
	for i, swap := range swaps {
		done[i] = s.swap(in, swap)
	}
	return done, nil
}

func (s shelf) swap(in rollup.Namespace, swap rollup.Swap) bool {
	if s[in] == nil {
		s[in] = map[string]rollup.Document{}
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
	for key, doc := range c.docs[rollup.Namespace{Generation: generation, BuildID: g.BuildID}] {
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
