// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Handle lists, creates, compares and migrates kinds. Get it from DB.Kinds of package locus. It is safe for concurrent
// use.
type Handle struct {
	engine *engine.Engine
}

// New returns the kinds handle of an installation.
func New(e *engine.Engine) *Handle { return &Handle{e} }

var (
	// ErrNoKind means that there is no kind of that name.
	ErrNoKind = problem.Class(problem.ErrNotFound, "locus: no such kind")
	// ErrNoTerms means that the installation stores no term-frequency table with that hash.
	ErrNoTerms = problem.Class(problem.ErrNotFound, "locus: no such term-frequency table")
	// ErrOtherKind means that a different kind of that name exists. Change it with Migrate.
	ErrOtherKind = problem.Class(problem.ErrConflict, "locus: a different kind with this name exists")
	// ErrTooMany means that the comparison would need too much memory.
	ErrTooMany = problem.Class(problem.ErrInvalid, "locus: too many records to compare in memory")
)

// Rules is how a kind is resolved.
type Rules struct {
	Schema *match.Schema
	// Terms is the hash of the term-frequency table.
	Terms string
	// Default reports whether this is the default kind, used by records that name none.
	Default bool
	// Change is the unfinished migration to these rules, nil if there is none.
	Change *resolve.Migration
}

// Proposal is a set of rules for a kind.
type Proposal struct {
	// Kind is the name of the kind; the name of Schema if that is set.
	Kind string
	// Schema is the proposed schema; nil means the current one. Terms is the hash of a stored term-frequency table; ""
	// means the current one.
	Schema *match.Schema
	Terms  string
}

// List returns the rules of all kinds, by name.
func (h *Handle) List() []Rules {
	rules := h.engine.Resolver.Rules()
	var kinds []Rules
	for _, k := range rules.Kinds() {
		r := Rules{Schema: k.Matcher.Schema(), Terms: resolve.HashText(k.Matcher.TermFrequencies().Hash()),
			Default: k == rules.Kind("")}
		if c := rules.Change(); c != nil && c.Kind == k.Name() {
			r.Change = c
		}
		kinds = append(kinds, r)
	}
	return kinds
}

// Create adds a kind during reads and writes, and reports whether it was added. Creating an identical kind again
// changes nothing; a different kind of that name is ErrOtherKind. The error is a *locus.InvalidError if there are as many
// kinds as Options.MaxKinds of package locus.
func (h *Handle) Create(ctx context.Context, schema *match.Schema) (bool, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return false, err
	}
	if err := h.engine.Resolver.Reload(ctx); err != nil {
		return false, engine.Wrap(err)
	}
	if k := h.engine.Kind(schema.Kind); k != nil {
		if k.Matcher.Schema().Hash() == schema.Hash() {
			return false, nil
		}
		return false, fmt.Errorf("%w: kind %s has version %d; locus kind migrate changes it", ErrOtherKind, schema.Kind,
			k.Matcher.Schema().Version)
	}
	if n := len(h.engine.Resolver.Rules().Kinds()); h.engine.MaxKinds >= 0 && n >= h.engine.MaxKinds {
		return false, problem.Invalid("/kind", "invalid",
			"there are %d kinds, the maximum, and kinds cannot be dropped: raise the limit with locus serve --max-kinds", n)
	}
	_, err := h.engine.Resolver.Migrate(ctx, schema, nil)
	return err == nil, engine.Wrap(err)
}

// proposed returns the schema and the term-frequency table of a proposal, those of the current rules where it has none.
func (h *Handle) proposed(ctx context.Context,
	p Proposal) (schema *match.Schema, terms *match.TermFrequencies, err error) {
	if schema = p.Schema; schema == nil {
		k := h.engine.Kind(p.Kind)
		if k == nil {
			return nil, nil, fmt.Errorf("%w: %.64q", ErrNoKind, p.Kind)
		}
		schema = k.Matcher.Schema()
	} else if h.engine.Kind(schema.Kind) == nil {
		return nil, nil, fmt.Errorf("%w: %.64q; locus kind create makes it", ErrNoKind, schema.Kind)
	}
	if p.Terms != "" {
		if terms, err = h.engine.Resolver.StoredTerms(ctx, p.Terms); err == nil && terms == nil {
			err = fmt.Errorf("%w: %.32q", ErrNoTerms, p.Terms)
		}
	} else {
		terms = h.engine.Kind(schema.Kind).Matcher.TermFrequencies()
	}
	return schema, terms, engine.Wrap(err)
}

// Schemas returns the schemas of all kinds, by name.
func (h *Handle) Schemas() []*match.Schema {
	kinds := h.engine.Resolver.Rules().Kinds()
	schemas := make([]*match.Schema, len(kinds))
	for i, k := range kinds {
		schemas[i] = k.Matcher.Schema()
	}
	return schemas
}

// Schema returns the schema of the named kind, nil if there is none. "" is the default kind.
func (h *Handle) Schema(kind string) *match.Schema { return h.engine.Schema(kind) }
