// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Handle lists, creates, compares and switches kinds: DB.Kinds of package locus. It is safe for concurrent use.
type Handle struct {
	engine *engine.Engine
}

// New returns the handle of an installation.
func New(e *engine.Engine) *Handle { return &Handle{e} }

var (
	// ErrNoKind says that there is no kind of that name.
	ErrNoKind = errors.New("locus: there is no such kind")
	// ErrNoPack says that the installation keeps no pack of that hash.
	ErrNoPack = errors.New("locus: there is no such pack")
	// ErrOtherKind says that a kind is there already, and is another one. A switch changes it.
	ErrOtherKind = errors.New("locus: the kind is there already, and is another one")
	// ErrTooMany says that a comparison would take more memory than it may.
	ErrTooMany = errors.New("locus: too many records to compare in memory")
)

// Rules is how a kind of things is resolved.
type Rules struct {
	Schema *match.Schema
	// Pack is the hash of the statistics that names are weighed with.
	Pack string
	// Default tells whether records that name no kind are of this one.
	Default bool
	// Change is the switch to these rules that is not finished, nil if there is none.
	Change *resolve.Change
}

// Proposal is how a kind might be resolved.
type Proposal struct {
	// Kind is that of Schema, if that is there.
	Kind string
	// Schema is the one that the kind has, if it is nil, and so is Pack, the hash of one that is kept, if it
	// is "".
	Schema *match.Schema
	Pack   string
}

// List returns the kinds of things with how they are resolved, in the order of their names.
func (h *Handle) List() []Rules {
	rules := h.engine.Resolver.Rules()
	var kinds []Rules
	for _, k := range rules.Kinds() {
		r := Rules{Schema: k.Matcher.Schema(), Pack: resolve.HashText(k.Matcher.Pack().Hash()), Default: k == rules.Kind("")}
		if c := rules.Change(); c != nil && c.Kind == k.Name() {
			r.Change = c
		}
		kinds = append(kinds, r)
	}
	return kinds
}

// Packs are those that the installation keeps, the latest last.
func (h *Handle) Packs() []resolve.Pack { return h.engine.Resolver.Rules().Packs }

// Create adds a kind of things, while reads and writes go on. It reports whether it did: the same again
// changes nothing, and another one of that name is ErrOtherKind.
func (h *Handle) Create(ctx context.Context, schema *match.Schema) (bool, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return false, err
	}
	if err := h.engine.Resolver.Reload(ctx); err != nil {
		return false, wrapRules(err)
	}
	if k := h.engine.Kind(schema.Kind); k != nil {
		if k.Matcher.Schema().Hash() == schema.Hash() {
			return false, nil
		}
		return false, fmt.Errorf("%w: kind %s has version %d; locus kind switch changes it", ErrOtherKind, schema.Kind, k.Matcher.Schema().Version)
	}
	_, err := h.engine.Resolver.Switch(ctx, schema, nil)
	return err == nil, wrapRules(err)
}

// BuildPack counts the live records of a kind and keeps what it finds as a pack, by which nothing is resolved
// until the kind is switched to it.
func (h *Handle) BuildPack(ctx context.Context, kind string, progress func(Progress)) (resolve.Pack, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return resolve.Pack{}, err
	}
	k := h.engine.Kind(kind)
	if k == nil {
		return resolve.Pack{}, fmt.Errorf("%w: %.64q", ErrNoKind, kind)
	}
	counting := h.progress(ctx, "reading", progress)
	var failed error
	pack := match.BuildPack(k.Matcher.Schema(), func(yield func(match.Attributes) bool) {
		failed = h.eachRecord(ctx, k.Name(), func(rec *entity.Record) error {
			counting.add(1)
			if !yield(match.Attributes(rec.Attributes)) {
				return context.Canceled
			}
			return nil
		})
	})
	if failed == nil {
		failed = h.engine.Resolver.Keep(ctx, k.Name(), pack)
	}
	if failed != nil {
		return resolve.Pack{}, wrapRules(failed)
	}
	hash := resolve.HashText(pack.Hash())
	for _, p := range h.Packs() {
		if p.Hash == hash {
			return p, nil
		}
	}
	return resolve.Pack{}, fmt.Errorf("%w: %s", ErrNoPack, hash)
}

// proposed reads what a proposal names.
func (h *Handle) proposed(ctx context.Context, p Proposal) (schema *match.Schema, pack *match.Pack, err error) {
	if schema = p.Schema; schema == nil {
		k := h.engine.Kind(p.Kind)
		if k == nil {
			return nil, nil, fmt.Errorf("%w: %.64q", ErrNoKind, p.Kind)
		}
		schema = k.Matcher.Schema()
	} else if h.engine.Kind(schema.Kind) == nil {
		return nil, nil, fmt.Errorf("%w: %.64q; locus kind create makes it", ErrNoKind, schema.Kind)
	}
	if p.Pack != "" {
		if pack, err = h.engine.Resolver.Packed(ctx, p.Pack); err == nil && pack == nil {
			err = fmt.Errorf("%w: %.32q", ErrNoPack, p.Pack)
		}
	} else {
		pack = h.engine.Kind(schema.Kind).Matcher.Pack()
	}
	return schema, pack, wrapRules(err)
}

// ruled says in this package's words why rules were not read or changed.
func wrapRules(err error) error {
	for _, said := range []error{resolve.ErrRules, resolve.ErrSwitching, ErrNoKind, ErrNoPack, ErrTooMany} {
		if errors.Is(err, said) {
			return err
		}
	}
	return engine.Wrap(err)
}

// recordsPage is how many records are read at once.
const recordsPage = 1000

// eachRecord reads the live records of a kind, cell by cell.
func (h *Handle) eachRecord(ctx context.Context, kind string, fn func(*entity.Record) error) error {
	read := func(tx resolve.Tx, after entity.PUID, limit int) ([]*entity.Record, error) {
		return tx.ListRecords(ctx, "", after, limit)
	}
	return engine.Each(ctx, h.engine, engine.FirstPUID, read, func(rec *entity.Record) entity.PUID { return rec.PUID }, func(rec *entity.Record) error {
		if rec.Kind != kind {
			return nil
		}
		return fn(rec)
	})
}

// Schemas returns the kinds of things that are resolved, in the order of their names.
func (h *Handle) Schemas() []*match.Schema {
	kinds := h.engine.Resolver.Rules().Kinds()
	schemas := make([]*match.Schema, len(kinds))
	for i, k := range kinds {
		schemas[i] = k.Matcher.Schema()
	}
	return schemas
}

// Schema returns the kind of that name, nil if there is none. "" is the kind of records that name none.
func (h *Handle) Schema(kind string) *match.Schema { return h.engine.Schema(kind) }
