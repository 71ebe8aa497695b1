// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// errOldRules means that a cell refuses records written under this process's rules.
var errOldRules = errors.New("resolve: the rules have changed")

// Reload reads the rules of the installation unless this process has the newest ones. If the installation has none yet,
// the rules of the options are stored.
func (r *Resolver) Reload(ctx context.Context) error {
	if err := r.mu.lockIn(ctx); err != nil {
		return err
	}
	defer r.unlock()
	return r.reload(ctx)
}

// ensureRules reads the rules unless they are known to be current.
func (r *Resolver) ensureRules(ctx context.Context) error {
	if r.rulesCurrent {
		return nil
	}
	return r.reload(ctx)
}

func (r *Resolver) reload(ctx context.Context) error {
	read := func(tx storage.Tx) (rules *Rules, err error) {
		b, err := readRules(ctx, tx)
		if err != nil || b == nil {
			return nil, err
		}
		return b.rules(ctx, tx, r.decoded)
	}
	var rules *Rules
	err := r.authority(ctx, r.open, func(c storage.Cell) error {
		return c.View(ctx, func(tx storage.Tx) (err error) { rules, err = read(tx); return err })
	})
	if err == nil && rules == nil {
		err = r.authority(ctx, r.open, func(c storage.Cell) error {
			return c.Exclusive(ctx, func(tx storage.Tx) (err error) {
				if rules, err = read(tx); err != nil || rules != nil {
					return err
				}
				b := &storedRules{Version: 1, Matcher: derived.RulesName}
				others := slices.DeleteFunc(r.opts.Rules.Kinds(), func(k *Kind) bool { return k == r.opts.Rules.first })
				for _, k := range append([]*Kind{r.opts.Rules.first}, others...) {
					stored := kindOf(k.Matcher)
					b.Kinds = append(b.Kinds, stored)
					r.decoded.kinds[stored] = k // it need not be parsed
					if err := b.storeTerms(ctx, tx, "", k.Matcher.TermFrequencies(), r.opts.Now()); err != nil {
						return err
					}
				}
				if err := b.write(ctx, tx); err != nil {
					return err
				}
				rules, err = b.rules(ctx, tx, r.decoded)
				return err
			})
		})
	}
	if errors.Is(err, cell.ErrUnavailable) && r.lease != nil && r.Rules().storedRules == nil {
		if rules = r.borrow(ctx); rules == nil {
			err = fmt.Errorf("%w; no other cell that answers has a copy of them: start the server of cell %v first", err,
				r.opts.Cells.Map().Authority())
		} else {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	r.setRules(rules)
	return nil
}

// setRules switches to rules. If they differ from the current ones, caches are dropped, because they were
// made under the old rules.
func (r *Resolver) setRules(rules *Rules) {
	if old := r.Rules(); old.storedRules == nil || old.Version != rules.Version || (old.change == nil) != (rules.change == nil) {
		r.invalidateCaches()
	} else {
		rules.kinds, rules.first, rules.former = old.kinds, old.first, old.former
	}
	r.rulesCurrent = true
	r.rules.Store(rules)
}

// updateRules changes the stored rules. The caller holds the lease.
func (r *Resolver) updateRules(ctx context.Context, change func(tx storage.Tx, b *storedRules) error) error {
	var rules *Rules
	err := r.authority(ctx, r.open, func(c storage.Cell) error {
		return c.Exclusive(ctx, func(tx storage.Tx) error {
			if err := r.checkLease(ctx, tx); err != nil {
				return err
			}
			b, err := readRules(ctx, tx)
			if err == nil && b == nil {
				err = fmt.Errorf("%w: there are none", ErrFormat)
			}
			if err == nil {
				err = change(tx, b)
			}
			if err == nil {
				err = b.write(ctx, tx)
			}
			if err == nil {
				rules, err = b.rules(ctx, tx, r.decoded)
			}
			return err
		})
	})
	if err != nil {
		r.rulesCurrent = false // they may have been written
		return err
	}
	r.setRules(rules)
	return nil
}

// follow reads the rules again and spreads them to cells with an older version.
func (r *Resolver) follow(ctx context.Context) error {
	cells := r.opts.Cells.Map().Cells() // taken before the rules are read: a later migration finds newer cells itself
	if err := r.reload(ctx); err != nil {
		return err
	}
	return r.spread(ctx, cells)
}

// spread brings cells to the current rules, concurrently. A cell that does not answer is updated when it
// refuses records.
func (r *Resolver) spread(ctx context.Context, cells []cell.ID) error {
	return forCells(cells, func(id cell.ID) error {
		if err := r.bumpRulesVersion(ctx, id); err != nil && !errors.Is(err, cell.ErrUnavailable) && !outdated(err) {
			return err
		}
		return nil
	})
}

// bumpRulesVersion makes a cell accept records under the current rules only, and stores a copy of the rules there.
func (r *Resolver) bumpRulesVersion(ctx context.Context, id cell.ID) error {
	rules := r.Rules()
	authority := id == r.opts.Cells.Map().Authority()
	c, err := r.opts.Cells.Cell(id)
	if err != nil {
		return err
	}
	done := false
	if err := c.View(ctx, func(tx storage.Tx) error {
		head, err := tx.Head(ctx)
		if err == nil {
			done, err = rules.has(ctx, tx, head, authority)
		}
		return err
	}); err != nil || done {
		return err
	}
	return c.Exclusive(ctx, func(tx storage.Tx) error {
		head, err := tx.Head(ctx)
		if err == nil {
			done, err = rules.has(ctx, tx, head, authority)
		}
		switch {
		case err != nil || done:
			return err
		case head.Home != cell.Serving:
			return cell.ErrMoved // its head may already be copied
		}
		if !authority {
			if err := rules.copyTo(ctx, tx); err != nil {
				return err
			}
		}
		head.Rules = rules.Version
		return tx.SetHead(ctx, head)
	})
}

// StoredTerms reads a stored term-frequency table, nil if there is none with that hash.
func (r *Resolver) StoredTerms(ctx context.Context, hash string) (p *match.TermFrequencies, err error) {
	err = r.view(ctx, r.opts.Cells.Map().Authority(), func(tx storage.Tx) error {
		p, err = readTerms(ctx, tx, hash, map[string]*match.TermFrequencies{})
		return err
	})
	return p, err
}
