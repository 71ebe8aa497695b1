// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrLost means that another owner has taken the lease. What was written under it before stands; nothing
// more may be.
var ErrLost = errors.New("lease: lost to another owner")

// MaxTTL is how many times Options.TTL an owner may be silent at most, where everything is slow.
const MaxTTL = 12

// Options of a Holder. All are required.
type Options struct {
	// Name of the lease.
	Name string
	// Owner names the process to the others; no two may have the same.
	Owner string
	// TTL is how long others wait for a sign of life before they take the lease over, where nothing is slow.
	TTL time.Duration
	// Now is a monotonic clock. It is only ever compared with itself.
	Now func() time.Time
	// Update and View run transactions of the cell that keeps the lease.
	Update, View func(ctx context.Context, fn func(Store) error) error
}

// courtesy is for how long an owner that gave the lease back lets others have it first.
const courtesy = 50 * time.Millisecond

// Holder takes and keeps a lease for a process. Its methods may run side by side: those that read or write
// the lease wait for each other, and Held, Seen and Lost wait for none.
type Holder struct {
	opts Options
	turn chan struct{} // has room for the method that reads or writes the lease

	beaten time.Time     // when the lease was written last, while it is this process's
	gave   time.Time     // when it was given back because another process wanted it
	since  time.Time     // when another owner's lease was first seen with the beat that it has
	ttl    time.Duration // how long others wait for a sign of life while this process has work

	mu    sync.Mutex // guards what follows
	held  Lease      // as it was read or written last, while it is this process's
	mine  bool
	seen  Lease         // as it was read last, while it is another's
	pause time.Duration // see Pause
}

// NewHolder makes a holder that holds nothing yet.
func NewHolder(opts Options) *Holder { return &Holder{opts: opts, turn: make(chan struct{}, 1)} }

// enter waits until no other method reads or writes the lease.
func (h *Holder) enter(ctx context.Context) (leave func(), err error) {
	select {
	case h.turn <- struct{}{}:
		return func() { <-h.turn }, nil
	case <-ctx.Done():
		return nil, h.failed("read", context.Cause(ctx))
	}
}

// Held returns the lease as it was last read or written, and reports whether this process has it.
func (h *Holder) Held() (Lease, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held, h.mine
}

// Seen is the lease as it was read last while another process held it, the zero value if none ever was seen to.
func (h *Holder) Seen() Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen
}

// Lost notes that a cell has refused the token of the lease: it has been taken over.
func (h *Holder) Lost() { h.note(Lease{}, false) }

// note remembers what this process has.
func (h *Holder) note(l Lease, mine bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mine = mine; mine {
		h.held = l
	}
}

// Take tries once to get the lease, or to keep it, and reports whether this process has it. If another one
// does, that one is told that it is wanted, and Take is to be tried again soon. epoch is the cell map that
// the process works with; the lease that Held returns may know a newer one. After an error nothing is
// known to have changed, and a lease that was held is still held.
func (h *Holder) Take(ctx context.Context, epoch uint64) (bool, error) {
	return h.take(ctx, epoch, func(l *Lease) bool {
		if l.Wanted {
			return false
		}
		l.Wanted = true
		return true
	})
}

// Try is Take for a process that does not need the lease: another owner is not told that it is wanted.
func (h *Holder) Try(ctx context.Context, epoch uint64) (bool, error) {
	return h.take(ctx, epoch, func(*Lease) bool { return false })
}

// Ask has the owner do something, or takes the lease if it may be had. It returns the number of what it
// asked for, which is done when Lease.Done has come so far; 0 if this process has the lease.
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

// Wait looks once whether the owner has done what this process asked for under a number, or takes the lease if
// the owner has not, and it may be had.
func (h *Holder) Wait(ctx context.Context, epoch uint64, number int64) (done bool, err error) {
	_, err = h.takeUnless(ctx, epoch, func(l Lease) bool {
		done = l.Done >= number
		return done
	}, func(*Lease) bool { return false })
	return done, err
}

// take takes the lease if it may be had. Else otherwise says what is left with its owner, if anything.
func (h *Holder) take(ctx context.Context, epoch uint64, otherwise func(*Lease) bool) (bool, error) {
	return h.takeUnless(ctx, epoch, func(Lease) bool { return false }, otherwise)
}

// takeUnless is take for a process that needs nothing more if the lease is such.
func (h *Holder) takeUnless(ctx context.Context, epoch uint64, enough func(Lease) bool, otherwise func(*Lease) bool) (bool, error) {
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

// claim takes the lease if it may be had, and else leaves with its owner what otherwise says.
func (h *Holder) claim(ctx context.Context, epoch uint64, otherwise func(*Lease) bool) (bool, error) {
	mine := false
	var taken Lease
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
		if !otherwise(&l) {
			return nil
		}
		return s.PutLease(ctx, h.opts.Name, l)
	}); err != nil {
		return false, h.failed("take", err)
	}
	if mine {
		h.beaten = h.opts.Now()
		h.note(taken, true)
	}
	return mine, nil
}

