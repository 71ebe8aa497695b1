// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// entityDoc is the document of an ID. docs/mongodb.md describes its fields for other readers of the collection.
type entityDoc struct {
	ID      locality.ID  `bson:"_id"`
	State   mirror.Kind  `bson:"state"`
	To      *locality.ID `bson:"to,omitempty"`
	Version int64        `bson:"version"`
	Cell    string       `bson:"cell"`
	At      int64        `bson:"at"`

	Kind       string         `bson:"kind,omitempty"`
	Attributes []attributeDoc `bson:"attributes,omitempty"`
	Members    []memberDoc    `bson:"members,omitempty"`
	Rank       *rankDoc       `bson:"rank,omitempty"`
	Stamp      string         `bson:"stamp,omitempty"`
}

type attributeDoc struct {
	Name   string     `bson:"name"`
	Value  *string    `bson:"value,omitempty"`
	Values []valueDoc `bson:"values"`
}

type valueDoc struct {
	Value   string `bson:"value"`
	Members []int  `bson:"members"`
	Pinned  bool   `bson:"pinned,omitempty"`
}

type memberDoc struct {
	Source  string `bson:"source"`
	Key     string `bson:"key"`
	PUID    int64  `bson:"puid"`
	Version int64  `bson:"version"`
}

type rankDoc struct {
	Points  int `bson:"points"`
	Sources int `bson:"sources"`
	Known   int `bson:"known"`
}

func newEntityDoc(d *mirror.Document) *entityDoc {
	doc := &entityDoc{ID: d.ID, State: d.Kind, Version: d.Version, Cell: d.Cell.String(), At: int64(d.At)}
	if !d.To.IsZero() {
		doc.To = &d.To
	}
	t := d.Thing
	if t == nil {
		return doc
	}
	doc.Kind, doc.Stamp = t.Kind, strconv.FormatUint(t.Stamp, 10)
	doc.Rank = &rankDoc{t.Rank.Points(), t.Rank.Sources, t.Rank.Known}
	for _, a := range t.Attributes {
		of := attributeDoc{Name: a.Name, Value: a.Value, Values: make([]valueDoc, 0, len(a.Values))}
		for _, v := range a.Values {
			of.Values = append(of.Values, valueDoc{v.Value, append([]int{}, v.Members...), v.Pinned})
		}
		doc.Attributes = append(doc.Attributes, of)
	}
	for _, m := range t.Members {
		doc.Members = append(doc.Members, memberDoc{m.Source, m.Key, int64(m.PUID), m.Version})
	}
	return doc
}

// document is the inverse of newEntityDoc. A field that does not parse was changed by another program: it is
// skipped, so that the document differs from what it should be.
func (doc *entityDoc) document() mirror.Document {
	d := mirror.Document{State: mirror.State{ID: doc.ID, Kind: doc.State, At: changelog.Seq(doc.At)}, Version: doc.Version}
	d.Cell, _ = cell.ParseID(doc.Cell)
	if doc.To != nil {
		d.To = *doc.To
	}
	if doc.State != mirror.Entity && doc.Kind == "" && doc.Attributes == nil && doc.Members == nil {
		return d
	}
	t := &mirror.Thing{
		Kind: doc.Kind, Attributes: make([]mirror.Attribute, 0, len(doc.Attributes)),
		Members: make([]entity.Member, 0, len(doc.Members)),
	}
	t.Stamp, _ = strconv.ParseUint(doc.Stamp, 10, 64)
	if doc.Rank != nil {
		t.Rank = entity.Rank{Sources: doc.Rank.Sources, Known: doc.Rank.Known}
	}
	for _, a := range doc.Attributes {
		of := mirror.Attribute{Name: a.Name, Value: a.Value, Values: make([]entity.MergedValue, 0, len(a.Values))}
		for _, v := range a.Values {
			of.Values = append(of.Values, entity.MergedValue{
				Value: v.Value, Members: append([]int{}, v.Members...), Pinned: v.Pinned,
			})
		}
		t.Attributes = append(t.Attributes, of)
	}
	for _, m := range doc.Members {
		t.Members = append(t.Members, entity.Member{
			PUID: entity.PUID(m.PUID), Ref: entity.Ref{Source: m.Source, Key: m.Key}, Version: m.Version,
		})
	}
	d.Thing = t
	return d
}

// fillID is the _id of the document about the start of the fill. Control documents have the names of cells as _id.
const fillID = "fill"

type fillDoc struct {
	ID           string    `bson:"_id"`
	Name         string    `bson:"name"`
	Installation string    `bson:"installation"`
	Format       int       `bson:"format"`
	From         []fromDoc `bson:"from"`
	Begun        time.Time `bson:"begun"`
}

type fromDoc struct {
	Cell string `bson:"cell"`
	At   int64  `bson:"at"`
}

func newFillDoc(f mirror.Fill) *fillDoc {
	doc := &fillDoc{
		ID: fillID, Name: f.Name, Installation: f.Installation, Format: f.Format, Begun: f.Begun,
		From: make([]fromDoc, 0, len(f.From)),
	}
	for _, id := range slices.SortedFunc(maps.Keys(f.From), cell.ID.Compare) {
		doc.From = append(doc.From, fromDoc{id.String(), int64(f.From[id])})
	}
	return doc
}

func (doc *fillDoc) fill() (mirror.Fill, error) {
	f := mirror.Fill{
		Name: doc.Name, Installation: doc.Installation, Format: doc.Format, Begun: doc.Begun.UTC(),
		From: make(map[cell.ID]changelog.Seq, len(doc.From)),
	}
	for _, from := range doc.From {
		id, err := cell.ParseID(from.Cell)
		if err != nil {
			return f, fmt.Errorf("document %q of the mirror: %w", doc.ID, err)
		}
		f.From[id] = changelog.Seq(from.At)
	}
	return f, nil
}

type controlDoc struct {
	ID       string        `bson:"_id"`
	Fill     string        `bson:"fill"`
	After    locality.ID   `bson:"after"`
	Filled   bool          `bson:"filled"`
	Count    int64         `bson:"count"`
	At       int64         `bson:"at"`
	Time     time.Time     `bson:"time"`
	Settling []locality.ID `bson:"settling"`
	Version  int64         `bson:"version"`
}

func newControlDoc(c mirror.Control) *controlDoc {
	return &controlDoc{
		ID: c.Cell.String(), Fill: c.Fill, After: c.After, Filled: c.Filled, Count: c.Count, At: int64(c.At), Time: c.Time,
		Settling: append([]locality.ID{}, c.Settling...), Version: c.Version,
	}
}

func (doc *controlDoc) control() (mirror.Control, error) {
	id, err := cell.ParseID(doc.ID)
	if err != nil {
		return mirror.Control{}, fmt.Errorf("document %q of the mirror: %w", doc.ID, err)
	}
	c := mirror.Control{
		Cell: id, Fill: doc.Fill, After: doc.After, Filled: doc.Filled, Count: doc.Count, At: changelog.Seq(doc.At), Time: doc.Time.UTC(), Version: doc.Version,
	}
	if len(doc.Settling) > 0 {
		c.Settling = doc.Settling
	}
	return c, nil
}
