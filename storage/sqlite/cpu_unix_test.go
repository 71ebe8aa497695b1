// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqlite_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpu returns the processor time of this process: on a busy machine more meaningful than elapsed time.
func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
