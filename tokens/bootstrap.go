// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/problem"
)

// NewBootstrap returns a new bootstrap token, which is valid nowhere yet: see Bootstrap.
func NewBootstrap() string { return access.NewBootstrap() }

// Bootstrap makes a bootstrap token valid for a day, from the first call with it on, and closes the installation for
// callers without a token. It may do everything, until the first other token is created. Where there are tokens, it
// changes nothing. until is the end of its validity, zero if it is not valid; a second call with the same token does
// not begin it again.
func (h *Handle) Bootstrap(ctx context.Context, secret string) (until time.Time, err error) {
	id, hash, err := access.ParseToken(secret)
	if err != nil || !strings.HasPrefix(secret, access.BootPrefix) {
		return until, problem.Invalid("", "invalid", "it is not a bootstrap token: locus token bootstrap makes one")
	}
	err = h.alter(ctx, func(c *catalog) error {
		until = time.Time{}
		now := h.engine.Now().UTC().Truncate(time.Millisecond)
		known := c.Boot != nil && bytes.Equal(c.Boot.Hash, hash[:])
		if len(c.Tokens) == 0 && !known {
			c.Boot = &row{Token: Token{Name: "bootstrap", ID: id, Created: now, Expires: now.Add(bootLife)}, Hash: hash[:]}
			known = true
		}
		if known && c.Boot.live(now) {
			until = c.Boot.Expires
		}
		return nil
	})
	return until, err
}
