// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqlite

import (
	"os"
	"strconv"
	"syscall"
)

// fileLimit returns the number of files the process may have open, or 0 if unknown.
func fileLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) //nolint:unconvert // it has a sign on some systems
}

// fileNumber returns the inode number, which differs between a file and any copy on the same disk.
func fileNumber(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(s.Ino, 10)
	}
	return "0"
}
