// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
)

var (
	errNobody = errors.New("celltest: the database was never told which cell it is")
	errOver   = errors.New("celltest: the transaction is over")
)

// tx is one transaction: a copy of the state that replaces the state on commit.
type tx struct {
	state
	do     string
	opened *opened
	// lasting is set if something was written that counts in the pulse.
	lasting bool
	// failed is the reason why the transaction can neither commit nor continue.
	failed error
}

// begin rejects an update if the cell is not at this database.
func (t *tx) begin() error {
	switch {
	case t.do != "update":
		return nil
	case t.id == nil:
		return errNobody
	case t.head.Home != cell.Serving:
		return fmt.Errorf("cell %v is %v: %w", t.id.Cell, t.head.Home, cell.ErrMoved)
	}
	return nil
}

// use is called before every operation. Operations other than on the map need an identified cell.
func (t *tx) use(ctx context.Context, write, identified bool) error {
	switch {
	case t.failed != nil:
		return t.failed
	case ctx.Err() != nil:
		return t.fail(ctx.Err())
	case write && t.do == "view":
		return t.fail(errors.New("celltest: a view does not write"))
	case identified && t.id == nil:
		return t.fail(errNobody)
	}
	t.lasting = t.lasting || write
	return nil
}

// fail ends the transaction with an error, whatever its function returns.
func (t *tx) fail(err error) error {
	t.failed = err
	return err
}

func (t *tx) Head(ctx context.Context) (cell.Head, error) {
	return t.head, t.use(ctx, false, false)
}

func (t *tx) Require(ctx context.Context, check func(cell.Head) error) error {
	if err := t.use(ctx, false, false); err != nil {
		return err
	}
	return check(t.head)
}

func (t *tx) SetHead(ctx context.Context, head cell.Head) error {
	if err := t.use(ctx, true, true); err != nil {
		return err
	}
	if t.do != "exclusive" {
		return t.fail(errors.New("celltest: the head of a cell is written in an Exclusive only"))
	}
	if want := t.opened.id.Load(); want != nil {
		if err := want.Keeps(*t.id, t.opened.db.url); err != nil {
			return t.fail(err)
		}
	}
	t.head = head
	return nil
}

func (t *tx) Lookup(ctx context.Context, keys []cell.Key) ([]int64, error) {
	if err := t.use(ctx, false, true); err != nil {
		return nil, err
	}
	puids := make([]int64, len(keys))
	for i, k := range keys {
		puids[i] = t.rows.get(k)
	}
	return puids, nil
}

func (t *tx) Allocate(ctx context.Context, keys []cell.Key) ([]cell.Allocation, error) {
	if err := t.use(ctx, true, true); err != nil {
		return nil, err
	}
	fresh, as := map[cell.Key]bool{}, make([]cell.Allocation, len(keys))
	for i, k := range keys {
		puid := t.rows.get(k)
		if puid == cell.Nothing {
			if t.used >= uint64(t.id.Hi-t.id.Lo) {
				return nil, t.fail(fmt.Errorf("allocate in cell %v: %w", t.id.Cell, cell.ErrNoRoom))
			}
			t.used++
			puid, fresh[k] = t.id.Lo+int64(t.used), true
			t.rows = t.rows.put(cell.Row{Key: k, PUID: puid})
		}
		as[i] = cell.Allocation{PUID: puid, Fresh: fresh[k]}
	}
	return as, nil
}

func (t *tx) Copy(ctx context.Context, copied []cell.Row) error {
	if err := t.use(ctx, true, true); err != nil {
		return err
	}
	for _, row := range copied {
		if t.rows.get(row.Key) == cell.Nothing {
			t.rows = t.rows.put(row)
		}
	}
	return nil
}

func (t *tx) Scan(ctx context.Context, after *cell.Key, limit int) (page []cell.Row, err error) {
	if err := t.use(ctx, false, true); err != nil {
		return nil, err
	}
	t.rows.ascend(after, func(row cell.Row) bool {
		if len(page) == limit {
			return false
		}
		page = append(page, row)
		return true
	})
	return page, nil
}

func (t *tx) Drop(ctx context.Context, limit int) (n int, err error) {
	if err := t.use(ctx, true, true); err != nil {
		return 0, err
	}
	for ; t.rows != nil && n < limit; n++ {
		t.rows = t.rows.dropFirst()
	}
	return n, nil
}

func (t *tx) Skip(ctx context.Context, n uint64) error {
	if err := t.use(ctx, true, true); err != nil {
		return err
	}
	t.used += min(n, uint64(t.id.Hi-t.id.Lo)-t.used)
	return nil
}

func (t *tx) CellMap(ctx context.Context) (epoch uint64, text []byte, err error) {
	if err := t.use(ctx, false, false); err != nil || len(t.maps) == 0 {
		return 0, nil, err
	}
	newest := t.maps[len(t.maps)-1]
	return newest.epoch, bytes.Clone(newest.text), nil
}

func (t *tx) CellMaps(ctx context.Context) (texts [][]byte, err error) {
	if err := t.use(ctx, false, false); err != nil {
		return nil, err
	}
	for _, v := range t.maps {
		texts = append(texts, bytes.Clone(v.text))
	}
	return texts, nil
}

func (t *tx) PutCellMap(ctx context.Context, epoch uint64, text []byte) error {
	if err := t.use(ctx, true, false); err != nil {
		return err
	}
	has, old, err := t.CellMap(ctx)
	if err != nil || epoch <= has {
		return t.fail(fmt.Errorf("put cell map %d over %d: %w", epoch, has, cell.ErrConflict))
	}
	kept := t.maps
	if has > 0 && cell.Supersedes(text, old) {
		kept = kept[:len(kept)-1]
	}
	t.maps = append(slices.Clip(kept), version{epoch, bytes.Clone(text)})
	return nil
}

func (t *tx) Filter(ctx context.Context) ([]byte, error) {
	if err := t.use(ctx, false, true); err != nil {
		return nil, err
	}
	return bytes.Clone(t.filter), nil
}

func (t *tx) SetFilter(ctx context.Context, filter []byte) error {
	if err := t.use(ctx, true, true); err != nil {
		return err
	}
	t.filter = bytes.Clone(filter)
	return nil
}

func (t *tx) Witnesses(ctx context.Context) (map[cell.ID]cell.Pulse, error) {
	return maps.Clone(t.pulses), t.use(ctx, false, false)
}

func (t *tx) Attest(ctx context.Context, pulses map[cell.ID]cell.Pulse) error {
	was := t.lasting
	if err := t.use(ctx, true, true); err != nil {
		return err
	}
	t.lasting = was
	kept := maps.Clone(t.pulses)
	if kept == nil {
		kept = map[cell.ID]cell.Pulse{}
	}
	for id, p := range pulses {
		if kept[id].Before(p) {
			kept[id] = p
		}
	}
	t.pulses = kept
	return nil
}

func (t *tx) Mark(ctx context.Context, text string) error {
	was := t.lasting
	if err := t.use(ctx, true, false); err != nil {
		return err
	}
	t.lasting, t.mark = was, text
	return nil
}

func (t *tx) Rename(ctx context.Context, mapID string) error {
	if err := t.use(ctx, true, true); err != nil {
		return err
	}
	if t.do != "exclusive" {
		return t.fail(errors.New("celltest: a cell is renamed in an Exclusive only"))
	}
	id := *t.id
	id.Map = mapID
	t.id = &id
	return nil
}
