// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import "time"

// cpu is not known here.
func cpu() time.Duration { return 0 }
