// SPDX-License-Identifier: Apache-2.0

package entities

import "github.com/locus-db/locus/entity"

// MaxText is the maximum length of a search text, in bytes.
const MaxText = 256

// Query selects entities that meet all its conditions. The zero Query selects all.
type Query struct {
	Kind    string       // only this kind; "" for all
	Text    string       // every word must occur in a name, a category or a city; the last may be a prefix
	Where   []Filter     // required values of attributes
	Has     []string     // attributes that must have a value
	Without []string     // attributes that must have no value
	Order   Order        // "" is OrderBest if there is any condition, otherwise OrderID
	Typos   Typos        // typing errors in Text that are forgiven; "" is TyposFallback
	After   entity.Place // exclusive start; the zero place to begin
	Limit   int          // 1 to 1000; 0 for 100
}

// Filter requires an attribute to have a value, compared as its kind normalises it. An entity has all the values of its
// records.
type Filter struct{ Attribute, Value string }

// Order is the order of the results.
type Order string

// Orders of entities.
const (
	// OrderBest sorts by descending rank, see entity.Rank, then as OrderID.
	OrderBest Order = "best"
	// OrderID sorts by the anchors' puids, so that pages over all entities are stable.
	OrderID Order = "id"
)

// MaxFilters is the maximum number of conditions in Where, Has and Without together.
const MaxFilters = 32

// Result is an entity that a search found.
type Result struct {
	*entity.Entity
	// Edits is 0 for an exact hit, otherwise the number of typing errors that were assumed in a word of the search: the
	// largest of all words.
	Edits int
	// Corrections are the words of the search that the entity does not have, in order, and the words that it has
	// instead.
	Corrections []Correction
}

// Place returns the position of the result, for use as After.
func (r *Result) Place() entity.Place {
	p := placeOf(r.Entity)
	p.Edits = r.Edits
	return p
}

// placeOf returns the position of an entity among those found with as many typing errors.
func placeOf(e *entity.Entity) entity.Place {
	return entity.Place{Points: e.Rank.Points(), Anchor: e.Anchor()}
}

// Typos is the number of typing errors that are allowed in each word of a search: letters that are missing, added,
// wrong, or two neighbours swapped. Words with a digit are never corrected: 94110 is not 94111.
type Typos string

// How many typing errors are forgiven. Entities with all words as they are written come first.
const (
	// TyposFallback is TyposAuto if no entity has all words as they are written, otherwise TyposNone: a search that
	// finds something finds nothing else.
	TyposFallback Typos = ""
	TyposAuto     Typos = "auto" // none in words of up to 2 letters, one in up to 5, two in longer words
	TyposNone     Typos = "0"
	TyposOne      Typos = "1" // one in words of 3 letters and more
	TyposTwo      Typos = "2" // two errors in words of 4 letters and more, one in words of 3
)

// Correction is a word of a search and the word of an entity that it was taken for.
type Correction struct {
	Word string `json:"word"`
	As   string `json:"as"`
}
