// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

const (
	// sessionLife and sessionIdle are how long a session lasts in all, and without a request.
	sessionLife = 24 * time.Hour
	sessionIdle = 8 * time.Hour
	// usedEvery is how often the last use of a session is stored: a session may end by so much earlier.
	usedEvery = 10 * time.Minute
	// maxSessions limits the sessions of an installation, maxOwn the sessions of one principal, whose oldest then ends.
	maxSessions = 2000
	maxOwn      = 50
)

// ErrNoSession means that there is no session with this id.
var ErrNoSession = problem.Class(problem.ErrNotFound, "locus: there is no such session")

// Session is a session in a browser, without its secret.
type Session struct {
	// ID of the session, 8 characters.
	ID string `json:"id"`
	// Name of the principal, and the name that people read if it is another.
	Name   string `json:"name"`
	Author string `json:"author,omitempty"`
	// Token is the id of the token that was exchanged for the session, which ends with it and has its permissions. It
	// is "" for a person named by an identity provider. Roles are then the roles of the person's groups with their
	// limits, such as hide:ssn; if the limits differ, there is an item for each group.
	Token string   `json:"token,omitempty"`
	Roles []string `json:"roles,omitempty"`
	// Created, Expires, and Used, which is up to ten minutes old.
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Used    time.Time `json:"used"`
}

// sessionRow is a session as it is stored.
type sessionRow struct {
	Session
	Hash []byte `json:"hash"`
}

// ended reports whether a session has reached its end, or was not used.
func (s *Session) ended(now time.Time) bool {
	return !now.Before(s.Expires) || now.Sub(s.Used) >= sessionIdle
}

// heldSession is a session in the copy in memory.
type heldSession struct {
	Session
	hash access.Hash
	who  *Principal // set for a person; the session of a token has the permissions of the token
}

// Person is a person as an identity provider names them.
type Person struct {
	// Name of the principal, which is never given to another person, and the name that people read.
	Name, Author string
	// Roles and limits: kind:place, hide:ssn, source:vendor-*. Items with commas belong to several groups, see
	// access.ParseGiven.
	Roles []string
}

// SignIn exchanges a token for a session, and ends the session whose secret is former, if there is one. The secret is
// stored nowhere. The error is ErrUnknown if the token is not valid.
func (h *Handle) SignIn(ctx context.Context, token, former string) (secret string, s *Session, err error) {
	who, err := h.Check(ctx, token)
	if err != nil {
		return "", nil, err
	}
	return h.begin(ctx, Session{Name: who.Name, Author: who.Author, Token: who.ID}, former)
}

// Admit begins a session for a person whom an identity provider has named. The error is ErrUnknown if the person is
// blocked.
func (h *Handle) Admit(ctx context.Context, p Person, former string) (secret string, s *Session, err error) {
	if given, err := access.ParseGiven(p.Roles); err != nil || len(given.Roles) == 0 || p.Name == "" {
		return "", nil, problem.Invalid("/roles", "invalid", "a person needs a name and at least one of the roles %v", access.Roles())
	}
	if blocked, err := h.Blocked(ctx, p.Name); err != nil || blocked {
		return "", nil, cmp.Or(err, ErrUnknown)
	}
	return h.begin(ctx, Session{Name: p.Name, Author: p.Author, Roles: p.Roles}, former)
}

