// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

const (
	maxBlocks    = 1000
	maxPrincipal = 256 // bytes of a name
)

// ErrNotBlocked means that no principal of this name is blocked.
var ErrNotBlocked = problem.Class(problem.ErrNotFound, "locus: this principal is not blocked")

// Block stops a principal, whatever credentials it has: tokens, sessions, JWTs and certificates that are stored
// elsewhere.
type Block struct {
	// Name of the principal: the name of a token, or oidc:, jwt: or cert: and the name that the credential proves.
	Name string `json:"name"`
	// Since is when it was blocked, by the principal By, "" for the operator.
	Since time.Time `json:"since"`
	By    string    `json:"by,omitempty"`
}

// Block stops a principal: at once in this process, within a second in others. Its tokens and sessions stay stored, and
// are valid again after Unblock. Blocking a blocked principal changes nothing. The error is a *locus.InvalidError, or
// ErrLast if no other token has the permission access and by is not the operator.
func (h *Handle) Block(ctx context.Context, by *Principal, name string) (*Block, error) {
	if name == "" || len(name) > maxPrincipal || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return nil, problem.Invalid("/name", "invalid",
			"want the name of a principal, as locus whoami prints it, of 1 to %d bytes", maxPrincipal)
	}
	var b Block
	err := h.alter(ctx, func(c *catalog) error {
		if i := c.block(name); i >= 0 {
			b = c.Blocks[i]
			return nil
		}
		switch {
		case !c.closed():
			return errOpen()
		case len(c.Blocks) >= maxBlocks:
			return problem.Invalid("/name", "invalid",
				"%d principals are blocked, the most that an installation has: revoke tokens, or take roles away", maxBlocks)
		}
		now := h.engine.Now()
		b = Block{Name: name, Since: now.UTC().Truncate(time.Millisecond), By: by.Name}
		c.Blocks = append(c.Blocks, b)
		if by.Named() {
			if err := c.lastAccess(now); err != nil {
				return fmt.Errorf("%w: create another with the role administrator first, or block it with locus access block --data or --map", err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// Unblock ends a block. The error is ErrNotBlocked.
func (h *Handle) Unblock(ctx context.Context, name string) (*Block, error) {
	var b Block
	err := h.alter(ctx, func(c *catalog) error {
		i := c.block(name)
		if i < 0 {
			return fmt.Errorf("%w: %.80q", ErrNotBlocked, name)
		}
		b = c.Blocks[i]
		c.Blocks = slices.Delete(c.Blocks, i, i+1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// Blocks returns the principals that are blocked, the oldest block first.
func (h *Handle) Blocks(ctx context.Context) (list []Block, err error) {
	err = h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		c, err := read(ctx, tx)
		list = []Block{}
		if c != nil {
			list = append(list, c.Blocks...)
		}
		return err
	})
	return list, engine.Wrap(err)
}

// Blocked reports whether a principal is blocked. Check and CheckSession look by themselves; this is for credentials
// that are stored elsewhere.
func (h *Handle) Blocked(ctx context.Context, name string) (bool, error) {
	s, err := h.current(ctx)
	return err == nil && s.blocked[name], err
}

// block returns the index of the block of a principal, -1 without one.
func (c *catalog) block(name string) int {
	return slices.IndexFunc(c.Blocks, func(b Block) bool { return b.Name == name })
}
