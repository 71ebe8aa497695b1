// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/postgres"
)

// A runner calls Open once it holds the lease of the sink. Its other options are as in the example of package sink.
func Example() {
	_ = sink.New(sink.Options{
		Name: "golden", Lanes: 1, Batch: postgres.BatchSize,
		Open: func(ctx context.Context) (sink.Sink, error) {
			return postgres.Open(ctx, "postgres://db.example/crm?table=golden", &postgres.Options{Columns: []string{"name"}})
		},
	})
	_, err := postgres.Open(context.Background(), "postgres://db.example/crm", nil)
	fmt.Println(err)
	// Output:
	// postgres: the URL names no table: want postgres://USER@HOST/DATABASE?table=NAME
}
