// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"math"

	"github.com/anishathalye/porcupine"
)

type simOp uint8

const (
	simPut simOp = iota
	simLookup
)

type simCall struct {
	op    simOp
	keys  []int
	began int64
	// effect are the puids that it allocated to keys.
	effect [simKeys]int64
}

// simHistory is the results that clients have seen, by key.
type simHistory struct {
	clock int64
	calls [simKeys][]porcupine.Operation
	// posters are bit sets of the postings of a key that each poster saw, by the poster's own bit.
	posters [simKeys]map[int]uint64
}

func (h *simHistory) tick() int64 {
	h.clock++
	return h.clock
}

func (h *simHistory) begin(op simOp, keys ...int) *simCall {
	return &simCall{op: op, keys: keys, began: h.tick()}
}

// answered records the result of a client's call for a key.
func (h *simHistory) answered(c *simCall, key int, puid int64) {
	h.note(c, key, puid, h.tick())
}

func (h *simHistory) note(c *simCall, key int, puid, ended int64) {
	h.calls[key] = append(h.calls[key], porcupine.Operation{
		ClientId: len(h.calls[key]), Input: c.op, Call: c.began, Output: puid, Return: ended,
	})
}

// broken records the effect, immediate or later, of a call that returned an error.
func (h *simHistory) broken(c *simCall) (done bool) {
	for _, k := range c.keys {
		if c.effect[k] != 0 {
			h.note(c, k, c.effect[k], math.MaxInt64)
			done = true
		}
	}
	return done
}

// register is the model of a key: set once.
var register = porcupine.Model{
	Init: func() any { return int64(Nothing) },
	Step: func(state, input, output any) (bool, any) {
		was, puid := state.(int64), output.(int64)
		if input == simPut && was == Nothing {
			return puid != Nothing, puid
		}
		return was == puid, was
	},
	Equal: func(a, b any) bool { return a == b },
}

type simClient struct {
	*simTask
	server *simServer
	dir    *Directory[simTx]
	// bit identifies its postings.
	bit  int
	todo int
	// literal puts keys without the protocol.
	literal bool
}

var ctx = context.Background()

// run makes some calls. A failed one is retried, as clients do.
func (c *simClient) run() {
	w := c.w
	for ; c.todo > 0 && !c.killed; c.todo-- {
		keys := w.rng.Perm(simKeys)[:1+w.rng.IntN(2)]
		n := w.rng.IntN(100)
		for try := 0; try < 40 && !c.killed; try++ {
			var err error
			switch {
			case c.literal && n < 85:
				err = c.putLiterally(keys[0])
			case n < 30:
				err = c.put(keys)
			case n < 55:
				err = c.findAndPut(keys[0])
			case n < 85:
				err = c.lookup(keys)
			default:
				err = c.post(keys[0])
			}
			if err == nil {
				break
			}
			c.failed(err)
		}
	}
}

func (c *simClient) failed(err error) {
	switch {
	case c.killed:
		c.w.counts[sawKilled]++
	case errors.Is(err, ErrCommitUnknown):
		c.w.counts[sawRetry]++
	}
	if c.call != nil && c.w.history.broken(c.call) {
		c.w.counts[sawPending]++
	}
	c.call = nil
}

func (c *simClient) keysOf(numbers []int) []Key {
	keys := make([]Key, len(numbers))
	for i, n := range numbers {
		keys[i] = c.w.keys[n]
	}
	return keys
}

// begin makes this task the current one of its server.
func (c *simClient) begin(op simOp, keys ...int) {
	c.call = c.w.history.begin(op, keys...)
}

func (c *simClient) put(keys []int) error {
	c.begin(simPut, keys...)
	rows, err := c.dir.Put(ctx, c.keysOf(keys))
	if err != nil {
		return err
	}
	for i, k := range keys {
		c.w.history.answered(c.call, k, rows[i].PUID)
	}
	c.call = nil
	return nil
}

// findAndPut is a put by a caller that writes more in the same transaction.
func (c *simClient) findAndPut(key int) error {
	c.begin(simPut, key)
	for {
		m := c.server.Map()
		found, err := c.dir.Find(ctx, []Key{c.w.keys[key]})
		if err == nil {
			err = found[0].Err
		}
		if err != nil {
			return err
		}
		puid := found[0].PUID
		if puid == Nothing {
			err = simDB{c.simTask, found[0].Cell}.Update(ctx, func(tx simTx) error {
				if err := c.dir.Gate(ctx, tx, m, found[0].Cell); err != nil {
					return err
				}
				rows, err := tx.Allocate(ctx, []Key{c.w.keys[key]})
				puid = rows[0].PUID
				return err
			})
		}
		switch {
		case errors.Is(err, ErrFenced):
			c.w.counts[sawFenced]++
			if err := c.server.Refresh(ctx); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		c.w.history.answered(c.call, key, puid)
		c.call = nil
		return nil
	}
}

// putLiterally searches from the newest generation that it knows downwards, and puts the key into it if no generation
// has the key. It refreshes its map now and then.
func (c *simClient) putLiterally(key int) error {
	c.begin(simPut, key)
	if c.w.rng.IntN(3) == 0 {
		if err := c.server.Refresh(ctx); err != nil {
			return err
		}
	}
	m, k := c.server.Map(), c.w.keys[key]
	for g := m.Current(); g >= 0; g-- {
		var rows []int64
		if err := (simDB{c.simTask, m.Key(g, k.Position())}).View(ctx, func(tx simTx) (err error) {
			rows, err = tx.Lookup(ctx, []Key{k})
			return err
		}); err != nil {
			return err
		}
		if rows[0] != Nothing {
			c.w.history.answered(c.call, key, rows[0])
			c.call = nil
			return nil
		}
	}
	var rows []Allocation
	if err := (simDB{c.simTask, m.Home(k.Position())}).Update(ctx, func(tx simTx) (err error) {
		rows, err = tx.Allocate(ctx, []Key{k})
		return err
	}); err != nil {
		return err
	}
	c.w.history.answered(c.call, key, rows[0].PUID)
	c.call = nil
	return nil
}

func (c *simClient) lookup(keys []int) error {
	c.begin(simLookup, keys...)
	puids, err := c.dir.Lookup(ctx, c.keysOf(keys))
	if err != nil {
		return err
	}
	for i, k := range keys {
		c.w.history.answered(c.call, k, puids[i])
	}
	c.call = nil
	return nil
}

// post puts a posting and then reads all postings.
func (c *simClient) post(key int) error {
	c.call = nil
	at := c.w.keys[key].Position()
	for {
		m := c.server.Map()
		if err := c.dir.SealOlder(ctx, []uint32{at}); err != nil {
			return err
		}
		err := simDB{c.simTask, m.Home(at)}.Update(ctx, func(tx simTx) error {
			if err := c.dir.Gate(ctx, tx, m, m.Home(at)); err != nil {
				return err
			}
			tx.c.posts[key] |= 1 << c.bit
			return nil
		})
		if errors.Is(err, ErrFenced) {
			c.w.counts[sawFenced]++
			if err := c.server.Refresh(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		var saw uint64
		for g := m.Current(); g >= 0; g-- {
			if err := (simDB{c.simTask, m.Key(g, at)}).View(ctx, func(tx simTx) error {
				saw |= tx.c.posts[key]
				return nil
			}); err != nil {
				return err
			}
		}
		if c.w.history.posters[key] == nil {
			c.w.history.posters[key] = map[int]uint64{}
		}
		c.w.history.posters[key][c.bit] = saw
		return nil
	}
}
