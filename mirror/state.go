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

// Kind says what an id leads to.
type Kind string

// Kinds of states.
const (
	Entity   Kind = "entity"   // the id is that of an entity
	Redirect Kind = "redirect" // it leads to another id, which may lead on
	Deleted  Kind = "deleted"  // the last record behind it was deleted: nothing is left
	Unknown  Kind = "unknown"  // it was never given out
)

// State is what an id leads to at one moment.
type State struct {
	ID locality.ID `json:"id"`
	// Kind says what the id leads to.
	Kind Kind `json:"state" enum:"entity,redirect,deleted,unknown" doc:"What the id leads to: an entity, another id, nothing any more; unknown if it was never given out"`
	// To is the id that a redirect leads to: of a live record the entity that it belongs to, of a deleted one the
	// record that was next in line, whose id may lead on.
	To locality.ID `json:"to,omitzero" doc:"Where a redirect leads: the id of an entity, or one that leads on"`
	// Thing is the entity, nil of any other kind.
	Thing *Thing `json:"entity,omitempty" doc:"The entity, if the id is that of one"`
	// Cell is where the id lives, and At the place in that cell's log that the state is true at.
	Cell cell.ID       `json:"cell" doc:"Where the id lives"`
	At   changelog.Seq `json:"at,string" doc:"The place in the log of that cell that this is true at"`
	// Settling tells that the cells do not agree yet on what the record of the id belongs to: look again. An
	// entity that settles is a record by itself; a redirect that settles says nothing.
	Settling bool `json:"settling,omitempty" doc:"Its record is being resolved: ask again"`
}

// Thing is an entity as a mirror shows it.
type Thing struct {
	Kind string `json:"kind"`
	// Attributes are the merged view, in the order of the kind.
	Attributes []Attribute `json:"attributes" doc:"The merged view, in the order of the kind"`
	// Members are the records, in the order of birth, the anchor first.
	Members []entity.Member `json:"members" doc:"Its records in the order of birth; the first is the anchor"`
	Rank    entity.Rank     `json:"rank" doc:"How good the picture is"`
	// Stamp is a hash of all of this: equal stamps, equal entities.
	Stamp uint64 `json:"stamp,string" doc:"Equal stamps, equal entities"`
}

// Attribute is a merged attribute.
type Attribute struct {
	Name string `json:"name"`
	// Value is the one that won, nil of an attribute that has many values.
	Value *string `json:"value,omitempty" doc:"The value that won, for attributes with one value"`
	// Values are all of them, the heaviest first, with the members that say so.
	Values []entity.MergedValue `json:"values" doc:"All values, heaviest first; members are places in the list of members"`
}

// ThingOf is an entity as a mirror shows it, given which attributes have many values.
func ThingOf(e *entity.Entity, many func(attribute string) bool) *Thing {
	t := &Thing{Kind: e.Kind, Members: e.Members, Rank: e.Rank, Stamp: e.Stamp, Attributes: make([]Attribute, 0, len(e.View))}
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

// Stamp is equal for equal states of an id: that of the entity, or the id where a redirect leads.
func (s *State) Stamp() string {
	switch s.Kind {
	case Entity:
		return strconv.FormatUint(s.Thing.Stamp, 10)
	case Redirect:
		return s.To.String()
	}
	return string(s.Kind)
}

// Same tells whether two states of an id say the same, whenever they were read.
func (s *State) Same(other *State) bool {
	return bytes.Equal(s.said(), other.said())
}

// said is all that a state says, as text.
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
