// SPDX-License-Identifier: Apache-2.0

package login

import "time"

// SetClock replaces the clock of a provider.
func (p *Provider) SetClock(now func() time.Time) { p.now = now }
