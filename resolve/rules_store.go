// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// ErrFormat means that the rules of an installation were written by a newer Locus or are damaged.
var ErrFormat = problem.Class(problem.ErrUnavailable, "resolve: rules of a newer release of Locus")

const (
	rulesKey    = "rules"      // definition that holds the rules
	copyName    = "rules/copy" // definition that holds the copy in other cells
	termsPrefix = "pack/"      // prefix of term-frequency table definitions; the hash follows
)

// HashText returns the name of a term-frequency table with that hash.
func HashText(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// storedRules is the stored form of Rules.
type storedRules struct {
	Version int64 `json:"version"`
	// Matcher is firstMatcher if it is missing.
	Matcher string           `json:"matcher,omitempty"`
	Kinds   []storedKind     `json:"kinds"` // the default kind first
	Terms   []Terms          `json:"term_frequencies"`
	Migrate *storedMigration `json:"migration,omitempty"`
}

type storedKind struct {
	Schema          string `json:"schema"`
	TermFrequencies string `json:"term_frequencies"`
}

type storedMigration struct {
	Migration
	Former storedKind `json:"former,omitzero"` // not in an upgrade
}

func kindOf(m *match.Matcher) storedKind {
	return storedKind{string(m.Schema().YAML()), HashText(m.TermFrequencies().Hash())}
}

// put adds a kind, or replaces the one of the same name.
func (b *storedRules) put(m *match.Matcher) {
	for i, k := range b.Kinds {
		if s, err := match.ParseSchema([]byte(k.Schema)); err == nil && s.Kind == m.Schema().Kind {
			b.Kinds[i] = kindOf(m)
			return
		}
	}
	b.Kinds = append(b.Kinds, kindOf(m))
}

// storeTerms stores a term-frequency table in a transaction of the authority and adds it to the rules. One that is
// already stored is not written again.
func (b *storedRules) storeTerms(ctx context.Context, tx storage.Tx, kind string, p *match.TermFrequencies,
	now time.Time) error {
	hash := HashText(p.Hash())
	if slices.ContainsFunc(b.Terms, func(k Terms) bool { return k.Hash == hash }) {
		return nil
	}
	body, err := p.MarshalBinary()
	if err != nil {
		return err
	}
	if p.Records() == 0 {
		kind = ""
	}
	b.Terms = append(b.Terms, Terms{
		Hash: hash, Kind: kind, Records: p.Records(), Tokens: p.Tokens(), Chains: p.Chains(), Bytes: len(body), Since: now.UTC().Truncate(time.Millisecond),
	})
	return tx.PutDefinition(ctx, termsPrefix+hash, body)
}

func readRules(ctx context.Context, tx storage.Tx) (*storedRules, error) {
	return readRulesNamed(ctx, tx, rulesKey)
}

func readRulesNamed(ctx context.Context, tx storage.Tx, name string) (*storedRules, error) {
	text, err := tx.Definition(ctx, name)
	if err != nil || text == nil {
		return nil, err
	}
	b := &storedRules{}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return b, nil
}

func (b *storedRules) write(ctx context.Context, tx storage.Tx) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return tx.PutDefinition(ctx, rulesKey, text)
}

// decodedRules caches what is decoded from stored rules, because these are read again whenever another process may have
// changed them.
type decodedRules struct {
	terms map[string]*match.TermFrequencies // by hash
	kinds map[storedKind]*Kind
}

func newDecodedRules() decodedRules {
	return decodedRules{terms: map[string]*match.TermFrequencies{}, kinds: map[storedKind]*Kind{}}
}

// rules returns the Rules that are stored, in a transaction of a cell that holds their term-frequency tables.
func (b *storedRules) rules(ctx context.Context, tx storage.Tx, decoded decodedRules) (*Rules, error) {
	by := cmp.Or(b.Matcher, firstMatcher)
	if matcherNumber(by) > matcherNumber(derived.RulesName) {
		return nil, fmt.Errorf("%w to %q, and this Locus is %q: use the release of Locus that upgraded it, or a later one", ErrNewer, by, derived.RulesName)
	}
	kind := func(k storedKind) (*Kind, error) {
		if known := decoded.kinds[k]; known != nil {
			return known, nil
		}
		s, err := match.ParseSchema([]byte(k.Schema))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		p, err := readTerms(ctx, tx, k.TermFrequencies, decoded.terms)
		if err == nil && p == nil {
			err = fmt.Errorf("%w: term-frequency table %s is not there", ErrFormat, k.TermFrequencies)
		}
		if err != nil {
			return nil, fmt.Errorf("kind %s: %w", s.Kind, err)
		}
		decoded.kinds[k] = newKind(match.New(s, p))
		return decoded.kinds[k], nil
	}
	kinds := make([]*Kind, len(b.Kinds))
	var err error
	for i, k := range b.Kinds {
		if kinds[i], err = kind(k); err != nil {
			return nil, err
		}
	}
	r := rulesOf(b.Version, kinds)
	r.Terms, r.storedRules, r.Matcher = b.Terms, b, by
	if b.Migrate != nil {
		r.change = &b.Migrate.Migration
	}
	if b.Migrate != nil && b.Migrate.From == "" {
		if r.former, err = kind(b.Migrate.Former); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readTerms returns a term-frequency table from the cache or the store, nil if it is not stored.
func readTerms(ctx context.Context, tx storage.Tx, hash string,
	terms map[string]*match.TermFrequencies) (*match.TermFrequencies, error) {
	if p := terms[hash]; p != nil {
		return p, nil
	}
	body, err := tx.Definition(ctx, termsPrefix+hash)
	if err != nil || body == nil {
		return nil, err
	}
	p := &match.TermFrequencies{}
	if err := p.UnmarshalBinary(body); err != nil {
		return nil, fmt.Errorf("%w: term-frequency table %s: %w", ErrFormat, hash, err)
	}
	terms[hash] = p
	return p, nil
}
