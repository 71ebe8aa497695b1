// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package main

import "os"

// datasync makes writes durable.
func datasync(f *os.File) error { return f.Sync() }
