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

// once is what a batch is known by that counts once.
type once struct {
	key      Key
	producer Producer
	seq      uint64
	print    [16]byte
	hits     int // of the whole batch
}

// name tells batches of one key, or of one producer, from all others.
type name struct {
	key      Key
	producer Producer
}

func (o *once) name() name { return name{o.key, o.producer} }

// printOf tells a batch from any other one. Times are compared as moments: zones do not count.
func printOf(hits []Hit) (print [16]byte) {
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

// counted tells which hits of a batch a cell has counted: a bit each.
type counted []byte

func newCounted(hits int) counted { return make(counted, (hits+7)/8) }

func (c counted) has(i int) bool { return c[i/8]&(1<<(i%8)) != 0 }

func (c counted) set(i int) { c[i/8] |= 1 << (i % 8) }

// pack makes results of it: nothing at all if all hits were counted here, which is the rule.
func (c counted) pack(hits int) []byte {
	if all := unpackCounted(nil, hits); bytes.Equal(c, all) {
		return []byte{}
	}
	return c
}

func unpackCounted(results []byte, hits int) counted {
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

// memory is what a cell remembers under a key or of a producer, while a group is counted.
type memory struct {
	Remembered
	known   bool // there is something
	counted counted
	changed bool

	// What a part of a group makes of it.
	part     *share
	counting counted
	repeated bool
	refusal  error
	some     bool  // something was counted
	latest   int64 // time of it
}

// meet begins with a part of a group.
func (m *memory) meet(p *share) {
	m.counting, m.repeated, m.refusal = m.match(p.call.once)
	m.part, m.some, m.latest = p, false, math.MinInt64
}

// recall reads what the cell remembers of the batches of a group, and holds it until the transaction ends.
func (g *group) recall(ctx context.Context, tx Tx) error {
	if !slices.ContainsFunc(g.parts, func(p *share) bool { return p.call.once != nil && !p.unread }) {
		return nil
	}
	steps := []func(context.Context, Tx) error{g.recallFloor, g.recallWhole}
	if _, apart := tx.(Apart); apart {
		steps = []func(context.Context, Tx) error{g.recallDays, g.recallWhole, g.recallFloor}
	}
	for _, step := range steps {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	g.rememberDays()
	return nil
}

func (g *group) recallFloor(ctx context.Context, tx Tx) (err error) {
	g.floor, err = tx.Floor(ctx)
	return err
}

// recallWhole reads what the cell remembers of batches as a whole.
func (g *group) recallWhole(ctx context.Context, tx Tx) error {
	for _, p := range g.parts {
		if p.call.once != nil && !p.unread {
			g.memories[p.call.once.name()] = nil
		}
	}
	var keys []Key
	var producers []Producer
	for n := range g.memories {
		if n.key != "" {
			keys = append(keys, n.key)
		} else {
			producers = append(producers, n.producer)
		}
	}
	// By value, so that two transactions wait for each other in one order.
	slices.Sort(keys)
	slices.SortFunc(producers, func(a, b Producer) int { return bytes.Compare(a[:], b[:]) })
	if len(keys) > 0 {
		there, err := tx.Batches(ctx, keys)
		if err != nil {
			return err
		}
		for i, key := range keys {
			g.memories[name{key: key}] = newMemory(there[i])
		}
	}
	if len(producers) > 0 {
		there, err := tx.Producers(ctx, producers)
		if err != nil {
			return err
		}
		for i, producer := range producers {
			g.memories[name{producer: producer}] = newMemory(there[i])
		}
	}
	return nil
}

func newMemory(r Remembered) *memory {
	return &memory{Remembered: r, known: r.Print != [16]byte{}}
}

// match says what a batch is to what is remembered: the error of all its hits, or which of them were counted.
func (m *memory) match(o *once) (c counted, repeated bool, err error) {
	switch {
	case !m.known || o.seq > m.Seq:
		return newCounted(o.hits), false, nil
	case o.seq < m.Seq:
		return nil, false, ErrSequence
	case o.print != m.Print:
		return nil, false, ErrKeyReused
	case m.counted == nil:
		m.counted = unpackCounted(m.Results, o.hits)
	}
	return m.counted, true, nil
}

// keep remembers a batch of which something was counted, the newest of it at a time. What is known of a
// producer never gets older, so that it is forgotten after all that it ever sent.
func (m *memory) keep(o *once, c counted, newest int64) {
	if m.known {
		newest = max(newest, m.Newest)
	}
	m.Remembered = Remembered{Seq: o.seq, Newest: newest, Print: o.print}
	m.known, m.changed, m.counted = true, true, c
	m.Results = c.pack(o.hits)
}

// remember writes what was counted, beside it in its transaction (R4).
func (g *group) remember(ctx context.Context, tx Tx) error {
	var keyed []KeyedBatch
	var produced []ProducedBatch
	for n, m := range g.memories {
		switch {
		case !m.changed:
		case n.key != "":
			keyed = append(keyed, KeyedBatch{n.key, m.Remembered})
		default:
			produced = append(produced, ProducedBatch{n.producer, m.Remembered})
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

// forgotten is how many batches one transaction forgets at most.
const forgotten = 2000

// forget drops what a cell remembers of batches below a floor, in milliseconds since 1970, and answers whether
// there may be more. Nothing that is forgotten can count again: the floor rises first, for good, and each of
// its hits lies below.
func forget(ctx context.Context, tx Tx, floor int64) (more bool, err error) {
	if err := tx.RaiseFloor(ctx, floor); err != nil {
		return false, err
	}
	batches, err := tx.DropBatches(ctx, floor, forgotten)
	if err != nil {
		return false, err
	}
	producers, err := tx.DropProducers(ctx, floor, forgotten)
	return batches == forgotten || producers == forgotten, err
}
