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

// Documents are read between two reads of the cell. The first read returns the log position to start from: every
// document contains at least the changes up to the generation's watermark. The second read returns the end of the
// log, which is beyond every document, because documents contain committed changes only. Adding the changes after
// each document's own watermark makes all of them true at one position, regardless of concurrent writes:
//
//	first read                                second read
//	    │         documents are read               │
//	────W0────────W1──w──────w───────────w─────────T──►  log
//	    └───────── the changes that are read ──────┘
//
// T never decreases between reads: neither the watermark nor the end of the log does.

// errMeanwhile reports that the documents and the log are inconsistent and must be read again.
var errMeanwhile = errors.New("its documents changed while they were read")

// attempts is how often documents are read before giving up.
const attempts = 10

// readDocuments answers a Query; s was the first read of the cell.
func (db Database) readDocuments(ctx context.Context, s *Standing, q Query) (*Part, error) {
	from, err := db.documents(&s.Generation)
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
	var docs []moved
	for end := begin; ; {
		var next []moved
		if next, end, err = scan(ctx, from, s.namespace(), end, q.Limit); err != nil {
			return nil, fmt.Errorf("rollup %s: read documents: %w", s.Definition.Name, err)
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
func (db Database) readKeys(ctx context.Context, from Documents, s *Standing, q Query) (*Part, error) {
	keys := rowKeys(q.Keys)
	docs, err := from.Documents(ctx, s.namespace(), keys)
	if err != nil {
		return nil, fmt.Errorf("rollup %s: read documents: %w", s.Definition.Name, err)
	}
	t, err := db.tail(ctx, s)
	if err != nil {
		return nil, err
	}
	rows, err := t.rows(found(keys, docs))
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

// scan reads documents after a key until it has more groups than limit; 0 is no limit. end is the last key read,
// nil if no more follow.
func scan(ctx context.Context, from Documents, s Namespace, after []byte, limit int) (docs []moved, end []byte, err error) {
	size := scanned
	if limit > 0 {
		size = min(size, limit+1)
	}
	for groups := 0; ; {
		page, err := from.Scan(ctx, s, after, size)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range page {
			docs = append(docs, moved{Document: d, is: true})
			groups += int(count(len(d.Body) > 0))
		}
		switch {
		case len(page) < size:
			return docs, nil, nil
		case limit > 0 && groups > limit:
			return docs, page[len(page)-1].Key, nil
		}
		after = page[len(page)-1].Key
	}
}

// tail is the log after the first read, as the second one saw it.
type tail struct {
	*catchUp
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
	return slices.DeleteFunc(t.keys(), func(key []byte) bool {
		return begin != nil && bytes.Compare(key, begin) <= 0 || end != nil && bytes.Compare(key, end) > 0
	})
}

// log reads the changes after a position, at most pending of them: documents can be no further ahead of the
// watermark. For a frozen generation it stops at Until.
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
func (t *tail) rows(docs []moved) ([]Row, error) {
	for _, d := range docs {
		if d.is && d.Watermark > t.to {
			return nil, errMeanwhile
		}
	}
	t.apply(docs)
	rows := make([]Row, 0, len(docs))
	for _, d := range docs {
		switch {
		case d.err != nil:
			return nil, d.err
		case len(d.next) > 0:
			rows = append(rows, Row{Key: d.Key, Body: d.next})
		}
	}
	return rows, nil
}
