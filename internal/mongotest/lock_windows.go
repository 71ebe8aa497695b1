// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock waits for the lock of an open file; closing the file releases it.
func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{})
}
