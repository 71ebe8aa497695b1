// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

// A word of the index is a word of a name, or a term. PostgreSQL limits words to 2046 bytes, so a longer word is
// stored as its prefix and a hash of the whole: it can be found as a whole, or by prefixes that are short enough.
const (
	hashMark = "\ue001" // private use: no word of a name contains it
	longest  = 1024
	and      = " & "
	allWords = 1 << 19 // bytes; PostgreSQL limits a tsvector to 1 MiB
)

// words returns the search words of an entity, with separators: the text of a tsvector with blanks, and with and the
// text of a tsquery that finds it.
func words(e entity.Indexed, separator string) string {
	b := appendRank(make([]byte, 0, 256), e.Rank.Points())
	for _, term := range e.Terms {
		b = appendTerm(append(b, separator...), term)
	}
	for _, word := range e.Words {
		if len(b) < allWords && word != "" {
			b = appendWord(append(b, separator...), word)
		}
	}
	return string(b)
}

// appendTerm appends a term as a quoted word.
func appendTerm(b []byte, term uint64) []byte {
	return append(document.AppendTerm(append(b, '\''), term), '\'')
}

// appendRank appends points as a quoted word.
func appendRank(b []byte, points int) []byte {
	return append(document.AppendRank(append(b, '\''), points), '\'')
}

// appendWord appends a word, quoted, so that its characters are taken literally.
func appendWord(b []byte, word string) []byte {
	if len(word) > longest {
		word = beginning(word) + hashMark + fmt.Sprintf("%016x", xxhash.Sum64String(word))
	}
	return appendQuoted(b, word)
}

func appendQuoted(b []byte, word string) []byte {
	b = append(b, '\'')
	for i := range len(word) {
		if c := word[i]; c == '\'' || c == '\\' {
			b = append(b, c)
		}
		b = append(b, word[i])
	}
	return append(b, '\'')
}

// beginning returns the stored prefix of a long word, cut at a character boundary.
func beginning(word string) string {
	end := longest
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

const (
	sqlSearch = "SELECT " + entityColumns + " FROM entity WHERE words @@ $1::text::tsquery AND anchor > $2 ORDER BY anchor LIMIT $3"

	sqlSearchFew = "SELECT count(*) FROM (SELECT FROM entity WHERE words @@ $1::text::tsquery LIMIT $2) AS few"

	points         = "(rank >> 8) + (rank & 255)"
	sqlSearchSmall = "SELECT " + entityColumns + " FROM entity WHERE words @@ $1::text::tsquery AND (" + points + " < $2 OR " + points +
		" = $2 AND anchor > $3) ORDER BY " + points + " DESC, anchor LIMIT $4"

	// The lists of ranks are read in sequence and only until the limit is reached, because nothing sorts the result of
	// the loop. anchor + 0 prevents an index scan in anchor order.
	sqlSearchBest = `SELECT e.* FROM unnest($1::text[], $2::bigint[]) AS q (match, after) CROSS JOIN LATERAL (
		SELECT ` + entityColumns + ` FROM entity WHERE words @@ q.match::tsquery AND anchor > q.after ORDER BY anchor + 0 LIMIT $3
	) AS e LIMIT $3`
)

// Search intersects the posting lists of the query's words.
func (t *tx) Search(ctx context.Context, query entity.Query) (found []*entity.Entity, err error) {
	match, possible := t.expression(query)
	switch {
	case !possible:
		return nil, nil
	case match == "" && !query.Best:
		return t.ListEntities(ctx, query.After, query.Limit)
	}
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if query.Best {
		found, err = t.searchBest(ctx, query, match)
	} else {
		found, err = rows(ctx, t, onlyEntity, sqlSearch, match, int64(query.After), int64(query.Limit))
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// searchBest sorts the matches if they are few, and otherwise reads the list of each rank.
func (t *tx) searchBest(ctx context.Context, query entity.Query, match string) (found []*entity.Entity, err error) {
	if match != "" {
		few, err := rows(ctx, t, scalar[int64], sqlSearchFew, match, int64(document.Few+1))
		switch {
		case err != nil:
			return nil, err
		case few[0] <= document.Few:
			return rows(ctx, t, onlyEntity, sqlSearchSmall, match, query.Points, int64(query.After), int64(query.Limit))
		}
	}
	matches, after := make([]string, query.Points+1), make([]int64, query.Points+1)
	for i := range matches {
		ranked := appendRank(make([]byte, 0, len(match)+16), query.Points-i)
		if match != "" {
			ranked = append(append(ranked, and...), match...)
		}
		matches[i], after[i] = string(ranked), math.MinInt64
	}
	after[0] = int64(query.After)
	return rows(ctx, t, onlyEntity, sqlSearchBest, matches, after, int64(query.Limit))
}

// expression returns the text of a tsquery, or "" if the query matches everything. possible is false if no entity
// can match.
func (t *tx) expression(query entity.Query) (match string, possible bool) {
	b := t.text[:0]
	for _, term := range query.Terms {
		b = append(appendTerm(b, term), and...)
	}
	if slices.ContainsFunc(query.Words, func(word string) bool { return !document.IsWord(word) }) {
		return "", false
	}
	b = appendWords(b, query.Words, query.Instead, nil)
	for _, term := range query.Without {
		b = append(appendTerm(append(b, '!'), term), and...)
	}
	if query.Except != nil && len(query.Words) > 0 {
		differing := document.Differing(query)
		if len(differing) == 0 {
			return "", false
		}
		b = appendWords(append(b, "!("...), query.Words, query.Except, differing)
		b = append(bytes.TrimSuffix(b, []byte(and)), ") & "...)
	}
	t.text = b
	return strings.TrimSuffix(string(b), and), true
}

// appendWords appends a tsquery, and " & ", for words or the alternatives in their place: for all of them, or for those
// at some indexes. The last word may be a prefix.
func appendWords(b []byte, words []string, instead [][]string, at []int) []byte {
	for i, word := range words {
		if at != nil && !slices.Contains(at, i) {
			continue
		}
		b = append(b, '(')
		switch {
		case i < len(words)-1:
			b = appendWord(b, word)
		case len(word) <= longest:
			b = append(appendQuoted(b, word), ":*"...)
		default: // a prefix longer than the limit: finds every word that shares the stored prefix
			b = append(appendQuoted(b, beginning(word)), ":*"...)
		}
		if i < len(instead) {
			for _, other := range instead[i] {
				if document.IsWord(other) {
					b = appendWord(append(b, " | "...), other)
				}
			}
		}
		b = append(b, ") & "...)
	}
	return b
}
