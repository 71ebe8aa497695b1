// SPDX-License-Identifier: Apache-2.0

package obs

import "time"

// Tests wait for all pauses of a collector that does not answer.
func init() { pauses = []time.Duration{0, time.Millisecond, 2 * time.Millisecond} }
