// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
)

// Errors of this package.
var (
	// ErrNotFound means that there is no sink of this name.
	ErrNotFound = problem.Class(problem.ErrNotFound, "locus: no such sink")
	// ErrOther means that a sink of this name has another target or another kind.
	ErrOther = problem.Class(problem.ErrConflict, "locus: a different sink with this name exists")
	// ErrOwn means that the target of a sink belongs to no other installation.
	ErrOwn = problem.Class(problem.ErrConflict, "locus: there is nothing to adopt")
)

// defaultHold and maxHold are the default and the limit of Definition.Hold.
const (
	defaultHold = 72 * time.Hour
	maxHold     = 72 * time.Hour
)

// Definition is a target that an installation delivers to.
type Definition struct {
	// Name of the sink: [a-z0-9][a-z0-9_.-]*, at most 64 bytes.
	Name string `json:"name"`
	// To is the URL of the target, without a password.
	To string `json:"to"`
	// Kind, if not "", delivers only the entities of this kind.
	Kind string `json:"kind,omitempty"`
	// Feed is the content of the sink: "" for the state of every ID, or Changes.
	Feed string `json:"feed,omitempty"`
	// SecretEnv names the environment variable of the servers with the secret, "" without one.
	SecretEnv string `json:"secret_env,omitempty"`
	// Hold is for how long the logs keep changes that were not delivered, at most. Defaults to 72 hours, the longest.
	Hold time.Duration `json:"hold"`
	// Adopt is the installation whose target Adopt took over, and Above the highest token of that.
	Adopt string `json:"adopt,omitempty"`
	Above int64  `json:"above,omitempty"`
	// Paused means that no process delivers. Reason is the cause unless a person paused it.
	Paused bool   `json:"paused,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Revision increases with every change of any sink. Created and Revision are set by Create.
	Revision int64     `json:"revision"`
	Created  time.Time `json:"created"`
}

// Changes is the Feed of an audit trail: every change of every log, from the creation of the sink on.
const Changes = "changes"

// rows are all definitions.
var rows = &running.Row[Definition]{Name: "sinks", NotFound: ErrNotFound, Stop: sink.ErrStop,
	Common: func(d *Definition) running.Common {
		return running.Common{Name: d.Name, Revision: &d.Revision, Paused: &d.Paused, Reason: &d.Reason}
	}}

type definitions = running.Definitions[Definition]

// Names of the rows of a sink.
func progressName(name string) string { return "sink/" + name }
func deadName(name string) string     { return "sink/" + name + "/dead" }
func askedName(name string) string    { return "sink/" + name + "/asked" }

// maxSinks limits how many sinks an installation has.
const maxSinks = 100

// check returns everything that is wrong with a definition.
func (h *Handle) check(d *Definition) error {
	var all []problem.Problem
	fail := func(pointer, text string) { all = append(all, problem.New(pointer, "invalid", text)) }
	if !running.NameForm.MatchString(d.Name) {
		fail("/name", "a sink is called [a-z0-9][a-z0-9_.-]*, at most 64 bytes")
	}
	to, driver, err := sink.ParseURL(d.To)
	if err == nil && d.Feed == Changes && driver.CheckChanges != nil {
		err = driver.CheckChanges(to)
	}
	switch {
	case err != nil:
		fail("/to", err.Error())
	case d.Feed != "" && d.Feed != Changes:
		fail("/feed", "want states or changes")
	case d.Feed == Changes && driver.Changes == nil:
		fail("/feed", "this target takes states only; changes can go to webhooks, Kafka topics, NATS streams, PostgreSQL tables and files")
	case d.Feed == Changes && d.Kind != "":
		fail("/kind", "changes are of all kinds: leave it out")
	}
	if d.Kind != "" && h.engine.Kind(d.Kind) == nil {
		all = append(all, h.engine.UnknownKind(d.Kind).Problems...)
	}
	if err := running.CheckVariable(d.SecretEnv); err != nil {
		fail("/secret_env", err.Error())
	}
	if d.Hold == 0 {
		d.Hold = defaultHold
	}
	if d.Hold < 0 || d.Hold > maxHold {
		fail("/hold", "want a duration up to 72h, such as 24h: a sink that lags longer delivers all ids again")
	}
	if len(all) > 0 {
		return &problem.InvalidError{Problems: all}
	}
	return nil
}

// Create creates a sink, or changes the secret or the hold of one. changed is false if it is the same already. A paused
// sink stays paused, and the position is kept. The error is a *locus.InvalidError, or ErrOther if the sink has another
// target or kind: delete it first.
func (h *Handle) Create(ctx context.Context, d Definition) (status *Status, changed bool, err error) {
	if err := h.check(&d); err != nil {
		return nil, false, err
	}
	var from sink.Position
	if d.Feed == Changes {
		if from, err = sink.StartOfChanges(ctx, h.changes.Source(), h.engine.Now()); err != nil {
			return nil, false, engine.Wrap(err)
		}
	}
	err = h.catalog.Alter(ctx, func(tx storage.Tx, all *definitions) error {
		changed = true
		old := all.Find(d.Name)
		if old == nil {
			if len(all.All) >= maxSinks {
				return problem.Invalid("/name", "invalid",
					"there are %d sinks, the most that an installation has: delete one", maxSinks)
			}
			d.Adopt, d.Above, d.Created, d.Paused, d.Reason, d.Revision = "", 0, h.engine.Now().UTC(), false, "", all.Revision
			all.Add(d)
			if d.Feed == Changes {
				return begin(ctx, tx, d.Name, sink.Progress{}, from)
			}
			return nil
		}
		switch {
		case old.Feed != d.Feed:
			return fmt.Errorf("%w: %s delivers another feed: delete it first, or choose another name", ErrOther, d.Name)
		case old.To != d.To:
			return fmt.Errorf("%w: %s delivers to %s: delete it first, or choose another name", ErrOther, d.Name, old.To)
		case old.Kind != d.Kind:
			return fmt.Errorf("%w: %s delivers %s: delete it first, or choose another name", ErrOther, d.Name,
				kindText(old.Kind))
		}
		changed = old.SecretEnv != d.SecretEnv || old.Hold != d.Hold
		if changed {
			old.SecretEnv, old.Hold, old.Revision = d.SecretEnv, d.Hold, all.Revision
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	status, err = h.Get(ctx, d.Name)
	return status, changed, err
}

func kindText(kind string) string {
	if kind == "" {
		return "all kinds"
	}
	return "kind " + kind
}

// begin stores the position at which a sink of changes begins, or continues after a gap.
func begin(ctx context.Context, tx storage.Tx, name string, p sink.Progress, at sink.Position) error {
	head, err := tx.Head(ctx)
	if err != nil {
		return err
	}
	p.Position, p.Trouble = at, ""
	return putProgress(ctx, tx, name, stored{Progress: p, Returns: head.Returns})
}

// Pause stops a sink until Resume. The error is ErrNotFound if there is none.
func (h *Handle) Pause(ctx context.Context, name string) (*Status, error) {
	return h.change(ctx, name, func(_ storage.Tx, d *Definition) error {
		d.Paused, d.Reason = true, ""
		return nil
	})
}

// Resume lets a sink continue where it stopped, or fill again if the logs do not reach back that far. The error is
// ErrNotFound if there is no such sink.
func (h *Handle) Resume(ctx context.Context, name string) (*Status, error) {
	of, err := h.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	var at sink.Position
	if of.Feed == Changes && (of.Reason != "" || of.Position.Installation == "") { // a person knows of the gap
		from, err := sink.StartOfChanges(ctx, h.changes.Source(), h.engine.Now())
		if at = of.Position; err == nil && at.Installation == "" {
			at = from
		} else if err == nil {
			err = sink.SkipGaps(ctx, h.changes.Source(), &at, from)
		}
		if err != nil {
			return nil, engine.Wrap(err)
		}
	}
	return h.change(ctx, name, func(tx storage.Tx, d *Definition) error {
		d.Paused, d.Reason = false, ""
		s, err := running.Read[stored](ctx, tx, progressName(name))
		if err != nil {
			return err
		}
		if at.Installation != "" {
			return begin(ctx, tx, name, s.Progress, at)
		}
		if s.Trouble == "" {
			return nil
		}
		s.Trouble = ""
		return running.Put(ctx, tx, progressName(name), s)
	})
}

// Delete removes a sink, its position and its dead letters. The content of the target stays. The error is ErrNotFound
// if there is no such sink.
func (h *Handle) Delete(ctx context.Context, name string) error {
	return h.catalog.Alter(ctx, func(tx storage.Tx, all *definitions) error {
		if err := all.Delete(name); err != nil {
			return err
		}
		if err := running.Put(ctx, tx, progressName(name), stored{}); err != nil {
			return err
		}
		if err := running.Put(ctx, tx, deadName(name), []sink.Letter{}); err != nil {
			return err
		}
		return running.Put(ctx, tx, askedName(name), []sink.Request{})
	})
}

// change changes one definition and returns its new state.
func (h *Handle) change(ctx context.Context, name string, do func(storage.Tx, *Definition) error) (*Status, error) {
	if err := h.catalog.Change(ctx, name, do); err != nil {
		return nil, err
	}
	return h.Get(ctx, name)
}
