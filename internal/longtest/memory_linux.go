// SPDX-License-Identifier: Apache-2.0

package longtest

import "syscall"

// memory returns the free bytes of Memory, and whether programs may be run from there.
func memory() (free uint64, runs bool) {
	const noexec = 8
	var s syscall.Statfs_t
	if syscall.Statfs(Memory, &s) != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), int64(s.Flags)&noexec == 0 //nolint:unconvert // the types differ by architecture
}
