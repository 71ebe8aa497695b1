// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/changelog"
)

// Groups elsewhere are read between two reads of the cell. The first read returns the log position to start from: every
// group contains at least the changes up to the generation's watermark. The second read returns the end of the
// log, which is beyond every group, because they contain committed changes only. Adding the changes after
// each group's own watermark makes all of them true at one position, regardless of concurrent writes:
//
//	first read                                second read
//	    │          groups are read                 │
//	────W0────────W1──w──────w───────────w─────────T──►  log
//	    └───────── the changes that are read ──────┘
//
// T never decreases between reads: neither the watermark nor the end of the log does.

// errMeanwhile reports that the groups and the log are inconsistent and must be read again.
var errMeanwhile = errors.New("its groups changed while they were read")

// attempts is how often groups are read before giving up.
const attempts = 10

// readElsewhere answers a Query; s was the first read of the cell.
func (db Database) readElsewhere(ctx context.Context, s *Standing, q Query) (*Part, error) {
	from, err := db.elsewhere(&s.Generation)
	if err != nil {
		return nil, err
	}
	if q.Keys != nil {
		return db.readKeys(ctx, from, s, q)
	}
	var begin []byte
	if q.After != nil {
		begin = []byte(rowGroup + groupKey(shortened(q.After)))
	}
	var docs []Moved
	for end := begin; ; {
		var next []Moved
		if next, end, err = from.Scan(ctx, &s.Generation, end, q.Limit); err != nil {
			return nil, fmt.Errorf("rollup %s: read groups: %w", s.Definition.Name, err)
		}
		docs = append(docs, next...)
		t, err := db.tail(ctx, s)
		if err != nil {
			return nil, err
		}
		rows, err := t.rows(insert(slices.Clone(docs), t.between(begin, end)))
		if err != nil {
			return nil, err
		}
		if end != nil && len(rows) == 0 {
			continue // a result with more set must name at least one group
		}
		p := &Part{Standing: t.standing, plain: q.Plain, more: end != nil}
		if q.Limit > 0 && len(rows) > q.Limit {
			rows, p.more = rows[:q.Limit], true
		}
		return p, p.decode(rows)
	}
}

// readKeys reads the groups that a Query names.
func (db Database) readKeys(ctx context.Context, from Elsewhere, s *Standing, q Query) (*Part, error) {
	keys := rowKeys(q.Keys)
	docs, err := from.Groups(ctx, &s.Generation, keys)
	if err != nil {
		return nil, fmt.Errorf("rollup %s: read groups: %w", s.Definition.Name, err)
	}
	t, err := db.tail(ctx, s)
	if err != nil {
		return nil, err
	}
	rows, err := t.rows(docs)
	if err != nil {
		return nil, err
	}
	p := &Part{Standing: t.standing, plain: q.Plain}
	return p, p.decode(rows)
}

// rowKeys returns the row keys of groups, sorted and deduplicated.
func rowKeys(groups [][]string) [][]byte {
	keys := make([][]byte, len(groups))
	for i, g := range groups {
		keys[i] = []byte(rowGroup + groupKey(shortened(g)))
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// tail is the log after the first read, as the second one saw it.
type tail struct {
	*CatchUp
	standing *Standing // at the end of the log
}

// tail performs the second read.
func (db Database) tail(ctx context.Context, s *Standing) (t *tail, err error) {
	err = db.View(ctx, func(tx Tx) error {
		t, err = tailOf(ctx, tx, s)
		return err
	})
	return t, err
}

func tailOf(ctx context.Context, tx Tx, s *Standing) (*tail, error) {
	now, err := whole(ctx, tx, s.Number)
	if err != nil {
		return nil, err
	}
	changes, to, err := now.log(ctx, tx, s.Watermark)
	switch {
	case errors.Is(err, changelog.ErrTrimmed), now.BuildID != s.BuildID, now.History != s.History:
		return nil, errMeanwhile
	case err != nil:
		return nil, err
	}
	fw := newCatchUp(&now.Definition, changes, to)
	if now.Watermark = fw.to; len(fw.changes) > 0 {
		now.At = fw.changes[len(fw.changes)-1].Time
	}
	return &tail{fw, now}, nil
}

// between returns the keys of groups that the log touches, after begin and up to end; nil is no limit.
func (t *tail) between(begin, end []byte) [][]byte {
	return slices.DeleteFunc(t.Keys(), func(key []byte) bool {
		return begin != nil && bytes.Compare(key, begin) <= 0 || end != nil && bytes.Compare(key, end) > 0
	})
}

// log reads the changes after a position, at most pending of them: groups can be no further ahead of the
// watermark. For a frozen generation it stops at FrozenAt.
func (s *Standing) log(ctx context.Context, tx Tx, from changelog.Seq) (changes []changelog.Change, to changelog.Seq, err error) {
	last, limit := s.Last, pending
	if s.still() {
		last = s.FrozenAt
	}
	s.Oldest = time.Time{}
	for to = last; ; {
		page, err := tx.Changes(ctx, from, scanned)
		if err != nil {
			return nil, 0, err
		}
		for _, c := range page {
			if c.Seq > last || limit == 0 {
				s.Oldest = c.Time
				return changes, to, nil
			}
			changes = append(changes, c)
			if from = c.Seq; c.Seq > s.watermark {
				if limit--; limit == 0 {
					to = c.Seq
				}
			}
		}
		if len(page) < scanned {
			return changes, to, nil
		}
	}
}

// still reports whether the generation no longer advances.
func (g *Generation) still() bool { return g.FrozenFor != 0 || g.State == Failed }

// rows returns the rows of the groups at the end of the log.
func (t *tail) rows(docs []Moved) ([]Row, error) {
	for _, d := range docs {
		if d.Is && d.Watermark > t.to {
			return nil, errMeanwhile
		}
	}
	t.Apply(docs)
	rows := make([]Row, 0, len(docs))
	for _, d := range docs {
		switch {
		case d.err != nil:
			return nil, d.err
		case len(d.Next) > 0:
			rows = append(rows, Row{Key: d.Key, Body: d.Next})
		}
	}
	return rows, nil
}
