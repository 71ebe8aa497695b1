// SPDX-License-Identifier: Apache-2.0

package running

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// ErrChanged means that a definition is another one, or paused: its runner ends, and another may take its place.
var ErrChanged = errors.New("the definition was paused, changed or deleted")

// Common are the fields that definitions of sinks and of streams share.
type Common struct {
	Name     string
	Revision *int64
	Paused   *bool
	Reason   *string
}

// Row is the row with all definitions of sinks, or all of streams.
type Row[D any] struct {
	// Name of the row, and of the list in it.
	Name string
	// NotFound is the error for a name without a definition.
	NotFound error
	// Stop is the error that ends a runner.
	Stop error
	// Common returns the fields of a definition that change in the same way in all of them.
	Common func(*D) Common
}

// Definitions are the content of a Row, by name.
type Definitions[D any] struct {
	// Revision increases with every change.
	Revision int64
	All      []D
	row      *Row[D]
}

// Read reads the definitions.
func (r *Row[D]) Read(ctx context.Context, tx storage.Tx) (*Definitions[D], error) {
	all := &Definitions[D]{row: r}
	fields, err := Read[map[string]json.RawMessage](ctx, tx, r.Name)
	if err != nil || fields == nil {
		return all, err
	}
	if err := errors.Join(json.Unmarshal(fields["revision"], &all.Revision),
		json.Unmarshal(fields[r.Name], &all.All)); err != nil {
		return nil, fmt.Errorf("row %s: %w", r.Name, err)
	}
	return all, nil
}

// Put writes the definitions.
func (r *Row[D]) Put(ctx context.Context, tx storage.Tx, all *Definitions[D]) error {
	return Put(ctx, tx, r.Name, map[string]any{"revision": all.Revision, r.Name: all.All})
}

// Check returns Stop and ErrChanged unless there is a definition of the name, at the revision and not paused.
func (r *Row[D]) Check(ctx context.Context, tx storage.Tx, name string, revision int64) error {
	all, err := r.Read(ctx, tx)
	if err != nil {
		return err
	}
	if d := all.Find(name); d == nil || *r.Common(d).Paused || *r.Common(d).Revision != revision {
		return fmt.Errorf("%w: %w", r.Stop, ErrChanged)
	}
	return nil
}

// Get reads the definition of a name. The error is NotFound if there is none.
func (r *Row[D]) Get(ctx context.Context, tx storage.Tx, name string) (d D, err error) {
	all, err := r.Read(ctx, tx)
	if err != nil {
		return d, err
	}
	of := all.Find(name)
	if of == nil {
		return d, fmt.Errorf("%w: %s", r.NotFound, name)
	}
	return *of, nil
}

func (c *Definitions[D]) index(name string) (at int, found bool) {
	return slices.BinarySearchFunc(c.All, name, func(d D, name string) int {
		return strings.Compare(c.row.Common(&d).Name, name)
	})
}

// Find returns the definition of a name, nil if there is none.
func (c *Definitions[D]) Find(name string) *D {
	if at, found := c.index(name); found {
		return &c.All[at]
	}
	return nil
}

// Add adds a definition, whose name is new.
func (c *Definitions[D]) Add(d D) {
	at, _ := c.index(c.row.Common(&d).Name)
	c.All = slices.Insert(c.All, at, d)
}

// Delete removes the definition of a name. The error is Row.NotFound if there is none.
func (c *Definitions[D]) Delete(name string) error {
	at, found := c.index(name)
	if !found {
		return fmt.Errorf("%w: %s", c.row.NotFound, name)
	}
	c.All = slices.Delete(c.All, at, at+1)
	return nil
}

// Catalog reads and changes the definitions of an installation, for one process.
type Catalog[D any] struct {
	*Row[D]
	Engine *engine.Engine
	// Owner is the name of the process in leases.
	Owner string
	// Wake is signalled when the definitions may have changed.
	Wake chan struct{}
}

