// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/storage"
)

// Dumped is a stream in a dump.
type Dumped struct {
	Definition
	Progress source.Progress `json:"progress"`
	Letters  []source.Letter `json:"letters,omitempty"`
}

// restoredReason is why a restored stream is paused.
const restoredReason = "restored from a dump: locus source resume goes on where the dump was taken"

// Dump reads the streams and the last imports from the authority, for a dump. The records of the dump must be read
// later: then they include the records of every message before the positions.
func Dump(ctx context.Context, tx storage.Tx) ([]Dumped, map[string]Import, error) {
	c, err := rows.Read(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	all := make([]Dumped, len(c.All))
	for i, d := range c.All {
		s := Dumped{Definition: d}
		if s.Progress, err = running.Read[source.Progress](ctx, tx, progressName(d.Name)); err != nil {
			return nil, nil, err
		}
		if s.Letters, err = running.Read[[]source.Letter](ctx, tx, deadName(d.Name)); err != nil {
			return nil, nil, err
		}
		s.Progress.Returns = nil // of cells that the restored installation does not have
		all[i] = s
	}
	imports, err := running.Read[map[string]Import](ctx, tx, importsName)
	return all, imports, err
}

// Restore stores the streams of a dump in the authority of a new installation, with their positions and dead letters,
// and the last imports. The streams are paused: of two installations one reads.
func Restore(ctx context.Context, tx storage.Tx, all []Dumped, imports map[string]Import) error {
	c, err := rows.Read(ctx, tx)
	if err != nil {
		return err
	}
	if len(c.All) > 0 {
		return fmt.Errorf("there are streams already")
	}
	for _, s := range all {
		c.Revision++
		d := s.Definition
		d.Revision = c.Revision
		if !d.Paused || d.Reason != "" {
			d.Paused, d.Reason = true, restoredReason
		}
		c.Add(d)
		if err := running.Put(ctx, tx, progressName(d.Name), s.Progress); err != nil {
			return err
		}
		if err := running.Put(ctx, tx, deadName(d.Name), s.Letters); err != nil {
			return err
		}
	}
	if err := running.Put(ctx, tx, importsName, imports); err != nil {
		return err
	}
	return rows.Put(ctx, tx, c)
}