// courteous reports whether this process has given the lease back just now and leaves it to others.
func (h *Holder) courteous(l Lease, now time.Time) bool {
	return l.Owner == "" && l.Wanted && now.Sub(h.gave) < courtesy
}

// free reports whether the lease may be taken: no process has it, or its owner has shown no sign of life for
// its TTL of this process's clock.
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

// taken is the lease once this process has it.
func (h *Holder) taken(l Lease, epoch uint64) Lease {
	stolen := l.Owner != ""
	h.ttl = h.opts.TTL
	if stolen && l.Owner != h.opts.Owner { // it may have been slow, and not gone
		h.ttl = min(2*max(l.TTL, h.opts.TTL), MaxTTL*h.opts.TTL)
	}
	l.Owner, l.TTL, l.Wanted = h.opts.Owner, h.patience(), false
	l.Token++
	l.Beat++
	l.Epoch = max(l.Epoch, epoch)
	if stolen {
		l.Fence = l.Token
	}
	return l
}

// Pause says for how long this process may give no sign of life, because it has nothing to do: others wait for
// three times as long.
func (h *Holder) Pause(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pause = d
}

// patience is how long this process asks others to wait for its signs of life.
func (h *Holder) patience() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(h.ttl, 3*h.pause)
}

// Beat gives a sign of life if one is due. The error wraps ErrLost if this process does not have the lease,
// which it does not take.
func (h *Holder) Beat(ctx context.Context, epoch uint64) error {
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, mine := h.Held(); !mine {
		return h.failed("keep", ErrLost)
	}
	_, err = h.keep(ctx, epoch)
	return err
}

// Finish tells the others what is done of what they asked for: all up to a number that Asked had. partly says
// that something of it could not be done for now.
func (h *Holder) Finish(ctx context.Context, number int64, partly bool) error {
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, mine := h.Held(); !mine {
		return h.failed("keep", ErrLost)
	}
	return h.update(ctx, func(l *Lease) {
		l.finish(number)
		l.Partly = partly
	})
}

// keep gives a sign of life when one is due.
func (h *Holder) keep(ctx context.Context, epoch uint64) (bool, error) {
	held, _ := h.Held()
	if h.opts.Now().Sub(h.beaten) < h.opts.TTL/3 && epoch <= held.Epoch && h.patience() <= held.TTL {
		return true, nil
	}
	err := h.update(ctx, func(l *Lease) { l.Epoch = max(l.Epoch, epoch) })
	_, mine := h.Held()
	return mine, err
}

// Look reads the lease, of whichever process, and reports whether it may be taken, or is this process's. The error
// wraps ErrLost if this process had it and another one has it now.
func (h *Holder) Look(ctx context.Context) (l Lease, free bool, err error) {
	leave, err := h.enter(ctx)
	if err != nil {
		return l, false, err
	}
	defer leave()
	if l, err = h.read(ctx); err != nil {
		return l, false, err
	}
	held, mine := h.Held()
	switch {
	case !mine:
		return l, h.free(l, h.opts.Now()), nil
	case l.Token != held.Token || l.Owner != h.opts.Owner:
		h.Lost()
		return l, false, h.failed("keep", ErrLost)
	}
	h.note(l, true)
	return l, true, nil
}

// Wanted reports whether another process waits for the lease that this process holds.
func (h *Holder) Wanted(ctx context.Context) (bool, error) {
	if _, mine := h.Held(); !mine {
		return false, nil
	}
	l, _, err := h.Look(ctx)
	return l.Wanted && err == nil, err
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
	leave, err := h.enter(ctx)
	if err != nil {
		h.Lost()
		return err
	}
	defer leave()
	if _, mine := h.Held(); !mine {
		return nil
	}
	err = h.update(ctx, func(l *Lease) {
		l.Owner = ""
		if l.Wanted {
			h.gave = h.opts.Now()
		}
	})
	h.Lost()
	return err
}

// update changes the lease that this process holds, and is a sign of life. The error wraps ErrLost if it does
// not hold it any more.
func (h *Holder) update(ctx context.Context, change func(*Lease)) error {
	held, _ := h.Held()
	var changed Lease
	err := h.opts.Update(ctx, func(s Store) error {
		l, err := s.Lease(ctx, h.opts.Name)
		if err != nil {
			return err
		}
		if l.Owner != h.opts.Owner || l.Token != held.Token {
			return ErrLost
		}
		l.Beat++
		l.TTL = h.patience()
		change(&l)
		changed = l
		return s.PutLease(ctx, h.opts.Name, l)
	})
	if errors.Is(err, ErrLost) {
		h.Lost()
	}
	if err != nil {
		return h.failed("keep", err)
	}
	h.beaten = h.opts.Now()
	h.ttl = max(h.opts.TTL, h.ttl-h.ttl/32)                        // it came in time
	if now, mine := h.Held(); mine && now.Token == changed.Token { // Lost may have come in between
		h.note(changed, true)
	}
	return nil
}

func (h *Holder) failed(what string, err error) error {
	return fmt.Errorf("%s the lease %s: %w", what, h.opts.Name, err)
}
