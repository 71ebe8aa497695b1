// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// vacuum leaves a database in the state that the server's autovacuum would reach after the fill.
func vacuum(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "VACUUM ANALYZE")
	return errors.Join(err, conn.Close(ctx))
}

// with opens a peer for the duration of do.
func (b *bench) with(ctx context.Context, key string, do func(*peer) error) error {
	p, err := openPeer(ctx, b.tb, b.server, b.from, key)
	if err != nil {
		return err
	}
	return errors.Join(do(p), p.close(ctx))
}

// answered records an answer.
func (b *bench) answered(a Answer, err error) error {
	b.Answers = append(b.Answers, a)
	return err
}

// ceiling counts nothing.
func (b *bench) ceiling(ctx context.Context, w *world) error {
	return b.with(ctx, "ceiling", func(p *peer) error {
		err := b.answered(b.grouped(ctx, p))
		for _, l := range []Load{shared, single, tens, hundreds} {
			if err == nil {
				err = b.load(ctx, w, p.key, l, p.write, nil)
			}
		}
		return err
	})
}

// trigger counts in the transaction.
func (b *bench) trigger(ctx context.Context, w *world, key string) error {
	return b.with(ctx, key, func(p *peer) error {
		err := b.answered(b.answers(ctx, p, w))
		for _, l := range []Load{shared, single, tens, hundreds} {
			if err == nil {
				err = b.load(ctx, w, p.key, l, p.write, nil)
			}
			if err == nil {
				err = p.verify(ctx)
			}
		}
		return err
	})
}

// view recounts everything, again and again, concurrently with the writers.
func (b *bench) view(ctx context.Context, w *world) error {
	return b.with(ctx, "view", func(p *peer) error {
		if err := b.answered(b.answers(ctx, p, w)); err != nil {
			return err
		}
		for _, l := range []Load{at(1), at(10), at(50), single} {
			ended, done := make(chan struct{}), make(chan error, 1)
			var all refreshes
			go func() {
				var err error
				all, err = p.refresh(ctx, ended)
				done <- err
			}()
			stop := func() error { close(ended); return <-done }
			settled := false
			err := b.load(ctx, w, p.key, l, p.write, func(written *written) (time.Time, []delay, error) {
				settled = true
				if err := stop(); err != nil {
					return time.Time{}, nil, err
				}
				delays, err := all.delays(written)
				return time.Time{}, delays, err // a view is never behind by more than two refreshes
			})
			if !settled {
				err = errors.Join(err, stop())
			}
			if err == nil {
				err = p.verify(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// xmin follows a log as far as the oldest transaction allows.
func (b *bench) xmin(ctx context.Context, w *world) error {
	return b.with(ctx, "xmin", func(p *peer) (err error) {
		x := followXmin(ctx, p)
		defer func() { err = errors.Join(err, x.end()) }()
		all := int64(0)
		run := func(l Load) error {
			x.begin()
			err := b.load(ctx, w, p.key, l, p.write, func(done *written) (time.Time, []delay, error) {
				all += int64(done.updates())
				end, err := x.drain(ctx, all)
				if err != nil {
					return end, nil, err
				}
				delays, err := x.delays(done, len(w.pets))
				return end, delays, err
			})
			if err == nil {
				err = p.verify(ctx)
			}
			return err
		}
		return b.each(ctx, p.url, true, []Load{at(1), at(10), disturbed, at(50), single}, run)
	})
}

// gin counts on demand, tag by tag.
func (b *bench) gin(ctx context.Context, w *world) error {
	return b.with(ctx, "gin", func(p *peer) error {
		err := b.answered(p.scans(ctx, w, "gin", 1))
		if err == nil {
			err = b.answered(p.scans(ctx, w, "gin-4", 4))
		}
		for _, l := range []Load{single, hundreds} {
			if err == nil {
				err = b.load(ctx, w, p.key, l, p.write, nil)
			}
		}
		return err
	})
}
