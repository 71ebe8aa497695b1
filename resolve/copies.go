// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// The rules are stored in the authority of the cell map. Every other cell has a copy of the rules that it
// accepts records under, so that a process can start while the authority is down. Copies are never used to
// resolve: that needs the lease, which is in the authority, and the lease holder reads the rules there.

// copyTo writes the copy into a cell, together with the term-frequency tables that the rules name.
func (r *Rules) copyTo(ctx context.Context, tx storage.Tx) error {
	kinds := r.Kinds()
	if r.former != nil {
		kinds = append(kinds, r.former)
	}
	for _, k := range kinds {
		p := k.Matcher.TermFrequencies()
		body, err := p.MarshalBinary()
		if err == nil {
			err = tx.PutDefinition(ctx, termsPrefix+HashText(p.Hash()), body)
		}
		if err != nil {
			return fmt.Errorf("copy term-frequency table %s: %w", HashText(p.Hash()), err)
		}
	}
	text, err := json.Marshal(r.storedRules)
	if err != nil {
		return err
	}
	return tx.PutDefinition(ctx, copyName, text)
}

// has reports whether a cell has these rules or newer ones: it refuses records written under older rules,
// and it has a copy.
func (r *Rules) has(ctx context.Context, tx storage.Tx, head cell.Head, authority bool) (bool, error) {
	if head.Rules > r.Version || head.Rules == r.Version && authority {
		return true, nil
	}
	if head.Rules < r.Version {
		return false, nil
	}
	b, err := readRulesNamed(ctx, tx, copyName)
	if errors.Is(err, ErrFormat) {
		return false, nil // the copy is damaged
	}
	return b != nil && b.Version >= r.Version, err
}

// borrow reads the newest copy of the rules from the cells that answer, nil if there is none.
func (r *Resolver) borrow(ctx context.Context) *Rules {
	m := r.opts.Cells.Map()
	others := slices.DeleteFunc(m.Cells(), func(id cell.ID) bool { return id == m.Authority() })
	var mu sync.Mutex
	stored := map[cell.ID]*storedRules{}
	_ = forCells(others, func(id cell.ID) error { // a cell that does not answer is skipped
		return r.view(ctx, id, func(tx storage.Tx) error {
			b, err := readRulesNamed(ctx, tx, copyName)
			if err == nil && b != nil {
				mu.Lock()
				defer mu.Unlock()
				stored[id] = b
			}
			return err
		})
	})
	newest := func(a, b cell.ID) int {
		return cmp.Or(cmp.Compare(stored[b].Version, stored[a].Version), a.Compare(b))
	}
	for _, id := range slices.SortedFunc(maps.Keys(stored), newest) {
		var rules *Rules
		if err := r.view(ctx, id, func(tx storage.Tx) (err error) {
			rules, err = stored[id].rules(ctx, tx, r.decoded)
			return err
		}); err == nil {
			return rules
		}
	}
	return nil
}
