// SPDX-License-Identifier: Apache-2.0

package pgtest

import "syscall"

// diesWithParent makes the program end when the thread that started it ends, that is, with the test, however it
// ends; child keeps that thread.
func diesWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
