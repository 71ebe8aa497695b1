// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLost means that another owner has taken the lease. What was written under it before stands; nothing
// more may be.
var ErrLost = errors.New("lease: lost to another owner")

// Options of a Holder. All are required.
type Options struct {
	// Name of the lease.
	Name string
	// Owner names the process to the others; no two may have the same.
	Owner string
	// TTL is how long others wait for a sign of life before they take the lease over.
	TTL time.Duration
	// Now is a monotonic clock. It is only ever compared with itself.
	Now func() time.Time
	// Update and View run transactions of the cell that keeps the lease.
	Update, View func(ctx context.Context, fn func(Store) error) error
}

// courtesy is for how long an owner that gave the lease back lets others have it first.
const courtesy = 50 * time.Millisecond

// Holder takes and keeps a lease for a process. Its methods must not run side by side.
type Holder struct {
	opts Options
	held Lease // as it was written last, while it is this process's
	mine bool

	beaten time.Time // when held was written
	gave   time.Time // when it was given back because somebody wanted it

	seen  Lease     // another owner's lease, as it was seen first
	since time.Time // and when
}

// NewHolder makes a holder that holds nothing yet.
func NewHolder(opts Options) *Holder { return &Holder{opts: opts} }

// Held answers with the lease while this process has it.
func (h *Holder) Held() (Lease, bool) { return h.held, h.mine }

// Take tries once to get the lease, or to keep it, and answers whether this process has it. If another one
// does, that one is told that it is wanted, and Take is to be tried again soon. epoch is the cell map that
// the process works with; the lease that Held answers with may know a newer one. After an error nothing is
// known to have changed, and a lease that was held is still held.
func (h *Holder) Take(ctx context.Context, epoch uint64) (bool, error) {
	return h.take(ctx, epoch, true)
}

// Try is Take for who does not need the lease: another owner is not told that it is wanted.
func (h *Holder) Try(ctx context.Context, epoch uint64) (bool, error) {
	return h.take(ctx, epoch, false)
}

// Seen is the lease as it was when another process was last seen to hold it, the zero value if none ever was.
func (h *Holder) Seen() Lease { return h.seen }

func (h *Holder) take(ctx context.Context, epoch uint64, want bool) (bool, error) {
	if h.mine {
		return h.keep(ctx, epoch)
	}
	l, err := h.read(ctx)
	if err != nil {
		return false, err
	}
	now := h.opts.Now()
	if !h.free(l, now) && (l.Wanted || !want) {
		return false, nil
	}
	if l.Owner == "" && l.Wanted && now.Sub(h.gave) < courtesy {
		return false, nil
	}
	if err := h.opts.Update(ctx, func(s Store) error {
		l, err := s.Lease(ctx, h.opts.Name)
		if err != nil {
			return err
		}
		h.mine = h.free(l, now)
		if !h.mine && !want {
			return nil
		}
		if !h.mine {
			l.Wanted = true
			return s.PutLease(ctx, h.opts.Name, l)
		}
		h.held = h.taken(l, epoch)
		return s.PutLease(ctx, h.opts.Name, h.held)
	}); err != nil {
		h.mine = false
		return false, h.failed("take", err)
	}
	h.beaten = now
	return h.mine, nil
}

// free tells whether the lease may be taken: nobody has it, or its owner has shown no sign of life for
// its TTL of this process's clock.
func (h *Holder) free(l Lease, now time.Time) bool {
	if l.Owner == "" || l.Owner == h.opts.Owner {
		return true
	}
	if l.Owner != h.seen.Owner || l.Token != h.seen.Token || l.Beat != h.seen.Beat {
		h.seen, h.since = l, now
	}
	return now.Sub(h.since) >= l.TTL
}

// taken is the lease once this process has it.
func (h *Holder) taken(l Lease, epoch uint64) Lease {
	stolen := l.Owner != ""
	l.Owner, l.TTL, l.Wanted = h.opts.Owner, h.opts.TTL, false
	l.Token++
	l.Beat++
	l.Epoch = max(l.Epoch, epoch)
	if stolen {
		l.Fence = l.Token
	}
	return l
}

// keep gives a sign of life when one is due.
func (h *Holder) keep(ctx context.Context, epoch uint64) (bool, error) {
	now := h.opts.Now()
	if now.Sub(h.beaten) < h.opts.TTL/3 && epoch <= h.held.Epoch {
		return true, nil
	}
	err := h.update(ctx, func(l *Lease) {
		l.Beat++
		l.Epoch = max(l.Epoch, epoch)
	})
	if err == nil {
		h.beaten = now
	}
	return h.mine, err
}

// Wanted tells whether somebody waits for the lease that this process holds.
func (h *Holder) Wanted(ctx context.Context) (bool, error) {
	if !h.mine {
		return false, nil
	}
	l, err := h.read(ctx)
	if err != nil {
		return false, err
	}
	if l.Token != h.held.Token {
		h.mine = false
		return false, h.failed("keep", ErrLost)
	}
	return l.Wanted, nil
}

// read reads the lease, whoever has it.
func (h *Holder) read(ctx context.Context) (l Lease, err error) {
	if err := h.opts.View(ctx, func(s Store) (err error) {
		l, err = s.Lease(ctx, h.opts.Name)
		return err
	}); err != nil {
		return Lease{}, h.failed("read", err)
	}
	return l, nil
}

// Give gives the lease back: everything that was begun under it must be done. Giving back what is not held
// does nothing. The lease is not held afterwards, even after an error: it may have been given back.
func (h *Holder) Give(ctx context.Context) error {
	if !h.mine {
		return nil
	}
	err := h.update(ctx, func(l *Lease) {
		l.Owner = ""
		if l.Wanted {
			h.gave = h.opts.Now()
		}
	})
	h.mine = false
	return err
}

// update changes the lease that this process holds. The error wraps ErrLost if it does not hold it any more.
func (h *Holder) update(ctx context.Context, change func(*Lease)) error {
	var changed Lease
	err := h.opts.Update(ctx, func(s Store) error {
		l, err := s.Lease(ctx, h.opts.Name)
		if err != nil {
			return err
		}
		if l.Owner != h.opts.Owner || l.Token != h.held.Token {
			return ErrLost
		}
		change(&l)
		changed = l
		return s.PutLease(ctx, h.opts.Name, l)
	})
	if errors.Is(err, ErrLost) {
		h.mine = false
	}
	if err != nil {
		return h.failed("keep", err)
	}
	h.held = changed
	return nil
}

// Lost notes that a cell has refused the token of the lease: it has been taken over.
func (h *Holder) Lost() { h.mine = false }

func (h *Holder) failed(what string, err error) error {
	return fmt.Errorf("%s the lease %s: %w", what, h.opts.Name, err)
}
