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
	"github.com/locus-db/locus/resolve/derived"
)

// Kind is the rules for one kind of thing: a schema with a term-frequency table.
type Kind struct {
	Matcher *match.Matcher
	Policy  entity.Policy
	// Hash identifies the schema, the term-frequency table and the version of the matcher. It is part of the stamp of
	// every entity.
	Hash uint64
}

func newKind(m *match.Matcher) *Kind {
	s := m.Schema()
	name := fmt.Sprintf("kind %s %d %016x, term-frequency table %016x", s.Kind, s.Version, s.Hash(),
		m.TermFrequencies().Hash())
	if derived.RulesName != firstMatcher {
		name += ", " + derived.RulesName
	}
	return &Kind{Matcher: m, Policy: NewSchemaPolicy(s), Hash: xxhash.Sum64String(name)}
}

func (k *Kind) normalise(rec *entity.Record) *match.Record {
	return k.Matcher.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
}

// Name returns the name of the kind.
func (k *Kind) Name() string { return k.Matcher.Schema().Kind }

// Rules are the kinds of an installation. Rules are immutable: a change creates a higher version. They are
// stored in the authority of the cell map and shared by all processes.
type Rules struct {
	// Version is 1 for the first rules of an installation.
	Version int64
	// Matcher is the version of the matcher that made the entities.
	Matcher string
	// Terms are the stored term-frequency tables, newest last.
	Terms []Terms

	kinds       map[string]*Kind
	first       *Kind
	former      *Kind // the kind being migrated, before the change
	change      *Migration
	storedRules *storedRules // the stored form; nil if the rules come from Options
}

// Terms describes a stored term-frequency table.
type Terms struct {
	Hash string `json:"hash"`
	// Kind is the kind of the counted records, "" if none were counted.
	Kind string `json:"kind,omitempty"`
	// Records, Tokens and Chains are the numbers of items counted in the term-frequency table; Bytes is its encoded
	// size.
	Records int `json:"records"`
	Tokens  int `json:"tokens"`
	Chains  int `json:"chains"`
	Bytes   int `json:"bytes"`
	// Since is when the term-frequency table was stored.
	Since time.Time `json:"since"`
}

// Migration is an unfinished migration of a kind to another schema or term-frequency table, or of all kinds to another
// version of the matcher: the records are being resolved again, cell by cell.
type Migration struct {
	// Kind is "" for an upgrade.
	Kind  string    `json:"kind,omitempty"`
	Since time.Time `json:"since"`
	// From is the former version of the matcher, and Step the current step; only for an upgrade.
	From string `json:"from,omitempty"`
	Step Step   `json:"step,omitempty"`
	// Cells is the progress of each cell. A cell that is missing has not started.
	Cells map[cell.ID]MigrationProgress `json:"cells"`
}

// MigrationProgress is the progress of a migration in one cell.
type MigrationProgress struct {
	After int64 `json:"after,string"`         // puid of the last record examined
	Key   int64 `json:"key,string,omitempty"` // blocking key of the last posting examined
	// records resolved again; in the other steps of an upgrade, rows examined
	Records int  `json:"records"`
	Done    bool `json:"done,omitempty"`
}

// Records returns the number of records resolved again.
func (c *Migration) Records() (n int) {
	for _, t := range c.Cells {
		n += t.Records
	}
	return n
}

// Done returns the number of finished cells.
func (c *Migration) Done() (n int) {
	for _, t := range c.Cells {
		if t.Done {
			n++
		}
	}
	return n
}

// NewRules returns the rules of matchers for distinct kinds. The first is the default kind.
func NewRules(version int64, matchers ...*match.Matcher) *Rules {
	kinds := make([]*Kind, len(matchers))
	for i, m := range matchers {
		kinds[i] = newKind(m)
	}
	return rulesOf(version, kinds)
}

func rulesOf(version int64, kinds []*Kind) *Rules {
	r := &Rules{Version: version, Matcher: derived.RulesName, kinds: make(map[string]*Kind, len(kinds))}
	for _, k := range kinds {
		if r.kinds[k.Name()] = k; r.first == nil {
			r.first = k
		}
	}
	return r
}

// Kind returns the kind of that name, nil if there is none. "" means the default kind.
func (r *Rules) Kind(name string) *Kind {
	if name == "" {
		return r.first
	}
	return r.kinds[name]
}

// Kinds returns all kinds, ordered by name.
func (r *Rules) Kinds() []*Kind {
	kinds := make([]*Kind, 0, len(r.kinds))
	for _, name := range slices.Sorted(maps.Keys(r.kinds)) {
		kinds = append(kinds, r.kinds[name])
	}
	return kinds
}

// Change returns the unfinished migration, nil if there is none.
func (r *Rules) Change() *Migration { return r.change }
