// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

// snapshot is the copy of the catalogue in memory.
type snapshot struct {
	closed bool
	tokens map[string]held // by id
	// sessions by id.
	sessions map[string]heldSession
	blocked  map[string]bool // by the name of the principal
	secret   []byte          // of the cookies of logins
	read     time.Time       // when it was read
	tried    time.Time       // when that was last tried
}

type held struct {
	hash    access.Hash
	expires time.Time
	who     *Principal
	used    time.Time
}

// Closed reports whether the installation has, or had, a token: callers without one are then refused.
func (h *Handle) Closed(ctx context.Context) (bool, error) {
	s, err := h.current(ctx)
	if err != nil {
		return false, err
	}
	return s.closed, nil
}

// Check returns the principal of a token. The error is ErrUnknown, or of class locus.ErrUnavailable if the tokens have
// been unreadable for longer than locus.Options.AccessGrace.
func (h *Handle) Check(ctx context.Context, token string) (*Principal, error) {
	id, hash, err := access.ParseToken(token)
	if err != nil {
		return nil, ErrUnknown
	}
	s, err := h.current(ctx)
	if err != nil {
		return nil, err
	}
	t := s.tokens[id] // the zero value has a hash too, so that an unknown id is compared like a known one
	if subtle.ConstantTimeCompare(t.hash[:], hash[:]) != 1 || t.who == nil {
		return nil, ErrUnknown
	}
	now := h.engine.Now()
	if !t.expires.IsZero() && !now.Before(t.expires) || s.blocked[t.who.Name] {
		return nil, ErrUnknown
	}
	if hour := now.UTC().Truncate(time.Hour); hour.After(t.used) {
		h.mu.Lock()
		h.used[id] = hour
		h.mu.Unlock()
	}
	return t.who, nil
}

// Live reports whether the credential of a principal is still valid, and the principal not blocked; for work that
// outlasts a request. The operator always is.
func (h *Handle) Live(ctx context.Context, who *Principal) (bool, error) {
	s, err := h.current(ctx)
	if err != nil {
		return false, err
	}
	if !who.Named() {
		return !s.closed, nil
	}
	if s.blocked[who.Name] {
		return false, nil
	}
	if !who.Until.IsZero() {
		return h.engine.Now().Before(who.Until), nil
	}
	if who.Session {
		return h.signedIn(s, who.ID) != nil, nil
	}
	t, found := s.tokens[who.ID]
	return found && (t.expires.IsZero() || h.engine.Now().Before(t.expires)), nil
}

// current returns the copy in memory, after reading it again if it is old. One caller reads, the others wait.
func (h *Handle) current(ctx context.Context) (*snapshot, error) {
	if s := h.copied.Load(); s != nil && h.now().Sub(s.tried) < fresh {
		return h.usable(s)
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, engine.Wrap(ctx.Err())
	}
	old := h.copied.Load()
	if old != nil && h.now().Sub(old.tried) < fresh {
		return h.usable(old)
	}
	began := h.now()
	s, err := h.load(ctx)
	switch {
	case err == nil:
		s.read, s.tried = began, began
	case old != nil:
		kept := *old
		kept.tried = h.now()
		s = &kept
	default:
		return nil, err
	}
	h.copied.Store(s)
	return h.usable(s)
}

// usable returns the copy unless it is too old. A copy without tokens is never too old: an open installation does not
// depend on the authority.
func (h *Handle) usable(s *snapshot) (*snapshot, error) {
	if s.closed && h.now().Sub(s.read) > h.grace {
		return nil, fmt.Errorf("%w: the tokens have not been readable for %v", problem.ErrUnavailable, h.grace)
	}
	return s, nil
}

// load reads the catalogue, and writes the hours of last use.
func (h *Handle) load(ctx context.Context) (*snapshot, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var c *catalog
	err := h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) (err error) {
		c, err = read(ctx, tx)
		return err
	})
	if err != nil {
		return nil, engine.Wrap(err)
	}
	s := &snapshot{closed: c != nil, tokens: map[string]held{}}
	if c == nil {
		return s, nil
	}
	h.writeUses(ctx, c)
	if b := c.Boot; b != nil {
		t := held{expires: b.Expires, who: &Principal{Name: b.Name, ID: b.ID, Permissions: access.Everything()}}
		copy(t.hash[:], b.Hash)
		s.tokens[b.ID] = t
	}
	for _, r := range c.Tokens {
		who, err := r.principal()
		if err != nil {
			continue // made by a later release: it admits no caller here
		}
		t := held{expires: r.Expires, used: r.Used, who: who}
		copy(t.hash[:], r.Hash)
		s.tokens[r.ID] = t
	}
	s.copySessions(c)
	s.blocked = make(map[string]bool, len(c.Blocks))
	for _, b := range c.Blocks {
		s.blocked[b.Name] = true
	}
	return s, nil
}

// writeUses stores when tokens and sessions were last used, at most once an hour for each token. After an error these
// times are lost.
func (h *Handle) writeUses(ctx context.Context, c *catalog) {
	h.mu.Lock()
	used, sessions := h.used, h.usedSessions
	h.used, h.usedSessions = map[string]time.Time{}, map[string]time.Time{}
	h.mu.Unlock()
	set := func(c *catalog) (changed bool) {
		for i := range c.Tokens {
			if hour := used[c.Tokens[i].ID]; hour.After(c.Tokens[i].Used) {
				c.Tokens[i].Used, changed = hour, true
			}
		}
		for i := range c.Sessions {
			if at := sessions[c.Sessions[i].ID]; at.After(c.Sessions[i].Used) {
				c.Sessions[i].Used, changed = at, true
			}
		}
		return changed
	}
	if set(c) && !h.engine.ReadOnly {
		_ = h.store(ctx, func(c *catalog) error { set(c); return nil })
	}
}
