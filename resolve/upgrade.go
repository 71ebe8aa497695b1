// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// Step is a step of an upgrade. Every cell finishes a step before the next one begins.
//
// This program does not contain the former matcher, so the blocking keys that it computed are unknown. Therefore the
// new keys of all records are posted first, then every posting that its record no longer has is dropped. The postings
// are then the same as in a fresh installation, and records are resolved again as in the migration of a kind.
type Step string

// The steps of an upgrade, in order.
const (
	StepFence   Step = "fence"   // cells refuse records that are written by the former matcher
	StepPost    Step = "post"    // the blocking keys of all records are posted
	StepDrop    Step = "drop"    // the other postings are dropped
	StepResolve Step = "resolve" // all records are resolved again
)

var upgradeSteps = []Step{StepFence, StepPost, StepDrop, StepResolve}

// firstMatcher is the version of the matcher in rules that name none.
const firstMatcher = "matcher 6"

// matcherNumber returns the number of a version such as "matcher 6", 0 if it has none.
func matcherNumber(name string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "matcher "))
	return n
}

// outdated returns ErrOutdated if the entities were made by an older version of the matcher.
func (r *Rules) outdated() error {
	if matcherNumber(r.Matcher) >= matcherNumber(derived.RulesName) {
		return nil
	}
	return fmt.Errorf("%w: its entities were made by %q, and this Locus is %q: locus upgrade plan shows what would change, locus upgrade run does it", ErrOutdated, r.Matcher, derived.RulesName)
}

// ready returns why no record can be resolved at the moment.
func (r *Rules) ready() error {
	if c := r.change; c != nil && c.From != "" && c.Step != StepResolve {
		return fmt.Errorf("%w from %q since %v: records wait until their blocking keys are posted", ErrUpgrading, c.From, c.Since)
	}
	return r.outdated()
}

// Outdated reports whether the installation has to be upgraded before anything is written.
func (r *Rules) Outdated() bool { return r.outdated() != nil }

// Upgraded returns ErrOutdated if this process knows that the installation has to be upgraded.
func (r *Resolver) Upgraded(ctx context.Context) error {
	if !r.Rules().Outdated() {
		return nil
	}
	if err := r.Reload(ctx); err != nil { // another process may have upgraded since
		return err
	}
	return r.Rules().outdated()
}

// Upgrade begins resolving the records of all kinds again by the matcher of this program, if the entities were made by
// an older version. Every cell must answer. From then on processes with the former matcher are refused, and Resume does
// the work; records that are put wait until the last step has begun. Upgrade reports whether Resume has anything to do.
func (r *Resolver) Upgrade(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.unlock()
	if err := r.takeLease(ctx, leasePatience); err != nil {
		return false, err
	}
	defer r.releaseIfContended(ctx, 0)
	rules := r.Rules()
	if !rules.Outdated() {
		return rules.change != nil && rules.change.From != "", nil
	}
	var highest int64
	for _, id := range r.opts.Cells.Map().Cells() {
		if err := r.read(ctx, id, func(tx storage.Tx) error {
			head, err := tx.Head(ctx)
			highest = max(highest, head.Rules)
			return err
		}); err != nil {
			return false, fmt.Errorf("cell %v has to answer before an upgrade begins: %w", id, err)
		}
	}
	return true, r.updateRules(ctx, func(_ storage.Tx, b *storedRules) error {
		b.Version = max(b.Version, highest) + 1
		b.Matcher = derived.RulesName
		b.Migrate = &storedMigration{Migration: Migration{
			Since: r.opts.Now().UTC(), From: rules.Matcher, Step: upgradeSteps[0], Cells: map[cell.ID]MigrationProgress{},
		}}
		return nil
	})
}

// next begins the next step of an upgrade, and ends a migration that has none.
func (b *storedRules) next() {
	i := slices.Index(upgradeSteps, b.Migrate.Step) + 1
	if b.Migrate.From == "" || i == len(upgradeSteps) {
		b.Migrate = nil
		return
	}
	b.Migrate.Step, b.Migrate.Cells = upgradeSteps[i], map[cell.ID]MigrationProgress{}
}

// upgradePage does a page of a step before the last one in a cell. seen has the blocking keys of records that were
// read before.
func (r *Resolver) upgradePage(ctx context.Context, id cell.ID, step Step, turn MigrationProgress,
	seen *carried) (MigrationProgress, error) {
	var err error
	switch step {
	case StepFence:
		err = r.fenceRules(ctx, id)
		turn.Done = err == nil
	case StepPost:
		turn, err = r.postPage(ctx, id, turn)
	case StepDrop:
		turn, err = r.dropPage(ctx, id, turn, seen)
	default:
		err = fmt.Errorf("%w: an upgrade has no step %.40q", ErrFormat, step)
	}
	if outdated(err) { // the cell map has changed: the page is repeated
		return turn, r.refresh(ctx, err)
	}
	return turn, err
}

// postPage posts the blocking keys of a page of records.
func (r *Resolver) postPage(ctx context.Context, id cell.ID, turn MigrationProgress) (MigrationProgress, error) {
	var records []*entity.Record
	if err := r.read(ctx, id, func(tx storage.Tx) (err error) {
		records, err = tx.ListRecords(ctx, "", entity.PUID(turn.After), redoBatch)
		return err
	}); err != nil {
		return turn, fmt.Errorf("list records: %w", err)
	}
	b := newBatch(r, nil, nil, nil)
	b.repair = true
	for _, rec := range records {
		n := r.node(rec)
		b.nodes[rec.PUID], b.writes[rec.PUID] = n, &write{puid: rec.PUID, new: n}
	}
	if err := b.lead(ctx); err != nil {
		return turn, err
	}
	m, out := newCandidateSet(0), newOutcomes(b)
	for _, w := range b.writes {
		b.differ(w, m)
	}
	m.post(out)
	if err := out.commit(ctx); err != nil {
		return turn, err
	}
	turn.Done = len(records) < redoBatch
	turn.Records += len(records)
	if len(records) > 0 {
		turn.After = int64(records[len(records)-1].PUID)
	}
	return turn, nil
}

// dropPage drops the postings of a page that their records do not have.
func (r *Resolver) dropPage(ctx context.Context, id cell.ID, turn MigrationProgress,
	seen *carried) (MigrationProgress, error) {
	const page = 2000
	var rows [][]any
	if err := r.read(ctx, id, func(tx storage.Tx) (err error) {
		rows, err = tx.ReadRows(ctx, "posting", []any{turn.Key, turn.After}, page)
		return err
	}); err != nil {
		return turn, fmt.Errorf("read postings: %w", err)
	}
	v := (&checker{Resolver: r}).checks(id, r.read, seen)
	if err := v.lookPostings(ctx, rows); err != nil {
		return turn, err
	}
	if surplus := v.found; len(surplus) > 0 {
		keys := make([][]any, len(surplus))
		for i := range surplus {
			keys[i] = surplus[i].row
		}
		if err := r.write(ctx, id, func(tx storage.Tx) error { return tx.DeleteRows(ctx, "posting", keys) }); err != nil {
			return turn, fmt.Errorf("drop postings: %w", err)
		}
	}
	turn.Done = len(rows) < page
	turn.Records += len(rows)
	if len(rows) > 0 {
		last := rows[len(rows)-1]
		turn.Key, turn.After = last[0].(int64), last[1].(int64) //nolint:forcetypeassert // the key of a posting
	}
	return turn, nil
}
