// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres_test

import (
	"syscall"
	"time"
)

// cpu returns the processor time of this process: on a busy machine more meaningful than elapsed time.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
