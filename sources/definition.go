// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/storage"
)

// Errors of this package.
var (
	// ErrNotFound means that there is no stream of this name.
	ErrNotFound = problem.Class(problem.ErrNotFound, "locus: the source has no stream")
	// ErrOther means that a source of this name reads another stream.
	ErrOther = problem.Class(problem.ErrConflict, "locus: the source reads another stream")
)

// Definition is a stream that an installation reads.
type Definition struct {
	// Name of the source, as in records: [a-z0-9][a-z0-9_.-]*, at most 64 bytes.
	Name string `json:"name"`
	// From is the URL of the stream, without a password.
	From string `json:"from"`
	// Format of the messages; "" is source.JSON.
	Format source.Format `json:"format"`
	// Mapping is a mapping file as of an import, in YAML; "" takes the names of columns as they are.
	Mapping string `json:"mapping,omitempty"`
	// SecretEnv names the environment variable of the servers that has the password, "" without one.
	SecretEnv string `json:"secret_env,omitempty"`
	// Paused means that no process reads it. Reason is the cause unless a person paused it.
	Paused bool   `json:"paused,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Revision increases with every change of any source. Created and Revision are set by Create.
	Revision int64     `json:"revision"`
	Created  time.Time `json:"created"`
}

// rows are all definitions.
var rows = &running.Row[Definition]{Name: "sources", NotFound: ErrNotFound, Stop: source.ErrStop,
	Common: func(d *Definition) running.Common {
		return running.Common{Name: d.Name, Revision: &d.Revision, Paused: &d.Paused, Reason: &d.Reason}
	}}

type definitions = running.Definitions[Definition]

// Names of the rows of a source.
func progressName(name string) string { return "source/" + name }
func deadName(name string) string     { return "source/" + name + "/dead" }

// maxSources limits how many sources an installation has, maxMapping the length of a mapping.
const (
	maxSources = 100
	maxMapping = 64 << 10
)

// check returns everything that is wrong with a definition.
func (h *Handle) check(d *Definition) error {
	var all []problem.Problem
	fail := func(pointer, text string) { all = append(all, problem.New(pointer, "invalid", text)) }
	if !running.NameForm.MatchString(d.Name) {
		fail("/source", "a source is called [a-z0-9][a-z0-9_.-]*, at most 64 bytes")
	}
	if d.Format == "" {
		d.Format = source.JSON
	}
	if !slices.Contains(source.Formats, d.Format) {
		fail("/format", "want json or debezium")
	}
	if _, err := source.ParseURL(d.From); err != nil {
		fail("/from", err.Error())
	}
	if err := running.CheckVariable(d.SecretEnv); err != nil {
		fail("/secret_env", err.Error())
	}
	if len(d.Mapping) > maxMapping {
		fail("/mapping", fmt.Sprintf("it has more than %d bytes", maxMapping))
	} else if _, err := h.opts.Compile(d.Mapping, d.Name, h.schemas()); err != nil {
		fail("/mapping", strings.TrimPrefix(err.Error(), "the mapping is not valid: "))
	}
	if len(all) > 0 {
		return &problem.InvalidError{Problems: all}
	}
	return nil
}

// Create creates a source, or changes the format, the mapping or the secret of one. changed is false if it is the same
// already. A paused source stays paused, and the position is kept. The error is a *locus.InvalidError, or ErrOther if
// the source reads another stream: drop it first.
func (h *Handle) Create(ctx context.Context, d Definition) (status *Status, changed bool, err error) {
	if err := h.able(); err != nil {
		return nil, false, err
	}
	if err := h.check(&d); err != nil {
		return nil, false, err
	}
	err = h.catalog.Alter(ctx, func(_ storage.Tx, all *definitions) error {
		changed = true
		old := all.Find(d.Name)
		if old == nil {
			if len(all.All) >= maxSources {
				return problem.Invalid("/source", "invalid",
					"there are %d sources, the most that an installation reads: drop one", maxSources)
			}
			d.Created, d.Paused, d.Reason, d.Revision = h.engine.Now().UTC(), false, "", all.Revision
			all.Add(d)
			return nil
		}
		if old.From != d.From {
			return fmt.Errorf("%w: %s reads %s: drop it first, its records stay", ErrOther, d.Name, old.From)
		}
		changed = old.Format != d.Format || old.Mapping != d.Mapping || old.SecretEnv != d.SecretEnv
		if changed {
			old.Format, old.Mapping, old.SecretEnv, old.Revision = d.Format, d.Mapping, d.SecretEnv, all.Revision
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	status, err = h.Get(ctx, d.Name)
	return status, changed, err
}

// Pause stops a source until Resume. The error is ErrNotFound if there is none.
func (h *Handle) Pause(ctx context.Context, name string) (*Status, error) {
	return h.change(ctx, name, func(_ storage.Tx, d *Definition) error {
		d.Paused, d.Reason = true, ""
		return nil
	})
}

// Resume lets a source continue where it stopped; fromStart begins again with the oldest message in the stream, which
// is harmless. The error is ErrNotFound if there is no such source.
func (h *Handle) Resume(ctx context.Context, name string, fromStart bool) (*Status, error) {
	return h.change(ctx, name, func(tx storage.Tx, d *Definition) error {
		d.Paused, d.Reason = false, ""
		if !fromStart {
			return nil
		}
		p, err := running.Read[source.Progress](ctx, tx, progressName(name))
		if err != nil {
			return err
		}
		p.Position = source.Position{}
		return running.Put(ctx, tx, progressName(name), p)
	})
}

// Delete forgets a stream, its position and its dead letters. The records of the source stay. The error is ErrNotFound
// if there is none.
func (h *Handle) Delete(ctx context.Context, name string) error {
	return h.catalog.Alter(ctx, func(tx storage.Tx, all *definitions) error {
		if err := all.Delete(name); err != nil {
			return err
		}
		if err := running.Put(ctx, tx, progressName(name), source.Progress{}); err != nil {
			return err
		}
		return running.Put(ctx, tx, deadName(name), []source.Letter{})
	})
}

// change changes one definition and returns its new state.
func (h *Handle) change(ctx context.Context, name string, do func(storage.Tx, *Definition) error) (*Status, error) {
	if err := h.catalog.Change(ctx, name, do); err != nil {
		return nil, err
	}
	return h.Get(ctx, name)
}