func (h *Handle) begin(ctx context.Context, s Session, former string) (string, *Session, error) {
	secret, id := access.NewSession()
	_, hash, _ := access.ParseSession(secret)
	old, _, _ := access.ParseSession(former)
	now := h.engine.Now().UTC().Truncate(time.Millisecond)
	s.ID, s.Created, s.Used, s.Expires = id, now, now, now.Add(sessionLife)
	err := h.alter(ctx, func(c *catalog) error {
		if !c.closed() {
			return errOpen()
		}
		c.Sessions = slices.DeleteFunc(c.Sessions, func(r sessionRow) bool { return r.ID == old && former != "" || r.ended(now) })
		own := 0
		for i := len(c.Sessions) - 1; i >= 0; i-- { // the newest is the last
			if c.Sessions[i].Name != s.Name {
				continue
			}
			if own++; own >= maxOwn {
				c.Sessions = slices.Delete(c.Sessions, i, i+1)
			}
		}
		if len(c.Sessions) >= maxSessions {
			return fmt.Errorf("%w: there are %d sessions, the most that an installation has: end one with locus session end",
				problem.ErrConflict, maxSessions)
		}
		c.Sessions = append(c.Sessions, sessionRow{Session: s, Hash: hash[:]})
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return secret, &s, nil
}

// CheckSession returns the principal of a session. It returns the same errors as Check.
func (h *Handle) CheckSession(ctx context.Context, secret string) (*Principal, error) {
	id, hash, err := access.ParseSession(secret)
	if err != nil {
		return nil, ErrUnknown
	}
	c, err := h.current(ctx)
	if err != nil {
		return nil, err
	}
	s := c.sessions[id]
	if subtle.ConstantTimeCompare(s.hash[:], hash[:]) != 1 || s.who == nil {
		return nil, ErrUnknown
	}
	who := h.signedIn(c, id)
	if who == nil {
		return nil, ErrUnknown
	}
	if now := h.engine.Now().UTC().Truncate(time.Millisecond); now.Sub(s.Used) >= usedEvery {
		h.mu.Lock()
		h.usedSessions[id] = now
		h.mu.Unlock()
	}
	return who, nil
}

// signedIn returns the principal of a session that has not ended, nil otherwise.
func (h *Handle) signedIn(c *snapshot, id string) *Principal {
	s, found := c.sessions[id]
	now := h.engine.Now()
	if !found || s.ended(now) || c.blocked[s.Name] {
		return nil
	}
	if s.Token == "" {
		return s.who
	}
	t, found := c.tokens[s.Token]
	if !found || !t.expires.IsZero() && !now.Before(t.expires) {
		return nil
	}
	who := *s.who
	who.Permissions, who.Sources, who.Restriction, who.Shares, who.Rates = t.who.Permissions, t.who.Sources, t.who.Restriction, t.who.Shares, t.who.Rates
	return &who
}

// copySessions copies the sessions of the catalogue.
func (s *snapshot) copySessions(c *catalog) {
	s.secret = c.LoginSecret
	s.sessions = make(map[string]heldSession, len(c.Sessions))
	for _, r := range c.Sessions {
		given, err := access.ParseGiven(r.Roles)
		if err != nil {
			continue // made by a later release
		}
		one := heldSession{Session: r.Session, who: given.Principal()}
		one.who.Name, one.who.Author, one.who.ID, one.who.Session = r.Name, r.Author, r.ID, true
		copy(one.hash[:], r.Hash)
		s.sessions[r.ID] = one
	}
}

// SignOut ends the session of a secret, at once in this process and within a second in others. It returns nil if there
// is no such session.
func (h *Handle) SignOut(ctx context.Context, secret string) (*Session, error) {
	who, err := h.CheckSession(ctx, secret)
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	ended, err := h.EndSession(ctx, who.ID)
	if errors.Is(err, ErrNoSession) {
		return nil, nil
	}
	return ended, err
}

// EndSession ends a session by its id. The error is ErrNoSession.
func (h *Handle) EndSession(ctx context.Context, id string) (*Session, error) {
	var ended Session
	err := h.alter(ctx, func(c *catalog) error {
		i := slices.IndexFunc(c.Sessions, func(r sessionRow) bool { return r.ID == id })
		if i < 0 {
			return fmt.Errorf("%w: %.40q", ErrNoSession, id)
		}
		ended = c.Sessions[i].Session
		c.Sessions = slices.Delete(c.Sessions, i, i+1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &ended, nil
}

// Sessions returns the sessions that have not ended, the oldest first.
func (h *Handle) Sessions(ctx context.Context) (list []Session, err error) {
	now := h.engine.Now()
	err = h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		c, err := read(ctx, tx)
		list = []Session{}
		if err != nil || c == nil {
			return err
		}
		for _, r := range c.Sessions {
			if !r.ended(now) && (r.Token == "" || c.live(r.Token, now)) {
				list = append(list, r.Session)
			}
		}
		return nil
	})
	return list, engine.Wrap(err)
}

// live reports whether there is a token with this id that has not expired.
func (c *catalog) live(id string, now time.Time) bool {
	return slices.ContainsFunc(c.Tokens, func(r row) bool { return r.ID == id && r.live(now) })
}

// closed reports whether the installation had a token before this change.
func (c *catalog) closed() bool { return c.Revision > 1 }
