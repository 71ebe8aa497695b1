// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

const (
	// loginLife is how long the token of a command line is valid that a person has signed in.
	loginLife = 12 * time.Hour
	// codeLife is how long its code is.
	codeLife = 2 * time.Minute
	// maxCodes limits the codes that were not used.
	maxCodes = 100
)

// code is the permission that a person has given to a command line in the console, to be exchanged for a token.
type code struct {
	Hash []byte `json:"hash"`
	// Challenge is the SHA-256 of the verifier that only the command line knows, in base64.
	Challenge string    `json:"challenge"`
	Session   string    `json:"session"`
	Expires   time.Time `json:"expires"`
}

var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Challenge returns the challenge of a verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Code returns a code that the command line with the verifier of a challenge can exchange once for a token of the
// principal, who must be signed in.
func (h *Handle) Code(ctx context.Context, who *Principal, challenge string) (string, error) {
	if !challengeForm.MatchString(challenge) {
		return "", problem.Invalid("/challenge", "invalid",
			"it is not the SHA-256 of a verifier: begin again with locus login")
	}
	text := rand.Text()
	hash := sha256.Sum256([]byte(text))
	err := h.alter(ctx, func(c *catalog) error {
		now := h.engine.Now().UTC().Truncate(time.Millisecond)
		c.Codes = slices.DeleteFunc(c.Codes, func(old code) bool { return !now.Before(old.Expires) })
		if len(c.Codes) >= maxCodes {
			c.Codes = c.Codes[1:]
		}
		c.Codes = append(c.Codes, code{Hash: hash[:], Challenge: challenge, Session: who.ID, Expires: now.Add(codeLife)})
		if !who.Session || c.session(who.ID, now) == nil {
			return ErrUnknown
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

// Redeem exchanges a code and its verifier for a token with the permissions of the person, valid for 12 hours and no
// longer than the token that the person signed in with. A code is used up even if the verifier is wrong. The error is
// ErrUnknown for every reason.
func (h *Handle) Redeem(ctx context.Context, text, verifier string) (secret string, t *Token, err error) {
	hash := sha256.Sum256([]byte(text))
	is := func(c code) bool { return subtle.ConstantTimeCompare(c.Hash, hash[:]) == 1 }
	known := false // looked up first, so that guesses write nothing
	err = h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		c, err := read(ctx, tx)
		known = c != nil && slices.ContainsFunc(c.Codes, is)
		return err
	})
	switch {
	case err != nil:
		return "", nil, engine.Wrap(err)
	case !known:
		return "", nil, ErrUnknown
	}
	var made *row
	err = h.alter(ctx, func(c *catalog) error {
		made = nil
		at := slices.IndexFunc(c.Codes, is)
		if at < 0 {
			return ErrUnknown
		}
		used := c.Codes[at]
		c.Codes = slices.Delete(c.Codes, at, at+1)
		now := h.engine.Now()
		s := c.session(used.Session, now)
		if s == nil || !now.Before(used.Expires) || subtle.ConstantTimeCompare([]byte(Challenge(verifier)), []byte(used.Challenge)) != 1 {
			return nil // and the code is used up
		}
		given, err := access.ParseGiven(s.Roles)
		if err != nil {
			return nil // made by a later release
		}
		n := Request{Name: s.Name, Roles: given.Roles, WriteSources: given.Sources, Restriction: given.Restriction, Life: loginLife}
		if given.Shares != nil {
			n.Roles = s.Roles
		}
		of := c.token(s.Token)
		if of != nil {
			n.Roles, n.Allow, n.WriteSources, n.Restriction, n.Rates = of.Roles, of.Allow, of.WriteSources, of.Restriction, of.Rates
		}
		var r row
		secret, r = mint(n, s.Name, now)
		r.Author, r.Login = s.Author, true
		if of != nil && !of.Expires.IsZero() && of.Expires.Before(r.Expires) {
			r.Expires = of.Expires
		}
		c.Tokens = slices.DeleteFunc(c.Tokens, func(r row) bool { return r.Login && !r.live(now) })
		if len(c.Tokens) >= maxTokens {
			return problem.Invalid("/name", "invalid",
				"there are %d tokens, the most that an installation has: revoke one", maxTokens)
		}
		c.add(r)
		made = &r
		return nil
	})
	switch {
	case err != nil:
		return "", nil, err
	case made == nil:
		return "", nil, ErrUnknown
	}
	return secret, &made.Token, nil
}

// session returns a session that has not ended, nil otherwise.
func (c *catalog) session(id string, now time.Time) *sessionRow {
	i := slices.IndexFunc(c.Sessions, func(r sessionRow) bool { return r.ID == id })
	if i < 0 || c.Sessions[i].ended(now) || c.Sessions[i].Token != "" && !c.live(c.Sessions[i].Token, now) {
		return nil
	}
	return &c.Sessions[i]
}

func (c *catalog) token(id string) *row {
	if i := slices.IndexFunc(c.Tokens, func(r row) bool { return r.ID == id }); i >= 0 {
		return &c.Tokens[i]
	}
	return nil
}

// Quit ends the token of a principal, if locus login has made it; it reports whether it has. Any other token is not
// changed.
func (h *Handle) Quit(ctx context.Context, who *Principal) (ended bool, err error) {
	err = h.alter(ctx, func(c *catalog) error {
		before := len(c.Tokens)
		c.Tokens = slices.DeleteFunc(c.Tokens, func(r row) bool { return r.ID == who.ID && r.Login })
		if ended = len(c.Tokens) < before; !ended {
			return errNone // a catalogue that is stored ends the time without tokens
		}
		return nil
	})
	if errors.Is(err, errNone) {
		err = nil
	}
	return ended, err
}

// errNone means that there is nothing to change.
var errNone = errors.New("tokens: not a token of a login")

// secretBytes is the length of the secret that seals the cookies of logins.
const secretBytes = 32

// LoginSecret returns the secret that seals the cookies of logins. It is the same in every process, and not derived
// from anything that a route shows.
func (h *Handle) LoginSecret(ctx context.Context) ([]byte, error) {
	s, err := h.current(ctx)
	if err != nil {
		return nil, err
	}
	if len(s.secret) == secretBytes {
		return s.secret, nil
	}
	var secret []byte
	err = h.alter(ctx, func(c *catalog) error {
		if !c.closed() {
			return errOpen()
		}
		if len(c.LoginSecret) != secretBytes { // another process may have been faster
			c.LoginSecret = make([]byte, secretBytes)
			_, _ = rand.Read(c.LoginSecret) // never fails
		}
		secret = c.LoginSecret
		return nil
	})
	return secret, err
}

func errOpen() error {
	return problem.Invalid("", "invalid", "there is no token yet: every request is taken, without signing in")
}
