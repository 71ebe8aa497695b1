// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/lease"
)

// A process without the lease sends the writes of its callers to the process that holds it, and returns the results of
// that process. This costs one round trip between the two processes; putting the records, requesting their resolution
// and waiting (see elsewhere) costs several to the databases. The holder also gets the writes of all processes in time
// to share a batch among them.
//
// Forwarding is only a short cut: if the holder cannot be reached, or no longer holds the lease, the process writes by
// itself, and repeats writes of unknown outcome once the holder is gone. A forwarded call is never forwarded again.

// ErrNotHolder means that a process does not accept writes for others because it does not hold the lease, or that it
// cannot be reached. Nothing was applied.
var ErrNotHolder = problem.Class(problem.ErrUnavailable, "resolve: the process does not hold the lease")

// Peers connects the processes that share cells.
type Peers interface {
	// Address returns the URL under which other processes send their writes to this one, "" if they cannot. It is
	// stored in the lease, so it may contain a password.
	Address() string
	// Forward calls Queue.Take in the process at an address. The error wraps ErrNotHolder if nothing was applied, and
	// otherwise ErrCommitUnknown.
	Forward(ctx context.Context, address string, ops []Op) ([]Result, error)
}

// forward sends ops to the process that holds the lease, and returns the results that it gets. If results is nil, this
// process must apply the ops itself; a non-nil unknown is the reason why they may have been applied already.
func (q *Queue) forward(ctx context.Context, ops []Op) (results []Result, unknown error) {
	holder, known := q.resolver.holder()
	if !known {
		return nil, nil
	}
	again := true // a put may be repeated: its content is then stored already
	for i := range ops {
		if ops[i].Unless != nil {
			return nil, nil // a condition of this process
		}
		again = again && !ops[i].Delete
	}
	call, end := q.resolver.whileNotReplaced(ctx, holder)
	defer end()
	results, err := q.resolver.opts.Peers.Forward(call, holder.Address, ops)
	switch {
	case errors.Is(err, ErrNotHolder):
		return nil, nil
	case err == nil:
		q.resolver.others()
		return results, nil
	case context.Cause(call) == errReplaced:
		err = fmt.Errorf("%w: %w", cell.ErrCommitUnknown, errReplaced)
	}
	if again && ctx.Err() == nil {
		return nil, err
	}
	return unknownResults(ops, err), nil
}

func unknownResults(ops []Op, err error) []Result {
	results := make([]Result, len(ops))
	for i := range results {
		results[i].Err = err
	}
	return results
}

// holder returns the lease if another process holds it and can be reached. It returns false if this process holds it or
// no holder is known.
func (r *Resolver) holder() (lease.Lease, bool) {
	if r.lease == nil || r.opts.Peers == nil {
		return lease.Lease{}, false
	}
	l, elsewhere := r.lease.Elsewhere()
	return l, elsewhere && l.Address != ""
}

// errReplaced ends a forwarded call to a process that does not answer.
var errReplaced = errors.New("the lease holder does not answer, and another process took over the lease")

// whileNotReplaced returns a context that ends with errReplaced when another process has taken the lease from a silent
// holder. Rest looks at the lease, and takes it over.
func (r *Resolver) whileNotReplaced(ctx context.Context, holder lease.Lease) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(watchMost)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, mine := r.lease.Held()
			if !mine {
				now, _ = r.lease.Elsewhere()
			}
			if now.Fence > holder.Token {
				cancel(errReplaced)
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Take is Do for the ops of another process. The error wraps ErrNotHolder if this process does not hold the lease or
// cannot be sure that it does. A process that was paused is not sure: its caller may have put newer content since.
func (q *Queue) Take(ctx context.Context, ops []Op) ([]Result, error) {
	if q.resolver.lease == nil || !q.resolver.lease.Valid() {
		return nil, ErrNotHolder
	}
	results, err := q.do(ctx, ops)
	if err != nil { // nothing has begun
		return nil, fmt.Errorf("%w: %w", ErrNotHolder, err)
	}
	return results, nil
}
