// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/problem"
)

// Request describes a token to create.
type Request struct {
	Name string
	// Roles and single permissions; at least one of either.
	Roles []string
	Allow []string
	// WriteSources are the sources whose records the principal may write: names, or beginnings of names and a *. Nil
	// means all.
	WriteSources []string
	// Restriction narrows what the principal sees; the zero value hides nothing.
	Restriction Restriction
	// Rates limit the principal; zero fields mean the defaults, 200 requests, 20,000 records and 100,000 hits per
	// second.
	Rates Rates
	// Life is how long the token is valid, at most 366 days. Defaults to 90 days.
	Life time.Duration
	// Endless means that the token does not expire; Life must be 0.
	Endless bool
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// check returns everything that is wrong with a token to create.
func (n *Request) check() (access.Set, error) {
	var all []problem.Problem
	fail := func(pointer, format string, args ...any) {
		all = append(all, problem.New(pointer, "invalid", fmt.Sprintf(format, args...)))
	}
	if !nameForm.MatchString(n.Name) {
		fail("/name", "a token is called [a-z0-9][a-z0-9_.-]*, at most 64 bytes")
	}
	if n.Name == "local" || n.Name == "bootstrap" {
		fail("/name", "the audit log calls the operator local, and the token of the start bootstrap: choose another name")
	}
	slices.Sort(n.Roles)
	slices.Sort(n.Allow)
	n.Roles, n.Allow = slices.Compact(n.Roles), slices.Compact(n.Allow)
	_, err := access.Grant(n.Roles, nil)
	if err != nil {
		fail("/roles", "%v", err)
	}
	set, err := access.Grant(nil, n.Allow)
	if err != nil {
		fail("/allow", "%v", err)
	}
	if len(n.Roles)+len(n.Allow) == 0 {
		fail("/roles", "a token needs a role or a permission: the roles are %v", access.Roles())
	}
	if err := access.Sources(n.WriteSources).Check(); err != nil {
		fail("/write_sources", "%v", err)
	}
	if err := n.Restriction.Check(); err != nil {
		fail("/hide", "%v", err)
	}
	if n.Life == 0 && !n.Endless {
		n.Life = defaultLife
	}
	if n.Life < 0 || n.Life > maxLife || n.Endless && n.Life != 0 {
		fail("/expires", "want a duration up to %d days, such as 720h; or never", maxLife/(24*time.Hour))
	}
	if !n.Rates.Valid() {
		fail("/rates", "a rate is a number per second from 1 to %d", access.MaxRate)
	}
	if len(all) > 0 {
		return 0, &problem.InvalidError{Problems: all}
	}
	both, _ := access.Grant(n.Roles, n.Allow)
	return both | set, nil
}

// Create creates a token for a principal and returns its text, which is stored nowhere. The first one closes the
// installation for callers without a token, for good, and needs the permission access. The error is a
// *locus.InvalidError, ErrTaken, or ErrLacks if by lacks a permission of the token.
func (h *Handle) Create(ctx context.Context, by *Principal, n Request) (secret string, t *Token, err error) {
	set, err := n.check()
	if err != nil {
		return "", nil, err
	}
	if !by.Permissions.Has(set) || !by.Sources.Cover(n.WriteSources) || !by.Restriction.Covers(&n.Restriction) {
		return "", nil, ErrLacks
	}
	secret, r := mint(n, by.Name, h.engine.Now())
	err = h.alter(ctx, func(c *catalog) error {
		switch {
		case c.named(n.Name):
			return fmt.Errorf("%w: %s: locus token rotate gives it another secret", ErrTaken, n.Name)
		case len(c.Tokens) >= maxTokens:
			return problem.Invalid("/name", "invalid",
				"there are %d tokens, the most that an installation has: revoke one", maxTokens)
		}
		c.add(r)
		if c.Boot != nil {
			c.Boot.Expires = r.Created // there is another credential now
		}
		if err := c.lastAccess(r.Created); err != nil {
			return problem.Invalid("/roles", "invalid", "the first token needs the role administrator: without it no other could be made")
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return secret, &r.Token, nil
}

func mint(n Request, by string, now time.Time) (secret string, r row) {
	now = now.UTC().Truncate(time.Millisecond)
	secret, id := access.NewToken()
	_, hash, _ := access.ParseToken(secret)
	r = row{Token: Token{Name: n.Name, ID: id, Roles: n.Roles, Allow: n.Allow, WriteSources: n.WriteSources,
		Restriction: n.Restriction, Rates: n.Rates, Created: now, By: by}, Hash: hash[:]}
	if !n.Endless {
		r.Expires = now.Add(n.Life)
	}
	return secret, r
}

func (c *catalog) add(r row) {
	c.Tokens = append(c.Tokens, r)
	slices.SortFunc(c.Tokens, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
}

// Rotate adds another secret to the principal of a token, for as long as the newest one was given, and ends the older
// ones after overlap. The error is ErrNotFound, or ErrLacks if by lacks a permission of the token.
func (h *Handle) Rotate(ctx context.Context, by *Principal, name string,
	overlap time.Duration) (secret string, t *Token, err error) {
	if overlap < 0 || overlap > maxLife {
		return "", nil, problem.Invalid("/overlap", "invalid", "want a duration from 0 to %d days, such as 24h",
			maxLife/(24*time.Hour))
	}
	var r row
	err = h.alter(ctx, func(c *catalog) error {
		now := h.engine.Now()
		end, found := now.UTC().Truncate(time.Millisecond).Add(overlap), false
		n := Request{Name: name}
		for i := range c.Tokens {
			old := &c.Tokens[i]
			if old.Name != name {
				continue
			}
			if !old.Login {
				found, n.Roles, n.Allow, n.WriteSources, n.Restriction, n.Rates, n.Life = true, old.Roles, old.Allow, old.WriteSources, old.Restriction, old.Rates, 0
				if n.Endless = old.Expires.IsZero(); !n.Endless {
					n.Life = old.Expires.Sub(old.Created)
				}
			}
			if old.Expires.IsZero() || end.Before(old.Expires) {
				old.Expires = end
			}
		}
		if !found {
			return fmt.Errorf("%w: %s", ErrNotFound, name)
		}
		set, err := access.Grant(n.Roles, n.Allow)
		if err != nil {
			return err
		}
		if !by.Permissions.Has(set) || !by.Sources.Cover(n.WriteSources) || !by.Restriction.Covers(&n.Restriction) {
			return ErrLacks
		}
		secret, r = mint(n, by.Name, now)
		c.Tokens = slices.DeleteFunc(c.Tokens, func(r row) bool { return r.Name == name && !r.live(now) })
		c.add(r)
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return secret, &r.Token, nil
}

// Revoke ends all tokens of a name and their sessions: at once in this process, within a second in others. It returns
// how many there were. The error is ErrNotFound, or ErrLast if no other token has the permission access and by is not
// the operator.
func (h *Handle) Revoke(ctx context.Context, by *Principal, name string) (n int, err error) {
	err = h.alter(ctx, func(c *catalog) error {
		before := len(c.Tokens)
		c.Tokens = slices.DeleteFunc(c.Tokens, func(r row) bool { return r.Name == name })
		if n = before - len(c.Tokens); n == 0 {
			return fmt.Errorf("%w: %s", ErrNotFound, name)
		}
		c.Sessions = slices.DeleteFunc(c.Sessions, func(r sessionRow) bool { return r.Name == name })
		if by.Named() {
			if err := c.lastAccess(h.engine.Now()); err != nil {
				return fmt.Errorf("%w: create another with the role administrator first, or revoke it with locus token revoke --data or --map", err)
			}
		}
		return nil
	})
	return n, err
}

// RevokeAll ends every token, session, code of a login and bootstrap token, and returns how many tokens there were.
// Blocks stay, and requests still need a token. It is for an installation that was restored from a backup, which has
// the tokens that were revoked since. The error is ErrLast unless by is the operator, ErrNotFound if there never was a
// token.
func (h *Handle) RevokeAll(ctx context.Context, by *Principal) (n int, err error) {
	if by.Named() {
		return 0, fmt.Errorf("%w: revoke all of them with --data or --map", ErrLast)
	}
	err = h.alter(ctx, func(c *catalog) error {
		if !c.closed() {
			return fmt.Errorf("%w: there never was one", ErrNotFound)
		}
		n = len(c.Tokens)
		c.Tokens, c.Sessions, c.Codes, c.LoginSecret = nil, nil, nil, nil
		if c.Boot != nil {
			c.Boot.Expires = h.engine.Now().UTC()
		}
		return nil
	})
	return n, err
}
