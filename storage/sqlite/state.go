// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

// state is the head and the totals of a cell, stored as one row. A transaction reads it once, an Update before
// anything else, and writes it once, before the commit.
type state struct {
	head    cell.Head
	used    int64 // puids used
	seq     int64 // log position of the last change
	trimmed int64 // log position of the last trimmed change
	counts  entity.Counts
	commits int64 // transactions that wrote something that lasts
	turns   int64 // merges and splits together, as a check on counts
}

const (
	sqlState = `SELECT keys, home, incarnation, epoch, known_epoch, fence, images, version, returns, settled, move, used, seq, trimmed, records, entities, merges, splits, commits, turns FROM locus_cell`

	sqlSetState = `UPDATE locus_cell SET keys = ?, home = ?, incarnation = ?, epoch = ?, known_epoch = ?, fence = ?, images = ?, version = ?, returns = ?, settled = ?, move = ?,
		used = ?, seq = ?, trimmed = ?, records = ?, entities = ?, merges = ?, splits = ?, commits = ?, turns = ?`
)

var errNobody = errors.New("sqlite: the cell was never told who it is")

// own returns the state as the transaction sees it, or the zero value in a cell without an identity.
func (t *tx) own(ctx context.Context) (*state, error) {
	if t.state != nil {
		return t.state, nil
	}
	s := &state{}
	err := t.query(ctx, sqlState, func(r row) error {
		*s = state{
			head: cell.Head{
				Keys: cell.KeyState(r.int(0)), Home: cell.Placement(r.int(1)), Incarnation: int(r.int(2)),
				Epoch: uint64(r.int(3)), KnownEpoch: uint64(r.int(4)), Fence: r.int(5), Images: r.text(6), Rules: r.int(7),
				Returns: int(r.int(8)), Settled: int(r.int(9)), Move: r.text(10),
			},
			used: r.int(11), seq: r.int(12), trimmed: r.int(13),
			counts:  entity.Counts{Records: r.int(14), Entities: r.int(15), Merges: r.int(16), Splits: r.int(17)},
			commits: r.int(18), turns: r.int(19),
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read state of cell %s: %w", t.cell, err)
	}
	t.state, t.was = s, *s
	return s, nil
}

// keep writes the state if the transaction has changed it.
func (t *tx) keep(ctx context.Context) error {
	if t.state == nil || *t.state == t.was {
		return nil
	}
	s := t.state
	if t.was == (state{}) {
		return errNobody
	}
	h, n := s.head, s.counts
	sql, values := sqlSetState, []any{
		int64(h.Keys), int64(h.Home), int64(h.Incarnation), int64(h.Epoch), int64(h.KnownEpoch), h.Fence, h.Images, h.Rules,
		int64(h.Returns), int64(h.Settled), h.Move, s.used, s.seq, s.trimmed, n.Records, n.Entities, n.Merges, n.Splits, s.commits, s.turns,
	}
	if h != t.was.head {
		sum, err := t.seal(ctx, document.HeadValues(h))
		if err != nil {
			return fmt.Errorf("write state of cell %s: %w", t.cell, err)
		}
		sql, values = sql+", sum = ?", append(values, sum)
	}
	if err := t.exec(sql, values...); err != nil {
		return fmt.Errorf("write state of cell %s: %w", t.cell, err)
	}
	return nil
}

// Head is free in an Update, which has already read the row.
func (t *tx) Head(ctx context.Context) (cell.Head, error) {
	if err := t.use(ctx); err != nil {
		return cell.Head{}, err
	}
	s, err := t.own(ctx)
	if err != nil {
		return cell.Head{}, err
	}
	return s.head, nil
}

// Require calls check at once.
func (t *tx) Require(ctx context.Context, check func(cell.Head) error) error {
	head, err := t.Head(ctx)
	if err != nil {
		return err
	}
	return check(head)
}

// SetHead changes the head; it is written with the rest of the row.
func (t *tx) SetHead(ctx context.Context, head cell.Head) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if t.mode != alone {
		return t.fail(errors.New("sqlite: the head of a cell is written in an Exclusive only"))
	}
	if want := t.cell.id.Load(); want != nil {
		got, err := t.identity(ctx)
		if err == nil && got != nil {
			err = want.Keeps(*got, t.cell.path)
		}
		if err != nil {
			return t.fail(err)
		}
	}
	s, err := t.own(ctx)
	if err != nil {
		return err
	}
	s.head = head
	return nil
}

// AddCounts adds to the totals.
func (t *tx) AddCounts(ctx context.Context, delta entity.Counts) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	s, err := t.own(ctx)
	if err != nil {
		return fmt.Errorf("add counts: %w", err)
	}
	s.counts = s.counts.Add(delta)
	s.turns += delta.Merges + delta.Splits
	return nil
}

// Counts returns the totals.
func (t *tx) Counts(ctx context.Context) (entity.Counts, error) {
	if err := t.use(ctx); err != nil {
		return entity.Counts{}, err
	}
	s, err := t.own(ctx)
	if err != nil {
		return entity.Counts{}, fmt.Errorf("read counts: %w", err)
	}
	return s.counts, nil
}
