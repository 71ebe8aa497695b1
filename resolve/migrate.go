// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// Migrate changes the schema or the term-frequency table of a kind, or creates a kind. From then on writes are resolved
// under the new rules; existing records of the kind are resolved again by Resume. Migrate reports whether Resume has
// anything to do: the rules may be in effect already. A nil term-frequency table means the current term-frequency table
// of the kind. The error is a *match.InvalidError if the schema is not valid.
func (r *Resolver) Migrate(ctx context.Context, s *match.Schema, p *match.TermFrequencies) (bool, error) {
	if err := s.Validate(); err != nil {
		return false, err // it could not be read back
	}
	r.mu.Lock()
	defer r.unlock()
	if err := r.acquireLease(ctx, leasePatience); err != nil {
		return false, err
	}
	defer r.releaseIfContended(ctx, 0)
	highest, err := r.highest(ctx)
	if err != nil {
		return false, err
	}
	rules := r.Rules()
	was := rules.Kind(s.Kind)
	switch {
	case p != nil:
	case was != nil:
		p = was.Matcher.TermFrequencies()
	default:
		p = match.DefaultTermFrequencies()
	}
	m := match.New(s, p)
	if was != nil && newKind(m).Hash == was.Hash && highest <= rules.Version {
		return rules.change != nil, nil
	}
	if rules.change != nil && rules.change.From != "" {
		return false, fmt.Errorf("%w: an upgrade from %s since %v", ErrMigrating, rules.change.From, rules.change.Since)
	}
	if rules.change != nil {
		return false, fmt.Errorf("%w: that of kind %s since %v", ErrMigrating, rules.change.Kind, rules.change.Since)
	}
	if was != nil {
		if err := counted(was.Matcher.Schema(), s); err != nil {
			return false, err
		}
	}
	if err := r.updateRules(ctx, func(tx storage.Tx, b *storedRules) error {
		b.Version = max(b.Version, highest) + 1
		if was != nil {
			b.Migrate = &storedMigration{
				Migration{Kind: s.Kind, Since: r.opts.Now().UTC(), Cells: map[cell.ID]MigrationProgress{}},
				kindOf(was.Matcher),
			}
		}
		b.put(m)
		return b.storeTerms(ctx, tx, s.Kind, p, r.opts.Now())
	}); err != nil {
		return false, err
	}
	if was != nil {
		return true, nil
	}
	return false, r.follow(ctx)
}

// highest returns the highest version of rules that any available cell has. After the authority was restored from a
// backup, it can exceed the version of the stored rules.
func (r *Resolver) highest(ctx context.Context) (highest int64, err error) {
	for _, id := range r.opts.Cells.Map().Cells() {
		err := r.view(ctx, id, func(tx storage.Tx) error {
			head, err := tx.Head(ctx)
			highest = max(highest, head.Rules)
			return err
		})
		if err != nil && !errors.Is(err, cell.ErrUnavailable) {
			return 0, fmt.Errorf("cell %v: %w", id, err)
		}
	}
	return highest, nil
}

// counted refuses a schema that changes an attribute between single-valued and multi-valued: rollups could not subtract
// what they counted under the former schema.
func counted(was, is *match.Schema) error {
	for _, a := range was.Attributes {
		if b, _ := is.Attribute(a.Name); a.Many != b.Many {
			return fmt.Errorf("%w: attribute %s cannot change between one value and many; use a new name", ErrRules, a.Name)
		}
	}
	return nil
}

// Keep stores a term-frequency table for a kind without using it.
func (r *Resolver) Keep(ctx context.Context, kind string, p *match.TermFrequencies) error {
	r.mu.Lock()
	defer r.unlock()
	if err := r.acquireLease(ctx, leasePatience); err != nil {
		return err
	}
	defer r.releaseIfContended(ctx, 0)
	return r.updateRules(ctx, func(tx storage.Tx, b *storedRules) error {
		return b.storeTerms(ctx, tx, kind, p, r.opts.Now())
	})
}

// Resume continues an unfinished migration or upgrade until it is finished or cannot proceed. The error is the reason.
// It can be interrupted and continued at any point, in any process. progress is called after every page.
func (r *Resolver) Resume(ctx context.Context, progress func(*Migration)) error {
	seen := newCarried()
	for {
		if err := r.opts.Cells.Refresh(ctx); err != nil {
			return err
		}
		var failed error
		for _, id := range r.opts.Cells.Map().Cells() {
			for more := true; more; {
				var err error
				more, err = r.resumeCell(ctx, id, seen)
				r.others()
				if err != nil {
					more, failed = false, errors.Join(failed, fmt.Errorf("cell %v: %w", id, err))
				} else if c := r.Rules().change; c != nil && progress != nil {
					progress(c)
				}
			}
			if ctx.Err() != nil || errors.Is(failed, lease.ErrLost) {
				return failed
			}
		}
		if failed != nil || r.Rules().change == nil {
			return failed
		}
		if err := r.finish(ctx); err != nil {
			return err
		}
	}
}

