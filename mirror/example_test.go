// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// A mirror fills its target and is verified against its source.
func Example() {
	ctx := context.Background()
	source := newSmall(2) // db.Changes().Source() for an installation
	source.put(0, 0x20, "Golden Bakery")
	source.put(1, 0x90, "Joe's Pizza")
	target := mirrortest.NewModel()
	if err := mirror.New(source, target, &mirror.Options{Once: true}).Run(ctx); err != nil {
		fmt.Println(err)
	}
	docs, err := target.Scan(ctx, locality.ID{}, 10)
	if err != nil {
		fmt.Println(err)
	}
	for _, d := range docs {
		fmt.Println(d.ID, d.Kind, *d.Thing.Attributes[0].Value)
	}
	v, err := mirror.Verify(ctx, source, target, nil)
	fmt.Println(v.Compared, "compared,", v.Differ(), "differ", err)
	// Output:
	// 20000000-0000-0000-0000-000000000001 entity Golden Bakery
	// 90000000-0000-0000-0000-000000000001 entity Joe's Pizza
	// 2 compared, 0 differ <nil>
}
