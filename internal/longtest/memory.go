// SPDX-License-Identifier: Apache-2.0

package longtest

import "os"

// Memory is a file system in memory, where the system has one.
const Memory = "/dev/shm"

// memoryRoom is the room in bytes that Memory has at least if it is used: enough for some servers with dozens of
// databases.
const memoryRoom = 4 << 30

// MemoryHas reports whether Memory has room for room bytes, and at least for the temporary files of tests.
func MemoryHas(room uint64) bool {
	free, _ := memory()
	return free >= max(room, memoryRoom)
}

// Temporary files are in memory where there is room and programs may be run from there, in every package whose tests
// import this one: a cell is 16 syncs and a hundred small files old before a test begins. A kill of a process loses
// nothing that it has written there either. Long runs, whose files are larger, use the disk. TMPDIR takes precedence.
func init() {
	if _, runs := memory(); runs && !On() && os.Getenv("TMPDIR") == "" && MemoryHas(0) {
		_ = os.Setenv("TMPDIR", Memory)
	}
}
