// SPDX-License-Identifier: Apache-2.0

package delay_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/internal/delay"
)

func TestFor(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := delay.For(t.Context(), time.Hour); err != nil || time.Since(begin) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { stop(stopped) })
		begin = time.Now()
		if err := delay.For(ctx, time.Hour); !errors.Is(err, stopped) || time.Since(begin) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}
