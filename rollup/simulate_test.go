// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/rollup"
)

// A simulator of a cell: processes that follow it, writers, readers, and a task that defines, rebuilds and drops
// rollups. All are coroutines that yield where a transaction begins and where its reply arrives. A seed decides
// which one continues and what fails: replies are lost, transactions run again although they were committed,
// processes are killed or paused for longer than their lease, clocks jump by a day. Nothing runs in parallel, so
// a seed is reproducible. After every commit all readable groups are compared with the oracle.

type simWorld struct {
	rng *rand.Rand
	now int
	at  *cell
	// history holds the state after each change.
	history map[rollup.Over][]simMoment
	ends    map[changelog.Seq]bool // of transactions
	// served is the highest watermark served for each rollup, servers all generations that ever served.
	served  map[string]changelog.Seq
	servers map[int64]bool
	counts  *simCounts
	running *simTask
	faults  bool // switched off near the end
	poison  bool // groups get too many dimension values
	// Parameters of the run: how often (per thousand) tasks pause, processes are killed and replies are lost; how
	// rarely writers write and rollups change.
	sleepy, deadly, lossy int
	idle, settled         int
	restless              bool // a rollup that was built is rebuilt
	// Most rollups keep their groups in documents.
	apart     bool
	documents shelf
	flying    []flying
	wrong     error
}

// simMoment is the state from a change on.
type simMoment struct {
	seq    changelog.Seq
	things map[int64]changelog.Image
}

// chance decides whether a fault of this rate (per thousand) happens.
func (w *simWorld) chance(permille int) bool { return w.faults && w.rng.IntN(1000) < permille }

func (w *simWorld) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf("after %d steps: "+format, append([]any{w.now}, args...)...)
	}
}

type simTask struct {
	w      *simWorld
	name   string // of the process
	yield  func(struct{}) bool
	next   func() (struct{}, bool)
	stop   func()
	killed bool
	over   bool
	asleep int // paused until then
}

var (
	errSimKilled = errors.New("simulated: killed")
	errSimDown   = errors.New("simulated: the cell does not answer")
	errSimLost   = errors.New("simulated: the answer is lost, the outcome unknown")
)

func (w *simWorld) task(name string, run func(*simTask)) *simTask {
	t := &simTask{w: w, name: name}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		run(t)
	})
	return t
}

// pause lets other tasks run, and reports whether this one is still alive.
func (t *simTask) pause() bool {
	t.killed = t.killed || !t.yield(struct{}{})
	return !t.killed
}

// simTx is a transaction of the cell with bookkeeping for the simulator.
type simTx struct {
	*cell
	w       *simWorld
	moments map[rollup.Over][]simMoment
	touched map[int64]bool // generations
}

func (w *simWorld) begin() *simTx {
	return &simTx{cell: w.at.clone(), w: w, moments: map[rollup.Over][]simMoment{}, touched: map[int64]bool{}}
}

func (tx *simTx) PutGeneration(ctx context.Context, g rollup.Generation) error {
	tx.touched[g.Number] = true
	old, ok := tx.generations[g.Number]
	switch counts := tx.w.counts; {
	case ok && old.State == rollup.Building && g.State == rollup.Building:
		counts[sawBuildAgain]++
	case g.State == rollup.Failed:
		counts[sawFailed]++
	case old.FrozenFor != 0 && g.FrozenFor == 0 && g.State == rollup.Following:
		counts[sawResumed]++
	case g.State == rollup.Following && g.Watermark > old.Watermark && !tx.w.ends[g.Watermark]:
		counts[sawSplit]++
	}
	return tx.cell.PutGeneration(ctx, g)
}

func (tx *simTx) PutRows(ctx context.Context, generation int64, rows []rollup.Row) error {
	tx.touched[generation] = true
	return tx.cell.PutRows(ctx, generation, rows)
}

func (tx *simTx) DropRows(ctx context.Context, generation int64, limit int) (int, error) {
	tx.touched[generation] = true
	return tx.cell.DropRows(ctx, generation, limit)
}

func (tx *simTx) Want(ctx context.Context, images changelog.Images) error {
	if images.None() {
		tx.w.counts[sawUnwanted]++
	}
	return tx.cell.Want(ctx, images)
}

// put changes an entity or record.
func (tx *simTx) put(of rollup.Over, place int64, is *changelog.Image) {
	tx.cell.put(of, place, is)
	tx.moments[of] = append(tx.moments[of], simMoment{tx.bounds.Last, tx.things[of]})
}

