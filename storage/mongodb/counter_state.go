// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

// floor is the time below which batches may have been forgotten, as read and as the transaction leaves it.
type floor struct{ was, is int64 }

type horizonDoc struct {
	At int64 `bson:"at"`
}

// DedupHorizon reads the dedup horizon. If it rises before the commit, the transaction writes nothing.
func (t *counterTx) DedupHorizon(ctx context.Context) (int64, error) {
	if t.floor == nil {
		var at int64
		read := func(ctx context.Context) (err error) {
			at, err = t.readHorizon(ctx)
			return err
		}
		err := error(nil)
		if t.reading {
			err = read(t.session)
		} else if err = t.guard(t.session, t.Collection(stateName), "floor", read); errors.Is(err, cell.ErrUnavailable) {
			err = &perdocument.UnreadError{DedupHorizon: true, Err: err}
		}
		if err != nil {
			return 0, err
		}
		t.floor = &floor{at, at}
	}
	return t.floor.is, ctx.Err()
}

func (t *counterTx) readHorizon(ctx context.Context) (int64, error) {
	if t.over {
		return 0, errOver
	}
	var doc horizonDoc
	err := t.Collection(stateName).FindOne(ctx, bson.D{{Key: "_id", Value: "floor"}}).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return 0, fmt.Errorf("%s has no dedup horizon: was its document deleted?", stateName)
	}
	return doc.At, unread(err)
}

// RaiseDedupHorizon raises the dedup horizon at the commit.
func (t *counterTx) RaiseDedupHorizon(ctx context.Context, to int64) error {
	if err := t.writes(); err != nil {
		return err
	}
	if _, err := t.DedupHorizon(ctx); err != nil {
		return err
	}
	t.floor.is = max(t.floor.is, to)
	return nil
}

// checkHorizon returns errAgain if the dedup horizon has changed, and otherwise raises it. It runs before all other
// writes: batches below the dedup horizon may be forgotten only after every writer can see that it has risen.
func (t *counterTx) checkHorizon(ctx context.Context) error {
	if t.floor == nil || t.reading {
		return nil
	}
	at, err := t.readHorizon(ctx)
	switch {
	case err != nil:
		return err
	case at != t.floor.was:
		return errAgain
	case t.floor.is == at:
		return nil
	}
	_, err = t.Collection(stateName).UpdateOne(ctx, bson.D{{Key: "_id", Value: "floor"}}, bson.D{{
		Key: "$max", Value: bson.D{{Key: "at", Value: t.floor.is}},
	}})
	return outcome(err)
}

// metric is the metadata of a metric, as the transaction leaves it.
type metric struct {
	is      counter.Meta // zero if there is none
	changed bool
	made    bool // by this transaction
}

type metricDoc struct {
	ID    string `bson:"_id"` // in hexadecimal
	Name  string `bson:"name"`
	Kind  int    `bson:"kind"`
	First int64  `bson:"first"`
}

func metricID(id counter.ID) string { return fmt.Sprintf("%010x", int64(id)) }

func (m *metricDoc) meta() counter.Meta {
	id, _ := strconv.ParseInt(m.ID, 16, 64)
	return counter.Meta{ID: counter.ID(id), Name: counter.Metric(m.Name), Kind: counter.Kind(m.Kind), First: m.First} //nolint:gosec // 0 or 1
}

// Metrics reads metrics that were not read before.
func (t *counterTx) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	if t.over {
		return nil, errOver
	}
	var absent []string
	for _, id := range ids {
		if t.metrics[id] == nil {
			t.metrics[id] = &metric{}
			absent = append(absent, metricID(id))
		}
	}
	slices.Sort(absent)
	lost, err := findOf(t, metricsName, absent, nil, func(doc metricDoc) {
		m := doc.meta()
		t.metrics[m.ID].is = m
	})
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 {
		unread := &perdocument.UnreadError{Err: errAway}
		for _, id := range lost {
			doc := metricDoc{ID: id}
			unread.Metrics = append(unread.Metrics, doc.meta().ID)
		}
		return nil, unread
	}
	all := make([]counter.Meta, len(ids))
	for i, id := range ids {
		all[i] = t.metrics[id].is
	}
	return all, ctx.Err()
}

