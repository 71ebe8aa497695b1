// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"fmt"
	"slices"
	"strings"
)

// Images selects which changes carry images, and the attributes in them: only what aggregates need. It is part of
// the head of a cell, so that every writer reads it in its transaction (cell.Head). Images always have the
// sources and, for records, the outcome.
type Images struct {
	// Entities and Records are the attributes in images of either, sorted and deduplicated; nil if their changes
	// carry no images.
	Entities, Records []string
}

// None reports whether no change carries an image.
func (i Images) None() bool { return i.Entities == nil && i.Records == nil }

// Union returns the images needed for both.
func (i Images) Union(j Images) Images {
	return Images{union(i.Entities, j.Entities), union(i.Records, j.Records)}
}

func union(a, b []string) []string {
	if a == nil && b == nil {
		return nil
	}
	all := append(append(make([]string, 0, len(a)+len(b)), a...), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Contain reports whether i includes everything needed for j.
func (i Images) Contain(j Images) bool { return i.Union(j).String() == i.String() }

const (
	ofEntities = "entities:"
	ofRecords  = "records:"
)

// String returns the stored form: entities:category,city records:source, "" for none.
func (i Images) String() string {
	var parts []string
	if i.Entities != nil {
		parts = append(parts, ofEntities+strings.Join(i.Entities, ","))
	}
	if i.Records != nil {
		parts = append(parts, ofRecords+strings.Join(i.Records, ","))
	}
	return strings.Join(parts, " ")
}

// ParseImages parses the result of String.
func ParseImages(text string) (i Images, err error) {
	for part := range strings.FieldsSeq(text) {
		if list, ok := strings.CutPrefix(part, ofEntities); ok {
			i.Entities = names(list)
		} else if list, ok := strings.CutPrefix(part, ofRecords); ok {
			i.Records = names(list)
		}
	}
	if i.String() != text {
		return Images{}, fmt.Errorf("changelog: %.100q does not say which changes carry images", text)
	}
	return i, nil
}

func names(list string) []string {
	if list == "" {
		return []string{}
	}
	return strings.Split(list, ",")
}
