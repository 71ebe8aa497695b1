// SPDX-License-Identifier: Apache-2.0

package lease_test

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/lease"
)

// row is a Store in memory, in place of a database.
type row map[string]lease.Lease

func (r row) Lease(_ context.Context, name string) (lease.Lease, error) { return r[name], nil }

func (r row) PutLease(_ context.Context, name string, l lease.Lease) error {
	r[name] = l
	return nil
}

// Two processes want the same work: one does it, the other is next.
func ExampleHolder() {
	shared := row{}
	transaction := func(_ context.Context, fn func(lease.Store) error) error { return fn(shared) }
	holder := func(owner string) *lease.Holder {
		return lease.NewHolder(lease.Options{
			Name: "work", Owner: owner, TTL: 5 * time.Second, Now: time.Now, Update: transaction, View: transaction,
		})
	}
	a, b := holder("a"), holder("b")

	ctx := context.Background()
	say := func(who string, h *lease.Holder) {
		held, err := h.Take(ctx, 1)
		l, _ := h.Held()
		fmt.Println(who, held, l.Token, err)
	}
	say("a", a)
	say("b", b)
	fmt.Println(a.Wanted(ctx))
	fmt.Println(a.Give(ctx))
	say("b", b)
	// Output:
	// a true 1 <nil>
	// b false 0 <nil>
	// true <nil>
	// <nil>
	// b true 2 <nil>
}
