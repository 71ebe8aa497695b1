// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// xmin is a follower of a log in transaction order: it may not read beyond the oldest open transaction, or it would
// miss one that commits later.
type xmin struct {
	*peer
	sights
	n    int64 // entries read so far
	at   [2]any
	stop context.CancelFunc
	done chan error
}

const (
	sqlLog = `SELECT xid::text, seq, key FROM log WHERE (xid, seq) > ($1::text::xid8, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())
		ORDER BY xid, seq LIMIT 4000`

	sqlMove = "UPDATE watermark SET xid = $1::text::xid8, seq = $2"
)

// sqlApply counts the entries from the watermark up to a position.
var sqlApply = fmt.Sprintf(sqlAdd, `SELECT unnest(was_tags), was, -1 FROM log WHERE (xid, seq) > ($1::text::xid8, $2) AND (xid, seq) <= ($3::text::xid8, $4)
	UNION ALL SELECT unnest(tags), location, 1 FROM log WHERE (xid, seq) > ($1::text::xid8, $2) AND (xid, seq) <= ($3::text::xid8, $4)`)

// followXmin starts following.
func followXmin(ctx context.Context, p *peer) *xmin {
	ctx, stop := context.WithCancel(ctx)
	x := &xmin{peer: p, at: [2]any{"0", int64(0)}, stop: stop, done: make(chan error, 1)}
	go func() { x.done <- x.run(ctx) }()
	return x
}

func (x *xmin) end() error {
	x.stop()
	return <-x.done
}

func (x *xmin) run(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, x.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		n, err := x.step(ctx, conn)
		if ctx.Err() != nil {
			return nil // it was told to stop
		}
		if err != nil {
			return err
		}
		if n > 0 {
			x.answered(x.n, time.Now())
		} else if !until(ctx, time.Now().Add(2*time.Millisecond)) {
			return nil
		}
	}
}

// step applies the entries that may be read.
func (x *xmin) step(ctx context.Context, conn *pgx.Conn) (int, error) {
	answer, err := conn.Query(ctx, sqlLog, x.at[0], x.at[1])
	if err != nil {
		return 0, err
	}
	var entries []entry
	var xid, key string
	var seq int64
	if _, err = pgx.ForEachRow(answer, []any{&xid, &seq, &key}, func() error {
		pet, err := petOf(key)
		entries = append(entries, entry{x.n + int64(len(entries)) + 1, int32(pet)})
		return err
	}); err != nil || len(entries) == 0 {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlApply, x.at[0], x.at[1], xid, seq); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlMove, xid, seq)
		return err
	})
	if err == nil {
		x.at = [2]any{xid, seq}
		x.n += int64(len(entries))
		x.read(entries)
	}
	return len(entries), err
}

// drain waits until as many entries are counted as were written.
func (x *xmin) drain(ctx context.Context, updates int64) (time.Time, error) {
	for {
		if at, ok := x.reached(updates); ok {
			return at, nil
		}
		select {
		case err := <-x.done:
			x.done <- err
			return time.Time{}, fmt.Errorf("the follower ended: %w", err)
		default:
		}
		if !until(ctx, time.Now().Add(5*time.Millisecond)) {
			return time.Time{}, ctx.Err()
		}
	}
}
