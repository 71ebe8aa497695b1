// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

// documentsName is the name of the definition in the authority that stores the identity of the document database.
const documentsName = "documents"

// ErrDocuments means that an installation was opened without its document database, with a different one, or with one
// that belongs to another installation.
var ErrDocuments = problem.Class(problem.ErrUnavailable, "locus: MongoDB database mismatch")

// AttachDocuments permanently attaches the given document database to the installation. Every process that opens the
// installation must pass the same one; otherwise hits would be counted in two places and no read would see all of them.
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
		if err = e.claim(ctx); err == nil && stored == "" && !e.ReadOnly { // claim before storing: see claim
			stored, err = e.documentsOf(ctx, e.Map().Authority(), given)
		}
	}
	switch {
	case errors.Is(err, ErrDocuments):
		return err
	case err != nil:
		return fmt.Errorf("read the identity of the MongoDB database: %w", err)
	case e.ReadOnly && stored == "":
		return nil
	case given == stored:
		if !e.ReadOnly {
			e.copyDocuments(ctx, given)
		}
		return nil
	case given == "":
		return fmt.Errorf("%w: it counts in the MongoDB database %s, and none was given: give it with --mongodb",
			ErrDocuments, stored)
	default:
		return fmt.Errorf("%w: %s is database %s, and the installation counts in %s: give that one with --mongodb",
			ErrDocuments, e.Documents, given, stored)
	}
}

// claim makes the given document database belong to this installation. Two installations sharing one database would add
// up each other's hits and drop each other's groups. The cells store the database only after it is claimed, so one that
// was passed by mistake can be taken back.
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
	return fmt.Errorf("%w: %s belongs to the installation with the cell map %s, and this one has %s: "+
		"give each a database of its own, mongodb://HOST/NAME. A copy of an installation needs a copy of the database, "+
		"which locus cell restored --map OLD=NEW --mongodb OLD=NEW makes its own",
		ErrDocuments, d, owner, id)
}

// DocumentsOf returns the identity of the document database of the installation that the cells belong to, "" if it has
// none.
func DocumentsOf(ctx context.Context, cells *Cells) (string, error) {
	c, err := cells.Cell(cells.Map().Authority())
	if err != nil {
		return "", Wrap(err)
	}
	var stored []byte
	err = c.View(ctx, func(tx storage.Tx) (err error) {
		stored, err = tx.Definition(ctx, documentsName)
		return err
	})
	return string(stored), Wrap(err)
}

// documentsOf returns the identity of the document database that a cell stores. If the cell stores none and given is
// not "", given is stored.
func (e *Engine) documentsOf(ctx context.Context, id cell.ID, given string) (string, error) {
	var stored []byte
	read := func(tx storage.Tx) (err error) {
		stored, err = tx.Definition(ctx, documentsName)
		return err
	}
	err := e.View(ctx, id, read)
	if err != nil || stored != nil || given == "" {
		return string(stored), err
	}
	err = e.Update(ctx, id, func(tx storage.Tx) error {
		if err := read(tx); err != nil || stored != nil {
			return err
		}
		stored = []byte(given)
		return tx.PutDefinition(ctx, documentsName, stored)
	})
	return string(stored), err
}

// copyDocuments stores the identity of the document database in every reachable cell, so that a process can start while
// the authority is unreachable.
func (e *Engine) copyDocuments(ctx context.Context, given string) {
	if given == "" || e.Alone() {
		return
	}
	ids := e.Map().Cells()
	Parallel(len(ids), func(i int) {
		if _, err := e.documentsOf(ctx, ids[i], given); err != nil {
			e.Logger.Debug("noting the MongoDB database in a cell failed", "cell", ids[i], "err", err)
		}
	})
}

// documentsCopied returns the identity of the document database stored in any reachable cell, "" if there is none.
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
