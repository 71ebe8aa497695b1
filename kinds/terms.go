// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Terms returns the stored term-frequency tables, the latest last.
func (h *Handle) Terms() []resolve.Terms { return h.engine.Resolver.Rules().Terms }

// BuildTermFrequencies counts the words of the names of a kind's live records and stores the counts as a term-frequency
// table, which is not used until the kind is migrated to it.
func (h *Handle) BuildTermFrequencies(ctx context.Context, kind string,
	progress func(Progress)) (resolve.Terms, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return resolve.Terms{}, err
	}
	k := h.engine.Kind(kind)
	if k == nil {
		return resolve.Terms{}, fmt.Errorf("%w: %.64q", ErrNoKind, kind)
	}
	counting := h.progress(ctx, "reading", progress)
	var failed error
	terms := match.CountTerms(k.Matcher.Schema(), func(yield func(match.Attributes) bool) {
		failed = h.eachRecord(ctx, k.Name(), func(rec *entity.Record) error {
			counting.add(1)
			if !yield(match.Attributes(rec.Attributes)) {
				return context.Canceled
			}
			return nil
		})
	})
	if failed != nil {
		return resolve.Terms{}, engine.Wrap(failed)
	}
	return h.StoreTermFrequencies(ctx, kind, terms)
}

// StoreTermFrequencies stores a term-frequency table for a kind, which is not used until the kind is migrated to it.
// Storing it again changes nothing.
func (h *Handle) StoreTermFrequencies(ctx context.Context, kind string,
	terms *match.TermFrequencies) (resolve.Terms, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return resolve.Terms{}, err
	}
	k := h.engine.Kind(kind)
	if k == nil {
		return resolve.Terms{}, fmt.Errorf("%w: %.64q", ErrNoKind, kind)
	}
	if err := h.engine.Resolver.Keep(ctx, k.Name(), terms); err != nil {
		return resolve.Terms{}, engine.Wrap(err)
	}
	hash := resolve.HashText(terms.Hash())
	for _, p := range h.Terms() {
		if p.Hash == hash {
			return p, nil
		}
	}
	return resolve.Terms{}, fmt.Errorf("%w: %s", ErrNoTerms, hash)
}

// recordsPage is how many records are read at once.
const recordsPage = 1000

// eachRecord reads the live records of a kind, cell by cell.
func (h *Handle) eachRecord(ctx context.Context, kind string, fn func(*entity.Record) error) error {
	read := func(tx storage.Tx, after entity.PUID, limit int) ([]*entity.Record, error) {
		return tx.ListRecords(ctx, "", after, limit)
	}
	puid := func(rec *entity.Record) entity.PUID { return rec.PUID }
	return engine.Each(ctx, h.engine, engine.FirstPUID, read, puid, func(rec *entity.Record) error {
		if rec.Kind != kind {
			return nil
		}
		return fn(rec)
	})
}
