// SPDX-License-Identifier: Apache-2.0

package longtest

import (
	"os"
	"syscall"
)

// Temporary files are in memory where there is room and programs may be run from there, in every package whose tests
// import this one: a cell is 16 syncs and a hundred small files old before a test begins. A kill of a process loses
// nothing that it has written there either. Long runs, whose files are larger, use the disk. TMPDIR takes precedence.
func init() {
	const memory, room, noexec = "/dev/shm", 4 << 30, 8
	var s syscall.Statfs_t
	if On() || os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &s) != nil {
		return
	}
	if int64(s.Bavail)*int64(s.Bsize) >= room && int64(s.Flags)&noexec == 0 { //nolint:unconvert // the types differ by architecture
		_ = os.Setenv("TMPDIR", memory)
	}
}
