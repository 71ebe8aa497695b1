// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"time"
)

// courtesy is how long an owner that gave the lease back leaves it to others.
const courtesy = 50 * time.Millisecond

// Take tries once to acquire or keep the lease, and reports whether this process holds it. If another process does,
// Take sets Wanted and should be called again soon. epoch is the epoch of the caller's cell map; the lease that Held
// returns may have a newer one. After an error a lease that was held is still held.
func (h *Holder) Take(ctx context.Context, epoch uint64) (bool, error) {
	return h.take(ctx, epoch, func(l *Lease) bool {
		if l.Wanted {
			return false
		}
		l.Wanted = true
		return true
	})
}

// Try is Take without setting Wanted: for a process that does not need the lease.
func (h *Holder) Try(ctx context.Context, epoch uint64) (bool, error) {
	return h.take(ctx, epoch, func(*Lease) bool { return false })
}

// Ask requests work from the owner, or acquires the lease if possible. It returns the number of the request, which is
// done when Lease.Done has reached it; 0 if this process holds the lease.
func (h *Holder) Ask(ctx context.Context, epoch uint64, what string) (number int64, err error) {
	leave, err := h.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	_, mine := h.Held()
	if mine {
		mine, err = h.keep(ctx, epoch)
	} else {
		mine, err = h.claim(ctx, epoch, func(l *Lease) bool {
			l.ask(what)
			l.Epoch = max(l.Epoch, epoch)
			number = l.Asked
			return true
		})
	}
	if mine || err != nil {
		return 0, err
	}
	return number, nil
}

// Wait checks once whether the owner has done the request with this number; if not, it acquires the lease if possible.
func (h *Holder) Wait(ctx context.Context, epoch uint64, number int64) (done bool, err error) {
	_, err = h.takeUnless(ctx, epoch, func(l Lease) bool {
		done = l.Done >= number
		return done
	}, func(*Lease) bool { return false })
	return done, err
}

// take acquires the lease if possible; if not, it stores the change made by otherwise, if that returns true.
func (h *Holder) take(ctx context.Context, epoch uint64, otherwise func(*Lease) bool) (bool, error) {
	return h.takeUnless(ctx, epoch, func(Lease) bool { return false }, otherwise)
}

// takeUnless is take, but does nothing if enough returns true for the lease.
func (h *Holder) takeUnless(ctx context.Context, epoch uint64, enough func(Lease) bool,
	otherwise func(*Lease) bool) (bool, error) {
	leave, err := h.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	if _, mine := h.Held(); mine {
		return h.keep(ctx, epoch)
	}
	l, err := h.read(ctx)
	if err != nil {
		return false, err
	}
	now := h.opts.Now()
	free := h.free(l, now) && !h.courteous(l, now)
	if left := l; enough(l) || !free && !otherwise(&left) {
		return false, nil
	}
	return h.claim(ctx, epoch, otherwise)
}

// claim is take in one update transaction.
func (h *Holder) claim(ctx context.Context, epoch uint64, otherwise func(*Lease) bool) (bool, error) {
	mine, begun := false, h.opts.Now()
	var taken, seen Lease
	if err := h.opts.Update(ctx, func(s Store) error {
		l, err := s.Lease(ctx, h.opts.Name)
		if err != nil {
			return err
		}
		now := h.opts.Now()
		if mine = h.free(l, now) && !h.courteous(l, now); mine {
			taken = h.taken(l, epoch)
			return s.PutLease(ctx, h.opts.Name, taken)
		}
		seen = l
		if !otherwise(&l) {
			return nil
		}
		return s.PutLease(ctx, h.opts.Name, l)
	}); err != nil {
		return false, h.failed("take", err)
	}
	h.saw(seen)
	if mine {
		h.renewed(begun)
		h.note(taken, true)
	}
	return mine, nil
}

// courteous reports whether this process has just given the lease back and leaves it to others.
func (h *Holder) courteous(l Lease, now time.Time) bool {
	return l.Owner == "" && l.Wanted && now.Sub(h.gave) < courtesy
}

// free reports whether the lease may be acquired: it has no owner, its owner is this process, or its owner has not
// renewed it for its TTL by this process's clock.
func (h *Holder) free(l Lease, now time.Time) bool {
	if l.Owner == "" || l.Owner == h.opts.Owner {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.Owner != h.seen.Owner || l.Token != h.seen.Token || l.Beat != h.seen.Beat {
		h.since = now
	}
	h.seen = l
	return now.Sub(h.since) >= l.TTL
}

// taken returns the lease as held by this process.
func (h *Holder) taken(l Lease, epoch uint64) Lease {
	stolen := l.Owner != ""
	h.ttl = h.opts.TTL
	if stolen && l.Owner != h.opts.Owner { // the owner may have been slow rather than gone
		h.ttl = min(2*max(l.TTL, h.opts.TTL), MaxTTL*h.opts.TTL)
	}
	l.Owner, l.Address, l.TTL, l.Wanted = h.opts.Owner, h.address(), h.patience(), false
	l.Token++
	l.Beat++
	l.Epoch = max(l.Epoch, epoch)
	if stolen {
		l.Fence = l.Token
	}
	return l
}
