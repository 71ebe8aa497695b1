// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// StoredTerms is a term-frequency table as it is stored.
type StoredTerms struct {
	Hash string
	Body []byte
}

// ReadStored reads the rules in their stored form and the term-frequency tables, in a transaction of the authority.
// Rules in migration are returned as they are after it. unsettled describes the migration, "" if there is none.
func ReadStored(ctx context.Context, tx storage.Tx) (rules []byte, terms []StoredTerms, unsettled string, err error) {
	b, err := readRules(ctx, tx)
	if err == nil && b == nil {
		err = fmt.Errorf("%w: there are none", ErrFormat)
	}
	if err != nil {
		return nil, nil, "", err
	}
	for _, t := range b.Terms {
		body, err := tx.Definition(ctx, termsPrefix+t.Hash)
		if err != nil {
			return nil, nil, "", err
		}
		terms = append(terms, StoredTerms{t.Hash, body})
	}
	if m := b.Migrate; m != nil {
		if unsettled = fmt.Sprintf("kind %s was being migrated", m.Kind); m.From != "" {
			unsettled = fmt.Sprintf("all kinds were being upgraded from %s", m.From)
		}
		b.Migrate = nil
	}
	rules, err = json.Marshal(b)
	return rules, terms, unsettled, err
}

// WriteStored stores what ReadStored has read, in a transaction of the authority of a new installation. The error is
// ErrFormat if it cannot be rules. The records are resolved by the matcher of this program.
func WriteStored(ctx context.Context, tx storage.Tx, rules []byte, terms []StoredTerms) error {
	b := &storedRules{}
	if err := json.Unmarshal(rules, b); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	b.Matcher = derived.RulesName
	if len(b.Kinds) == 0 {
		return fmt.Errorf("%w: there is no kind", ErrFormat)
	}
	for _, t := range terms {
		if err := tx.PutDefinition(ctx, termsPrefix+t.Hash, t.Body); err != nil {
			return err
		}
	}
	if err := b.write(ctx, tx); err != nil {
		return err
	}
	// A missing or damaged table is detected here, and not by the process that opens the installation.
	_, err := b.rules(ctx, tx, newDecodedRules())
	return err
}

// RestoreDecisions stores decisions as they are, including withdrawn ones, and resolves the consequences. The records
// must exist or be tombstones.
func (r *Resolver) RestoreDecisions(ctx context.Context, decisions []entity.Decision) error {
	if err := r.mu.lockIn(ctx); err != nil {
		return err
	}
	defer r.unlock()
	if err := r.acquireLease(ctx, leasePatience); err != nil {
		return err
	}
	defer r.releaseIfContended(ctx, 0)
	r.invalidateCaches()
	groups := map[cell.ID][]entity.Decision{}
	for _, d := range decisions {
		both := []entity.Decision{d}
		if d.Pair() && !d.Withdrawn {
			both = append(both, d.Mirror()) // in a dump that was taken while it was made, one may be missing
		}
		for _, d := range both {
			id, err := r.home(d.A)
			if err != nil {
				return err
			}
			groups[id] = append(groups[id], d)
		}
	}
	if err := eachCell(groups, func(id cell.ID, group []entity.Decision) error {
		return r.write(ctx, id, func(tx storage.Tx) error {
			if err := tx.PutDecisions(ctx, group); err != nil {
				return err
			}
			redos := make([]derived.Redo, 0, len(group))
			seen := map[entity.PUID]bool{}
			for _, d := range group {
				if !d.Withdrawn && !seen[d.A] {
					seen[d.A] = true
					redos = append(redos, derived.Redo{PUID: d.A})
				}
			}
			_, err := tx.PutRedo(ctx, redos)
			return err
		})
	}); err != nil {
		return fmt.Errorf("restore %d decisions: %w", len(decisions), err)
	}
	return r.work(ctx, nil, changelog.CauseDecision, forever)
}
