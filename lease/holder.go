// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrLost means that another owner has taken the lease. Earlier writes under it remain valid; nothing more may be
// written.
var ErrLost = errors.New("lease: lost to another owner")

// MaxTTL bounds the TTL of a slow owner, as a multiple of Options.TTL.
const MaxTTL = 12

// Options of a Holder. All but Address are required.
type Options struct {
	// Name of the lease.
	Name string
	// Owner identifies the process; it must be unique.
	Owner string
	// Address, if set, returns the address of the process, which is stored whenever the lease is written.
	Address func() string
	// TTL is how long others wait for a renewal before they take the lease over, unless it was extended.
	TTL time.Duration
	// Now is a monotonic clock. Its times are compared only with each other.
	Now func() time.Time
	// Update and View run transactions of the cell that stores the lease.
	Update, View func(ctx context.Context, fn func(Store) error) error
}

// Holder acquires and keeps a lease for a process. It is safe for concurrent use: methods that read or write the lease
// wait for each other; Held, Seen and Lost do not wait.
type Holder struct {
	opts Options
	turn chan struct{} // semaphore of one for methods that read or write the lease

	gave  time.Time     // when it was given back because another process wanted it
	since time.Time     // when another owner's current beat was first seen
	ttl   time.Duration // TTL of this process's lease while it has work

	mu     sync.Mutex // guards the fields below
	beaten time.Time  // when the last write of the lease began, while it is held
	held   Lease      // as it was read or written last, while it is held
	mine   bool
	seen   Lease         // as it was read last, while another process held it
	last   Lease         // as it was read last
	pause  time.Duration // see Pause
}

// NewHolder returns a holder that does not hold the lease.
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

// Held returns the lease as it was last read or written, and reports whether this process holds it.
func (h *Holder) Held() (Lease, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held, h.mine
}

// Seen returns the lease as it was last read while another process held it, the zero value if there was no such read.
func (h *Holder) Seen() Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen
}

// Elsewhere returns the lease as it was last read, and reports whether another process held it then and this one does
// not now.
func (h *Holder) Elsewhere() (Lease, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, !h.mine && h.last.Owner != "" && h.last.Owner != h.opts.Owner
}

// saw notes the lease as it is stored.
func (h *Holder) saw(l Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = l
}

// Valid reports whether this process holds the lease, and has renewed it so lately that no other process can have taken
// it over. A process that was stopped and continues holds a lease that is not valid until it is renewed.
func (h *Holder) Valid() bool {
	l, mine := h.Held()
	return mine && h.age() < l.TTL*3/4
}

// age is how long ago this process began to write the lease.
func (h *Holder) age() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.opts.Now().Sub(h.beaten)
}

func (h *Holder) renewed(begun time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beaten = begun
}

// Lost records that a cell has rejected the token of the lease: it has been taken over.
func (h *Holder) Lost() { h.note(Lease{}, false) }

func (h *Holder) note(l Lease, mine bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mine = mine; mine {
		h.held = l
	}
}

// Pause lets this process renew the lease only every d, because it is idle: others wait three times as long before they
// take it over.
func (h *Holder) Pause(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pause = d
}

// patience returns the TTL that this process writes.
func (h *Holder) patience() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(h.ttl, 3*h.pause)
}

func (h *Holder) address() string {
	if h.opts.Address == nil {
		return ""
	}
	return h.opts.Address()
}

// Beat renews the lease if that is due. The error wraps ErrLost if this process does not hold it; Beat does not acquire
// it.
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

// Finish marks the requests of others as done, up to a value that Asked had. partly reports that some of the work could
// not be done for now.
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

// keep renews the lease if that is due.
func (h *Holder) keep(ctx context.Context, epoch uint64) (bool, error) {
	held, _ := h.Held()
	if h.age() < h.opts.TTL/3 && epoch <= held.Epoch && h.patience() <= held.TTL {
		return true, nil
	}
	err := h.update(ctx, func(l *Lease) { l.Epoch = max(l.Epoch, epoch) })
	_, mine := h.Held()
	return mine, err
}

// Look reads the lease and reports whether it may be acquired or is held by this process. The error wraps ErrLost if
// this process held it and another one holds it now.
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

func (h *Holder) read(ctx context.Context) (l Lease, err error) {
	if err := h.opts.View(ctx, func(s Store) (err error) {
		l, err = s.Lease(ctx, h.opts.Name)
		return err
	}); err != nil {
		return Lease{}, h.failed("read", err)
	}
	h.saw(l)
	return l, nil
}

// Give gives the lease back; everything begun under it must be done. It does nothing if the lease is not held. The
// lease is not held afterwards, even after an error: it may have been given back.
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
		l.Owner, l.Address = "", ""
		if l.Wanted {
			h.gave = h.opts.Now()
		}
	})
	h.Lost()
	return err
}

// update changes and renews the lease that this process holds. The error wraps ErrLost if it no longer holds it.
func (h *Holder) update(ctx context.Context, change func(*Lease)) error {
	held, _ := h.Held()
	begun := h.opts.Now()
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
		l.TTL, l.Address = h.patience(), h.address()
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
	h.renewed(begun)
	h.ttl = max(h.opts.TTL, h.ttl-h.ttl/32)                        // renewed in time
	if now, mine := h.Held(); mine && now.Token == changed.Token { // Lost may have been called in between
		h.note(changed, true)
	}
	return nil
}

func (h *Holder) failed(what string, err error) error {
	return fmt.Errorf("%s the lease %s: %w", what, h.opts.Name, err)
}
