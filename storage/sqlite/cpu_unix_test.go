// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqlite_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpu is how long this process has been computing: on a busy machine it tells more than the clock.
func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