// update is one transaction, exclusive or not: they commit one after the other anyway.
func (w *simWorld) update(_ context.Context, fn func(rollup.Tx) error) error {
	t := w.running
	if !t.pause() {
		return errSimKilled
	}
	if w.chance(w.lossy / 2) {
		return errSimDown
	}
	before := w.at.generations
	tx := w.begin()
	if err := fn(tx); err != nil {
		if errors.Is(err, lease.ErrLost) {
			w.counts[sawLeaseLost]++
		}
		return err
	}
	w.commit(tx)
	if w.chance(w.lossy) { // it was committed, and a driver that does not know this runs it again
		changed := !sameGenerations(before, w.at.generations)
		between := w.at.generations
		tx := w.begin()
		if err := fn(tx); err != nil {
			return err
		}
		w.commit(tx)
		if changed && sameGenerations(between, w.at.generations) {
			w.counts[sawOwnCommit]++
		}
	}
	lost := w.chance(w.lossy)
	if !t.pause() {
		return errSimKilled
	}
	if lost {
		w.counts[sawLostAnswer]++
		return errSimLost
	}
	return nil
}

func sameGenerations(a, b map[int64]rollup.Generation) bool {
	return maps.EqualFunc(a, b, func(g, h rollup.Generation) bool {
		return g.State == h.State && g.Watermark == h.Watermark && g.FrozenFor == h.FrozenFor
	})
}

func (w *simWorld) view(_ context.Context, fn func(rollup.Tx) error) error {
	t := w.running
	if !t.pause() {
		return errSimKilled
	}
	if w.chance(w.lossy / 2) {
		return errSimDown
	}
	if err := fn(w.begin()); err != nil {
		return err
	}
	if !t.pause() {
		return errSimKilled
	}
	return nil
}

func (w *simWorld) database() rollup.Database {
	db := rollup.Database{Update: w.update, View: w.view, Exclusive: w.update}
	if w.apart {
		db.Elsewhere = groupsIn(simDocuments{w.documents, w})
	}
	return db
}

// commit replaces the cell by the transaction's copy and checks the result.
func (w *simWorld) commit(tx *simTx) {
	for of, moments := range tx.moments {
		w.history[of] = append(w.history[of], moments...)
	}
	w.at = tx.cell
	w.ends[w.at.bounds.Last] = true
	w.serve()
	for number := range w.at.rows {
		if _, ok := w.at.generations[number]; !ok && len(w.at.rows[number]) > 0 {
			w.fail("rows of generation %d, which is no more", number)
		}
	}
	for number, g := range w.at.generations {
		if g.State == rollup.Following && !w.at.wanted.Contain(g.Definition.Images()) {
			w.fail("generation %d follows changes without images", number)
		}
		if g.State == rollup.Failed && !strings.Contains(g.Reason, "limit exceeded") {
			w.fail("generation %d failed: %s", number, g.Reason)
		}
		if tx.touched[number] && (g.State == rollup.Following || g.State == rollup.Failed && g.Watermark >= 0) {
			w.check(g)
		}
	}
}

// serve checks that no reader can go back in time, even with an old catalogue: the serving generation is never behind
// one that served before, and no former one is ahead of it.
func (w *simWorld) serve() {
	for name, r := range w.at.rollups {
		if r.Serving == nil {
			continue
		}
		now := w.at.generations[r.Serving.Generation]
		at := w.place(now)
		if at < w.served[name] {
			w.fail("rollup %s was at %d, and now generation %d serves at %d", name, w.served[name], now.Number, at)
		}
		w.served[name], w.servers[now.Number] = at, true
		for _, g := range w.at.generations {
			if g.Definition.Name == name && w.servers[g.Number] && g.Number != now.Number && g.State != rollup.Dropping &&
				w.place(g) > at {
				w.fail("generation %d serves at %d, and generation %d, which did, is at %d", now.Number, at, g.Number, w.place(g))
			}
		}
	}
}

// things returns the images at a log position.
func (w *simWorld) things(of rollup.Over, at changelog.Seq) []changelog.Image {
	history := w.history[of]
	i, found := slices.BinarySearchFunc(history, at, func(m simMoment, at changelog.Seq) int { return int(m.seq - at) })
	if found {
		i++
	}
	if i == 0 {
		return nil
	}
	return sorted(history[i-1].things)
}

