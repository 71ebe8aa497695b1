// SPDX-License-Identifier: Apache-2.0

package counters_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// A batch of hits counts once, however often it is sent with its key.
func Example() {
	dir, err := os.MkdirTemp("", "counters")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

	hits := counter.Batch{Key: "import-7", Hits: []counter.Hit{{Metric: "page /about", At: time.Now(), N: 3}}}
	for range 2 {
		answer, err := db.Counters().Add(ctx, hits)
		check(err)
		fmt.Println(answer.Results[0], answer.Replayed)
	}
	// Output:
	// <nil> false
	// <nil> true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
