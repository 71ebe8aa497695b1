// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
)

// peek reads for hypothetical batches, one for each probe. What most of them need is read before they run, for all at
// once (foresee). Additional reads are collected until every batch waits or has ended, then read for all, with one
// transaction per cell. Rows are kept for the call, so all batches see the same state of a record. It takes no lease
// and no lock of the Resolver, and does not use its caches, which belong to the lease holder.
type peek struct {
	*Resolver
	nodes    table[entity.PUID, *node]
	around   table[entity.PUID, around]
	entities table[entity.PUID, *entity.Entity]
	carriers table[uint64, block]
	limits   map[uint64]int // the highest limit that a blocking key was asked for with

	mu      sync.Mutex
	todo    []func() // batches that have not begun
	all     *sync.WaitGroup
	running int           // goroutines that run them
	waiting int           // batches waiting for the next round
	round   chan struct{} // closed once the next round has been read
}

// block are the records of a blocking key up to a limit.
type block struct {
	records []entity.PUID
	limit   int
}

// complete reports whether there are no more records up to a limit.
func (b block) complete(limit int) bool { return limit <= b.limit || len(b.records) < b.limit }

func (r *Resolver) newPeek() *peek {
	p := &peek{Resolver: r, round: make(chan struct{}), limits: map[uint64]int{}}
	home := func(q entity.PUID) cell.ID { id, _ := r.home(q); return id }
	p.nodes = newTable(home, func(ctx context.Context, puids []entity.PUID) (map[entity.PUID]*node, error) {
		nodes := make(map[entity.PUID]*node, len(puids))
		return nodes, r.readNodes(ctx, r.view, nodes, puids)
	})
	p.around = newTable(home, func(ctx context.Context, puids []entity.PUID) (map[entity.PUID]around, error) {
		return r.look(ctx, r.view, storedDecisions, puids)
	})
	p.entities = newTable(home, func(ctx context.Context, anchors []entity.PUID) (map[entity.PUID]*entity.Entity, error) {
		return r.entitiesOf(ctx, r.view, anchors)
	})
	p.carriers = newTable(r.keyCell, p.readBlocks)
	p.carriers.enough = func(f uint64, known block) bool { return known.complete(p.limits[f]) }
	return p
}

func (p *peek) readBlocks(ctx context.Context, keys []uint64) (map[uint64]block, error) {
	limits := p.limits
	if len(keys) < len(limits) {
		limits = make(map[uint64]int, len(keys))
		for _, f := range keys {
			limits[f] = p.limits[f]
		}
	}
	b := &batch{Resolver: p.Resolver}
	found, err := b.blockOf(ctx, p.view, limits)
	blocks := make(map[uint64]block, len(keys))
	for _, f := range keys {
		list := found[f]
		blocks[f] = block{list[:min(len(list), limits[f])], limits[f]}
	}
	return blocks, err
}

// load is batch.load for a hypothetical batch.
func (p *peek) load(ctx context.Context, nodes map[entity.PUID]*node, puids []entity.PUID) error {
	missing := slices.DeleteFunc(slices.Clone(puids), func(q entity.PUID) bool { return nodes[q] != nil })
	return p.nodes.get(ctx, p, missing, func(q entity.PUID, n *node) {
		if n != nil {
			nodes[q] = n
		}
	})
}

// entitiesOf is batch.entities for a hypothetical batch.
func (p *peek) entitiesOf(ctx context.Context, anchors []entity.PUID) (map[entity.PUID]*entity.Entity, error) {
	found := make(map[entity.PUID]*entity.Entity, len(anchors))
	return found, p.entities.get(ctx, p, anchors, func(q entity.PUID, e *entity.Entity) {
		if e != nil {
			found[q] = e
		}
	})
}

// lookAround is Resolver.look for a hypothetical batch.
func (p *peek) lookAround(ctx context.Context, puids []entity.PUID) (map[entity.PUID]around, error) {
	found := make(map[entity.PUID]around, len(puids))
	return found, p.around.get(ctx, p, puids, func(q entity.PUID, a around) { found[q] = a })
}

// blockOf is batch.blockOf for a hypothetical batch.
func (p *peek) blockOf(ctx context.Context, limits map[uint64]int) (map[uint64][]entity.PUID, error) {
	found := make(map[uint64][]entity.PUID, len(limits))
	take := func(f uint64, known block) { found[f] = known.records[:min(len(known.records), limits[f])] }
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing []uint64
	for f, limit := range limits {
		if known, is := p.carriers.known[f]; is && known.complete(limit) {
			take(f, known)
			continue
		}
		missing = append(missing, f)
		p.limits[f] = max(p.limits[f], limit)
	}
	return found, p.carriers.getLocked(ctx, p, missing, take)
}

// run runs batches, on a goroutine per processor and one more for each batch that waits.
func (p *peek) run(ctx context.Context, batches []func()) {
	var all sync.WaitGroup
	p.mu.Lock()
	defer p.mu.Unlock()
	p.todo, p.all = batches, &all
	for range min(len(batches), runtime.GOMAXPROCS(0)) - 1 {
		p.start(ctx)
	}
	p.running++
	p.work(ctx)
	p.mu.Unlock()
	all.Wait()
	p.mu.Lock()
}

