// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/locus-db/locus/rollup"
)

// Groups keeps the groups of a cell in documents, for a rollup.Database.
type Groups struct {
	Store Store
	// Page is how many documents are read or deleted at once. Defaults to 5,000.
	Page int
}

var _ rollup.Elsewhere = Groups{}

func (s Groups) page() int { return cmp.Or(s.Page, 5000) }

// attempts is how often documents that others write at the same time are written before giving up.
const attempts = 10

// errTaken reports that another process writes the same documents; the next build has a namespace of its own.
var errTaken = errors.New("rollup: another process writes the documents")

// StoreID returns the ID of the database.
func (s Groups) StoreID() string { return s.Store.StoreID() }

// Fill implements rollup.Elsewhere.
func (s Groups) Fill(ctx context.Context, g *rollup.Generation, rows []rollup.Row) error {
	swaps := make([]Swap, len(rows))
	for i, r := range rows {
		swaps[i] = Swap{Document: Document{Key: r.Key, Body: r.Body, Watermark: g.Watermark}}
	}
	done, err := s.Store.Swap(ctx, namespace(g), swaps)
	if err == nil && slices.Contains(done, false) {
		err = errTaken
	}
	return err
}

// Advance implements rollup.Elsewhere.
func (s Groups) Advance(ctx context.Context, g *rollup.Generation,
	c *rollup.CatchUp) (groups int64, done bool, err error) {
	all, err := s.Groups(ctx, g, c.Keys())
	if err != nil {
		return 0, false, err
	}
	if slices.ContainsFunc(all, func(d rollup.Moved) bool { return d.Is && d.Watermark > c.To() }) {
		return 0, false, nil
	}
	c.Apply(all)
	if groups, err = c.Fits(g, all); err != nil {
		return 0, false, err
	}
	for range attempts {
		if all, err = s.write(ctx, g, c, all); err != nil || len(all) == 0 {
			return groups, err == nil, err
		}
		if all, err = s.Groups(ctx, g, keysOf(all)); err != nil {
			return 0, false, err
		}
		all = slices.DeleteFunc(all, func(d rollup.Moved) bool { return d.Is && d.Watermark >= c.To() })
		c.Apply(all)
	}
	return 0, false, nil
}

// write writes documents and returns the ones that had changed since they were read.
func (s Groups) write(ctx context.Context, g *rollup.Generation, c *rollup.CatchUp, docs []rollup.Moved) ([]rollup.Moved, error) {
	docs = slices.DeleteFunc(docs, func(d rollup.Moved) bool { return d.Is && d.Watermark == c.To() })
	swaps := make([]Swap, len(docs))
	for i, d := range docs {
		swaps[i] = Swap{Document: Document{Key: d.Key, Body: d.Next, Watermark: c.To()}, Is: d.Is, Was: d.Watermark}
	}
	done, err := s.Store.Swap(ctx, namespace(g), swaps)
	if err != nil {
		return nil, err
	}
	var lost []rollup.Moved
	for i, d := range docs {
		if !done[i] {
			lost = append(lost, d)
		}
	}
	return lost, nil
}

func keysOf(docs []rollup.Moved) [][]byte {
	keys := make([][]byte, len(docs))
	for i, d := range docs {
		keys[i] = d.Key
	}
	return keys
}

// Groups implements rollup.Elsewhere.
func (s Groups) Groups(ctx context.Context, g *rollup.Generation, keys [][]byte) ([]rollup.Moved, error) {
	docs, err := s.Store.Documents(ctx, namespace(g), keys)
	if err != nil {
		return nil, err
	}
	all := make([]rollup.Moved, len(keys))
	for i, d := range docs {
		all[i] = rollup.Moved{Key: keys[i], Body: d.Body, Watermark: d.Watermark, Is: d.Key != nil}
	}
	return all, nil
}

// Scan implements rollup.Elsewhere.
func (s Groups) Scan(ctx context.Context, g *rollup.Generation, after []byte,
	limit int) (all []rollup.Moved, end []byte, err error) {
	size := s.page()
	if limit > 0 {
		size = min(size, limit+1)
	}
	for groups := 0; ; {
		page, err := s.Store.Scan(ctx, namespace(g), after, size)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range page {
			all = append(all, rollup.Moved{Key: d.Key, Body: d.Body, Watermark: d.Watermark, Is: true})
			if len(d.Body) > 0 {
				groups++
			}
		}
		switch {
		case len(page) < size:
			return all, nil, nil
		case limit > 0 && groups > limit:
			return all, page[len(page)-1].Key, nil
		}
		after = page[len(page)-1].Key
	}
}

// Drop implements rollup.Elsewhere.
func (s Groups) Drop(ctx context.Context, generation int64) error {
	for {
		if n, err := s.Store.Drop(ctx, generation, s.page()); err != nil || n < s.page() {
			return err
		}
	}
}
