// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

const (
	// similarEntities limits the entities with a similar name that a probe is compared with, and similarRecords their
	// records.
	similarEntities = 20
	similarRecords  = 100
	// similarWords is the least number of words of a name for which one of them may be missing.
	similarWords = 3
)

// addSimilar adds the records of entities with a similar name to probes.
func (h *Handle) addSimilar(ctx context.Context, probes []resolve.Probe) error {
	errs := make([]error, len(probes))
	engine.Parallel(len(probes), func(i int) {
		probes[i].Also, errs[i] = h.similar(ctx, h.engine.Kind(probes[i].Kind), &probes[i])
	})
	return cmp.Or(errs...)
}

// similar returns the records of the entities with a name of the probe, the most similar first. If there are none, one
// word of the name may be missing.
func (h *Handle) similar(ctx context.Context, kind *resolve.Kind, p *resolve.Probe) (records []entity.PUID, err error) {
	if kind == nil { // the rules have just changed; the resolver reports it
		return nil, nil
	}
	for _, name := range namesOf(kind.Matcher.Schema(), p.Attributes) {
		words := match.NameTokens(name)
		found, err := h.named(ctx, kind.Name(), words)
		for i := 0; err == nil && len(found) == 0 && len(words) >= similarWords && i < len(words); i++ {
			found, err = h.named(ctx, kind.Name(), slices.Delete(slices.Clone(words), i, i+1))
		}
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	return records[:min(len(records), similarRecords)], nil
}

// named returns the records of entities that have these words, except for typing errors.
func (h *Handle) named(ctx context.Context, kind string, words []string) (records []entity.PUID, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	left := similarEntities
	s := search{Handle: h, yield: func(r *Result, _ error) bool {
		records = append(records, r.PUIDs()...)
		left--
		return left > 0 && len(records) < similarRecords
	}}
	query := entity.Query{Words: words, Terms: []uint64{entity.Term("", kind)}, Best: true, Limit: similarEntities}
	if err := s.bestEdits(ctx, query, Query{Typos: TyposTwo}); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return records, nil
}

// namesOf returns the names in a record: each as a whole, or if there is none, its given and family names together.
func namesOf(schema *match.Schema, attributes entity.Attributes) []string {
	var whole, parts []string
	for _, a := range schema.Attributes {
		switch {
		case a.Type != match.TypeName:
		case a.Role == match.RoleGiven || a.Role == match.RoleFamily:
			parts = append(parts, attributes[a.Name]...)
		default:
			whole = append(whole, attributes[a.Name]...)
		}
	}
	if len(whole) == 0 && len(parts) > 0 {
		whole = []string{strings.Join(parts, " ")}
	}
	return whole
}
