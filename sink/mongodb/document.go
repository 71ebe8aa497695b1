// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

// largest is the number of bytes of the largest document that MongoDB takes.
const largest = 16 << 20

// document is the document of an ID. Names of attributes are names of fields: they have neither dots nor dollars.
type document struct {
	ID      locality.ID  `bson:"_id"`
	Rev     int64        `bson:"rev"`
	Op      sink.Op      `bson:"op"`
	Kind    string       `bson:"kind,omitempty"`
	Into    *locality.ID `bson:"into,omitempty"`
	At      string       `bson:"at,omitempty"`
	Records []string     `bson:"records,omitempty"`
	View    bson.D       `bson:"view,omitempty"`
}

func newDocument(e *sink.Event) *document {
	d := &document{ID: e.ID, Rev: e.Rev, Op: e.Op, Kind: e.Kind, At: e.At, Records: e.Records}
	if !e.Into.IsZero() {
		d.Into = &e.Into
	}
	for _, name := range slices.Sorted(maps.Keys(e.View)) {
		d.View = append(d.View, bson.E{Key: name, Value: e.View[name]})
	}
	return d
}