// NewCatalog returns the catalogue of an installation for the process called owner.
func NewCatalog[D any](row *Row[D], e *engine.Engine, owner string) *Catalog[D] {
	if owner == "" {
		owner = "alone" // no other process can have it, and a new one takes it over at once
	}
	return &Catalog[D]{Row: row, Engine: e, Owner: owner, Wake: make(chan struct{}, 1)}
}

// View reads the authority cell.
func (c *Catalog[D]) View(ctx context.Context, fn func(storage.Tx) error) error {
	return engine.Wrap(c.Engine.View(ctx, c.Engine.Map().Authority(), fn))
}

// Update changes the authority cell.
func (c *Catalog[D]) Update(ctx context.Context, fn func(storage.Tx) error) error {
	if err := c.Engine.CheckWrites(); err != nil {
		return err
	}
	return engine.Wrap(c.Engine.Update(ctx, c.Engine.Map().Authority(), fn))
}

// Alter changes the definitions under their next revision, and signals Wake.
func (c *Catalog[D]) Alter(ctx context.Context, do func(storage.Tx, *Definitions[D]) error) error {
	defer engine.Wake(c.Wake)
	return c.Update(ctx, func(tx storage.Tx) error {
		all, err := c.Read(ctx, tx)
		if err != nil {
			return err
		}
		all.Revision++
		if err := do(tx, all); err != nil {
			return err
		}
		return c.Put(ctx, tx, all)
	})
}

// Change changes one definition. The error is Row.NotFound if there is none of the name.
func (c *Catalog[D]) Change(ctx context.Context, name string, do func(storage.Tx, *D) error) error {
	return c.Alter(ctx, func(tx storage.Tx, all *Definitions[D]) error {
		d := all.Find(name)
		if d == nil {
			return fmt.Errorf("%w: %s", c.NotFound, name)
		}
		*c.Common(d).Revision = all.Revision
		return do(tx, d)
	})
}

// Pause pauses a definition whose runner cannot go on, unless it is another one by now.
func (c *Catalog[D]) Pause(ctx context.Context, w Wanted[D], reason string) error {
	return c.Alter(ctx, func(_ storage.Tx, all *Definitions[D]) error {
		if d := all.Find(w.Name); d != nil && *c.Common(d).Revision == w.Revision {
			of := c.Common(d)
			*of.Paused, *of.Reason, *of.Revision = true, reason, all.Revision
		}
		return nil
	})
}

// Wanted returns the definitions that are not paused.
func (c *Catalog[D]) Wanted(ctx context.Context) (wanted []Wanted[D], err error) {
	all, err := List(ctx, c, func(_ context.Context, _ storage.Tx, d D) (*D, error) { return &d, nil })
	for _, d := range all {
		if of := c.Common(&d); !*of.Paused {
			wanted = append(wanted, Wanted[D]{Name: of.Name, Revision: *of.Revision, Definition: d})
		}
	}
	return wanted, err
}

// List returns the status of every definition, by name.
func List[D, S any](ctx context.Context, c *Catalog[D],
	status func(context.Context, storage.Tx, D) (*S, error)) (list []S, err error) {
	err = c.View(ctx, func(tx storage.Tx) error {
		all, err := c.Read(ctx, tx)
		if err != nil {
			return err
		}
		list = make([]S, len(all.All))
		for i, d := range all.All {
			s, err := status(ctx, tx, d)
			if err != nil {
				return err
			}
			list[i] = *s
		}
		return nil
	})
	return list, err
}

// Get returns the status of one definition. The error is Row.NotFound if there is none of the name.
func Get[D, S any](ctx context.Context, c *Catalog[D], name string,
	status func(context.Context, storage.Tx, D) (*S, error)) (s *S, err error) {
	err = c.View(ctx, func(tx storage.Tx) error {
		d, err := c.Row.Get(ctx, tx, name)
		if err == nil {
			s, err = status(ctx, tx, d)
		}
		return err
	})
	return s, err
}