// PutMetrics collects metrics until the commit.
func (t *counterTx) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	if err := t.writes(); err != nil {
		return err
	}
	ids := make([]counter.ID, len(metrics))
	for i := range metrics {
		ids[i] = metrics[i].ID
	}
	if _, err := t.Metrics(ctx, ids); err != nil {
		return err
	}
	for _, put := range metrics {
		m := t.metrics[put.ID]
		if m.is.ID != 0 {
			put.Name, put.Kind, put.First = m.is.Name, m.is.Kind, min(m.is.First, put.First)
		}
		m.made = m.made || m.is.ID == 0
		m.is, m.changed = put, true
	}
	return nil
}

// writeMetrics writes metrics. It returns errAgain if another process has created one of them with another kind.
func (t *counterTx) writeMetrics(ctx context.Context) error {
	var docs []any
	var firsts []mongo.WriteModel
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(t.metrics)) {
		if m := t.metrics[id]; m.changed {
			docs = append(docs, metricDoc{metricID(id), string(m.is.Name), int(m.is.Kind), m.is.First})
			firsts = append(firsts, mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: metricID(id)}}).
				SetUpdate(bson.D{{Key: "$min", Value: bson.D{{Key: "first", Value: m.is.First}}}}))
			ids = append(ids, metricID(id))
		}
	}
	if len(docs) == 0 {
		return nil
	}
	c := t.Collection(metricsName)
	_, err := insertNew(ctx, c, docs)
	for chunk := range slices.Chunk(firsts, bulk) {
		if err == nil {
			_, err = c.BulkWrite(ctx, chunk, options.BulkWrite().SetOrdered(false))
		}
	}
	if err != nil {
		return fmt.Errorf("%w: write metrics: %s", cell.ErrUnavailable, err.Error()) // nothing is counted by that
	}
	same := 0
	err = findIn(ctx, c, ids, nil, func(doc metricDoc) {
		if m := doc.meta(); m.Kind == t.metrics[m.ID].is.Kind {
			same++
		}
	})
	if err == nil && same < len(ids) {
		return errAgain
	}
	return err
}

// ListMetrics reads metrics in the order of their names.
func (t *counterTx) ListMetrics(ctx context.Context, prefix, after counter.Metric, limit int) ([]counter.Meta, error) {
	if t.over {
		return nil, errOver
	}
	all := map[counter.ID]counter.Meta{}
	fits := func(m counter.Meta) bool {
		return m.ID != 0 && m.Name > after && strings.HasPrefix(string(m.Name), string(prefix))
	}
	for id, m := range t.metrics {
		if m.changed && fits(m.is) {
			all[id] = m.is
		}
	}
	from := bson.D{{Key: "name", Value: bson.D{{Key: "$gte", Value: string(max(prefix, after))}}}}
	opts := options.Find().SetSort(bson.D{{Key: "name", Value: 1}}).SetBatchSize(int32(min(limit+1, inAtOnce))) //nolint:gosec // 1,000 at most
	more := limit + len(t.metrics)
	if err := findWhile(t.session, t.Collection(metricsName), from, opts, func(doc metricDoc) bool {
		m := doc.meta()
		if !strings.HasPrefix(string(m.Name), string(prefix)) {
			return false
		}
		if own := t.metrics[m.ID]; fits(m) && (own == nil || !own.changed) {
			all[m.ID] = m
		}
		more--
		return more >= 0
	}); err != nil {
		return nil, err
	}
	list := slices.SortedFunc(maps.Values(all), func(a, b counter.Meta) int { return cmp.Compare(a.Name, b.Name) })
	return list[:min(len(list), limit)], ctx.Err()
}

// CountMetrics returns the number of metrics.
func (t *counterTx) CountMetrics(context.Context) (int, error) {
	if t.over {
		return 0, errOver
	}
	var n int64
	count := func(ctx context.Context) (err error) {
		n, err = t.Collection(metricsName).EstimatedDocumentCount(ctx)
		return err
	}
	err := error(nil)
	if t.server.Topology == Sharded { // creating metrics waits for it, and a stale count is good enough
		err = t.soon(t.session, count)
	} else {
		err = count(t.session)
	}
	for _, m := range t.metrics {
		if m.changed && m.made {
			n++
		}
	}
	return int(n), unread(err)
}
