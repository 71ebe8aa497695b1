// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	sqlDecisions     = "SELECT puid, at, body FROM decision WHERE puid = ANY ($1::bigint[]) ORDER BY puid, topic"
	sqlListDecisions = "SELECT puid, at, body FROM decision WHERE (puid, topic) > ($1, $2) ORDER BY puid, topic LIMIT $3"

	sqlPutDecisions = `INSERT INTO decision (puid, topic, at, body, sum)
		SELECT puid, topic, at, body, sum FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) AS d (puid, topic, at, body, sum)
		ON CONFLICT (puid, topic) DO UPDATE SET at = excluded.at, body = excluded.body, sum = excluded.sum
		WHERE (excluded.at, excluded.body) > (decision.at, decision.body)`

	sqlDeleteDecisions = "DELETE FROM decision WHERE puid = ANY ($1::bigint[]) RETURNING puid, topic"
)

func readDecision(r pgx.Rows) (entity.Decision, error) {
	var puid, at int64
	var body string
	if err := r.Scan(&puid, &at, &body); err != nil {
		return entity.Decision{}, err
	}
	d, err := document.ParseDecision(body, at)
	if err != nil {
		return d, cell.Damaged("decision", puid, err)
	}
	return d, nil
}

// Decisions runs one statement.
func (t *tx) Decisions(ctx context.Context, puids []entity.PUID) ([]entity.Decision, error) {
	if err := t.use(ctx); err != nil || len(puids) == 0 {
		return nil, err
	}
	decisions, err := rows(ctx, t, readDecision, sqlDecisions, numbers(puids))
	if err != nil {
		return nil, fmt.Errorf("read decisions of %d records: %w", len(puids), err)
	}
	return decisions, nil
}

// decision is a row.
type decision struct {
	entity.Decision
	at    int64
	topic string
	body  string
}

// PutDecisions runs one statement.
func (t *tx) PutDecisions(ctx context.Context, decisions []entity.Decision) error {
	if err := t.alter(ctx); err != nil || len(decisions) == 0 {
		return err
	}
	all := make([]decision, len(decisions))
	for i, d := range decisions {
		body, err := document.Decision(d)
		if err != nil {
			return t.fail(fmt.Errorf("put %d decisions: %w", len(decisions), err))
		}
		all[i] = decision{d, d.At.UnixMilli(), d.Topic(), body}
	}
	// The greatest of each key comes last and is kept.
	slices.SortFunc(all, func(a, b decision) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.body, b.body)) })
	all = inOrder(all, func(a, b decision) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.topic, b.topic)) })
	for _, d := range all {
		t.noteRow("decision", []any{int64(d.A), d.topic})
	}
	t.exec(sqlPutDecisions,
		column(all, func(d decision) int64 { return int64(d.A) }),
		column(all, func(d decision) string { return d.topic }),
		column(all, func(d decision) int64 { return d.at }),
		column(all, func(d decision) string { return d.body }),
		column(all, func(d decision) int64 { return cell.Sum(int64(d.A), d.topic, d.at, d.body) }))
	return nil
}

// ListDecisions reads the table in order.
func (t *tx) ListDecisions(ctx context.Context, after entity.DecisionKey, limit int) ([]entity.Decision, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	decisions, err := rows(ctx, t, readDecision, sqlListDecisions, int64(after.A), after.Topic, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list decisions after %s: %w", after.A, err)
	}
	return decisions, nil
}

// DeleteDecisions runs one statement.
func (t *tx) DeleteDecisions(ctx context.Context, puids []entity.PUID) error {
	if err := t.alter(ctx); err != nil || len(puids) == 0 {
		return err
	}
	err := t.query(ctx, sqlDeleteDecisions, func(r pgx.Rows) error {
		var puid int64
		var topic string
		err := r.Scan(&puid, &topic)
		t.noteRow("decision", []any{puid, topic})
		return err
	}, numbers(puids))
	if err != nil {
		return fmt.Errorf("delete decisions of %d records: %w", len(puids), err)
	}
	return nil
}
