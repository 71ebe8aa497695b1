// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/match"
)

// ErrFormat means that the rules of an installation were written by a newer Locus or are damaged.
var ErrFormat = errors.New("resolve: rules that this Locus cannot read")

const (
	bookName   = "rules"      // definition that holds the rules
	copyName   = "rules/copy" // definition that holds the copy in other cells
	packPrefix = "pack/"      // prefix of pack definitions; the hash follows
)

// HashText returns the name of a pack with that hash.
func HashText(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// book is the stored form of Rules.
type book struct {
	Version int64       `json:"version"`
	Kinds   []bookKind  `json:"kinds"` // the default kind first
	Packs   []Pack      `json:"packs"`
	Switch  *bookChange `json:"switch,omitempty"`
}

type bookKind struct {
	Schema string `json:"schema"`
	Pack   string `json:"pack"`
}

type bookChange struct {
	Change
	Former bookKind `json:"former"`
}

func kindOf(m *match.Matcher) bookKind {
	return bookKind{string(m.Schema().YAML()), HashText(m.Pack().Hash())}
}

// put adds a kind, or replaces the one of the same name.
func (b *book) put(m *match.Matcher) {
	for i, k := range b.Kinds {
		if s, err := match.ParseSchema([]byte(k.Schema)); err == nil && s.Kind == m.Schema().Kind {
			b.Kinds[i] = kindOf(m)
			return
		}
	}
	b.Kinds = append(b.Kinds, kindOf(m))
}

// keep stores a pack in a transaction of the authority and adds it to the book. A pack that is already
// stored is not written again.
func (b *book) keep(ctx context.Context, tx Tx, kind string, p *match.Pack, now time.Time) error {
	hash := HashText(p.Hash())
	if slices.ContainsFunc(b.Packs, func(k Pack) bool { return k.Hash == hash }) {
		return nil
	}
	body, err := p.MarshalBinary()
	if err != nil {
		return err
	}
	if p.Records() == 0 {
		kind = ""
	}
	b.Packs = append(b.Packs, Pack{
		Hash: hash, Kind: kind, Records: p.Records(), Tokens: p.Tokens(), Chains: p.Chains(), Bytes: len(body), Since: now.UTC().Truncate(time.Millisecond),
	})
	return tx.PutDefinition(ctx, packPrefix+hash, body)
}

func readBook(ctx context.Context, tx Tx) (*book, error) { return readBookNamed(ctx, tx, bookName) }

func readBookNamed(ctx context.Context, tx Tx, name string) (*book, error) {
	text, err := tx.Definition(ctx, name)
	if err != nil || text == nil {
		return nil, err
	}
	b := &book{}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return b, nil
}

func (b *book) write(ctx context.Context, tx Tx) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return tx.PutDefinition(ctx, bookName, text)
}

// rules builds Rules from a book, in a transaction of the cell that holds its packs. packs caches decoded
// packs by hash.
func (b *book) rules(ctx context.Context, tx Tx, packs map[string]*match.Pack) (*Rules, error) {
	kind := func(k bookKind) (*match.Matcher, error) {
		s, err := match.ParseSchema([]byte(k.Schema))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		p, err := readPack(ctx, tx, k.Pack, packs)
		if err == nil && p == nil {
			err = fmt.Errorf("%w: pack %s is not there", ErrFormat, k.Pack)
		}
		if err != nil {
			return nil, fmt.Errorf("kind %s: %w", s.Kind, err)
		}
		return match.New(s, p), nil
	}
	matchers := make([]*match.Matcher, len(b.Kinds))
	var err error
	for i, k := range b.Kinds {
		if matchers[i], err = kind(k); err != nil {
			return nil, err
		}
	}
	r := NewRules(b.Version, matchers...)
	r.Packs, r.book = b.Packs, b
	if b.Switch != nil {
		former, err := kind(b.Switch.Former)
		if err != nil {
			return nil, err
		}
		r.former, r.change = newKind(former), &b.Switch.Change
	}
	return r, nil
}

// readPack returns a pack from the cache or the store, nil if it is not stored.
func readPack(ctx context.Context, tx Tx, hash string, packs map[string]*match.Pack) (*match.Pack, error) {
	if p := packs[hash]; p != nil {
		return p, nil
	}
	body, err := tx.Definition(ctx, packPrefix+hash)
	if err != nil || body == nil {
		return nil, err
	}
	p := &match.Pack{}
	if err := p.UnmarshalBinary(body); err != nil {
		return nil, fmt.Errorf("%w: pack %s: %w", ErrFormat, hash, err)
	}
	packs[hash] = p
	return p, nil
}
