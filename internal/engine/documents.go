// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
)

// Documents is a database of documents that an installation has beside its cells: package storage/mongodb
// gives one. Metrics that are new are counted in it.
type Documents interface {
	// Identity tells the database from all others.
	Identity() string
	// String is how people are told which one it is.
	String() string
	// Owner returns the id of the installation that it belongs to, "" if it belongs to none.
	Owner(ctx context.Context) (string, error)
	// Claim has it belong to an installation from then on, unless it belongs to one already, and returns
	// the id of the one it belongs to. Of several installations that claim it at once one gets it.
	Claim(ctx context.Context, installation string) (owner string, err error)
	// Metrics are its counters.
	Metrics() counter.Cells
	// Groups are those of the rollups of a cell that keep them in documents.
	Groups(cell string) rollup.Documents
	// Close ends all use of it.
	Close(ctx context.Context) error
}

// ErrDocuments means that an installation was opened without the database of documents that it has, or with
// another one, or with that of another installation.
var ErrDocuments = errors.New("locus: not the installation's database of documents")

// documentsName is the name under which the authority remembers which database it is.
const documentsName = "documents"

// AttachDocuments makes the database of documents that was given the installation's, for good. Every process that opens
// the installation has to give the same one: hits would be counted in two places otherwise, and no answer would have all
// of them.
func (e *Engine) AttachDocuments(ctx context.Context) error {
	given := ""
	if e.Documents != nil {
		given = e.Documents.Identity()
	}
	stored, err := e.documentsOf(ctx, e.Map().Authority(), "")
	if errors.Is(err, ErrUnavailable) && !e.Alone() {
		if stored = e.documentsCopied(ctx); stored != "" || given == "" {
			err = nil
		}
	}
	if err == nil && given != "" && (stored == "" || stored == given) {
		if err = e.claim(ctx); err == nil && stored == "" && !e.ReadOnly { // what counts there says so first
			stored, err = e.documentsOf(ctx, e.Map().Authority(), given)
		}
	}
	switch {
	case errors.Is(err, ErrDocuments):
		return err
	case err != nil:
		return fmt.Errorf("which database of documents the installation has: %w", err)
	case e.ReadOnly && stored == "":
		return nil
	case given == stored:
		if !e.ReadOnly {
			e.copyDocuments(ctx, given)
		}
		return nil
	case given == "":
		return fmt.Errorf("%w: it counts in the MongoDB database %s, and none was given: give it with --mongodb", ErrDocuments, stored)
	default:
		return fmt.Errorf("%w: %s is database %s, and the installation counts in %s: give that one with --mongodb", ErrDocuments, e.Documents, given, stored)
	}
}

// claim has the database of documents that was given belong to this installation. Two that count in one would add
// their hits together, and drop each other's groups. The cells do not remember it before it is theirs, so one that was
// given by mistake can be taken back.
func (e *Engine) claim(ctx context.Context) error {
	id, d := e.Map().Spec().ID, e.Documents
	claim := d.Claim
	if e.ReadOnly {
		claim = func(ctx context.Context, _ string) (string, error) { return d.Owner(ctx) }
	}
	owner, err := claim(ctx, id)
	if err != nil || owner == id || owner == "" {
		return err
	}
	return fmt.Errorf("%w: %s belongs to the installation with the cell map %s, and this one has %s: give each a database of its own, mongodb://HOST/NAME. A copy of an installation needs a copy of the database, which locus cell restored --map OLD=NEW --mongodb OLD=NEW makes its own",
		ErrDocuments, d, owner, id)
}

// DocumentsOf returns the identity of the database of documents that the installation of some cells has, "" if it
// has none.
func DocumentsOf(ctx context.Context, cells *Cells) (string, error) {
	c, err := cells.Cell(cells.Map().Authority())
	if err != nil {
		return "", Wrap(err)
	}
	var stored []byte
	err = c.View(ctx, func(tx resolve.Tx) (err error) {
		stored, err = tx.Definition(ctx, documentsName)
		return err
	})
	return string(stored), Wrap(err)
}

// documentsOf reads which database of documents a cell remembers. If it remembers none, that is the one given from
// then on, unless that is "".
func (e *Engine) documentsOf(ctx context.Context, id cell.ID, given string) (string, error) {
	var stored []byte
	read := func(tx resolve.Tx) (err error) {
		stored, err = tx.Definition(ctx, documentsName)
		return err
	}
	err := e.View(ctx, id, read)
	if err != nil || stored != nil || given == "" {
		return string(stored), err
	}
	err = e.Do(ctx, id, func(c resolve.Cell) error {
		return c.Update(ctx, func(tx resolve.Tx) error {
			if err := read(tx); err != nil || stored != nil {
				return err
			}
			stored = []byte(given)
			return tx.PutDefinition(ctx, documentsName, stored)
		})
	})
	return string(stored), err
}

// copyDocuments has all cells that answer remember the database of documents too, so that a process can start while
// the authority does not.
func (e *Engine) copyDocuments(ctx context.Context, given string) {
	if given == "" || e.Alone() {
		return
	}
	ids := e.Map().Cells()
	Parallel(len(ids), func(i int) {
		if _, err := e.documentsOf(ctx, ids[i], given); err != nil {
			e.Logger.Debug("a cell is not told of the database of documents", "cell", ids[i], "err", err)
		}
	})
}

// documentsCopied is the database of documents that another cell remembers, "" if none does that answers.
func (e *Engine) documentsCopied(ctx context.Context) string {
	ids := e.Map().Cells()
	found := make([]string, len(ids))
	Parallel(len(ids), func(i int) { found[i], _ = e.documentsOf(ctx, ids[i], "") })
	for _, f := range found {
		if f != "" {
			return f
		}
	}
	return ""
}
