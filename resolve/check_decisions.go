// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// lookDecisions compares decisions about pairs with those stored under the other record. A withdrawn one
// may lack its counterpart, because the other record may have been erased.
func (v *checks) lookDecisions(ctx context.Context, rows [][]any) error {
	for _, row := range rows {
		p := entity.PUID(row[0].(int64))
		id := fmt.Sprintf("%v %v", p, row[1])
		all, err := v.decisionsOf(ctx, p)
		if errors.Is(err, cell.ErrUnavailable) {
			return err
		}
		i := slices.IndexFunc(all, func(d entity.Decision) bool { return d.Topic() == row[1] })
		if err != nil || i < 0 || all[i].A != p || all[i].At.UnixMilli() != row[2] {
			v.suspect(row[:2], "decision", id, "its content does not match its key", "a decision", p).Advice = "repeat the decision"
			continue
		}
		d := all[i]
		if !d.Pair() {
			continue
		}
		if _, err := v.home(d.B); err != nil {
			v.suspect(row[:2], "decision", id, "about "+d.B.String(), "a record of some cell", p).Advice = "repeat the decision"
			continue
		}
		others, err := v.decisionsOf(ctx, d.B)
		if errors.Is(err, cell.ErrUnavailable) {
			return err
		}
		if mirror := d.Mirror(); err == nil && !d.Withdrawn && !slices.Contains(others, mirror) {
			s := v.suspect(row[:2], "decision", id, "under one record only", "the same under "+d.B.String(), p, d.B)
			s.redo = []entity.PUID{p, d.B}
		}
	}
	return nil
}

func (v *checks) decisionsOf(ctx context.Context, p entity.PUID) (all []entity.Decision, err error) {
	home, err := v.home(p)
	if err != nil {
		return nil, err
	}
	err = v.ask(ctx, home, func(tx storage.Tx) (err error) {
		all, err = tx.Decisions(ctx, []entity.PUID{p})
		return err
	})
	return all, err
}
