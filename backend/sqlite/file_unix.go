// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqlite

import (
	"os"
	"strconv"
	"syscall"
)

// fileNumber is what a file has, and no copy of it on the same disk.
func fileNumber(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(s.Ino, 10)
	}
	return "0"
}
