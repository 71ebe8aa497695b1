// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	sqlHead = "SELECT keys, home, incarnation, epoch, known_epoch, fence, images, version, returns, settled, move, journal FROM locus_cell"
	sqlGate = sqlHead + " FOR SHARE"

	sqlSetHead = "UPDATE locus_cell SET keys = $1, home = $2, incarnation = $3, epoch = $4, known_epoch = $5, fence = $6, images = $7, version = $8, returns = $9, settled = $10, move = $11, sum = $14 WHERE $12::bigint = $13::bigint OR lo = $12 AND hi = $13"
)

// sqlRow reads the whole row that holds the head.
var sqlRow = func() string {
	table, _ := document.Readable(document.CellTable)
	return "SELECT " + copied{table}.read() + " FROM locus_cell AS t"
}()

func scanHead(row pgx.Row, h *cell.Head, journal *bool) error {
	var keys, home int16
	var epoch, knownEpoch int64
	err := row.Scan(&keys, &home, &h.Incarnation, &epoch, &knownEpoch, &h.Fence, &h.Images, &h.Rules, &h.Returns,
		&h.Settled, &h.Move, journal)
	h.Keys, h.Home, h.Epoch, h.KnownEpoch = cell.KeyState(keys), cell.Placement(home), uint64(epoch), uint64(knownEpoch)
	return err
}

// gate queues the first statement of every transaction: it reads the head of the cell, and write transactions lock it
// until they end. Statements sent with it are executed after it; if the head does not pass, their results are not read
// and the transaction fails. FOR SHARE conflicts with any update of the row; FOR KEY SHARE would not. Behind a pooler a
// transaction may reach a server that this process never opened a connection to, so there it also checks the timeline.
func (t *tx) gate() {
	if t.cell.target.pooler && t.mode != adopting {
		t.queueWhere()
	}
	sql := sqlGate
	if t.mode == reading || t.mode >= alone {
		sql = sqlHead
	}
	t.queue.Queue(sql).Query(func(r pgx.Rows) error {
		if err := eachRow(func(r pgx.Rows) error { return scanHead(r, &t.head, &t.journal) })(r); err != nil {
			return err
		}
		return t.passed()
	})
	if t.mode >= alone {
		t.queue.Queue(sqlRow).Query(eachRow(func(r pgx.Rows) (err error) { t.row, err = r.Values(); return err }))
	}
}

// passed returns an error if the head, which has just been read, does not admit the transaction.
func (t *tx) passed() error {
	err := t.admitted()
	if t.mode == writing {
		t.cell.admits.Store(err == nil)
	}
	return err
}

func (t *tx) admitted() error {
	switch {
	case t.mode != writing:
	case t.head == cell.Head{}:
		return fmt.Errorf("%w: %s", errNobody, t.cell.target.shown)
	case t.head.Home != cell.Serving:
		return fmt.Errorf("cell %s is %s: %w", t.cell, t.head.Home, cell.ErrMoved)
	}
	for _, check := range t.required {
		if err := check(t.head); err != nil {
			return err
		}
	}
	t.required = nil
	if !t.journal {
		t.notes = nil
	}
	return nil
}

// Head is free after another read: every transaction begins by reading it.
func (t *tx) Head(ctx context.Context) (cell.Head, error) {
	if err := t.use(ctx); err != nil {
		return cell.Head{}, err
	}
	if err := t.pass(ctx); err != nil {
		return cell.Head{}, fmt.Errorf("read head of cell %s: %w", t.cell, err)
	}
	return t.head, nil
}

// Require is free: check is called with the head, which is sent for with the first read.
func (t *tx) Require(ctx context.Context, check func(cell.Head) error) error {
	if err := t.use(ctx); err != nil {
		return err
	}
	if !t.begun {
		t.required = append(t.required, check)
		return nil
	}
	if err := check(t.head); err != nil {
		return t.fail(err)
	}
	return nil
}

// SetHead writes one row.
func (t *tx) SetHead(ctx context.Context, h cell.Head) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if t.mode < alone {
		return t.fail(errors.New("postgres: the head of a cell is written in an Exclusive only"))
	}
	id := t.cell.identity() // an empty range until the cell is identified
	t.queue.Queue(sqlSetHead, int16(h.Keys), int16(h.Home), int32(h.Incarnation), int64(h.Epoch), int64(h.KnownEpoch), h.Fence, h.Images, h.Rules, int32(h.Returns), int32(h.Settled), h.Move, id.Lo, id.Hi, t.seal(document.HeadValues(h))).
		Exec(func(tag pgconn.CommandTag) error {
			switch {
			case tag.RowsAffected() > 0:
				return nil
			case id.Lo == id.Hi:
				return fmt.Errorf("%w: %s", errNobody, t.cell.target.shown)
			}
			return id.Keeps(cell.Identity{}, t.cell.target.shown)
		})
	t.head = h
	return nil
}

// seal returns the new checksum of the row with the identity and the head, with some of its values changed. Both
// are written rarely.
func (t *tx) seal(values map[string]any) (sum any) {
	if t.row == nil {
		return nil // a cell without an identity has no row
	}
	return document.ChangeCell(t.row, values)
}

const sqlTotals = "SELECT records, entities, merges, splits FROM locus_total"

