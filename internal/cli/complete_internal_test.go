// SPDX-License-Identifier: Apache-2.0

package cli

import "time"

func init() { patience = time.Hour }
