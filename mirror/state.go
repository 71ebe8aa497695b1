// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// Kind is the kind of a State.
type Kind string

// The kinds of states.
const (
	Entity   Kind = "entity"   // the ID of an entity
	Redirect Kind = "redirect" // leads to another ID, which may lead on
	Deleted  Kind = "deleted"  // the last record behind the ID was deleted
	Unknown  Kind = "unknown"  // the ID was never issued
)

// State is the state of an ID at one moment.
type State struct {
	ID locality.ID `json:"id"`
	// Kind is entity, redirect, deleted or unknown.
	Kind Kind `json:"state" enum:"entity,redirect,deleted,unknown" doc:"entity; redirect to another id; deleted; or unknown if the id was never allocated"`
	// To is the target of a redirect: for a live record, its entity; for a deleted one, its successor record,
	// whose ID may lead on.
	To locality.ID `json:"to,omitzero" doc:"Target of a redirect: the id of an entity, or of another redirect"`
	// Thing is the entity, nil for other kinds.
	Thing *Thing `json:"entity,omitempty" doc:"The entity, if state is entity"`
	// Cell is the home of the ID, At the position in that cell's log at which the state is true.
	Cell cell.ID       `json:"cell" doc:"Cell of the id"`
	At   changelog.Seq `json:"at,string" doc:"Position in the log of that cell at which the state was read"`
	// Settling reports that the cells do not agree yet about the entity of the ID's record: read it again. A
	// settling Entity consists of one record; a settling Redirect has no meaning.
	Settling bool `json:"settling,omitempty" doc:"Its record is being resolved: read it again later"`
}

// Thing is an entity in a mirror.
type Thing struct {
	Kind string `json:"kind"`
	// Attributes are the merged view, in the order of the kind.
	Attributes []Attribute `json:"attributes" doc:"The merged view, in the order of the kind"`
	// Members are the records, in the order of birth, the anchor first.
	Members []entity.Member `json:"members" doc:"Records of the entity, oldest first; the first is the anchor"`
	Rank    entity.Rank     `json:"rank" doc:"Rank of the entity"`
	// Stamp is a hash of the entity: equal stamps mean equal entities.
	Stamp uint64 `json:"stamp,string" doc:"Two entities with the same stamp are equal"`
}

// Attribute is a merged attribute.
type Attribute struct {
	Name string `json:"name"`
	// Value is the winning value, nil for an attribute with many values.
	Value *string `json:"value,omitempty" doc:"The chosen value, for attributes with one value"`
	// Values are all values, heaviest first, with the members that have them.
	Values []entity.MergedValue `json:"values" doc:"All values, highest weight first; members are indexes into the list of members"`
}

// ThingOf converts an entity; many reports whether an attribute has many values.
func ThingOf(e *entity.Entity, many func(attribute string) bool) *Thing {
	t := &Thing{Kind: e.Kind, Members: e.Members, Rank: e.Rank, Stamp: e.Stamp,
		Attributes: make([]Attribute, 0, len(e.View))}
	for _, a := range e.View {
		merged := Attribute{Name: a.Name, Values: make([]entity.MergedValue, len(a.Values))}
		for i, v := range a.Values {
			v.Members = append([]int{}, v.Members...)
			merged.Values[i] = v
		}
		if !many(a.Name) {
			merged.Value = &a.Values[0].Value
		}
		t.Attributes = append(t.Attributes, merged)
	}
	return t
}

// Stamp returns a text that is equal for equal states of an ID: the entity's stamp, or the target of a redirect.
func (s *State) Stamp() string {
	switch s.Kind {
	case Entity:
		return strconv.FormatUint(s.Thing.Stamp, 10)
	case Redirect:
		return s.To.String()
	}
	return string(s.Kind)
}

// Same reports whether two states have the same content, regardless of when they were read.
func (s *State) Same(other *State) bool {
	return bytes.Equal(s.said(), other.said())
}

// said returns the content of a state as text.
func (s *State) said() []byte {
	said := struct {
		ID, To locality.ID
		Kind   Kind
		Thing  *Thing
	}{s.ID, s.To, s.Kind, s.Thing}
	text, err := json.Marshal(said)
	if err != nil {
		panic(err) // numbers and texts only
	}
	return text
}
