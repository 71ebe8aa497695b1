// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

// entry is the search document of an entity. It is written only if its hash differs from the stored one, which the
// entity's row holds: a record that joins an entity mostly adds no new words.
type entry struct {
	anchor int64
	words  string // each followed by a blank
	hash   int64
}

func newEntry(e entity.Indexed) entry {
	b := make([]byte, 0, 2048) // on the stack, and mostly enough
	for _, word := range e.Words {
		b = append(append(b, word...), ' ')
	}
	for _, term := range e.Terms {
		b = append(document.AppendTerm(b, term), ' ')
	}
	b = append(document.AppendRank(b, e.Rank.Points()), " "+document.Every...)
	return entry{int64(e.Anchor()), string(b), int64(xxhash.Sum64(b))}
}

// indexed returns the hashes of the stored search documents by anchor.
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

// unindex removes stored documents from the search.
func (t *tx) unindex(anchors []int64) error {
	return each(t, "DELETE FROM search WHERE rowid = ?", anchors, func(s *stmt, anchor int64) error {
		return s.exec(anchor)
	})
}

// index adds documents of entities that have none, one statement each: a statement for several rows has a savepoint,
// which makes the index write its buffer first.
func (t *tx) index(entries []entry) error {
	return each(t, "INSERT INTO search (rowid, words) VALUES (?, ?)", entries, func(s *stmt, e entry) error {
		return s.exec(e.anchor, e.words)
	})
}

const (
	sqlSearch = "SELECT 0, " + entityColumns + ` FROM search CROSS JOIN entity AS e ON e.anchor = search.rowid
		WHERE search MATCH ? AND search.rowid > ? ORDER BY search.rowid LIMIT +?`

	sqlSearchFirst = "SELECT rowid FROM search WHERE search MATCH ? LIMIT +?"

	sqlSearchFew = "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT +?)"

	points         = "(e.rank >> 8) + (e.rank & 255)"
	sqlSearchSmall = "SELECT 0, " + entityColumns + ` FROM search CROSS JOIN entity AS e ON e.anchor = search.rowid
		WHERE search MATCH ? AND ` + sqlSearchAfter
	sqlSearchHandful = "SELECT 0, " + entityColumns + ` FROM json_each(?) AS j CROSS JOIN entity AS e ON e.anchor = j.value
		WHERE ` + sqlSearchAfter
	sqlSearchAfter = "(" + points + " < ? OR " + points + " = ? AND e.anchor > ?) ORDER BY " + points + " DESC, e.anchor LIMIT +?"
)

// Search intersects the posting lists of the query's words, which are ordered by anchor.
func (t *tx) Search(ctx context.Context, query entity.Query) (found []*entity.Entity, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	has, hasNot, possible := t.expression(query)
	switch {
	case !possible:
		return nil, nil
	case !query.Best && has+hasNot == "":
		return t.ListEntities(ctx, query.After, query.Limit)
	case !query.Best:
		if has == "" {
			has = document.Every
		}
		found, err = rows(ctx, t, readEntity, sqlSearch, has+hasNot, int64(query.After), int64(query.Limit))
	}
	if query.Best {
		found, err = t.searchBest(ctx, query, has, hasNot)
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// handful is up to how many matches are read from the index without counting them. More are counted first, which reads
// the lists of all words twice; but mostly a cell has none or a handful.
const handful = 64

// searchBest sorts the matches if they are few. Otherwise it intersects the list of each rank with the query, best
// rank first, and stops at the limit.
func (t *tx) searchBest(ctx context.Context, query entity.Query,
	has, hasNot string) (found []*entity.Entity, err error) {
	count := func(match string, limit int) (n int64, err error) {
		return n, t.query(ctx, sqlSearchFew, func(r row) error { n = r.int(0); return nil }, match, int64(limit))
	}
	if has != "" {
		var first []entity.PUID
		err := t.query(ctx, sqlSearchFirst, func(r row) error { first = append(first, entity.PUID(r.int(0))); return nil },
			has+hasNot, int64(handful+1))
		switch {
		case err != nil || len(first) == 0:
			return nil, err
		case len(first) <= handful:
			return rows(ctx, t, readEntity, sqlSearchHandful, numbers(t, first), int64(query.Points), int64(query.Points),
				int64(query.After), int64(query.Limit))
		}
		switch n, err := count(has+hasNot, document.Few+1); {
		case err != nil:
			return nil, err
		case n <= document.Few:
			return rows(ctx, t, readEntity, sqlSearchSmall, has+hasNot, int64(query.Points), int64(query.Points),
				int64(query.After), int64(query.Limit))
		}
	}
	after := query.After
	for points := query.Points; points >= 0 && len(found) < query.Limit; points-- {
		rank := string(document.AppendRank(nil, points))
		n, err := count(rank, 1)
		if err == nil && n > 0 {
			var some []*entity.Entity
			some, err = rows(ctx, t, readEntity, sqlSearch, both(has, rank)+hasNot, int64(after), int64(query.Limit-len(found)))
			found = append(found, some...)
		}
		if err != nil {
			return nil, err
		}
		after = math.MinInt64
	}
	return found, nil
}

// expression returns the match expression for the words that entities must have, and the one for the words that they
// must not have. possible is false if no entity can match.
func (t *tx) expression(query entity.Query) (has, hasNot string, possible bool) {
	match := t.text[:0]
	for _, term := range query.Terms {
		match = append(document.AppendTerm(append(and(match), '"'), term), '"')
	}
	if slices.ContainsFunc(query.Words, func(word string) bool { return !document.IsWord(word) }) {
		return "", "", false
	}
	match = appendWords(match, query.Words, query.Instead, nil)
	end := len(match)
	for _, term := range query.Without {
		match = append(document.AppendTerm(append(match, ` NOT "`...), term), '"')
	}
	if query.Except != nil && len(query.Words) > 0 {
		differing := document.Differing(query)
		if len(differing) == 0 {
			return "", "", false
		}
		match = append(appendWords(append(match, ` NOT (`...), query.Words, query.Except, differing), ')')
	}
	t.text = match
	return string(match[:end]), string(match[end:]), true
}

// appendWords appends an expression for words or the alternatives in their place: for all of them, or for those at some
// indexes. The last word may be a prefix.
func appendWords(match []byte, words []string, instead [][]string, at []int) []byte {
	for i, word := range words {
		if at != nil && !slices.Contains(at, i) {
			continue
		}
		match = append(append(append(and(match), `("`...), word...), '"')
		if i == len(words)-1 {
			match = append(match, '*')
		}
		if i < len(instead) {
			for _, other := range instead[i] {
				if document.IsWord(other) {
					match = append(append(append(match, ` OR "`...), other...), '"')
				}
			}
		}
		match = append(match, ')')
	}
	return match
}

// and appends an operator to an expression, unless it is empty or ends with an opening bracket.
func and(match []byte) []byte {
	if n := len(match); n == 0 || match[n-1] == '(' {
		return match
	}
	return append(match, " AND "...)
}

// both returns an expression for two others, the first of which may be empty.
func both(a, b string) string {
	if a == "" {
		return b
	}
	return a + " AND " + b
}
