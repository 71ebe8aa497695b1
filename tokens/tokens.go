// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

// Principal is the identity that a request acts as.
type Principal = access.Principal

// Rates limit what a principal may do in each process, per second. A zero field means its default.
type Rates = access.Rates

// Restriction narrows what a principal sees to some kinds, and hides the values of attributes.
type Restriction = access.Restriction

// Operator returns the principal of a process that opens the databases itself: it may do everything.
func Operator() *Principal { return access.Local() }

// Errors of this package.
var (
	// ErrNotFound means that there is no token of this name.
	ErrNotFound = problem.Class(problem.ErrNotFound, "locus: there is no such token")
	// ErrTaken means that there is a token of this name.
	ErrTaken = problem.Class(problem.ErrConflict, "locus: there is a token of this name")
	// ErrLast means that no token with the permission access would remain.
	ErrLast = problem.Class(problem.ErrConflict, "locus: it is the last token that can administer tokens")
	// ErrLacks means that a principal would grant a permission that it does not have.
	ErrLacks = problem.Class(problem.ErrConflict, "locus: a token cannot have a permission that its creator lacks")
	// ErrUnknown means that a credential is not a token, or that the token is unknown, expired or revoked.
	ErrUnknown = errors.New("locus: the token is not valid")
)

const (
	// defaultLife and maxLife are the default and the limit of Request.Life.
	defaultLife = 90 * 24 * time.Hour
	maxLife     = 366 * 24 * time.Hour
	// bootLife is how long a bootstrap token is valid.
	bootLife = 24 * time.Hour
	// maxTokens limits how many tokens an installation has.
	maxTokens = 1000
	// fresh is how old the copy in memory may be.
	fresh = time.Second
	// DefaultGrace is how old the copy may be while the authority cannot be read, unless locus.Options.AccessGrace says
	// otherwise.
	DefaultGrace = 5 * time.Minute
	// patience limits the time to read the authority.
	patience = 2 * time.Second
)

// Token is a token without its secret.
type Token struct {
	// Name of the principal: [a-z0-9][a-z0-9_.-]*, at most 64 bytes. The tokens of a rotation share it.
	Name string `json:"name"`
	// ID is in the token's text, 8 characters.
	ID string `json:"id"`
	// Roles and single permissions, sorted. The roles in the login of a person may come from several groups, see
	// access.ParseGiven.
	Roles []string `json:"roles,omitempty"`
	Allow []string `json:"allow,omitempty"`
	// WriteSources limit the sources whose records the principal may write, see access.Sources; nil for all.
	WriteSources []string `json:"write_sources,omitempty"`
	// Restriction narrows what the principal sees.
	Restriction
	// Rates limit the principal in each process.
	Rates Rates `json:"rates,omitzero"`
	// Created by the principal By, "" for the operator.
	Created time.Time `json:"created"`
	By      string    `json:"by,omitempty"`
	// Expires is when the token ends, zero for never.
	Expires time.Time `json:"expires,omitzero"`
	// Login means that locus login has made the token, for the person whom others read as Author, if that is not Name.
	Login  bool   `json:"login,omitempty"`
	Author string `json:"author,omitempty"`
	// Used is the last hour when the token was used, zero if it was not.
	Used time.Time `json:"used,omitzero"`
}

// row is a token as it is stored.
type row struct {
	Token
	Hash []byte `json:"hash"`
}

// catalog is the definition of all tokens. It is nil in an installation that never had one.
type catalog struct {
	Revision int64 `json:"revision"`
	Tokens   []row `json:"tokens"`
	// Sessions of people in the console, the oldest first.
	Sessions []sessionRow `json:"sessions,omitempty"`
	// Codes of locus login that were not used, the oldest first.
	Codes []code `json:"codes,omitempty"`
	// LoginSecret seals the cookies of logins.
	LoginSecret []byte `json:"login_secret,omitempty"`
	// Blocks are the principals that are refused, the oldest block first.
	Blocks []Block `json:"blocks,omitempty"`
	// Boot is the last bootstrap token, nil if there was none. Its end is kept, so that a restart does not begin it
	// again.
	Boot *row `json:"boot,omitempty"`
}

