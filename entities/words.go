// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/spell"
	"github.com/locus-db/locus/storage"
)

// words are the lists of the words of each cell, read when a search first needs them.
type words struct {
	mu    sync.Mutex
	cells map[cell.ID]*cellWords
}

// cellWords is the list of a cell. It is read again by a search that finds changes in the cell's log. A long list is
// read again only after keep times the time that reading it took, and until then a new word is not proposed: 20 times
// half a second in a cell of 500,000 words. While one search reads it, others use the former list.
type cellWords struct {
	reading sync.Mutex // held by the search that reads the list

	mu   sync.Mutex
	list *spell.List // nil before the first reading
	at   changelog.Seq
	read time.Time
	took time.Duration
}

const (
	// short is the number of words up to which a list is read again after any change.
	short = 2000
	keep  = 20
	// wordsPage is how many words are read in one transaction, so that none is long.
	wordsPage = 20_000
)

// of returns the list of a cell.
func (w *words) of(ctx context.Context, e *engine.Engine, id cell.ID) (*spell.List, error) {
	w.mu.Lock()
	if w.cells == nil {
		w.cells = map[cell.ID]*cellWords{}
	}
	c := w.cells[id]
	if c == nil {
		c = new(cellWords)
		w.cells[id] = c
	}
	w.mu.Unlock()

	var bounds changelog.Bounds
	if err := e.View(ctx, id, func(tx storage.Tx) (err error) {
		bounds, err = tx.Bounds(ctx)
		return err
	}); err != nil {
		return nil, err
	}
	list, due := c.due(bounds.Last)
	switch {
	case !due:
		return list, nil
	case list == nil || list.Len() <= short:
		c.reading.Lock()
	case !c.reading.TryLock():
		return list, nil
	}
	defer c.reading.Unlock()
	if list, due = c.due(bounds.Last); !due { // another search has just read it
		return list, nil
	}
	began := time.Now()
	list, err := readWords(ctx, e, id)
	if err != nil {
		return nil, fmt.Errorf("read the words of cell %v: %w", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list, c.at, c.read, c.took = list, bounds.Last, time.Now(), time.Since(began)
	return list, nil
}

// due returns the list, and whether it has to be read again if the log now ends at a change.
func (c *cellWords) due(end changelog.Seq) (*spell.List, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.list == nil:
		return nil, true
	case c.at == end:
		return c.list, false
	}
	return c.list, c.list.Len() <= short || time.Since(c.read) >= keep*c.took
}

// readWords reads the list page by page. Words that come or go in the meantime are in it or not.
func readWords(ctx context.Context, e *engine.Engine, id cell.ID) (*spell.List, error) {
	var b spell.Builder
	for after := ""; ; {
		var page []string
		if err := e.View(ctx, id, func(tx storage.Tx) (err error) {
			page, err = tx.Words(ctx, after, wordsPage)
			return err
		}); err != nil {
			return nil, err
		}
		for _, word := range page {
			b.Add(word)
		}
		if len(page) < wordsPage {
			return b.List(), nil
		}
		after = page[len(page)-1]
	}
}
