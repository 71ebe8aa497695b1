// SPDX-License-Identifier: Apache-2.0

//go:build unix

package processor

import (
	"syscall"
	"time"
)

// Time returns the processor time of the process, or 0 where the system does not report it.
func Time() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
