// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"time"
)

// Lease is the state of a lease. The zero value is a lease that was never held.
type Lease struct {
	// Owner names the holder of the lease, "" if there is none.
	Owner string
	// Address is a URL under which other processes reach the owner, with a password that is stored only in the lease;
	// "" if the owner cannot be reached.
	Address string
	// Token counts the owners. Writes under the lease carry it, and are rejected if it is lower than the highest token
	// known at the target.
	Token int64
	// Beat counts the renewals by the owner. A waiting process takes the lease over when Beat has not changed for TTL
	// of its own clock: clocks of different processes are never compared.
	Beat int64
	TTL  time.Duration
	// Fence is the token of the last owner that took the lease over without it being given back: before anything is
	// written under the lease, tokens below it must be rejected.
	Fence int64
	// Wanted is set by a waiting process, so that the owner gives the lease back soon.
	Wanted bool
	// Asked counts the requests of other processes to the owner. All up to Done are done.
	Asked, Done int64
	// Asks has a line for each pending request: its number, a space, and the request.
	Asks string
	// Partly reports that some of the finished work could not be done for now.
	Partly bool
	// Epoch is the epoch of the newest cell map that an owner has worked with; a process that takes the lease must have
	// it.
	Epoch uint64
}

// Store reads and writes leases in one transaction of a cell.
type Store interface {
	// Lease returns the lease with a name, the zero value if there never was one. In an update no other transaction
	// changes it until this one ends.
	Lease(ctx context.Context, name string) (Lease, error)
	// PutLease writes the lease with a name.
	PutLease(ctx context.Context, name string, l Lease) error
}
