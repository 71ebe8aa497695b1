// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

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

// KindRules is how a kind of things is resolved.
type KindRules struct {
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

// RulesProgress is how far a change of rules is, or what looks at all records.
type RulesProgress struct {
	Step string `json:"step"` // reading, resolving, comparing; switching
	// Records are done, Of about how many there are.
	Records int `json:"records"`
	Of      int `json:"of,omitempty"`
	// Cells are through, of all of them: while switching.
	Cells int `json:"cells,omitempty"`
	// PerSecond is the mean since the step began.
	PerSecond float64 `json:"per_second"`
	// Waits says why nothing can be done for now.
	Waits string `json:"waits,omitempty"`
}

// String is the progress in a line.
func (p RulesProgress) String() string {
	text := fmt.Sprintf("%s: %d records", p.Step, p.Records)
	if p.Of > 0 {
		text = fmt.Sprintf("%s: %d of %d records", p.Step, min(p.Records, p.Of), p.Of)
	}
	if p.PerSecond > 0 {
		text += fmt.Sprintf(", %.0f/s", p.PerSecond)
	}
	if p.Waits != "" {
		text += ", waits: " + p.Waits
	}
	return text
}

// KindRules are the kinds of things with how they are resolved, in the order of their names.
func (s *Service) KindRules() []KindRules {
	rules := s.resolver.Rules()
	var kinds []KindRules
	for _, k := range rules.Kinds() {
		r := KindRules{Schema: k.Matcher.Schema(), Pack: resolve.HashText(k.Matcher.Pack().Hash()), Default: k == rules.Kind("")}
		if c := rules.Change(); c != nil && c.Kind == k.Name() {
			r.Change = c
		}
		kinds = append(kinds, r)
	}
	return kinds
}

// Packs are those that the installation keeps, the latest last.
func (s *Service) Packs() []resolve.Pack { return s.resolver.Rules().Packs }

// CreateKind adds a kind of things, while everybody goes on. It answers whether it did: the same again
// changes nothing, and another one of that name is ErrOtherKind.
func (s *Service) CreateKind(ctx context.Context, schema *match.Schema) (bool, error) {
	if err := s.changes(); err != nil {
		return false, err
	}
	if err := s.resolver.Reload(ctx); err != nil {
		return false, ruled(err)
	}
	if k := s.kind(schema.Kind); k != nil {
		if k.Matcher.Schema().Hash() == schema.Hash() {
			return false, nil
		}
		return false, fmt.Errorf("%w: kind %s has version %d; locus kind switch changes it", ErrOtherKind, schema.Kind, k.Matcher.Schema().Version)
	}
	_, err := s.resolver.Switch(ctx, schema, nil)
	return err == nil, ruled(err)
}

// BuildPack counts the live records of a kind and keeps what it finds as a pack, by which nothing is resolved
// until the kind is switched to it.
func (s *Service) BuildPack(ctx context.Context, kind string, progress func(RulesProgress)) (resolve.Pack, error) {
	if err := s.changes(); err != nil {
		return resolve.Pack{}, err
	}
	k := s.kind(kind)
	if k == nil {
		return resolve.Pack{}, fmt.Errorf("%w: %.64q", ErrNoKind, kind)
	}
	counting := s.count(ctx, "reading", progress)
	var failed error
	pack := match.BuildPack(k.Matcher.Schema(), func(yield func(match.Attributes) bool) {
		failed = s.eachRecord(ctx, k.Name(), func(rec *entity.Record) error {
			counting.add(1)
			if !yield(match.Attributes(rec.Attributes)) {
				return context.Canceled
			}
			return nil
		})
	})
	if failed == nil {
		failed = s.resolver.Keep(ctx, k.Name(), pack)
	}
	if failed != nil {
		return resolve.Pack{}, ruled(failed)
	}
	hash := resolve.HashText(pack.Hash())
	for _, p := range s.Packs() {
		if p.Hash == hash {
			return p, nil
		}
	}
	return resolve.Pack{}, fmt.Errorf("%w: %s", ErrNoPack, hash)
}

// proposed reads what a proposal names.
func (s *Service) proposed(ctx context.Context, p Proposal) (schema *match.Schema, pack *match.Pack, err error) {
	if schema = p.Schema; schema == nil {
		k := s.kind(p.Kind)
		if k == nil {
			return nil, nil, fmt.Errorf("%w: %.64q", ErrNoKind, p.Kind)
		}
		schema = k.Matcher.Schema()
	} else if s.kind(schema.Kind) == nil {
		return nil, nil, fmt.Errorf("%w: %.64q; locus kind create makes it", ErrNoKind, schema.Kind)
	}
	if p.Pack != "" {
		if pack, err = s.resolver.Packed(ctx, p.Pack); err == nil && pack == nil {
			err = fmt.Errorf("%w: %.32q", ErrNoPack, p.Pack)
		}
	} else {
		pack = s.kind(schema.Kind).Matcher.Pack()
	}
	return schema, pack, ruled(err)
}

// ruled says in this package's words why rules were not read or changed.
func ruled(err error) error {
	for _, said := range []error{resolve.ErrRules, resolve.ErrSwitching, ErrNoKind, ErrNoPack, ErrTooMany} {
		if errors.Is(err, said) {
			return err
		}
	}
	return wrap(err)
}

// recordsPage is how many records are read at once.
const recordsPage = 1000

// eachRecord reads the live records of a kind, cell by cell.
func (s *Service) eachRecord(ctx context.Context, kind string, fn func(*entity.Record) error) error {
	for _, id := range s.Map().Cells() {
		after := entity.PUID(firstPUID)
		for {
			var page []*entity.Record
			if err := s.view(ctx, id, func(tx resolve.Tx) (err error) {
				page, err = tx.ListRecords(ctx, "", after, recordsPage)
				return err
			}); err != nil {
				return fmt.Errorf("read the records of cell %v: %w", id, err)
			}
			for _, rec := range page {
				if after = rec.PUID; rec.Kind == kind {
					if err := fn(rec); err != nil {
						return err
					}
				}
			}
			if len(page) < recordsPage {
				break
			}
		}
	}
	return nil
}

// firstPUID is below every puid.
const firstPUID = -1 << 63

// counting tells how far something is, twice a second at most.
type counting struct {
	RulesProgress
	tell  func(RulesProgress)
	begun time.Time
	from  int // records that were done before that
	told  time.Time
}

// count begins to count the records of the installation.
func (s *Service) count(ctx context.Context, step string, tell func(RulesProgress)) *counting {
	c := &counting{RulesProgress: RulesProgress{Step: step}, tell: tell, begun: time.Now()}
	for _, id := range s.Map().Cells() {
		_ = s.view(ctx, id, func(tx resolve.Tx) error { // how many there are is to look at only
			n, err := tx.Counts(ctx)
			c.Of += int(n.Records)
			return err
		})
	}
	return c
}

func (c *counting) add(n int) {
	c.Records += n
	now := time.Now()
	if c.tell == nil || now.Sub(c.told) < 500*time.Millisecond {
		return
	}
	c.told = now
	c.PerSecond = float64(c.Records-c.from) / max(now.Sub(c.begun).Seconds(), 1e-3)
	c.tell(c.RulesProgress)
}
