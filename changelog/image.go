// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"slices"

	"github.com/locus-db/locus/entity"
)

// Image is the state of an entity or a record at one moment, as far as aggregates need it. An image in a Change
// is immutable.
type Image struct {
	// Kind of the entity or record.
	Kind string `json:"kind"`
	// Sources of the members, sorted and deduplicated; for a record its own.
	Sources []string `json:"sources"`
	// Outcome is Founded or Joined for a record, "" for an entity.
	Outcome string `json:"outcome,omitempty"`
	// Attributes has the requested attributes. For an entity they come from the merged view, with one value for a
	// single-valued attribute; for a record they are as put. Values are raw, byte for byte.
	Attributes entity.Attributes `json:"attributes"`
}

// The outcomes of a record's image.
const (
	OutcomeCreated = "created" // the record is the anchor of its entity
	OutcomeMatched = "matched" // the record is a later member
)

// ImageOf returns the image of an entity with the named attributes; many reports whether an attribute has many
// values. The image of nil is nil.
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

// ImageOfRecord returns the image of a record with the named attributes, nil for a missing or deleted one.
func ImageOfRecord(r *entity.Record, attributes []string) *Image {
	if r == nil || r.Deleted() {
		return nil
	}
	im := &Image{Kind: r.Kind, Sources: []string{r.Source}, Outcome: OutcomeCreated,
		Attributes: make(entity.Attributes, len(attributes))}
	if r.Anchor != r.PUID {
		im.Outcome = OutcomeMatched
	}
	for _, name := range attributes {
		if values := r.Attributes[name]; len(values) > 0 {
			im.Attributes[name] = values
		}
	}
	return im
}
