// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// following is a running follower with a concurrent reader.
type following struct {
	*locus
	db       rollup.Database
	follower *rollup.Follower
	catalog  rollup.Catalog
	built    chan struct{} // closed when there is a generation to read
	read     chan struct{} // there is something new to read
	stop     context.CancelFunc
	ended    chan error
}

// define defines the rollup.
func (l *locus) define(ctx context.Context) (catalog rollup.Catalog, err error) {
	d, err := rollup.Parse([]byte(definition))
	if err != nil {
		return nil, err
	}
	if err = l.database().Update(ctx, func(tx rollup.Tx) error {
		r, _, err := rollup.Define(ctx, tx, *d, time.Now())
		if err != nil {
			return err
		}
		l.number = r.Next.Generation
		_, err = rollup.CutOver(ctx, tx, d.Name, l.number)
		return err
	}); err != nil {
		return nil, err
	}
	return l.rollups(ctx)
}

// rollups reads the catalogue.
func (l *locus) rollups(ctx context.Context) (catalog rollup.Catalog, err error) {
	err = l.database().View(ctx, func(tx rollup.Tx) (err error) {
		catalog, err = tx.Rollups(ctx)
		return err
	})
	return catalog, err
}

// follow starts following the cell, and returns when the rollup is built.
func (l *locus) follow(ctx context.Context, batch int) (*following, error) {
	catalog, err := l.define(ctx)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	f := &following{
		locus: l, db: l.database(), catalog: catalog, stop: stop,
		built: make(chan struct{}), read: make(chan struct{}, 1), ended: make(chan error, 2),
	}
	f.follower = rollup.NewFollower(rollup.Options{Database: f.db, Owner: "bench", TTL: 10 * time.Second, Now: time.Now,
		Batch: batch})
	go func() { f.ended <- f.steps(ctx) }()
	go func() { f.ended <- f.reads(ctx) }()
	select {
	case <-f.built:
		return f, nil
	case err := <-f.ended:
		stop()
		return nil, errors.Join(err, <-f.ended)
	}
}

// end stops it.
func (f *following) end() error {
	f.stop()
	return errors.Join(<-f.ended, <-f.ended)
}

// idle is how long the follower waits for a writer before it polls.
const idle = 250 * time.Millisecond

// steps drives the follower like the service does: the next step follows at once if a step did something, else when
// a writer of the process has committed, or after idle.
func (f *following) steps(ctx context.Context) error {
	ready := false
	for {
		p, err := f.follower.Step(ctx, f.catalog)
		for _, v := range p.Missing {
			if err == nil {
				err = f.follower.Build(ctx, v, nil)
			}
		}
		if err == nil && p.Old {
			f.catalog, err = f.rollups(ctx)
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to stop
		}
		if err != nil {
			f.stop()
			return err
		}
		if !ready && p.Held && !p.Old && len(p.Missing) == 0 {
			ready = true
			close(f.built)
		}
		if p.Applied > 0 {
			select {
			case f.read <- struct{}{}:
			default:
			}
		}
		if p.More || p.Old || len(p.Missing) > 0 {
			continue
		}
		timer := time.NewTimer(idle)
		select {
		case <-f.poke:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// reads reads one tag after each step, and records the watermark of the answer.
func (f *following) reads(ctx context.Context) error {
	for n := 0; ; n++ {
		select {
		case <-f.read:
		case <-ctx.Done():
			return nil
		}
		var upTo changelog.Seq
		_, err := f.answer(ctx, rollup.Query{Keys: [][]string{{fmt.Sprintf("tag-%06d", n%100)}}}, &upTo)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to stop
		}
		if err != nil {
			f.stop()
			return err
		}
		f.answered(int64(upTo), time.Now())
	}
}

// answer reads groups in one snapshot, as returned to a client.
func (f *following) answer(ctx context.Context, q rollup.Query, upTo *changelog.Seq) (groups []rollup.Group, err error) {
	q.Generation = f.number
	err = f.db.View(ctx, func(tx rollup.Tx) error {
		part, err := rollup.Read(ctx, tx, q)
		if err != nil {
			return err
		}
		if upTo != nil {
			*upTo = part.Standing.Watermark
		}
		groups, _ = rollup.Merge(&part.Standing.Definition, []*rollup.Part{part}, q.Limit)
		return nil
	})
	return groups, err
}

// drain waits until everything that was committed is visible, and returns when it was.
func (f *following) drain(ctx context.Context) (time.Time, error) {
	var bounds changelog.Bounds
	if err := f.db.View(ctx, func(tx rollup.Tx) (err error) { bounds, err = tx.Bounds(ctx); return err }); err != nil {
		return time.Time{}, err
	}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		if at, ok := f.reached(int64(bounds.Last)); ok {
			return at, nil
		}
		select {
		case <-ticker.C:
		case err := <-f.ended:
			f.ended <- err
			return time.Time{}, fmt.Errorf("the follower ended: %w", err)
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}

// reached reports whether an answer has included everything up to a log position, and when the first one did.
func (s *sights) reached(place int64) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.seen) - 1; i >= 0 && s.seen[i].upTo >= place; i-- {
		if i == 0 || s.seen[i-1].upTo < place {
			return s.seen[i].at, true
		}
	}
	return time.Time{}, false
}

// verify compares the groups with their recomputation.
func (f *following) verify(ctx context.Context) error {
	var v *rollup.Verification
	if err := f.db.View(ctx, func(tx rollup.Tx) (err error) {
		v, err = rollup.Verify(ctx, tx, f.number, nil)
		return err
	}); err != nil {
		return err
	}
	if v.Differs != 0 {
		return fmt.Errorf("%d of %d rows differ from their recomputation, such as %+v", v.Differs, v.Rows, v.Differences[0])
	}
	return nil
}
