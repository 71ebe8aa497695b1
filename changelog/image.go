// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"slices"

	"github.com/locus-db/locus/entity"
)

// Image is what an entity or a record says at one moment: as much of it as an aggregate can count.
// It is a value: nobody changes one that is in a Change.
type Image struct {
	// Kind of the thing.
	Kind string `json:"kind"`
	// Sources of the members, in order, each once; of a record its own.
	Sources []string `json:"sources"`
	// Outcome is Founded or Joined for a record, "" for an entity.
	Outcome string `json:"outcome,omitempty"`
	// Attributes are those that somebody counts by: what the merged view of an entity shows, one value of an
	// attribute that is single; of a record what it was put with. Values are raw, byte for byte.
	Attributes entity.Attributes `json:"attributes"`
}

// What the Outcome of a record's image may be.
const (
	Founded = "founded" // the record is the anchor of its entity
	Joined  = "joined"  // the record is a later member
)

// ImageOf is the image of an entity, with those of its attributes that are named, given which have many
// values; nil of nil.
func ImageOf(e *entity.Entity, attributes []string, many func(attribute string) bool) *Image {
	if e == nil {
		return nil
	}
	im := &Image{Kind: e.Kind, Attributes: make(entity.Attributes, len(attributes))}
	for _, m := range e.Members {
		if !slices.Contains(im.Sources, m.Source) {
			im.Sources = append(im.Sources, m.Source)
		}
	}
	slices.Sort(im.Sources)
	for _, a := range e.View {
		if !slices.Contains(attributes, a.Name) {
			continue
		}
		n := 1
		if many(a.Name) {
			n = len(a.Values)
		}
		values := make([]string, n)
		for i := range values {
			values[i] = a.Values[i].Value
		}
		im.Attributes[a.Name] = values
	}
	return im
}

// ImageOfRecord is the image of a record, with those of its attributes that are named; nil of one that was
// deleted.
func ImageOfRecord(r *entity.Record, attributes []string) *Image {
	if r == nil || r.Deleted() {
		return nil
	}
	im := &Image{Kind: r.Kind, Sources: []string{r.Source}, Outcome: Founded, Attributes: make(entity.Attributes, len(attributes))}
	if r.Anchor != r.PUID {
		im.Outcome = Joined
	}
	for _, name := range attributes {
		if values := r.Attributes[name]; len(values) > 0 {
			im.Attributes[name] = values
		}
	}
	return im
}
