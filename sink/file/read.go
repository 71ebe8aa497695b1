// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

var _ sink.Reader = (*Sink)(nil)

// Read implements sink.Reader. It reads all parts of the newest manifest.
func (s *Sink) Read(ctx context.Context, ids []locality.ID, fn func(sink.Held) error) error {
	m, err := readManifest(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return merge(s.dir, m.Format, m.Parts, func(l *line) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ids != nil {
			if _, wanted := slices.BinarySearchFunc(ids, l.ID, locality.ID.Compare); !wanted {
				return nil
			}
		}
		e := sink.Event{ID: l.ID, Rev: l.Rev, Op: l.Op, Kind: l.Kind, Into: l.Into, Records: l.Records}
		h := sink.Held{ID: l.ID, Rev: l.Rev, Deleted: l.Op == sink.Delete}
		if len(l.View) == 0 || json.Unmarshal(l.View, &e.View) == nil {
			h = sink.HeldOf(&e)
		}
		return fn(h)
	})
}
