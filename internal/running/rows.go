// SPDX-License-Identifier: Apache-2.0

package running

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/storage"
)

// NameForm is the pattern of the names of definitions.
var NameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// Read reads a row of JSON, the zero value if there is none.
func Read[T any](ctx context.Context, tx storage.Tx, name string) (v T, err error) {
	body, err := tx.Definition(ctx, name)
	if err == nil && body != nil {
		if err = json.Unmarshal(body, &v); err != nil {
			err = fmt.Errorf("row %s: %w", name, err)
		}
	}
	return v, err
}

// Put writes a row of JSON.
func Put(ctx context.Context, tx storage.Tx, name string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("row %s: %w", name, err)
	}
	return tx.PutDefinition(ctx, name, body)
}

// Lease returns the holder of a lease in the authority cell, for the process called owner.
func Lease(e *engine.Engine, name, owner string) *lease.Holder {
	type run = func(context.Context, func(storage.Tx) error) error
	in := func(run run) func(context.Context, func(lease.Store) error) error {
		return func(ctx context.Context, fn func(lease.Store) error) error {
			return run(ctx, func(tx storage.Tx) error { return fn(tx) })
		}
	}
	return lease.NewHolder(lease.Options{
		Name: name, Owner: owner, TTL: ttl, Now: time.Now,
		Update: in(func(ctx context.Context, fn func(storage.Tx) error) error {
			return e.Update(ctx, e.Map().Authority(), fn)
		}),
		View: in(func(ctx context.Context, fn func(storage.Tx) error) error {
			return e.View(ctx, e.Map().Authority(), fn)
		}),
	})
}

// CheckOwner returns lease.ErrLost unless a lease in the authority cell has the owner and the token.
func CheckOwner(ctx context.Context, tx storage.Tx, name, owner string, token int64) error {
	l, err := tx.Lease(ctx, name)
	if err == nil && (l.Owner != owner || l.Token != token) {
		err = lease.ErrLost
	}
	return err
}
