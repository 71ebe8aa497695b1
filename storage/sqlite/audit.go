// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
)

const (
	sqlPutAudit    = "INSERT INTO audit (chain, seq, at, body, sum) VALUES (?, ?, ?, ?, ?) ON CONFLICT (chain, seq) DO UPDATE SET at = excluded.at, body = excluded.body, sum = excluded.sum"
	sqlAuditAfter  = "SELECT at, chain, seq, body FROM audit WHERE (at, chain, seq) > (?, ?, ?) ORDER BY at, chain, seq LIMIT +?"
	sqlAuditBefore = "SELECT at, chain, seq, body FROM audit WHERE (at, chain, seq) < (?, ?, ?) ORDER BY at DESC, chain DESC, seq DESC LIMIT +?"
	sqlDropAudit   = "DELETE FROM audit WHERE chain = ? AND seq = ?"
)

// PutAudit runs a statement per row.
func (t *tx) PutAudit(ctx context.Context, added []audit.Row) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := each(t, sqlPutAudit, added, func(s *stmt, r audit.Row) error {
		return s.exec(r.Chain, r.Seq, r.At, r.Body, cell.Sum(r.Chain, r.Seq, r.At, r.Body))
	}); err != nil {
		return fmt.Errorf("put %d rows of the audit log: %w", len(added), err)
	}
	return nil
}

// AuditAfter reads the index of times.
func (t *tx) AuditAfter(ctx context.Context, after audit.Position, limit int) ([]audit.Row, error) {
	return t.auditRows(ctx, sqlAuditAfter, after, limit)
}

// AuditBefore reads the index of times backwards.
func (t *tx) AuditBefore(ctx context.Context, before audit.Position, limit int) ([]audit.Row, error) {
	return t.auditRows(ctx, sqlAuditBefore, before, limit)
}

func (t *tx) auditRows(ctx context.Context, sql string, p audit.Position, limit int) ([]audit.Row, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	got, err := rows(ctx, t, func(r row) (audit.Row, error) {
		return audit.Row{Position: audit.Position{At: r.int(0), Chain: r.int(1), Seq: r.int(2)}, Body: r.text(3)}, nil
	}, sql, p.At, p.Chain, p.Seq, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return got, nil
}

// DropAudit runs a statement per row.
func (t *tx) DropAudit(ctx context.Context, dropped []audit.Position) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := each(t, sqlDropAudit, dropped, func(s *stmt, p audit.Position) error {
		return s.exec(p.Chain, p.Seq)
	}); err != nil {
		return fmt.Errorf("drop %d rows of the audit log: %w", len(dropped), err)
	}
	return nil
}
