// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

var _ sink.Reader = (*Sink)(nil)

// readPage is the number of documents read at once.
const readPage = 1000

// Read implements sink.Reader.
func (s *Sink) Read(ctx context.Context, ids []locality.ID, fn func(sink.Held) error) error {
	read := func(filter bson.D) ([]document, error) {
		cursor, err := s.docs.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(readPage))
		var page []document
		if err == nil {
			err = cursor.All(ctx, &page)
		}
		if err != nil {
			return nil, fmt.Errorf("mongodb: read collection %s: %w", s.docs.Name(), err)
		}
		for i := range page {
			h := sink.HeldOf(page[i].event())
			if err := fn(h); err != nil {
				return nil, err
			}
		}
		return page, nil
	}
	if ids != nil {
		for part := range slices.Chunk(ids, readPage) {
			if _, err := read(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: part}}}}); err != nil {
				return err
			}
		}
		return nil
	}
	for after := (locality.ID{}); ; {
		page, err := read(bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}})
		if err != nil || len(page) < readPage {
			return err
		}
		after = page[len(page)-1].ID
	}
}

// event returns the event of a document.
func (d *document) event() *sink.Event {
	e := &sink.Event{ID: d.ID, Rev: d.Rev, Op: d.Op, Kind: d.Kind, At: d.At, Records: d.Records}
	if d.Into != nil {
		e.Into = *d.Into
	}
	if len(d.View) > 0 {
		e.View = make(map[string]any, len(d.View))
		for _, a := range d.View {
			e.View[a.Key] = a.Value
		}
	}
	return e
}