// check compares a generation with the oracle and verifies it.
func (w *simWorld) check(g rollup.Generation) {
	ctx := context.Background()
	part, err := w.instant().Read(ctx, rollup.Query{Generation: g.Number}, nil)
	if err != nil {
		w.fail("read generation %d: %w", g.Number, err)
		return
	}
	at := g.Watermark
	if g.Definition.Store != rollup.InCell {
		at = part.Standing.Watermark
	}
	groups, more := rollup.Merge(&g.Definition, []*rollup.Part{part}, 0)
	got, want := shown(&g.Definition, groups), naive(&g.Definition, w.things(g.Definition.Over, at))
	if more || !slices.Equal(got, want) {
		w.fail("generation %d at %d, read at %d, is\n%s\nwant\n%s", g.Number, g.Watermark, at, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	if n := groupsOf(&g.Definition, naive(&g.Definition, w.things(g.Definition.Over, g.Watermark))); int(g.Groups) != n {
		w.fail("generation %d counts %d groups, there are %d", g.Number, g.Groups, n)
	}
	v, err := w.instant().Verify(ctx, g.Number, nil)
	if g.State == rollup.Failed && errors.Is(err, rollup.ErrLimit) {
		return // the log is not kept for a failed generation
	}
	if err != nil || v.Differs > 0 {
		w.fail("verify generation %d at %d: %+v, %w", g.Number, g.Watermark, v, err)
	}
}

// simProcess follows the cell as a server does: one goroutine steps, another builds and erases.
type simProcess struct {
	w        *simWorld
	name     string
	clock    time.Time
	follower *rollup.Follower
	catalog  rollup.Catalog
	found    rollup.Progress // by the last Step
	tasks    []*simTask
}

const simTTL = 12 * time.Second

func (w *simWorld) process(name string) *simProcess {
	p := &simProcess{w: w, name: name, clock: time.UnixMilli(0)}
	p.follower = rollup.NewFollower(rollup.Options{
		Database: w.database(), Owner: name, TTL: simTTL, Now: func() time.Time { return p.clock },
		Batch: 1 + w.rng.IntN(4)*w.rng.IntN(4),
	})
	p.tasks = []*simTask{w.task(name, p.follow), w.task(name, p.build)}
	return p
}

func (p *simProcess) follow(t *simTask) {
	ctx := context.Background()
	for t.pause() {
		if (p.found.Old || p.w.rng.IntN(3) == 0) && p.refresh(ctx) != nil {
			continue
		}
		var err error
		p.found = rollup.Progress{}
		if p.found, err = p.follower.Step(ctx, p.catalog); err != nil || !p.found.Held {
			p.found = rollup.Progress{}
			continue
		}
		if p.found.Old {
			p.w.counts[sawOldCatalog]++
		}
		switch p.w.rng.IntN(6) {
		case 0:
			if wanted, err := p.follower.Wanted(ctx); err == nil && wanted {
				_ = p.follower.Release(ctx)
			}
		case 1:
			p.trim(ctx)
		case 2, 3, 4:
			p.swap(ctx)
		}
	}
}

func (p *simProcess) refresh(ctx context.Context) error {
	return p.w.view(ctx, func(tx rollup.Tx) (err error) {
		p.catalog, err = tx.Rollups(ctx)
		return err
	})
}

func (p *simProcess) build(t *simTask) {
	ctx := context.Background()
	for t.pause() {
		missing, left := p.found.Missing, p.found.Left
		switch {
		case len(left) > 0 && p.w.rng.IntN(2) == 0:
			_ = p.follower.Erase(ctx, left[p.w.rng.IntN(len(left))])
		case len(missing) > 0:
			_ = p.follower.Build(ctx, missing[p.w.rng.IntN(len(missing))], func(int) {})
		}
	}
}

func (p *simProcess) trim(ctx context.Context) {
	_ = p.w.update(ctx, func(tx rollup.Tx) error {
		bounds, err := tx.Bounds(ctx)
		if err != nil {
			return err
		}
		before := time.UnixMilli(int64(bounds.Last) - p.w.rng.Int64N(10))
		if _, err = rollup.Trim(ctx, tx, before, nil, 1+p.w.rng.IntN(20)); err != nil {
			return err
		}
		trimmed, _ := tx.Bounds(ctx)
		next, err := tx.Changes(ctx, trimmed.Trimmed, 1)
		if err == nil && len(next) > 0 && next[0].Time.Before(before) && trimmed == bounds {
			p.w.counts[sawTrimRefused]++
		}
		return err
	})
}

// swap promotes the next generations that are ready.
func (p *simProcess) swap(ctx context.Context) {
	for _, r := range p.catalog {
		if r.Next == nil {
			continue
		}
		from, to := int64(0), r.Next.Generation
		if r.Serving != nil {
			from = r.Serving.Generation
		}
		ready := false
		if err := p.w.update(ctx, func(tx rollup.Tx) (err error) {
			ready, err = rollup.Freeze(ctx, tx, from, to)
			return err
		}); err != nil {
			return
		}
		if g := p.w.at.generations[to]; !ready && g.State == rollup.Following && g.Watermark < p.w.at.generations[from].Watermark {
			p.w.counts[sawSwapRefused]++
		}
		if ready {
			_ = p.w.update(ctx, func(tx rollup.Tx) error {
				done, err := rollup.CutOver(ctx, tx, r.Name, to)
				if done && err == nil {
					p.w.counts[sawSwapped]++
				}
				return err
			})
		}
	}
}
