// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/backend/document"
	"github.com/locus-db/locus/entity"
)

// entry is what the search knows of an entity. It is written only if it differs from the one
// that is there, whose hash stands in the entity's row: a record that joins an entity mostly says
// again what is known.
type entry struct {
	anchor int64
	words  string // each with a blank behind it
	hash   int64
}

func newEntry(e entity.Indexed) entry {
	b := make([]byte, 0, 256)
	for _, name := range e.Names {
		b = append(append(b, name...), ' ')
	}
	for _, term := range e.Terms {
		b = append(document.AppendTerm(b, term), ' ')
	}
	return entry{int64(e.Anchor()), string(b), int64(xxhash.Sum64(b))}
}

// indexed answers with the hashes of the documents of entities that are there.
func (t *tx) indexed(ctx context.Context, anchors []entity.PUID) (map[int64]int64, error) {
	if len(anchors) == 0 {
		return nil, nil
	}
	stored := make(map[int64]int64, len(anchors))
	return stored, t.query(ctx, "SELECT e.anchor, e.words FROM json_each(?) AS j CROSS JOIN entity AS e ON e.anchor = j.value", func(r row) error {
		stored[r.int(0)] = r.int(1)
		return nil
	}, numbers(t, anchors))
}

// unindex takes documents that are there out of the search.
func (t *tx) unindex(anchors []int64) error {
	return each(t, "DELETE FROM search WHERE rowid = ?", anchors, func(s *stmt, anchor int64) error { return s.exec(anchor) })
}

// index adds documents of entities that have none.
func (t *tx) index(entries []entry) error {
	return each(t, "INSERT INTO search (rowid, words) VALUES (?, ?)", entries, func(s *stmt, e entry) error {
		return s.exec(e.anchor, e.words)
	})
}

const sqlSearch = `SELECT 0, e.anchor, e.id, e.stamp, e.body
	FROM search CROSS JOIN entity AS e ON e.anchor = search.rowid
	WHERE search MATCH ? AND search.rowid > ? ORDER BY search.rowid LIMIT ?`

// Search meets the lists of the query's words; a query without words is a list of all entities.
func (t *tx) Search(ctx context.Context, query entity.Query) ([]*entity.Entity, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(query.Names) == 0 && len(query.Terms) == 0 {
		return t.ListEntities(ctx, query.After, query.Limit)
	}
	match := t.text[:0]
	for _, term := range query.Terms {
		match = append(document.AppendTerm(append(match, '"'), term), `" `...)
	}
	for i, name := range query.Names {
		if !document.IsWord(name) {
			return nil, nil
		}
		match = append(append(append(match, '"'), name...), '"')
		if i == len(query.Names)-1 {
			match = append(match, '*')
		}
		match = append(match, ' ')
	}
	t.text = match
	entities, err := rows(ctx, t, readEntity, sqlSearch, string(match), int64(query.After), int64(query.Limit))
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return entities, nil
}