// start starts a goroutine if batches have not begun. The caller holds p.mu.
func (p *peek) start(ctx context.Context) {
	if len(p.todo) == 0 {
		return
	}
	p.running++
	p.all.Go(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.work(ctx)
	})
}

// work runs batches until all have begun. The caller holds p.mu and has counted the goroutine.
func (p *peek) work(ctx context.Context) {
	for len(p.todo) > 0 {
		batch := p.todo[0]
		p.todo = p.todo[1:]
		p.mu.Unlock()
		batch()
		p.mu.Lock()
	}
	p.running--
	p.advance(ctx)
}

// wait returns after the next round of reads. The caller holds p.mu, also when wait returns.
func (p *peek) wait(ctx context.Context) {
	round := p.round
	p.waiting++
	p.start(ctx)
	p.advance(ctx)
	p.mu.Unlock()
	<-round
	p.mu.Lock()
}

// advance reads a round if all running batches wait for it. The caller holds p.mu; no batch needs it before
// the round is over.
func (p *peek) advance(ctx context.Context) {
	if p.waiting == 0 || p.waiting < p.running {
		return
	}
	p.fill(ctx)
	close(p.round)
	p.round, p.waiting = make(chan struct{}), 0
}

// fill performs all requested reads at once. They are mostly of one kind, which takes no goroutine.
func (p *peek) fill(ctx context.Context) {
	var wanted []func(context.Context)
	for _, of := range []struct {
		asked int
		fill  func(context.Context)
	}{
		{len(p.nodes.asked), p.nodes.fill}, {len(p.around.asked), p.around.fill},
		{len(p.entities.asked), p.entities.fill}, {len(p.carriers.asked), p.carriers.fill},
	} {
		if of.asked > 0 {
			wanted = append(wanted, of.fill)
		}
	}
	divide(len(wanted), len(wanted), func(i int) { wanted[i](ctx) })
}

// table keeps what a peek has read of one kind, by address. A missing row is kept as the zero value.
type table[K comparable, V any] struct {
	read func(context.Context, []K) (map[K]V, error)
	// at returns the cell of an address; if a cell is unavailable, the addresses of the others are read without it.
	at func(K) cell.ID
	// enough reports whether a known value need not be read again; nil if it never need be.
	enough func(K, V) bool
	known  map[K]V
	failed map[K]error
	asked  map[K]struct{} // to read in the next round
}

func newTable[K comparable, V any](at func(K) cell.ID, read func(context.Context, []K) (map[K]V, error)) table[K, V] {
	return table[K, V]{read: read, at: at, known: map[K]V{}, failed: map[K]error{}, asked: map[K]struct{}{}}
}

// get calls take for each key. The error is that of the first key that cannot be read.
func (t *table[K, V]) get(ctx context.Context, p *peek, keys []K, take func(K, V)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.getLocked(ctx, p, keys, take)
}

// getLocked is get for a caller that holds p.mu.
func (t *table[K, V]) getLocked(ctx context.Context, p *peek, keys []K, take func(K, V)) error {
	if t.ask(keys) {
		p.wait(ctx)
	}
	for _, k := range keys {
		if err := t.failed[k]; err != nil {
			return err
		}
		take(k, t.known[k])
	}
	return nil
}

// ask notes which of the keys the next round has to read, and reports whether there are any.
func (t *table[K, V]) ask(keys []K) (anything bool) {
	for _, k := range keys {
		known, is := t.known[k]
		if (!is || t.enough != nil && !t.enough(k, known)) && t.failed[k] == nil {
			t.asked[k] = struct{}{}
			anything = true
		}
	}
	return anything
}

// fill reads the requested keys.
func (t *table[K, V]) fill(ctx context.Context) {
	keys := slices.AppendSeq(make([]K, 0, len(t.asked)), maps.Keys(t.asked))
	clear(t.asked)
	err := t.fillSome(ctx, keys)
	if !errors.Is(err, cell.ErrUnavailable) || outdated(err) || ctx.Err() != nil {
		t.fail(keys, err)
		return
	}
	groups := map[cell.ID][]K{}
	for _, k := range keys {
		groups[t.at(k)] = append(groups[t.at(k)], k)
	}
	for _, group := range groups {
		t.fail(group, t.fillSome(ctx, group))
	}
}

func (t *table[K, V]) fillSome(ctx context.Context, keys []K) error {
	found, err := t.read(ctx, keys)
	if err != nil {
		return err
	}
	known := t.known
	if len(known) == 0 {
		t.known = found
	}
	for _, k := range keys {
		if v, is := found[k]; !is || len(known) > 0 {
			t.known[k] = v
		}
	}
	return nil
}

func (t *table[K, V]) fail(keys []K, err error) {
	if err == nil {
		return
	}
	for _, k := range keys {
		t.failed[k] = err
	}
}
