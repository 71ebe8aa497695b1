// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/lease"
)

// LeaseName is the lease in each cell under which its rollups are followed and built.
const LeaseName = "rollup"

// Options of NewFollower. All but Batch and Wants are required.
type Options struct {
	// Database is the cell.
	Database Database
	// Owner names the process to the others.
	Owner string
	// TTL is how long a process that follows the cell may be silent before another one takes over.
	TTL time.Duration
	// Now is the clock. Clocks that are wrong delay work or do some of it twice, and harm nothing.
	Now func() time.Time
	// Batch is how many changes are read at once. Defaults to 20,000: under load the same groups
	// change again and again, and each is written once a batch.
	Batch int
	// Wants tells whether this process wants to follow the cell though another one does; nil is always. One
	// that does not takes over only from an owner that is gone.
	Wants func() bool
}

// Follower keeps the rollups of one cell: it reads the log after the watermark, works out what the changes
// make of the groups, and commits that together with the new watermark. Its methods are single steps,
// taken by whoever drives it; only one goroutine may be in Step, while others Build and Erase.
//
// That no change is left out or counted twice rests on the transaction alone, which compares the owner and
// token of the lease and the watermark that it found: a follower that was stopped and wakes up late, one
// that does not know whether its last commit came through, or two at once, commit what comes next or
// nothing. The lease only saves them the work.
type Follower struct {
	opts  Options
	lease *lease.Holder
	token atomic.Int64 // of the lease while it is held, for those who work beside Step
	told  int64        // the last token with which a Step said that the catalogue may be old
}

// NewFollower makes a follower, which does nothing by itself.
func NewFollower(opts Options) *Follower {
	if opts.Batch == 0 {
		opts.Batch = 20_000
	}
	stores := func(run func(context.Context, func(Tx) error) error) func(context.Context, func(lease.Store) error) error {
		return func(ctx context.Context, fn func(lease.Store) error) error {
			return run(ctx, func(tx Tx) error { return fn(tx) })
		}
	}
	return &Follower{opts: opts, lease: lease.NewHolder(lease.Options{
		Name: LeaseName, Owner: opts.Owner, TTL: opts.TTL, Now: opts.Now,
		Update: stores(opts.Database.Update), View: stores(opts.Database.View),
	})}
}

// Progress is what a Step did and found.
type Progress struct {
	// Held tells whether this process follows the cell. All else is only known then.
	Held bool
	// Applied is how many changes were applied, and More whether there are some already that were not.
	Applied int
	More    bool
	// Missing are versions that the cell has no whole generation of: see Build.
	Missing []Version
	// Left are generations of the cell that the catalogue does not name any more: see Erase.
	Left []int64
	// Old says that the catalogue may be, and is to be read again before the next Step: the cell has heard of
	// generations that it does not know of yet, or the lease was taken just now. Nothing is Missing then:
	// what an old catalogue names may have been built, served and erased by others.
	Old bool
	// Apart says why generations whose groups are in documents stand still, nil if none does. The others went
	// on.
	Apart error
}

// Step takes the lease or gives a sign of life, and applies the next batch of changes to all generations.
// After an error nothing is known to have changed; the next Step goes on from what is stored.
func (f *Follower) Step(ctx context.Context, catalog Catalog) (p Progress, err error) {
	if f.opts.Wants == nil || f.opts.Wants() {
		p.Held, err = f.lease.Take(ctx, 0)
	} else {
		p.Held, err = f.lease.Try(ctx, 0)
	}
	f.note()
	if errors.Is(err, lease.ErrLost) {
		err = nil // somebody else follows the cell now
	}
	if err != nil || !p.Held {
		return Progress{}, err
	}
	b, err := f.read(ctx, catalog)
	if err != nil {
		return p, fmt.Errorf("read the log: %w", err)
	}
	p.Missing, p.Left, p.Old = compare(b.all, catalog)
	f.reachable(&p, b)
	if p.Old = p.Old || f.told != f.token.Load(); p.Old {
		p.Missing = nil
	}
	if len(b.works) == 0 {
		f.told = f.token.Load()
		return p, nil
	}
	f.carryAll(ctx, b)
	p.Applied, p.More, p.Apart = b.read()
	err = f.term().update(ctx, func(tx Tx) error { return f.commit(ctx, tx, b) })
	if err == nil {
		err = f.failApart(ctx, b)
	}
	if err != nil {
		if errors.Is(err, lease.ErrLost) {
			f.lease.Lost()
			f.note()
			return Progress{}, nil
		}
		return Progress{Held: true}, fmt.Errorf("apply changes: %w", err)
	}
	f.told = f.token.Load()
	return p, nil
}

// note remembers the token for those who work beside Step.
func (f *Follower) note() {
	l, held := f.lease.Held()
	if !held {
		l.Token = 0
	}
	f.token.Store(l.Token)
}

// Pause says for how long the next Step may be away, because there is nothing to do: others wait longer before they
// take over. It is written with the next Step.
func (f *Follower) Pause(d time.Duration) { f.lease.Pause(d) }

// Release gives the lease back, so that another process need not wait for it to run out.
func (f *Follower) Release(ctx context.Context) error {
	err := f.lease.Give(ctx)
	f.note()
	return err
}

// Other is the process that was last seen to follow the cell instead of this one, "" if none was.
func (f *Follower) Other() string { return f.lease.Seen().Owner }

// Wanted tells whether another process waits for the lease.
func (f *Follower) Wanted(ctx context.Context) (bool, error) { return f.lease.Wanted(ctx) }

// batch is what the next commit is to do.
type batch struct {
	all   []Generation // of the cell
	works []work
	more  bool  // a generation is to be looked at again at once
	apart error // why generations whose groups are in documents stand still
}

