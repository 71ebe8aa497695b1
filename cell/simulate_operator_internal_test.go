// SPDX-License-Identifier: Apache-2.0

package cell

import "github.com/locus-db/locus/internal/protocol"

type simOperator struct {
	*simTask
	server *simServer
	// gens is the target number of generations, floor the target floor.
	gens, floor int
}

// run does the remaining work. It may be killed at any point; another one resumes.
func (o *simOperator) run() {
	for g := 1; g < o.gens; g++ {
		if !o.machine(func(v protocol.View) (func() protocol.Request, func(protocol.Reply)) {
			a := protocol.NewRollout(g, v)
			return func() protocol.Request { return a.Next() }, func(r protocol.Reply) { a = a.Step(r) }
		}, nil) {
			return
		}
		if floor := min(g, o.floor); floor > 0 && (g == o.gens-1 || o.w.rng.IntN(2) == 0) {
			var c protocol.Compaction
			o.machine(func(v protocol.View) (func() protocol.Request, func(protocol.Reply)) {
				c = protocol.NewCompaction(floor, v)
				return func() protocol.Request { return c.Next() }, func(r protocol.Reply) { c = c.Step(r) }
			}, &c)
		}
	}
}

// machine runs a Rollout or a Compaction, and reports whether it finished. Now and then it restarts, as after a
// crash.
func (o *simOperator) machine(begin func(protocol.View) (func() protocol.Request, func(protocol.Reply)), c *protocol.Compaction) bool {
	for o.server.Refresh(ctx) != nil {
		if o.killed {
			return false
		}
	}
	want, got := begin(o.server.m.view())
	for !o.killed {
		r := want()
		if r.Do == protocol.ActionDone {
			if c == nil {
				o.w.growing = false
				o.w.counts[sawGrown]++
			} else {
				o.w.counts[sawCompacted]++
			}
			return true
		}
		reply, err := o.step(r, c)
		switch {
		case err == nil:
			got(reply)
		case o.killed:
			return false
		}
		if o.w.chance(3) {
			o.w.counts[sawRestarted]++
			want, got = begin(o.server.m.view())
		}
	}
	return false
}

// step carries out a request, in the cells that the keys use.
func (o *simOperator) step(r protocol.Request, c *protocol.Compaction) (protocol.Reply, error) {
	w := o.w
	gen := int(r.Gen)
	switch r.Do {
	case protocol.ActionSeal:
		return protocol.Reply{}, o.heads(gen, func(h Head) Head { return h.Seal(r.Epoch) })
	case protocol.ActionRetire:
		return protocol.Reply{}, o.heads(gen, func(h Head) Head { return h.retire(r.Epoch) })
	case protocol.ActionFilter:
		return protocol.Reply{}, o.each(gen, func(db simDB) error { return db.Update(ctx, filterSim) })
	case protocol.ActionDrop:
		return protocol.Reply{}, o.each(gen, func(db simDB) error { return db.Update(ctx, dropSim) })
	case protocol.ActionCopy:
		for k := range w.keys {
			if reply, err := o.copy(k, r, *c); err != nil || reply.Fenced {
				return reply, err
			}
		}
		return protocol.Reply{}, nil
	case protocol.ActionAnnounce:
		return o.change(r, len(w.newest.gens)+1, w.newest.Current(), w.newest.Floor())
	case protocol.ActionPublish:
		return o.change(r, len(w.newest.gens), gen, w.newest.Floor())
	case protocol.ActionFloor:
		return o.change(r, len(w.newest.gens), w.newest.Current(), gen)
	case protocol.ActionRefresh:
		return o.refresh()
	}
	return protocol.Reply{}, o.pause()
}

func (o *simOperator) refresh() (protocol.Reply, error) {
	err := o.server.Refresh(ctx)
	return protocol.Reply{View: o.server.m.view()}, err
}

// change is the compare-and-swap of the next map; it succeeds if the request was routed with the newest map.
func (o *simOperator) change(r protocol.Request, gens, current, floor int) (protocol.Reply, error) {
	w := o.w
	if err := o.pause(); err != nil {
		return protocol.Reply{}, err
	}
	if w.newest.Epoch() == r.Epoch {
		w.newest = w.maps[gens][current][floor]
		w.growing = w.growing || r.Do == protocol.ActionPublish
	}
	return o.refresh()
}

// each calls do for the cells of a generation that hold keys.
func (o *simOperator) each(gen int, do func(simDB) error) error {
	for i, k := range o.w.keys {
		c := o.w.newest.Key(gen, k.Position())
		if i > 0 && c == o.w.newest.Key(gen, o.w.keys[i-1].Position()) {
			continue
		}
		if err := do(simDB{o.simTask, c}); err != nil {
			return err
		}
	}
	return nil
}

func (o *simOperator) heads(gen int, next func(Head) Head) error {
	return o.each(gen, func(db simDB) error {
		return db.Exclusive(ctx, func(tx simTx) error {
			tx.c.head = next(tx.c.head)
			return nil
		})
	})
}

func filterSim(tx simTx) error {
	if tx.c.head.filterable() {
		tx.c.filtered = true
		for k, row := range tx.c.rows {
			tx.c.filter[k] = row != Nothing
		}
	}
	return nil
}

func dropSim(tx simTx) error {
	if tx.c.head.Keys == Retired {
		tx.c.rows = [simKeys]int64{}
	}
	return nil
}

// copy copies one key to its cell of the newest generation.
func (o *simOperator) copy(k int, r protocol.Request, c protocol.Compaction) (reply protocol.Reply, err error) {
	at := o.w.keys[k].Position()
	newest, oldest := c.From()
	var rows []int64
	for g := newest; g >= oldest; g-- {
		if err := (simDB{o.simTask, o.w.newest.Key(g, at)}).View(ctx, func(tx simTx) error {
			rows = append(rows, tx.c.rows[k])
			return nil
		}); err != nil {
			return reply, err
		}
	}
	puid := c.Carry(rows)
	if puid == Nothing {
		return protocol.Reply{}, nil
	}
	err = simDB{o.simTask, o.w.newest.Key(int(r.Gen), at)}.Update(ctx, func(tx simTx) error {
		if reply.Fenced = !tx.c.head.admits(r.Epoch); reply.Fenced {
			return nil
		}
		return tx.Copy(ctx, []Row{{Key: o.w.keys[k], PUID: puid}})
	})
	if reply.Fenced {
		o.w.counts[sawCopyFenced]++
	}
	return reply, err
}
