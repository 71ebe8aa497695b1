// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"syscall"
)

// datasync makes writes durable, like databases do.
func datasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
