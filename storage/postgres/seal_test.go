// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"encoding/binary"
	"strconv"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// key returns the n-th of a series of keys.
func key(n uint64) (k cell.Key) {
	k.Ring = int64(n * 0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(k.Digest[:], n)
	return k
}

// paused is an update that stays open until it is told to continue.
type paused struct {
	puid int64 // the puid it allocated, if any
	goOn chan struct{}
	done chan error
}

// stay begins an update that stays open after fn.
func stay(t *testing.T, d *database, fn func(*paused, storage.Tx) error) *paused {
	t.Helper()
	p := &paused{goOn: make(chan struct{}), done: make(chan error, 1)}
	stays := make(chan struct{})
	go func() {
		p.done <- d.Update(context.Background(), func(tx storage.Tx) error {
			if err := fn(p, tx); err != nil {
				return err
			}
			close(stays)
			<-p.goOn
			return nil
		})
	}()
	select {
	case <-stays:
	case err := <-p.done:
		t.Fatalf("the update that was to stay open: %v", err)
	}
	return p
}

// pause begins an update that allocates a key and stays open.
func pause(t *testing.T, d *database, k cell.Key) *paused {
	t.Helper()
	return stay(t, d, func(p *paused, tx storage.Tx) error {
		a, err := tx.Allocate(context.Background(), []cell.Key{k})
		if err == nil {
			p.puid = a[0].PUID
		}
		return err
	})
}

// end lets the update commit.
func (p *paused) end(t *testing.T) {
	t.Helper()
	close(p.goOn)
	if err := <-p.done; err != nil {
		t.Errorf("the paused update: %v", err)
	}
}

// seal seals a cell, then looks a key up, as the walk of a put does in an older generation.
func seal(d *database, k cell.Key, saw *int64) error {
	ctx := context.Background()
	return d.Exclusive(ctx, func(tx storage.Tx) error {
		head, err := tx.Head(ctx)
		if err != nil {
			return err
		}
		if err := tx.SetHead(ctx, head.Seal(2)); err != nil {
			return err
		}
		puids, err := tx.Lookup(ctx, []cell.Key{k})
		if err == nil {
			*saw = puids[0]
		}
		return err
	})
}

// blocked waits until that many transactions of the database wait for a lock, or done is closed.
func blocked(t *testing.T, at place, d *database, n int, done <-chan struct{}) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		waiting := at.server.Exec(t, d.name, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
		if got, err := strconv.Atoi(waiting[0][0]); err != nil || got >= n {
			return
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// begins starts fn, which must wait for a lock, and returns once that many transactions of the database wait for
// one, or fn has ended. The function it returns waits for fn and returns its error.
func begins(t *testing.T, at place, d *database, n int, fn func() error) (ended func() error) {
	t.Helper()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = fn()
	}()
	blocked(t, at, d, n, done)
	return func() error {
		<-done
		return err
	}
}

// A seal that begins after a writer has passed the gate waits for it and sees its writes: otherwise the key would
// get a second puid in a newer generation. A weaker lock at the gate, or a snapshot older than the seal, would not
// suffice.
func TestP06_ASealSeesWhatWasBeforeIt(t *testing.T) {
	t.Parallel()
	at := direct(t)
	d := at.open(t)
	writer := pause(t, d, key(1))
	var saw int64
	sealed := begins(t, at, d, 1, func() error { return seal(d, key(1), &saw) })
	writer.end(t)
	if err := sealed(); err != nil {
		t.Fatalf("seal: %v", err)
	}
	if saw != writer.puid {
		t.Errorf("the seal saw puid %d, the writer before it allocated %d", saw, writer.puid)
	}
}

// Writers that arrive after a seal has begun wait behind it: otherwise it would starve among busy ones.
func TestP06_ASealIsNotOvertaken(t *testing.T) {
	t.Parallel()
	at := direct(t)
	d := at.open(t)
	first := pause(t, d, key(1))
	var saw int64
	sealed := begins(t, at, d, 1, func() error { return seal(d, key(1), &saw) })

	var head cell.Head
	second := begins(t, at, d, 2, func() error {
		return d.Update(context.Background(), func(tx storage.Tx) (err error) {
			head, err = tx.Head(context.Background())
			return err
		})
	})
	first.end(t)
	if err := sealed(); err != nil {
		t.Errorf("seal: %v", err)
	}
	if err := second(); err != nil {
		t.Errorf("the second update: %v", err)
	}
	if head.Keys != cell.Sealed {
		t.Errorf("a writer that came after the seal had begun overtook it: it saw the cell %v", head.Keys)
	}
}

// Two writers of one key: the second waits for the first and returns the puid that the first allocated, not the one
// it drew.
func TestP06_TheSecondWriterAnswersWithTheFirstOnesPuid(t *testing.T) {
	t.Parallel()
	at := direct(t)
	d := at.open(t)
	first := pause(t, d, key(1))
	var got []cell.Allocation
	second := begins(t, at, d, 1, func() error {
		return d.Update(context.Background(), func(tx storage.Tx) (err error) {
			got, err = tx.Allocate(context.Background(), []cell.Key{key(2), key(1)})
			return err
		})
	})
	first.end(t)
	if err := second(); err != nil {
		t.Fatal(err)
	}
	if got[1] != (cell.Allocation{PUID: first.puid}) || !got[0].Fresh || got[0].PUID <= first.puid {
		t.Errorf("allocated %+v, the first writer %d", got, first.puid)
	}
}

// A puid that was given out is never given out again, whatever happened to its row.
func TestP07_PuidsOfRowsThatAreGone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := direct(t).open(t)
	last := allocateOne(t, d, key(1))
	if err := d.Update(ctx, func(tx storage.Tx) error { _, err := tx.Drop(ctx, 10); return err }); err != nil {
		t.Fatal(err)
	}
	if next := allocateOne(t, d, key(1)); next <= last {
		t.Errorf("puid %d after %d, whose row was dropped", next, last)
	}
}