// AddCounts only adds up; the last statement of the transaction writes the totals.
func (t *tx) AddCounts(ctx context.Context, delta entity.Counts) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	t.counts = t.counts.Add(delta)
	return nil
}

// Counts reads the row of totals. An update holds its lock until the commit.
func (t *tx) Counts(ctx context.Context) (c entity.Counts, err error) {
	if err := t.use(ctx); err != nil {
		return c, err
	}
	sql := sqlTotals
	if t.mode != reading {
		t.queueTotals()
		sql += " FOR NO KEY UPDATE"
	}
	err = t.query(ctx, sql, func(r pgx.Rows) error { return r.Scan(&c.Records, &c.Entities, &c.Merges, &c.Splits) })
	if err != nil {
		return entity.Counts{}, fmt.Errorf("read counts: %w", err)
	}
	return c, nil
}

const (
	sqlAddTotals = `UPDATE locus_total SET seq = seq + $1,
		records = records + $2, entities = entities + $3, merges = merges + $4, splits = splits + $5, turns = turns + $4 + $5, trimmed = greatest(trimmed, $6)`

	sqlAppend = `WITH total AS (` + sqlAddTotals + ` RETURNING seq - $1 AS before)
		INSERT INTO change (seq, at, kind, entity, into_id, before, after, was, became, cause, sum)
		SELECT total.before + c.n, c.at, c.kind, c.entity, c.into_id, c.before::json, c.after::json, c.was::json, c.became::json, c.cause, c.sum
		FROM total, unnest($7::bigint[], $8::text[], $9::uuid[], $10::uuid[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[])
			WITH ORDINALITY AS c (at, kind, entity, into_id, before, after, was, became, cause, sum, n)`
)

// queueTotals queues one statement that adds the transaction's totals and changes. It holds the row of totals until
// the commit, so the order of the log is the commit order.
func (t *tx) queueTotals() {
	n, changes, trimmed := t.counts, t.changes, t.trimmed
	t.counts, t.changes, t.trimmed = entity.Counts{}, nil, 0
	t.appended += len(changes)
	args := []any{int64(len(changes)), n.Records, n.Entities, n.Merges, n.Splits, int64(trimmed)}
	switch {
	case len(changes) > 0:
		before, after := column(changes, func(c changelog.Change) *string { return t.versions(c.Before) }), column(changes, func(c changelog.Change) *string { return t.versions(c.After) })
		was, is := column(changes, func(c changelog.Change) *string { return t.image(c.Was) }), column(changes, func(c changelog.Change) *string { return t.image(c.Is) })
		sums := make([]int64, len(changes))
		for i, c := range changes {
			sums[i] = cell.Sum(c.Time.UnixMilli(), string(c.Kind), c.Entity[:], bytesOrNil(c.Into), textOrNil(before[i]),
				textOrNil(after[i]), textOrNil(was[i]), textOrNil(is[i]), string(c.Cause))
		}
		t.exec(sqlAppend, append(args,
			column(changes, func(c changelog.Change) int64 { return c.Time.UnixMilli() }),
			column(changes, func(c changelog.Change) string { return string(c.Kind) }),
			column(changes, func(c changelog.Change) locality.ID { return c.Entity }),
			column(changes, func(c changelog.Change) locality.NullID { return idOrNull(c.Into) }),
			before, after, was, is,
			column(changes, func(c changelog.Change) string { return string(c.Cause) }), sums)...)
	case n != entity.Counts{} || trimmed > 0:
		t.exec(sqlAddTotals, args...)
	}
}

// versions returns members as JSON, or NULL for none.
func (t *tx) versions(members []changelog.Version) *string {
	if len(members) == 0 {
		return nil
	}
	t.text = document.AppendVersions(t.text[:0], members)
	text := string(t.text)
	return &text
}

// image returns an image as JSON, or NULL for nil.
func (t *tx) image(im *changelog.Image) *string {
	if im == nil {
		return nil
	}
	t.text = document.AppendImage(t.text[:0], im)
	text := string(t.text)
	return &text
}

// textOrNil and bytesOrNil return values as they enter a checksum.
func textOrNil(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

func bytesOrNil(id locality.ID) any {
	if id.IsZero() {
		return nil
	}
	return id[:]
}

// idOrNull returns NULL for the zero ID.
func idOrNull(id locality.ID) locality.NullID { return locality.NullID{ID: id, Valid: !id.IsZero()} }

// stats reads how full the cell is.
func (t *tx) stats(ctx context.Context) (s cell.Stats, err error) {
	t.queue.Queue(sqlUsed).QueryRow(func(row pgx.Row) error {
		var last int64
		err := row.Scan(&last)
		s.PUIDs = uint64(last - t.cell.identity().Lo)
		return err
	})
	err = t.query(ctx, "SELECT pg_database_size(current_database()), EXISTS (SELECT FROM locus_filter)",
		func(r pgx.Rows) error { return r.Scan(&s.Bytes, &s.Filter) })
	s.Head = t.head // read by the gate
	p := t.cell.pool.read()
	s.Pool = cell.Pool{Server: p.Server, Budget: p.Budget, Open: p.Open, Idle: p.Idle, Waiting: p.Waiting}
	return s, err
}
