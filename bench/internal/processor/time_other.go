// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package processor

import "time"

// Time returns 0: the system does not report the processor time of the process.
func Time() time.Duration { return 0 }
