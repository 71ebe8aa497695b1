// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
)

// Documents is a database of documents that an installation has beside its cells: package backend/mongodb
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

// attach makes the database of documents that was given the installation's, for good. Whoever opens it has to
// give the same: hits would be counted in two places otherwise, and nobody would see all of them.
func (s *Service) attach(ctx context.Context) error {
	given := ""
	if s.opts.Documents != nil {
		given = s.opts.Documents.Identity()
	}
	stored, err := s.documentsOf(ctx, s.Map().Authority(), "")
	if errors.Is(err, ErrUnavailable) && !s.cells.Alone() {
		if stored = s.documentsCopied(ctx); stored != "" || given == "" {
			err = nil
		}
	}
	if err == nil && given != "" && (stored == "" || stored == given) {
		if err = s.claim(ctx); err == nil && stored == "" && !s.opts.ReadOnly { // what counts there says so first
			stored, err = s.documentsOf(ctx, s.Map().Authority(), given)
		}
	}
	switch {
	case errors.Is(err, ErrDocuments):
		return err
	case err != nil:
		return fmt.Errorf("which database of documents the installation has: %w", err)
	case s.opts.ReadOnly && stored == "":
		return nil
	case given == stored:
		if !s.opts.ReadOnly {
			s.copyDocuments(ctx, given)
		}
		return nil
	case given == "":
		return fmt.Errorf("%w: it counts in the MongoDB database %s, and none was given: give it with --mongodb", ErrDocuments, stored)
	default:
		return fmt.Errorf("%w: %s is database %s, and the installation counts in %s: give that one with --mongodb", ErrDocuments, s.opts.Documents, given, stored)
	}
}

// claim has the database of documents that was given belong to this installation. Two that count in one would add
// their hits together, and drop each other's groups. The cells do not remember it before it is theirs, so one that was
// given by mistake can be taken back.
func (s *Service) claim(ctx context.Context) error {
	id, d := s.Map().Spec().ID, s.opts.Documents
	claim := d.Claim
	if s.opts.ReadOnly {
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
		return "", wrap(err)
	}
	var stored []byte
	err = c.View(ctx, func(tx resolve.Tx) (err error) {
		stored, err = tx.Definition(ctx, documentsName)
		return err
	})
	return string(stored), wrap(err)
}

// documentsOf reads which database of documents a cell remembers. If it remembers none, that is the one given from
// then on, unless that is "".
func (s *Service) documentsOf(ctx context.Context, id cell.ID, given string) (string, error) {
	var stored []byte
	read := func(tx resolve.Tx) (err error) {
		stored, err = tx.Definition(ctx, documentsName)
		return err
	}
	err := s.view(ctx, id, read)
	if err != nil || stored != nil || given == "" {
		return string(stored), err
	}
	err = s.at(ctx, id, func(c resolve.Cell) error {
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
func (s *Service) copyDocuments(ctx context.Context, given string) {
	if given == "" || s.cells.Alone() {
		return
	}
	ids := s.Map().Cells()
	abreast(len(ids), func(i int) {
		if _, err := s.documentsOf(ctx, ids[i], given); err != nil {
			s.opts.Logger.Debug("a cell is not told of the database of documents", "cell", ids[i], "err", err)
		}
	})
}

// documentsCopied is the database of documents that another cell remembers, "" if none does that answers.
func (s *Service) documentsCopied(ctx context.Context) string {
	ids := s.Map().Cells()
	found := make([]string, len(ids))
	abreast(len(ids), func(i int) { found[i], _ = s.documentsOf(ctx, ids[i], "") })
	for _, f := range found {
		if f != "" {
			return f
		}
	}
	return ""
}

// Documents says which database of documents the installation has, "" if it has none.
func (s *Service) Documents() string {
	if s.opts.Documents == nil {
		return ""
	}
	return s.opts.Documents.String()
}

// detach ends all use of the database of documents.
func (s *Service) detach() error {
	if s.opts.Documents == nil {
		return nil
	}
	return s.opts.Documents.Close(context.Background())
}

// metrics are the places of metrics: what a cell has counted stays there, all else is in the database of
// documents, if there is one.
func (s *Service) metrics() counter.Cells {
	if s.opts.Documents == nil {
		return metricCells{s}
	}
	return metricsApart{metricCells{s}, s.opts.Documents.Metrics()}
}

// metricsApart are the cells and, behind them, the database of documents. A metric has one place for ever.
type metricsApart struct {
	cells     metricCells
	documents counter.Cells
}

// Places asks the directory first.
func (m metricsApart) Places(ctx context.Context, metrics []counter.Metric, create, fresh bool) []counter.Place {
	places := m.cells.Places(ctx, metrics, false, fresh)
	var others []counter.Metric
	var at []int
	for i, p := range places {
		if p == (counter.Place{}) {
			others, at = append(others, metrics[i]), append(at, i)
		}
	}
	if len(others) > 0 {
		for i, p := range m.documents.Places(ctx, others, create, fresh) {
			places[at[i]] = p
		}
	}
	return places
}

// List names the cells, then what the documents are called.
func (m metricsApart) List() []string { return append(m.cells.List(), m.documents.List()...) }

// Cell is one of either.
func (m metricsApart) Cell(name string) counter.Database {
	if slices.Contains(m.documents.List(), name) {
		return m.documents.Cell(name)
	}
	return m.cells.Cell(name)
}
