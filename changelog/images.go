// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"fmt"
	"slices"
	"strings"
)

// Images says which changes carry images, and which attributes are in these: no more than somebody counts by.
// It is part of the head of a cell, so that every writer knows it in its transaction (cell.Head). Images
// say the sources, and of records the outcome, in any case.
type Images struct {
	// Entities and Records are attributes of either, in order, each once; nil if changes of entities, or of
	// records, carry no images.
	Entities, Records []string
}

// None tells whether no change carries an image.
func (i Images) None() bool { return i.Entities == nil && i.Records == nil }

// Union is what is needed for both.
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

// Contain tells whether nothing is missing of what is needed for j.
func (i Images) Contain(j Images) bool { return i.Union(j).String() == i.String() }

const (
	ofEntities = "entities:"
	ofRecords  = "records:"
)

// String is the form that a head has: entities:category,city records:source, "" for none.
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

// ParseImages reads what String writes.
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
