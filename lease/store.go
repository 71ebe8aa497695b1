// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"time"
)

// Lease is who may do some work now. The zero value is a lease that nobody ever had.
type Lease struct {
	// Owner names who holds the lease, "" if nobody does.
	Owner string
	// Token counts the owners. Work done under the lease carries it, and what it is written
	// to refuses a token lower than the highest that it has been told of.
	Token int64
	// Beat counts the signs of life of the owner. Whoever waits takes the lease over when it
	// has not changed for TTL of the waiter's own clock: no two clocks are ever compared.
	Beat int64
	TTL  time.Duration
	// Fence is the token of the last owner that took the lease from one who had not given it
	// back: whatever is written under the lease must first refuse the tokens below it.
	Fence int64
	// Wanted is set by who waits, so that the owner gives the lease back soon.
	Wanted bool
	// Asked counts what other processes asked the owner to do, and Done is how far it has come: all up to
	// there is done.
	Asked, Done int64
	// Asks has a line for each thing that is asked for and not done: its number, a space, and what it is.
	Asks string
	// Partly says that something of what is done could not be done for now.
	Partly bool
	// Epoch is the newest cell map that an owner has worked with; whoever takes the lease
	// must know it.
	Epoch uint64
}

// Store keeps leases in one cell, inside one transaction of it.
type Store interface {
	// Lease answers with the lease of a name, the zero value if there never was one. In an
	// update nobody else changes it until the transaction ends.
	Lease(ctx context.Context, name string) (Lease, error)
	// PutLease writes the lease of a name.
	PutLease(ctx context.Context, name string, l Lease) error
}