const catalogName = "tokens"

// Handle creates, lists, revokes and checks tokens: DB.Tokens of package locus. It is safe for concurrent use.
type Handle struct {
	engine *engine.Engine
	now    func() time.Time
	grace  time.Duration // how old the copy may be while the authority cannot be read
	copied atomic.Pointer[snapshot]
	turn   chan struct{} // held while the authority is read or changed

	mu   sync.Mutex
	used map[string]time.Time // hour of the last use by token id, since it was last written
	// usedSessions is the same for sessions, to the millisecond.
	usedSessions map[string]time.Time
}

// New returns the handle of an installation. It reads nothing until it is used.
func New(e *engine.Engine) *Handle {
	return &Handle{engine: e, now: time.Now, grace: cmp.Or(e.AccessGrace, DefaultGrace), turn: make(chan struct{}, 1),
		used: map[string]time.Time{}, usedSessions: map[string]time.Time{}}
}

func read(ctx context.Context, tx storage.Tx) (*catalog, error) {
	body, err := tx.Definition(ctx, catalogName)
	if err != nil || body == nil {
		return nil, err
	}
	c := &catalog{}
	if err := json.Unmarshal(body, c); err != nil {
		return nil, fmt.Errorf("row %s: %w", catalogName, err)
	}
	return c, nil
}

// alter changes the catalogue, and lets the copy in memory be read again before its next use.
func (h *Handle) alter(ctx context.Context, do func(*catalog) error) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return engine.Wrap(ctx.Err())
	}
	defer func() { <-h.turn }()
	defer h.copied.Store(nil)
	return h.store(ctx, do)
}

// store changes the catalogue in one transaction.
func (h *Handle) store(ctx context.Context, do func(*catalog) error) error {
	return engine.Wrap(h.engine.Update(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		c, err := read(ctx, tx)
		if err != nil {
			return err
		}
		if c == nil {
			c = &catalog{}
		}
		c.Revision++
		if err := do(c); err != nil {
			return err
		}
		body, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("row %s: %w", catalogName, err)
		}
		return tx.PutDefinition(ctx, catalogName, body)
	}))
}

// List returns all tokens by name, the oldest first, including expired ones.
func (h *Handle) List(ctx context.Context) (list []Token, err error) {
	err = h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		c, err := read(ctx, tx)
		list = []Token{}
		if err != nil || c == nil {
			return err
		}
		for _, r := range c.Tokens {
			list = append(list, r.Token)
		}
		return nil
	})
	return list, engine.Wrap(err)
}

func (c *catalog) named(name string) bool {
	return slices.ContainsFunc(c.Tokens, func(r row) bool { return r.Name == name })
}

// lastAccess returns ErrLast if no valid token has the permission access. Tokens of logins, of blocked principals and
// with a restriction do not count, because they cannot create unrestricted ones.
func (c *catalog) lastAccess(now time.Time) error {
	for _, r := range c.Tokens {
		if s, err := access.Grant(r.Roles, r.Allow); err == nil && s.Has(access.Of(access.Access)) && r.live(now) && !r.Login && !r.Narrow() && c.block(r.Name) < 0 {
			return nil
		}
	}
	return ErrLast
}

func (t *Token) live(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// principal returns who a token is. The error means that a later release has made it.
func (t *Token) principal() (*Principal, error) {
	given, err := access.ParseGiven(t.Roles)
	if err != nil {
		return nil, err
	}
	allowed, err := access.Grant(nil, t.Allow)
	if err != nil {
		return nil, err
	}
	who := given.Principal()
	who.Name, who.Author, who.ID, who.Permissions, who.Rates = t.Name, t.Author, t.ID, who.Permissions|allowed, t.Rates
	who.Sources, who.Restriction = t.WriteSources, t.Restriction
	return who, nil
}
