// SPDX-License-Identifier: Apache-2.0

//go:build unix

package processor

import (
	"syscall"
	"time"
)

// Time is what the process has had of the processors, 0 where the system does not tell.
func Time() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
