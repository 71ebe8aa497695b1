// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package pgtest

import "syscall"

// diesWithParent does nothing: only Linux offers this. Elsewhere a test that crashes leaves its servers running.
func diesWithParent(*syscall.SysProcAttr) {}
