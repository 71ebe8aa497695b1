// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package compare

import "time"

// processorTime is unknown.
func processorTime() time.Duration { return 0 }
