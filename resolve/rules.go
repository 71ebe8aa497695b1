// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// Kind is how the records of one kind of things are resolved: a schema under a pack.
type Kind struct {
	Matcher *match.Matcher
	Policy  entity.Policy
	// Hash names the schema and the pack. It is part of the stamp of every entity.
	Hash uint64
}

// Name is the name of the kind.
func (k *Kind) Name() string { return k.Matcher.Schema().Kind }

// Rules are the kinds of things that are resolved, and how. Rules are a value: what changes gets a
// higher version.
type Rules struct {
	// Version is 1 for the first rules of an installation.
	Version int64
	kinds   map[string]*Kind
	first   *Kind
}

// NewRules makes rules of matchers, of different kinds. The first is that of records that name none.
func NewRules(version int64, matchers ...*match.Matcher) *Rules {
	r := &Rules{Version: version, kinds: make(map[string]*Kind, len(matchers))}
	for _, m := range matchers {
		s := m.Schema()
		name := fmt.Sprintf("kind %s %d %016x, pack %016x", s.Kind, s.Version, s.Hash(), m.Pack().Hash())
		k := &Kind{Matcher: m, Policy: SchemaPolicy{s}, Hash: xxhash.Sum64String(name)}
		if r.kinds[s.Kind] = k; r.first == nil {
			r.first = k
		}
	}
	return r
}

// Kind answers with the kind of that name, nil if there is none; "" is the first.
func (r *Rules) Kind(name string) *Kind {
	if name == "" {
		return r.first
	}
	return r.kinds[name]
}

// Kinds are all kinds, in the order of their names.
func (r *Rules) Kinds() []*Kind {
	kinds := make([]*Kind, 0, len(r.kinds))
	for _, name := range slices.Sorted(maps.Keys(r.kinds)) {
		kinds = append(kinds, r.kinds[name])
	}
	return kinds
}
