// SPDX-License-Identifier: Apache-2.0

package span_test

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/span"
)

// Work below a context without a span records nothing.
func ExampleStart() {
	ctx, s := span.Start(context.Background(), "cell write")
	s.Number("rows", 3)
	s.End(nil)
	fmt.Println(s.On(), ctx == context.Background())
	// Output: false true
}
