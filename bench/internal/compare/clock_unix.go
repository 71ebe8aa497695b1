// SPDX-License-Identifier: Apache-2.0

//go:build unix

package compare

import (
	"syscall"
	"time"
)

// processorTime is what the process has had of the processors.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
