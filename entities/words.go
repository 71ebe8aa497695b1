// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// words are the words of each cell, read when a search first needs them.
type words struct {
	mu    sync.Mutex
	cells map[cell.ID]*cellWords
}

// cellWords are the words of a cell that a process has cached.
type cellWords struct {
	reading sync.Mutex // held by the search that reads all of them
	known   atomic.Pointer[known]
}

// known are the words of a cell at a place in its log: those that were read, and those of the entities that have
// changed since. They also contain the words of former versions, so they are read again after keep times the time that
// reading them took: a hundred times 0.1 s for 25,000 entities. If there are few words, they are read again after any
// change.
type known struct {
	base, recent *vocabulary
	changed      []entity.Occurrence // the words of recent
	changes      int
	at           changelog.Seq
	rules        int64 // version of the rules, which define what is searched
	read         time.Time
	took         time.Duration
	// stale reports that too many changes follow at. The cell may then have words that are in no vocabulary.
	stale bool
}

const (
	// few is the number of words up to which they are read again after any change.
	few        = 2000
	keep       = 100
	keepStale  = 20   // the same where maxChanges were followed
	maxChanges = 2000 // as many are followed
	// wordsPage is how many words are read in one transaction, so that none is long.
	wordsPage = 20_000
)

// of returns the words of a cell.
func (w *words) of(ctx context.Context, e *engine.Engine, id cell.ID) (*known, error) {
	c := w.cell(id)
	rules := e.Resolver.Rules().Version
	k := c.known.Load()
	if k != nil && k.rules != rules {
		k = nil
	}
	next, err := follow(ctx, e, id, k, rules)
	if err != nil {
		return nil, err
	}
	if next != k && next.base != nil {
		c.known.CompareAndSwap(k, next) // otherwise another search knows more
	}
	switch {
	case next.base == nil || next.changes > 0 && next.base.list.Len() <= few:
		c.reading.Lock()
	case !next.due() || !c.reading.TryLock():
		return next, nil
	}
	defer c.reading.Unlock()
	// another search has just read them
	if k := c.known.Load(); k != nil && k.rules == rules && k.at >= next.at && k.changes == 0 {
		return k, nil
	}
	began := time.Now()
	base, err := readWords(ctx, e, id)
	if err != nil {
		return nil, fmt.Errorf("read the words of cell %v: %w", id, err)
	}
	next = &known{base: base, at: next.at, rules: rules, read: time.Now(), took: time.Since(began)}
	c.known.Store(next)
	return next, nil
}

func (w *words) cell(id cell.ID) *cellWords {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cells == nil {
		w.cells = map[cell.ID]*cellWords{}
	}
	if w.cells[id] == nil {
		w.cells[id] = new(cellWords)
	}
	return w.cells[id]
}

// due reports whether all words have to be read again.
func (k *known) due() bool {
	since := time.Since(k.read)
	return k.stale && since >= keepStale*k.took || k.changes > 0 && since >= keep*k.took
}

// follow returns the words at the end of a cell's log: k with the words of the entities that have changed since. If k
// is nil, or its position does not precede the end, all words are read.
func follow(ctx context.Context, e *engine.Engine, id cell.ID, k *known, rules int64) (*known, error) {
	var bounds changelog.Bounds
	var changed []*entity.Entity
	n := 0
	if err := e.View(ctx, id, func(tx storage.Tx) (err error) {
		changed = nil
		if bounds, err = tx.Bounds(ctx); err != nil || k == nil || bounds.Last == k.at || !k.canFollow(bounds) {
			return err
		}
		changes, err := tx.Changes(ctx, k.at, maxChanges)
		if err != nil {
			return err
		}
		n = len(changes)
		var anchors []entity.PUID
		for _, c := range changes {
			if !c.Kind.OfRecord() && len(c.After) > 0 {
				anchors = append(anchors, c.After[0].PUID)
			}
		}
		slices.Sort(anchors)
		changed, err = tx.Entities(ctx, slices.Compact(anchors))
		return err
	}); err != nil {
		return nil, err
	}
	switch {
	case k == nil || bounds.Last < k.at:
		return &known{at: bounds.Last, rules: rules}, nil
	case bounds.Last == k.at:
		return k, nil
	}
	next := *k
	if next.stale = !k.canFollow(bounds); next.stale {
		return &next, nil
	}
	next.at, next.changes, next.changed = bounds.Last, k.changes+n, slices.Clip(k.changed)
	for _, has := range changed {
		if has == nil {
			continue
		}
		schema := e.Schema(has.Kind)
		if schema == nil { // this process does not know the kind yet
			return &known{at: bounds.Last, rules: rules}, nil
		}
		for _, word := range wordsOf(schema, has) {
			next.changed = append(next.changed, entity.Occurrence{Word: word, Anchor: has.Anchor()})
		}
	}
	next.recent = vocabularyOf(next.changed)
	return &next, nil
}

// canFollow reports whether the log has all changes since, and they are not too many.
func (k *known) canFollow(b changelog.Bounds) bool {
	return k.at >= b.Trimmed && k.changes+int(b.Last-k.at) <= maxChanges
}

// readWords reads all words page by page. Words that come or go in the meantime are among them or not.
func readWords(ctx context.Context, e *engine.Engine, id cell.ID) (*vocabulary, error) {
	words := map[string][]bucket{}
	for after := (entity.Occurrence{}); ; {
		var page []entity.Occurrence
		if err := e.View(ctx, id, func(tx storage.Tx) (err error) {
			page, err = tx.Occurrences(ctx, after, wordsPage)
			return err
		}); err != nil {
			return nil, err
		}
		for _, o := range page {
			words[o.Word] = append(words[o.Word], bucketOf(o.Anchor))
		}
		if len(page) < wordsPage {
			return newVocabulary(words), nil
		}
		after = page[len(page)-1]
	}
}

// wordsOf returns the words that an entity is found by, sorted.
func wordsOf(schema *match.Schema, e *entity.Entity) (words []string) {
	for _, a := range e.View {
		if declared, ok := schema.Attribute(a.Name); ok && resolve.Searched(declared) {
			for _, v := range a.Values {
				words = append(words, match.NameTokens(v.Value)...)
			}
		}
	}
	slices.Sort(words)
	return words
}
