// SPDX-License-Identifier: Apache-2.0

//go:build unix

package mongotest

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock waits for the lock of an open file; closing the file releases it.
func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) }
