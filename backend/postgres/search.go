// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/backend/document"
	"github.com/locus-db/locus/entity"
)

// A word of the index is a word of a name as it is, or a term. PostgreSQL takes words of
// up to 2046 bytes, so a longer one is its beginning and a hash of all of it: it is found as a whole,
// and by beginnings that are short enough.
const (
	hashMark = "\ue001" // private use: no word of a name holds it
	longest  = 1024
	allWords = 1 << 19 // bytes; PostgreSQL takes 1 MiB of words for an entity
)

// words are what an entity is found by, as the text of a tsvector.
func words(e entity.Indexed) string {
	b := make([]byte, 0, 256)
	for _, term := range e.Terms {
		b = append(appendTerm(b, term), ' ')
	}
	for _, name := range e.Names {
		if len(b) < allWords && name != "" {
			b = append(appendWord(b, name), ' ')
		}
	}
	return string(b)
}

// appendTerm writes a term as a quoted word.
func appendTerm(b []byte, term uint64) []byte {
	return append(document.AppendTerm(append(b, '\''), term), '\'')
}

// appendWord writes a word of a name quoted, so that nothing in it means anything.
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

// beginning is what is kept of a long word: whole characters.
func beginning(word string) string {
	end := longest
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

const sqlSearch = "SELECT " + entityColumns + " FROM entity WHERE words @@ $1::text::tsquery AND anchor > $2 ORDER BY anchor LIMIT $3"

// Search meets the lists of the query's words; a query without words is a list of all entities.
func (t *tx) Search(ctx context.Context, query entity.Query) ([]*entity.Entity, error) {
	if len(query.Names) == 0 && len(query.Terms) == 0 {
		return t.ListEntities(ctx, query.After, query.Limit)
	}
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	match := t.text[:0]
	for _, term := range query.Terms {
		match = append(appendTerm(match, term), " & "...)
	}
	for i, name := range query.Names {
		switch {
		case !document.IsWord(name):
			return nil, nil
		case i < len(query.Names)-1:
			match = appendWord(match, name)
		case len(name) <= longest:
			match = append(appendQuoted(match, name), ":*"...)
		default: // a word that begins with a long one: that one itself, or one of the same beginning
			match = append(appendQuoted(match, beginning(name)), ":*"...)
		}
		match = append(match, " & "...)
	}
	t.text = match
	entities, err := rows(ctx, t, onlyEntity, sqlSearch, strings.TrimSuffix(string(match), " & "), int64(query.After), int64(query.Limit))
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return entities, nil
}
