// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
)

const (
	sqlPutAudit = `INSERT INTO audit (chain, seq, at, body, sum) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
		ON CONFLICT (chain, seq) DO UPDATE SET at = excluded.at, body = excluded.body, sum = excluded.sum`
	sqlAuditAfter  = "SELECT at, chain, seq, body FROM audit WHERE (at, chain, seq) > ($1, $2, $3) ORDER BY at, chain, seq LIMIT $4"
	sqlAuditBefore = "SELECT at, chain, seq, body FROM audit WHERE (at, chain, seq) < ($1, $2, $3) ORDER BY at DESC, chain DESC, seq DESC LIMIT $4"
	sqlDropAudit   = "DELETE FROM audit AS a USING unnest($1::bigint[], $2::bigint[]) AS v (chain, seq) WHERE a.chain = v.chain AND a.seq = v.seq"
)

// PutAudit runs one statement.
func (t *tx) PutAudit(ctx context.Context, rows []audit.Row) error {
	if err := t.alter(ctx); err != nil || len(rows) == 0 {
		return err
	}
	n := len(rows)
	chains, seqs, ats, bodies, sums := make([]int64, n), make([]int64, n), make([]int64, n), make([]string, n), make([]int64, n)
	for i, r := range rows {
		chains[i], seqs[i], ats[i], bodies[i] = r.Chain, r.Seq, r.At, r.Body
		sums[i] = cell.Sum(r.Chain, r.Seq, r.At, r.Body)
	}
	t.notePairs("audit", chains, seqs)
	t.exec(sqlPutAudit, chains, seqs, ats, bodies, sums)
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

func (t *tx) auditRows(ctx context.Context, sql string, p audit.Position, limit int) (rows []audit.Row, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	err = t.query(ctx, sql, func(r pgx.Rows) error {
		var row audit.Row
		err := r.Scan(&row.At, &row.Chain, &row.Seq, &row.Body)
		rows = append(rows, row)
		return err
	}, p.At, p.Chain, p.Seq, limit)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return rows, nil
}

// DropAudit runs one statement.
func (t *tx) DropAudit(ctx context.Context, rows []audit.Position) error {
	if err := t.alter(ctx); err != nil || len(rows) == 0 {
		return err
	}
	chains, seqs := make([]int64, len(rows)), make([]int64, len(rows))
	for i, p := range rows {
		chains[i], seqs[i] = p.Chain, p.Seq
	}
	t.notePairs("audit", chains, seqs)
	t.exec(sqlDropAudit, chains, seqs)
	return nil
}
