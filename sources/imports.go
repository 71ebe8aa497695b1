// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/storage"
)

// Import describes the last import into a source, as the program that ran it reports it.
type Import struct {
	// At is when it ended.
	At time.Time `json:"at"`
	// File is the name of the file or the table that was read, at most MaxFile bytes.
	File string `json:"file"`
	Rows int64  `json:"rows"`
	// Outcomes counts the rows by outcome, such as created, matched, updated, unchanged and Refused.
	Outcomes map[string]int64 `json:"outcomes"`
	// Refusals counts the refused rows by cause, the most frequent first, at most MaxRefusals causes.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Cursor is where the next import with --since begins, nil for an import without one.
	Cursor *Cursor `json:"cursor,omitempty"`
	// Stopped is why it ended before its last row, "" if all rows were read; at most MaxFile bytes.
	Stopped string `json:"stopped,omitempty"`
}

// Cursor is a place in a table that is read by --since: the rows with at least this value in the column come next.
type Cursor struct {
	Column string `json:"column"`
	Value  string `json:"value"`
}

// Refused is the outcome of the rows that were refused.
const Refused = "refused"

// Refused returns the number of refused rows.
func (i *Import) Refused() int64 { return i.Outcomes[Refused] }

// Refusal counts the rows that were refused for one cause.
type Refusal struct {
	Cause string `json:"cause" doc:"The reason without values of the rows"`
	Rows  int64  `json:"rows"`
	First int64  `json:"first" doc:"Line or number of the first such row in the file"`
}

// Limits of an Import.
const (
	MaxFile     = 255 // bytes of a name or a cause
	MaxRefusals = 20
	maxOutcomes = 20
	// maxImports is how many sources have an import. Those that were imported into least recently lose theirs.
	maxImports = 1000
)

// importsName is the name of the row with the imports by source.
const importsName = "imports"

// Imported stores the last import into a source, in place of the one before. The error is a *locus.InvalidError for a
// name that no source can have and an import over a limit.
func (h *Handle) Imported(ctx context.Context, source string, i Import) error {
	long := func(text string) bool { return len(text) > MaxFile }
	switch {
	case !running.NameForm.MatchString(source):
		return problem.Invalid("/source", "invalid", "a source is called [a-z0-9][a-z0-9_.-]*, at most 64 bytes")
	case long(i.File), long(i.Stopped):
		return problem.Invalid("/file", "invalid", "file and stopped have at most %d bytes", MaxFile)
	case i.Cursor != nil && (long(i.Cursor.Column) || long(i.Cursor.Value)):
		return problem.Invalid("/cursor", "invalid", "column and value have at most %d bytes", MaxFile)
	case len(i.Outcomes) > maxOutcomes, slices.ContainsFunc(slices.Collect(maps.Keys(i.Outcomes)), long):
		return problem.Invalid("/outcomes", "invalid", "there are at most %d outcomes of %d bytes", maxOutcomes, MaxFile)
	case len(i.Refusals) > MaxRefusals, slices.ContainsFunc(i.Refusals, func(r Refusal) bool { return long(r.Cause) }):
		return problem.Invalid("/refusals", "invalid", "there are at most %d causes of %d bytes", MaxRefusals, MaxFile)
	}
	i.At = h.engine.Now().UTC()
	return h.catalog.Update(ctx, func(tx storage.Tx) error {
		all, err := running.Read[map[string]Import](ctx, tx, importsName)
		if err != nil {
			return err
		}
		if all == nil {
			all = map[string]Import{}
		}
		all[source] = i
		for len(all) > maxImports {
			delete(all, slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b string) int {
				return cmp.Or(all[a].At.Compare(all[b].At), cmp.Compare(a, b))
			}))
		}
		return running.Put(ctx, tx, importsName, all)
	})
}

// Imports returns the last import into each source that has one.
func (h *Handle) Imports(ctx context.Context) (all map[string]Import, err error) {
	err = h.catalog.View(ctx, func(tx storage.Tx) error {
		all, err = running.Read[map[string]Import](ctx, tx, importsName)
		return err
	})
	return all, err
}
