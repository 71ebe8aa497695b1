// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

// bakery is an installation with one entity.
type bakery struct{ *locked }

func (bakery) ListStates(_ context.Context, of cell.ID, after locality.ID, _ int) ([]mirror.State, error) {
	name := "Golden Bakery"
	s := mirror.State{ID: locality.ID{0: 0x20, 15: 1}, Kind: mirror.Entity, At: 7, Thing: &mirror.Thing{
		Kind: "place", Members: []entity.Member{{Ref: entity.Ref{Source: "crawl", Key: "a7"}}},
		Attributes: []mirror.Attribute{{Name: "name", Value: &name}},
	}}
	if of != s.Cell || !after.IsZero() {
		return nil, nil
	}
	return []mirror.State{s}, nil
}

// A runner fills its target, then follows until its context ends.
func Example() {
	row := &leases{} // a lease in a database that all processes share
	transaction := func(_ context.Context, fn func(lease.Store) error) error { return fn(row) }
	target := &sinktest.Memory{}
	r := sink.New(sink.Options{
		Name: "crm", Source: bakery{newLocked(0)}, Store: &sinktest.Store{},
		Open: func(context.Context) (sink.Sink, error) { return target, nil },
		Lease: lease.NewHolder(lease.Options{
			Name: sink.LeaseName("crm"), Owner: "host/1", TTL: 5 * time.Second, Now: time.Now, Update: transaction,
			View: transaction,
		}),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	for r.Stats().Delivered == 0 {
		time.Sleep(time.Millisecond) //nolint:forbidigo // an example
	}
	cancel()
	fmt.Println(<-done)
	for _, e := range target.Events() {
		fmt.Println(e.ID, e.Op, e.Kind, e.Records, e.View, "token", sink.TokenOf(e.Rev))
	}
	// Output:
	// <nil>
	// 20000000-0000-0000-0000-000000000001 upsert place [crawl:a7] map[name:Golden Bakery] token 1
}
