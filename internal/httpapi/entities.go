// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/locality"
)

// Entity is an entity with its records and merged values.
type Entity struct {
	ID locality.ID `json:"id"`
	// RedirectedFrom is the requested id, if it was merged into this entity.
	RedirectedFrom locality.ID     `json:"redirected_from,omitzero" doc:"The requested id, if it was merged into this one"`
	Kind           string          `json:"kind"`
	Records        int             `json:"records" doc:"Number of records"`
	Rank           Rank            `json:"rank" doc:"Rank of the entity; lists have the best first"`
	Stamp          string          `json:"stamp" doc:"Two entities with the same stamp are equal"`
	Members        []entity.Member `json:"members" doc:"Records of the entity, oldest first; the first is the anchor"`
	View           View            `json:"view" doc:"Merged attributes in the order of the kind"`
	Hidden         []string        `json:"hidden,omitempty" doc:"Attributes that have a value, which this token may not see"`
	// Corrections is set in a list only.
	Corrections []entities.Correction `json:"corrections,omitempty" doc:"Words of a search that the entity does not have, and the words that it has instead"`
}

// Rank is the rank of an entity and its components.
type Rank struct {
	Points int `json:"points" doc:"Sum of the others"`
	entity.Rank
}

// View is the merged view: a JSON object with names in the order of the schema.
type View []ViewAttribute

// ViewAttribute is one merged attribute.
type ViewAttribute struct {
	Name string `json:"-"`
	// Value is the winning value; an attribute with many values has none.
	Value  *string     `json:"value,omitempty" doc:"The chosen value, for attributes with one value"`
	Values []ViewValue `json:"values" doc:"All values, highest weight first"`
}

// ViewValue is a value and the records that have it.
type ViewValue struct {
	Value   string       `json:"value"`
	Records []entity.Ref `json:"records"`
	Pinned  bool         `json:"pinned,omitempty" doc:"Whether a person chose it"`
}

// EntityList is a page of entities. Cursor is the cursor of the next page, "" at the end.
type EntityList struct {
	Entities []Entity `json:"entities"`
	// Corrections are the corrections of all entities of the page, each once. Entities with corrections are listed
	// after those without.
	Corrections []entities.Correction `json:"corrections,omitempty" doc:"Words of the search that were taken for others, each pair once; exact hits come first"`
	Cursor      string                `json:"cursor,omitempty" doc:"Cursor of the next page; missing on the last page only"`
}

// Get returns an attribute of the view, nil if it has no value.
func (v View) Get(name string) *ViewAttribute {
	for i := range v {
		if v[i].Name == name {
			return &v[i]
		}
	}
	return nil
}

// MarshalJSON writes an object in order.
func (v View) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	b.WriteByte('{')
	for i := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encoder.Encode(v[i].Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encoder.Encode(&v[i]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object and keeps its order.
func (v *View) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("view: want an object, found %v", t)
	}
	view := View{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("view: %w", err)
		}
		var a ViewAttribute
		if err := d.Decode(&a); err != nil {
			return fmt.Errorf("view: %w", err)
		}
		a.Name, _ = name.(string)
		view = append(view, a)
	}
	*v = view
	return nil
}

// entity converts an entity; requested is the requested id.
func (s *Server) entity(e *entity.Entity, requested locality.ID) Entity {
	out := Entity{ID: e.ID, Kind: e.Kind, Records: len(e.Members), Stamp: fmt.Sprint(e.Stamp), Members: e.Members}
	out.Rank = Rank{e.Rank.Points(), e.Rank}
	if requested != e.ID {
		out.RedirectedFrom = requested
	}
	out.View = s.merged(e.Kind, e.View, func(m int) entity.Ref { return e.Members[m].Ref })
	return out
}

// merged converts a view, with the records that support each value.
func (s *Server) merged(kind string, view entity.View, member func(int) entity.Ref) View {
	out := View{}
	schema := s.svc.Kinds().Schema(kind)
	for _, a := range view {
		merged := ViewAttribute{Name: a.Name, Values: make([]ViewValue, 0, len(a.Values))}
		if declared, ok := schema.Attribute(a.Name); !ok || !declared.Many {
			merged.Value = &a.Values[0].Value
		}
		for _, v := range a.Values {
			value := ViewValue{Value: v.Value, Pinned: v.Pinned, Records: make([]entity.Ref, 0, len(v.Members))}
			for _, m := range v.Members {
				value.Records = append(value.Records, member(m))
			}
			merged.Values = append(merged.Values, value)
		}
		out = append(out, merged)
	}
	return out
}

func (s *Server) getEntity(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	e, err := s.svc.Entities().Get(c, id)
	if err != nil {
		return nil, err
	}
	return s.found(c, e), nil
}

func (s *Server) find(c *call) (any, error) {
	e, err := s.svc.Entities().Find(c, c.query["address"])
	if err != nil {
		return nil, err
	}
	return s.found(c, e), nil
}

// found converts an entity, and names the survivor of a redirect in a header too.
func (s *Server) found(c *call, e *entities.Entity) Entity {
	if e.Redirected() {
		c.w.Header().Set("Content-Location", "/v1/entities/"+e.ID.String())
	}
	return s.entity(e.Entity, e.Requested)
}

func (s *Server) listEntities(c *call) (any, error) {
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	after, err := s.afterPlace(c)
	if err != nil {
		return nil, err
	}
	q, err := c.query.entities()
	if err != nil {
		return nil, err
	}
	if err := narrowQuery(&access.From(c).Restriction, &q); err != nil {
		return nil, err
	}
	q.After, q.Limit = after, limit
	list := EntityList{Entities: make([]Entity, 0, min(limit, stride))}
	size := 0
	var last entity.Place
	for e, err := range s.svc.Entities().Each(c, q) {
		if err != nil {
			return nil, err
		}
		item := s.entity(e.Entity, e.ID)
		item.Corrections = e.Corrections
		size += item.size()
		if n := len(list.Entities); n == limit || size > pageBytes && n > 0 {
			list.Cursor = s.placeCursor(c, last)
			break
		}
		list.Entities, last = append(list.Entities, item), e.Place()
		for _, correction := range e.Corrections {
			if !slices.Contains(list.Corrections, correction) {
				list.Corrections = append(list.Corrections, correction)
			}
		}
	}
	return list, nil
}

func (q values) entities() (entities.Query, error) {
	query := entities.Query{Kind: q["kind"], Text: q["q"], Has: q.list("has"), Without: q.list("without"),
		Order: entities.Order(q["order"]), Typos: entities.Typos(q["typos"])}
	if len(query.Text) > entities.MaxText {
		return query, fault(CodeInvalid, "?q", "q has %d bytes: at most %d", len(query.Text), entities.MaxText)
	}
	for _, text := range q.list("filter") {
		attribute, value, found := strings.Cut(text, ":")
		if !found {
			return query, fault(CodeInvalid, "?filter",
				"%.60q is not a filter: want ATTRIBUTE:VALUE, such as city:Oakland", text)
		}
		query.Where = append(query.Where, entities.Filter{Attribute: attribute, Value: value})
	}
	return query, nil
}

func (c *call) id() (locality.ID, error) {
	text := c.r.PathValue("id")
	id, err := locality.Parse(text)
	if err != nil {
		return locality.ID{}, fault(CodeInvalid, "/id",
			"%.60q is not an entity id: want 36 characters like 20be0ffc-314a-bd53-7a50-013a65ca76d2", text)
	}
	return id, nil
}
