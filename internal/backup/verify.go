// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// Verify checks a backup as Restore does, in a directory for temporary files that is removed in the end, which needs as
// much room as the data directory had. The error is ErrFile if the backup cannot be restored.
func Verify(ctx context.Context, in io.Reader) (_ *Manifest, err error) {
	dir, err := os.MkdirTemp("", "locus-verify-*")
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := extract(ctx, dir, in)
	if err == nil {
		err = opened(ctx, dir, m, func(*storage.Cells) error { return nil })
	}
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return m, nil
}

// opened opens extracted files, compares them with the manifest, and calls then.
func opened(ctx context.Context, dir string, m *Manifest, then func(*storage.Cells) error) (err error) {
	cells, err := storage.Open(ctx, storage.Default+":"+dir, &storage.Options{MustExist: true, Restored: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cells.Close()) }()
	if got := cells.Map().Spec().ID; got != m.Map {
		return fmt.Errorf("%w: the files are of map %s, the manifest of %s", ErrFile, got, m.Map)
	}
	files := map[cell.ID]File{}
	for _, f := range m.Files {
		files[f.Cell] = f
	}
	for _, id := range cells.Map().Cells() {
		f, there := files[id]
		if !there {
			return fmt.Errorf("%w: cell %v is missing", ErrFile, id)
		}
		if err := compare(ctx, cells, f); err != nil {
			return fmt.Errorf("cell %v: %w", id, err)
		}
	}
	return then(cells)
}

// compare reads the whole file of a cell and compares its content with the manifest.
func compare(ctx context.Context, cells *storage.Cells, f File) error {
	c, err := cells.Cell(f.Cell)
	if err != nil {
		return err
	}
	return c.View(ctx, func(t storage.Tx) error {
		tx, ok := t.(inFile)
		if !ok {
			return fmt.Errorf("%w: it is not in a file", ErrFile)
		}
		records, entities, err := tx.CheckFile(ctx)
		switch {
		case errors.Is(err, cell.ErrDamaged):
			return fmt.Errorf("%w: %s was damaged when it was copied: %w: restore an older backup", ErrFile, f.Name, err)
		case err != nil:
			return err
		case records != f.Records || entities != f.Entities:
			return fmt.Errorf("%w: %s has %d records and %d entities, its manifest says %d and %d: locus check --repair the directory that was copied, or restore an older backup",
				ErrFile, f.Name, records, entities, f.Records, f.Entities)
		}
		return nil
	})
}
