// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package pgtest

import "syscall"

// diesWithParent is offered by Linux only; elsewhere a test that crashes leaves its servers running.
func diesWithParent(*syscall.SysProcAttr) {}
