// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"testing"
	"time"
)

// TestOptions_Linger leaves half of the time for a shutdown to requests in flight.
func TestOptions_Linger(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ linger, shutdown, want time.Duration }{
		{0, 0, 2 * time.Second},
		{0, 2 * time.Second, time.Second},
		{time.Hour, 0, 5 * time.Second},
		{time.Second, time.Minute, time.Second},
		{-1, 2 * time.Second, 0},
	} {
		o := &Options{Linger: test.linger, ShutdownTimeout: test.shutdown}
		if got := o.withDefaults().Linger; got != test.want {
			t.Errorf("%v of %v: %v, want %v", test.linger, test.shutdown, got, test.want)
		}
	}
}
