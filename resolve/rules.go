// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/cell"
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

func newKind(m *match.Matcher) *Kind {
	s := m.Schema()
	name := fmt.Sprintf("kind %s %d %016x, pack %016x", s.Kind, s.Version, s.Hash(), m.Pack().Hash())
	return &Kind{Matcher: m, Policy: SchemaPolicy{s}, Hash: xxhash.Sum64String(name)}
}

// normalise reads a record as one of the kind.
func (k *Kind) normalise(rec *entity.Record) *match.Record {
	return k.Matcher.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
}

// Name is the name of the kind.
func (k *Kind) Name() string { return k.Matcher.Schema().Kind }

// Rules are the kinds of things that are resolved, and how. Rules are a value: what changes gets a
// higher version. They are kept in the cell that keeps the cell map, for all processes.
type Rules struct {
	// Version is 1 for the first rules of an installation.
	Version int64
	// Packs are those that the installation keeps, the latest last.
	Packs []Pack

	kinds  map[string]*Kind
	first  *Kind
	former *Kind // of the kind that is being switched, as it was
	change *Change
	book   *book // that they were read from; nil if they come from options
}

// Pack is a pack that an installation keeps.
type Pack struct {
	Hash string `json:"hash"`
	// Kind is that of the records that were counted, "" if none were.
	Kind string `json:"kind,omitempty"`
	// Records, Tokens and Chains are those that the pack counts; Bytes is how long it is.
	Records int `json:"records"`
	Tokens  int `json:"tokens"`
	Chains  int `json:"chains"`
	Bytes   int `json:"bytes"`
	// Since is when it came.
	Since time.Time `json:"since"`
}

// Change is a switch of a kind to another schema or pack that is not finished: records are resolved anew,
// cell by cell.
type Change struct {
	Kind  string    `json:"kind"`
	Since time.Time `json:"since"`
	// Cells says how far each cell is. One that is not named has not begun.
	Cells map[cell.ID]Turn `json:"cells"`
}

// Turn is how far a switch is in one cell.
type Turn struct {
	After   int64 `json:"after,string"` // the puid of the last record that was looked at
	Records int   `json:"records"`      // those that were resolved anew
	Done    bool  `json:"done,omitempty"`
}

// Records is how many records were resolved anew.
func (c *Change) Records() (n int) {
	for _, t := range c.Cells {
		n += t.Records
	}
	return n
}

// Done is how many cells are through.
func (c *Change) Done() (n int) {
	for _, t := range c.Cells {
		if t.Done {
			n++
		}
	}
	return n
}

// NewRules makes rules of matchers, of different kinds. The first is that of records that name none.
func NewRules(version int64, matchers ...*match.Matcher) *Rules {
	r := &Rules{Version: version, kinds: make(map[string]*Kind, len(matchers))}
	for _, m := range matchers {
		k := newKind(m)
		if r.kinds[k.Name()] = k; r.first == nil {
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

// Change is the switch that is not finished, nil if there is none.
func (r *Rules) Change() *Change { return r.change }