// resumeCell does one page of the work in a cell and reports whether the cell has more.
func (r *Resolver) resumeCell(ctx context.Context, id cell.ID, seen *carried) (more bool, err error) {
	r.mu.Lock()
	defer r.unlock()
	if err := r.takeLease(ctx, leasePatience); err != nil {
		return false, err
	}
	defer r.releaseIfContended(ctx, 0)
	change := r.Rules().change
	if change == nil || change.Cells[id].Done {
		return false, nil
	}
	turn, begun := change.Cells[id]
	if !begun {
		turn.After, turn.Key = math.MinInt64, math.MinInt64
	}
	switch {
	case change.From == "" || change.Step == StepResolve:
		turn, err = r.resolvePage(ctx, id, turn)
	default:
		turn, err = r.upgradePage(ctx, id, change.Step, turn, seen)
	}
	if err != nil {
		return false, err
	}
	return !turn.Done, r.updateRules(ctx, func(_ storage.Tx, b *storedRules) error {
		if b.Migrate != nil {
			b.Migrate.Cells[id] = turn
		}
		return nil
	})
}

// resolvePage resolves a page of records again.
func (r *Resolver) resolvePage(ctx context.Context, id cell.ID, turn MigrationProgress) (MigrationProgress, error) {
	if err := r.work(ctx, nil, "", forever); err != nil {
		return turn, errors.Join(err, r.recover(ctx, err))
	}
	if err := r.fenceRules(ctx, id); err != nil {
		return turn, err
	}
	entries, turn, err := r.enter(ctx, id, turn)
	if err != nil {
		return turn, err
	}
	if err := r.redoAll(ctx, entries, changelog.CauseTerms); err != nil {
		return turn, errors.Join(err, r.recover(ctx, err))
	}
	for _, e := range entries {
		if r.redoLog.isBlocked(e.PUID) {
			return turn, errors.Join(fmt.Errorf("%w: record %v waits for a cell", cell.ErrUnavailable, e.PUID),
				r.redoLog.takeTrouble())
		}
	}
	return turn, nil
}

// fenceRules is bumpRulesVersion, again with a newer cell map if that may help.
func (r *Resolver) fenceRules(ctx context.Context, id cell.ID) error {
	err := r.bumpRulesVersion(ctx, id)
	if outdated(err) {
		if err = r.refresh(ctx, err); err == nil {
			err = r.bumpRulesVersion(ctx, id)
		}
	}
	return err
}

// enter adds a page of records to the redo set, with the blocking keys that they no longer carry under the new
// rules. It returns the entries and the new progress.
func (r *Resolver) enter(ctx context.Context, id cell.ID, turn MigrationProgress) (entries []derived.Redo, _ MigrationProgress, err error) {
	former := r.Rules().former
	next := turn
	err = r.write(ctx, id, func(tx storage.Tx) error {
		next = turn
		records, err := tx.ListRecords(ctx, "", entity.PUID(turn.After), redoBatch)
		if err != nil {
			return fmt.Errorf("list records: %w", err)
		}
		next.Done = len(records) < redoBatch
		if len(records) > 0 {
			next.After = int64(records[len(records)-1].PUID)
		}
		if former != nil {
			records = slices.DeleteFunc(records, func(rec *entity.Record) bool { return rec.Kind != former.Name() })
		}
		next.Records += len(records)
		entries = make([]derived.Redo, len(records))
		for i, rec := range records {
			entries[i] = derived.Redo{PUID: rec.PUID, Version: rec.Version}
			if former != nil {
				entries[i].LostKeys = lostKeys(former.normalise(rec), r.node(rec), nil)
			}
		}
		entries, err = tx.PutRedo(ctx, entries)
		return err
	})
	return entries, next, err
}

// finish begins the next step of an upgrade, and ends the migration after the last one, once every cell of the newest
// map is done.
func (r *Resolver) finish(ctx context.Context) error {
	r.mu.Lock()
	defer r.unlock()
	if err := r.takeLease(ctx, leasePatience); err != nil {
		return err
	}
	defer r.releaseIfContended(ctx, 0)
	return r.updateRules(ctx, func(tx storage.Tx, b *storedRules) error {
		_, text, err := tx.CellMap(ctx)
		if err != nil {
			return err
		}
		m, err := cell.ParseMap(text)
		if err != nil || b.Migrate == nil {
			return err
		}
		if !slices.ContainsFunc(m.Cells(), func(id cell.ID) bool { return !b.Migrate.Cells[id].Done }) {
			b.next()
		}
		return nil
	})
}
