// SPDX-License-Identifier: Apache-2.0

package pgtest

import "syscall"

// diesWithParent ends the program when the thread that started it ends, which is when the test does,
// however it ends: see child, which keeps the thread.
func diesWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
