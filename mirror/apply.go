// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/locality"
)

// copier brings documents up to date.
type copier struct {
	source Source
	target Target
}

// refresh updates the documents of ids, and returns the ids to be read again.
func (c *copier) refresh(ctx context.Context, ids []locality.ID) (settling []locality.ID, err error) {
	slices.SortFunc(ids, locality.ID.Compare)
	for part := range slices.Chunk(slices.Compact(ids), MostStates) {
		unsettled, err := c.refreshPart(ctx, part)
		if err != nil {
			return nil, err
		}
		settling = append(settling, unsettled...)
	}
	return settling, nil
}

// refreshPart reads the versions of the documents, then the states, and writes each document if its version is
// unchanged. It repeats this until no other writer interferes.
func (c *copier) refreshPart(ctx context.Context, ids []locality.ID) (settling []locality.ID, err error) {
	for {
		held, err := c.held(ctx, ids)
		if err != nil {
			return nil, err
		}
		states, err := c.source.States(ctx, ids, nil)
		if err != nil {
			return nil, fmt.Errorf("read the state of %d ids: %w", len(ids), err)
		}
		docs, settling := due(held, states)
		written, err := c.write(ctx, docs)
		if err != nil || written == len(docs) {
			return settling, err
		}
	}
}

func (c *copier) held(ctx context.Context, ids []locality.ID) (map[locality.ID]Held, error) {
	list, err := c.target.Held(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the versions of %d documents: %w", len(ids), err)
	}
	held := make(map[locality.ID]Held, len(list))
	for _, h := range list {
		held[h.ID] = h
	}
	return held, nil
}

func (c *copier) write(ctx context.Context, docs []Document) (int, error) {
	if len(docs) == 0 {
		return 0, nil
	}
	written, err := c.target.Write(ctx, docs)
	if err != nil {
		return 0, fmt.Errorf("write %d documents: %w", len(docs), err)
	}
	return written, nil
}

// due returns the documents to write over those held, in ID order, and the IDs to be read again. A document that
// is already correct is written, too: its new version makes a writer that read an older state fail. An ID that is
// unknown because its cell was restored from a backup becomes a tombstone if it has a document.
func due(held map[locality.ID]Held, states []State) (docs []Document, settling []locality.ID) {
	for _, s := range states {
		h := held[s.ID]
		if s.Settling {
			settling = append(settling, s.ID)
		}
		switch {
		case s.Settling && (s.Kind != Entity || h.holds(&s)): // it will be read again
			continue
		case s.Kind == Unknown && h.Version == 0:
			continue
		case s.Kind == Unknown:
			s.Kind = Deleted
		}
		docs = append(docs, Document{State: s, Version: h.Version + 1})
	}
	slices.SortFunc(docs, func(a, b Document) int { return a.ID.Compare(b.ID) })
	return docs, settling
}

// fill brings the documents of a page of all IDs up to date. The page was read before the versions, so its states
// may only be written where no document exists (documents are never deleted); all others are read again.
func (c *copier) fill(ctx context.Context, page []State) (settling []locality.ID, err error) {
	ids := make([]locality.ID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	held, err := c.held(ctx, ids)
	if err != nil {
		return nil, err
	}
	docs, settling := due(held, page)
	fresh := docs[:0:0]
	var again []locality.ID
	for _, d := range docs {
		if d.Version == 1 {
			fresh = append(fresh, d)
		} else {
			again = append(again, d.ID)
		}
	}
	written, err := c.write(ctx, fresh)
	if err != nil {
		return nil, err
	}
	if written < len(fresh) {
		for _, d := range fresh {
			again = append(again, d.ID)
		}
	}
	unsettled, err := c.refresh(ctx, again)
	return append(settling, unsettled...), err
}
