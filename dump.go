// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locus-db/locus/internal/dump"
	"github.com/locus-db/locus/match"
)

// Dump is an installation as read by DB.Dump. WriteTo writes it; Close removes its temporary files.
type Dump = dump.Dump

// Restored describes what Restore has restored.
type Restored = dump.Restored

// Errors of Dump and Restore.
var (
	// ErrDumpFile means that a file is no dump, is damaged or was cut off; the text names the line.
	ErrDumpFile = dump.ErrFile
	// ErrOccupied means that Restore found an installation where it should make one.
	ErrOccupied = dump.ErrOccupied
	// ErrUnfinished means that an installation was made by a Restore that did not finish: delete it and repeat that.
	ErrUnfinished = dump.ErrUnfinished
)

// Dump reads the whole installation, while it is written to: kinds, rollup definitions, records with their birth ids
// and versions, decisions, and counters with the dedup records of batches. Sinks and streams are included. Each cell is
// read in one snapshot. The snapshots are opened together while no record is being resolved, so writes wait for some
// milliseconds. The data is kept in temporary files.
func (db *DB) Dump(ctx context.Context) (*Dump, error) { return dump.Take(ctx, db.engine) }

// Restore makes an installation at a URL, as for Open, from what Dump.WriteTo has written. The number of cells and the
// kind of database may differ from those of the dump. Entity ids stay, and so do decisions, kinds, rollup definitions
// and counters; puids do not. Sinks and streams are restored as paused. Rollups are built when the installation is
// opened. After an error the installation is ErrUnfinished: delete it. opts may set Storage, Logger and Now.
func Restore(ctx context.Context, url string, r io.Reader, opts *Options) (restored *Restored, err error) {
	o := opts.withDefaults()
	reader, err := dump.NewReader(r)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	opened, err := dump.Create(ctx, url, o.Storage, reader)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	authority, err := opened.Cell(opened.Map().Authority())
	if err == nil {
		err = dump.Rules(ctx, reader, authority)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("restore: %w", err), opened.Close())
	}
	db, err := openCells(ctx, opened, &Options{Kinds: []*match.Schema{}, Hold: true, Logger: o.Logger, Now: o.Now}, nil)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	restored, rollups, err := dump.Fill(ctx, reader, db.engine)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	for _, d := range rollups {
		if _, _, err := db.rollups.Define(ctx, d); err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
	}
	return restored, dump.Finish(ctx, db.engine.Cells)
}
