// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/locus-db/locus/source/sourcetest"
)

func TestBroker(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(*testing.T) sourcetest.Harness {
		b := sourcetest.NewBroker()
		return sourcetest.Harness{
			Publish: func(_ context.Context, key, value string) error {
				b.Publish(0, time.Unix(1, 0), key, value)
				return nil
			},
			Open: b.Open,
			Trim: func(_ context.Context, before int64) error { b.Trim(0, before); return nil },
		}
	})
}
