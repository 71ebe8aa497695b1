// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres_test

import (
	"syscall"
	"time"
)

// cpu is how long this process has been computing: on a busy machine it tells more than the clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
