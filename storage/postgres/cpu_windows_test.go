// SPDX-License-Identifier: Apache-2.0

package postgres_test

import "time"

// cpu returns 0: the time is not available.
func cpu() time.Duration { return 0 }
