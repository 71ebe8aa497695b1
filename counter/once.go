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

// BatchName is the key or the producer of a batch that counts once; both are zero for other batches.
type BatchName struct {
	Key      Key
	Producer Producer
}

func (o *once) name() BatchName { return BatchName{o.key, o.producer} }

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

// Dedup tells which hits of a group's batches were counted before. A cell normally keeps one record of each batch; a
// Database with its own Commit may keep several.
type Dedup interface {
	// Load reads the records of the group's batches, and locks or compares them until the transaction ends. It
	// returns the dedup horizon.
	Load(ctx context.Context, tx Tx, g *CommitGroup) (horizon int64, err error)
	// State returns the record that decides on the hits of a batch in a day of a metric.
	State(b *GroupBatch, day BucketKey) *DedupState
	// Save writes the records that have changed, in the transaction that counts (R4).
	Save(ctx context.Context, tx Tx) error
}

// DedupState is a dedup record while a group is counted.
type DedupState struct {
	DedupRecord
	known   bool // the record exists
	counted counted
	changed bool

	// State for the current part of the group.
	part     *GroupBatch
	counting counted
	repeated bool
	refusal  error
	some     bool  // something was counted
	latest   int64 // latest time of a counted hit
}

// NewDedupState returns the state of a record as it was read, the zero DedupRecord where there is none.
func NewDedupState(r DedupRecord) *DedupState {
	return &DedupState{DedupRecord: r, known: r.Print != [16]byte{}}
}

// Known reports whether a record exists.
func (m *DedupState) Known() bool { return m.known }

// Changed reports whether the record was changed since it was read, and must be saved.
func (m *DedupState) Changed() bool { return m.changed }

// meet starts a part of a group.
func (m *DedupState) meet(p *GroupBatch) {
	m.counting, m.repeated, m.refusal = m.match(p.request.once)
	m.part, m.some, m.latest = p, false, math.MinInt64
}

// BatchStates are the cell's records of batches, by their names.
type BatchStates map[BatchName]*DedupState

// Load reads the records of batches and replaces their states.
func (s BatchStates) Load(ctx context.Context, tx Tx, names []BatchName) error {
	clear(s)
	var keys []Key
	var producers []Producer
	for _, n := range names {
		switch _, asked := s[n]; {
		case asked:
		case n.Key != "":
			keys = append(keys, n.Key)
		default:
			producers = append(producers, n.Producer)
		}
		s[n] = nil
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
			s[BatchName{Key: key}] = NewDedupState(there[i])
		}
	}
	if len(producers) > 0 {
		there, err := tx.Producers(ctx, producers)
		if err != nil {
			return err
		}
		for i, producer := range producers {
			s[BatchName{Producer: producer}] = NewDedupState(there[i])
		}
	}
	return nil
}

// match compares a batch with the record: it returns the error of all its hits, or which of them were counted.
func (m *DedupState) match(o *once) (c counted, repeated bool, err error) {
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
func (m *DedupState) keep(o *once, c counted, newest int64) {
	if m.known {
		newest = max(newest, m.Newest)
	}
	m.DedupRecord = DedupRecord{Seq: o.seq, Newest: newest, Print: o.print}
	m.known, m.changed, m.counted = true, true, c
	m.Results = c.pack(o.hits)
}

// Save writes the records that have changed.
func (s BatchStates) Save(ctx context.Context, tx Tx) error {
	var keyed []KeyedBatch
	var produced []ProducedBatch
	for n, m := range s {
		switch {
		case !m.changed:
		case n.Key != "":
			keyed = append(keyed, KeyedBatch{n.Key, m.DedupRecord})
		default:
			produced = append(produced, ProducedBatch{n.Producer, m.DedupRecord})
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

// cellDedup is the Dedup of a cell with one record of each batch.
type cellDedup struct {
	states BatchStates
	last   *GroupBatch // the batch of the state that was looked up last
	state  *DedupState
}

// Load reads the records of a group's batches, and locks them until the transaction ends.
func (d *cellDedup) Load(ctx context.Context, tx Tx, g *CommitGroup) (int64, error) {
	names := g.names[:0]
	for _, p := range g.parts {
		if p.request.once != nil {
			names = append(names, p.request.once.name())
		}
	}
	if g.names = names; d.states == nil {
		d.states = BatchStates{}
	}
	d.last = nil
	if len(names) == 0 {
		clear(d.states)
		return 0, nil
	}
	horizon, err := tx.DedupHorizon(ctx)
	if err != nil {
		return 0, err
	}
	return horizon, d.states.Load(ctx, tx, names)
}

// State returns the record of the batch, which is the same for all days.
func (d *cellDedup) State(b *GroupBatch, _ BucketKey) *DedupState {
	if d.last != b {
		d.last, d.state = b, d.states[b.Name()]
	}
	return d.state
}

// Save writes the records of the batches.
func (d *cellDedup) Save(ctx context.Context, tx Tx) error { return d.states.Save(ctx, tx) }

// forgotten limits the records deleted in one transaction.
const forgotten = 2000

// forget deletes dedup records below a dedup horizon, in milliseconds since 1970, and reports whether there may be
// more. A forgotten batch cannot count again: the dedup horizon is raised first, permanently, and all of its hits lie
// below.
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