// work is what it is to do with one generation.
type work struct {
	from  Generation // as it was read
	to    changelog.Seq
	at    time.Time
	read  int  // how many changes
	full  bool // there may be more
	delta *delta
	keys  [][]byte
	err   error // why the generation cannot go on

	// Of groups in documents:
	forward *forward
	groups  int64 // how many there are more
}

// logged is a part of the log: from a place on, so many changes at most.
type logged struct {
	after changelog.Seq
	limit int
}

// part is the part of the log that a generation goes on with.
func (f *Follower) part(g *Generation) logged {
	if g.Definition.apart() {
		return logged{g.Watermark, pending}
	}
	return logged{g.Watermark, f.opts.Batch}
}

// read reads, in one snapshot, the generations and the changes after their watermarks, and works out
// what these make of the groups. Generations with one watermark share the reading.
func (f *Follower) read(ctx context.Context, catalog Catalog) (*batch, error) {
	b := &batch{}
	logs := map[logged][]changelog.Change{}
	versions, highest := catalog.versions(), catalog.Highest()
	if err := f.opts.Database.View(ctx, func(tx Tx) (err error) {
		clear(logs)
		b.works = nil
		if b.all, err = generations(ctx, tx); err != nil {
			return err
		}
		for _, g := range b.all {
			part := f.part(&g)
			if _, done := logs[part]; done || !follows(g, versions, highest) {
				continue
			}
			changes, err := tx.Changes(ctx, part.after, part.limit)
			if err != nil && !errors.Is(err, changelog.ErrTrimmed) {
				return err
			}
			logs[part] = changes
			if err != nil {
				logs[part] = nil
				b.works = append(b.works, work{from: g, to: g.Watermark, at: g.At, err: err})
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, g := range b.all {
		part := f.part(&g)
		changes := logs[part]
		switch {
		case len(changes) == 0 || !follows(g, versions, highest):
		case g.Yields != 0 && g.Definition.apart():
			// Readers stay where it stood still until they see that it goes on, and so do its documents.
			b.works = append(b.works, work{from: g, to: g.Watermark, at: g.At})
			b.more = true
		default:
			w := f.work(g, changes)
			w.full = len(changes) == part.limit
			b.works = append(b.works, w)
		}
	}
	return b, nil
}

// read is how many changes were applied, whether there may be more, and what stands still.
func (b *batch) read() (applied int, more bool, apart error) {
	more = b.more
	for _, w := range b.works {
		applied, more = max(applied, w.read), more || w.full
	}
	return applied, more, b.apart
}

// follows tells whether a generation is to go on. One that stands still for a generation that is not to
// come any more goes on as if nothing had been. One that is named no more does not: those who still
// read it would be ahead of what serves.
func follows(g Generation, versions map[int64]Version, highest int64) bool {
	_, wanted := versions[g.Number]
	_, coming := versions[g.Yields]
	switch {
	case g.State != Following, !wanted && g.Number <= highest:
		return false
	case g.Yields == 0:
		return true
	}
	return !coming && g.Yields <= highest
}

func (f *Follower) work(g Generation, changes []changelog.Change) work {
	last := changes[len(changes)-1]
	w := work{from: g, to: last.Seq, at: last.Time, read: len(changes)}
	if g.Definition.apart() {
		w.forward = newForward(&g.Definition, changes, last.Seq)
		return w
	}
	w.delta = newDelta(&g.Definition)
	for i := range changes {
		w.delta.change(&changes[i])
	}
	w.keys = w.delta.keys()
	return w
}

// commit writes a batch, under the lease, where the watermark is as it was.
func (f *Follower) commit(ctx context.Context, tx Tx, b *batch) error {
	now, err := tx.Generations(ctx)
	if err != nil {
		return err
	}
	for _, w := range b.works {
		i := slices.IndexFunc(now, func(g Generation) bool { return g.Number == w.from.Number })
		if i < 0 {
			continue
		}
		g := now[i]
		if g.State != Following || g.Watermark != w.from.Watermark || g.Yields != w.from.Yields {
			continue // somebody else was here
		}
		if w.err != nil && g.Definition.apart() {
			continue // see failApart
		}
		if err := f.apply(ctx, tx, g, w); err != nil {
			return err
		}
	}
	return nil
}

// apply moves one generation on. One that cannot go on stays where it is and says why.
func (f *Follower) apply(ctx context.Context, tx Tx, g Generation, w work) error {
	if g.Definition.apart() {
		g.Watermark, g.At, g.Yields, g.Until = w.to, w.at, 0, 0
		g.Groups += w.groups
		return tx.PutGeneration(ctx, g)
	}
	if w.err == nil {
		stored, err := tx.Rows(ctx, g.Number, w.keys)
		if err != nil {
			return err
		}
		rows, groups, err := w.delta.apply(w.keys, stored)
		if g.Groups += groups; err == nil && g.Groups > MaxGroups {
			err = tooMany(&g.Definition)
		}
		if err == nil {
			err = g.Definition.boundedRows(rows)
		}
		if err == nil {
			g.Watermark, g.At, g.Yields = w.to, w.at, 0
			return errors.Join(tx.PutRows(ctx, g.Number, rows), tx.PutGeneration(ctx, g))
		}
		w.err, g.Groups = err, g.Groups-groups
	}
	g.State, g.Reason = Failed, fmt.Sprintf("after change %d: %v", g.Watermark, w.err)
	return tx.PutGeneration(ctx, g)
}

func tooMany(d *Definition) error {
	return fmt.Errorf("%w: rollup %s: more than %d groups in a cell: group by less", ErrLimit, d.Name, MaxGroups)
}
