// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// once identifies a batch that must count once.
type once struct {
	key      Key
	producer Producer
	seq      uint64
	print    [16]byte
	hits     int // of the whole batch
}

// name is the key or the producer of a batch.
type name struct {
	key      Key
	producer Producer
}

func (o *once) name() name { return name{o.key, o.producer} }

// digestOf returns a digest of a batch. Times are compared as instants, regardless of their zone.
func digestOf(hits []Hit) (print [16]byte) {
	size := 8
	for i := range hits {
		size += 32 + len(hits[i].Metric)
	}
	buf := binary.BigEndian.AppendUint64(make([]byte, 0, size), uint64(len(hits)))
	for i := range hits {
		h := &hits[i]
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(h.Metric))) //nolint:gosec // a name that is too long is too long in all prints
		buf = append(append(buf, h.Metric...), byte(h.Kind))
		buf = binary.BigEndian.AppendUint64(buf, uint64(h.At.Unix()))       //nolint:gosec // its bits
		buf = binary.BigEndian.AppendUint32(buf, uint32(h.At.Nanosecond())) //nolint:gosec // below 10^9
		buf = binary.BigEndian.AppendUint64(buf, uint64(h.N))               //nolint:gosec // its bits
	}
	sum := sha256.Sum256(buf)
	return [16]byte(sum[:])
}

// counted is a bitmap of the hits of a batch that a cell has counted.
type counted []byte

func newCounted(hits int) counted { return make(counted, (hits+7)/8) }

func (c counted) has(i int) bool { return c[i/8]&(1<<(i%8)) != 0 }

func (c counted) set(i int) { c[i/8] |= 1 << (i % 8) }

// pack encodes the bitmap; it is empty in the usual case that all hits were counted here.
func (c counted) pack(hits int) []byte {
	if all := decodeCounted(nil, hits); bytes.Equal(c, all) {
		return []byte{}
	}
	return c
}

func decodeCounted(results []byte, hits int) counted {
	c := newCounted(hits)
	if len(results) == len(c) {
		copy(c, results)
		return c
	}
	for i := range hits {
		c.set(i)
	}
	return c
}

// dedupState is the dedup record of a key or producer while a group is counted.
type dedupState struct {
	DedupRecord
	known   bool // the record exists
	counted counted
	changed bool

	// State for the current part of the group.
	part     *shardBatch
	counting counted
	repeated bool
	refusal  error
	some     bool  // something was counted
	latest   int64 // latest time of a counted hit
}

// meet starts a part of a group.
func (m *dedupState) meet(p *shardBatch) {
	m.counting, m.repeated, m.refusal = m.match(p.request.once)
	m.part, m.some, m.latest = p, false, math.MinInt64
}

// loadDedup reads the records of a group's batches, and locks them until the transaction ends.
func (g *commitGroup) loadDedup(ctx context.Context, tx Tx) error {
	if !slices.ContainsFunc(g.parts, func(p *shardBatch) bool { return p.request.once != nil && !p.unread }) {
		return nil
	}
	steps := []func(context.Context, Tx) error{g.loadHorizon, g.loadBatchDedup}
	if _, apart := tx.(PerDocumentStore); apart {
		steps = []func(context.Context, Tx) error{g.loadDayDedup, g.loadBatchDedup, g.loadHorizon}
	}
	for _, step := range steps {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	g.rememberDays()
	return nil
}

func (g *commitGroup) loadHorizon(ctx context.Context, tx Tx) (err error) {
	g.horizon, err = tx.DedupHorizon(ctx)
	return err
}

// loadBatchDedup reads the cell's records of batches, which are summaries in an PerDocumentStore store.
func (g *commitGroup) loadBatchDedup(ctx context.Context, tx Tx) error {
	for _, p := range g.parts {
		if p.request.once != nil && !p.unread {
			g.dedup[p.request.once.name()] = nil
		}
	}
	var keys []Key
	var producers []Producer
	for n := range g.dedup {
		if n.key != "" {
			keys = append(keys, n.key)
		} else {
			producers = append(producers, n.producer)
		}
	}
	// Sorted, so that transactions acquire locks in the same order.
	slices.Sort(keys)
	slices.SortFunc(producers, func(a, b Producer) int { return bytes.Compare(a[:], b[:]) })
	if len(keys) > 0 {
		there, err := tx.Batches(ctx, keys)
		if err != nil {
			return err
		}
		for i, key := range keys {
			g.dedup[name{key: key}] = newDedupState(there[i])
		}
	}
	if len(producers) > 0 {
		there, err := tx.Producers(ctx, producers)
		if err != nil {
			return err
		}
		for i, producer := range producers {
			g.dedup[name{producer: producer}] = newDedupState(there[i])
		}
	}
	return nil
}

func newDedupState(r DedupRecord) *dedupState {
	return &dedupState{DedupRecord: r, known: r.Print != [16]byte{}}
}

// match compares a batch with the record: it returns the error of all its hits, or which of them were counted.
func (m *dedupState) match(o *once) (c counted, repeated bool, err error) {
	switch {
	case !m.known || o.seq > m.Seq:
		return newCounted(o.hits), false, nil
	case o.seq < m.Seq:
		return nil, false, ErrSequence
	case o.print != m.Print:
		return nil, false, ErrKeyReused
	case m.counted == nil:
		m.counted = decodeCounted(m.Results, o.hits)
	}
	return m.counted, true, nil
}

// keep records a batch with counted hits; newest is their latest time. The Newest of a producer never decreases,
// so that it is forgotten only after everything that it ever sent.
func (m *dedupState) keep(o *once, c counted, newest int64) {
	if m.known {
		newest = max(newest, m.Newest)
	}
	m.DedupRecord = DedupRecord{Seq: o.seq, Newest: newest, Print: o.print}
	m.known, m.changed, m.counted = true, true, c
	m.Results = c.pack(o.hits)
}

// remember writes the records in the transaction that counts (R4).
func (g *commitGroup) remember(ctx context.Context, tx Tx) error {
	var keyed []KeyedBatch
	var produced []ProducedBatch
	for n, m := range g.dedup {
		switch {
		case !m.changed:
		case n.key != "":
			keyed = append(keyed, KeyedBatch{n.key, m.DedupRecord})
		default:
			produced = append(produced, ProducedBatch{n.producer, m.DedupRecord})
		}
	}
	slices.SortFunc(keyed, func(a, b KeyedBatch) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(produced, func(a, b ProducedBatch) int { return bytes.Compare(a.Producer[:], b.Producer[:]) })
	if len(keyed) > 0 {
		if err := tx.PutBatches(ctx, keyed); err != nil {
			return err
		}
	}
	if len(produced) > 0 {
		return tx.PutProducers(ctx, produced)
	}
	return nil
}

// forgotten limits the records deleted in one transaction.
const forgotten = 2000

// forget deletes dedup records below a dedup horizon, in milliseconds since 1970, and reports whether there may be more.
// A forgotten batch cannot count again: the dedup horizon is raised first, permanently, and all of its hits lie below.
func forget(ctx context.Context, tx Tx, horizon int64) (more bool, err error) {
	if err := tx.RaiseDedupHorizon(ctx, horizon); err != nil {
		return false, err
	}
	batches, err := tx.DropBatches(ctx, horizon, forgotten)
	if err != nil {
		return false, err
	}
	producers, err := tx.DropProducers(ctx, horizon, forgotten)
	return batches == forgotten || producers == forgotten, err
}
