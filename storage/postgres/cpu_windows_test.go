// SPDX-License-Identifier: Apache-2.0

package postgres_test

import "time"

// cpu is not known here.
func cpu() time.Duration { return 0 }
