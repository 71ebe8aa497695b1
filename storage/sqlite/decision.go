// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	sqlDecisions     = "SELECT d.puid, d.at, d.body FROM json_each(?) AS j CROSS JOIN decision AS d ON d.puid = j.value"
	sqlListDecisions = "SELECT puid, at, body FROM decision WHERE (puid, topic) > (?, ?) ORDER BY puid, topic LIMIT +?"

	sqlPutDecision = `INSERT INTO decision (puid, topic, at, body, sum) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (puid, topic) DO UPDATE SET at = excluded.at, body = excluded.body, sum = excluded.sum
		WHERE (excluded.at, excluded.body) > (decision.at, decision.body)`
)

func readDecision(r row) (entity.Decision, error) {
	d, err := document.ParseDecision(r.text(2), r.int(1))
	if err != nil {
		return d, cell.Damaged("decision", r.int(0), err)
	}
	return d, nil
}

// Decisions runs one statement; the rows come in table order.
func (t *tx) Decisions(ctx context.Context, puids []entity.PUID) ([]entity.Decision, error) {
	if err := t.use(ctx); err != nil || len(puids) == 0 {
		return nil, err
	}
	puids = slices.Compact(slices.Sorted(slices.Values(puids)))
	decisions, err := rows(ctx, t, readDecision, sqlDecisions, numbers(t, puids))
	if err != nil {
		return nil, fmt.Errorf("read decisions of %d records: %w", len(puids), err)
	}
	return decisions, nil
}

// PutDecisions runs a statement per row.
func (t *tx) PutDecisions(ctx context.Context, decisions []entity.Decision) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	decisions = inOrder(decisions, func(a, b entity.Decision) int { return a.Key().Compare(b.Key()) })
	err := each(t, sqlPutDecision, decisions, func(s *stmt, d entity.Decision) error {
		body, err := document.Decision(d)
		if err != nil {
			return err
		}
		return s.exec(int64(d.A), d.Topic(), d.At.UnixMilli(), body, cell.Sum(int64(d.A), d.Topic(), d.At.UnixMilli(), body))
	})
	if err != nil {
		return fmt.Errorf("put %d decisions: %w", len(decisions), err)
	}
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

// DeleteDecisions runs a statement per record.
func (t *tx) DeleteDecisions(ctx context.Context, puids []entity.PUID) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	err := each(t, "DELETE FROM decision WHERE puid = ?", inOrder(puids, cmp.Compare[entity.PUID]),
		func(s *stmt, p entity.PUID) error { return s.exec(int64(p)) })
	if err != nil {
		return fmt.Errorf("delete decisions of %d records: %w", len(puids), err)
	}
	return nil
}
