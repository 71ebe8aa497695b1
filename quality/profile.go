// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/survey"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

const (
	// maxProfiled is the maximum number of sources of a KindProfile: the sources with the most records.
	maxProfiled = 20
	// MostBits is the last bin of the match weights of a KindProfile, which has all that are higher.
	MostBits = 40
	// maxThreshold is the highest threshold of a ProfileQuery.
	maxThreshold match.Weight = 10000
)

// ProfileQuery selects the content of a Profile.
type ProfileQuery struct {
	// Kinds limits it to these kinds, nil for all.
	Kinds []string
	// Threshold is one more threshold whose effect is computed, 0 for none.
	Threshold match.Weight
}

// Profile describes the records of an installation, their entities, and the distribution of match weights around the
// threshold.
type Profile struct {
	// Records is how many records were looked at; Whole reports that there are no others, so that all counts are exact.
	Records int           `json:"records"`
	Whole   bool          `json:"whole"`
	Kinds   []KindProfile `json:"kinds"`
}

// KindProfile describes the records of a kind.
type KindProfile struct {
	Kind string `json:"kind"`
	// Records is the number of records in the sample, and Entities the number of entities whose anchor is among them.
	Records  int `json:"records"`
	Entities int `json:"entities"`
	// Sources are the sources with the most records, at most 20; MoreSources is the number of others.
	Sources     []SourceProfile    `json:"sources"`
	MoreSources int                `json:"more_sources"`
	Attributes  []AttributeProfile `json:"attributes"`
	Sizes       []SizeCount        `json:"sizes"`
	// Weights counts the compared pairs that were not found different, by whole bits.
	Weights []WeightCount `json:"match_weights"`
	// Evidence are the levels of comparisons. Keys counts the blocking keys of the first Keyed records.
	Evidence  []LevelEvidence `json:"evidence"`
	Keys      []KeyCount      `json:"blocking_keys"`
	Keyed     int             `json:"keyed"`
	Threshold match.Weight    `json:"threshold"`
	// Thresholds are the effects of other thresholds, in ascending order.
	Thresholds []ThresholdEffect `json:"thresholds"`
}

// SourceProfile describes the records of a source.
type SourceProfile struct {
	Source  string `json:"source"`
	Records int    `json:"records"`
	// Members is the number of records of this source in the sampled entities. Duplicates counts those that share an
	// entity with another record of the source, without the first one of each entity; Example is the entity with the
	// most.
	Members    int         `json:"members"`
	Duplicates int         `json:"duplicates"`
	Example    locality.ID `json:"example,omitzero"`
	most       int
}

// AttributeProfile describes the values of an attribute.
type AttributeProfile struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Filled is how many records have a value, and Sources how many of each source of the kind, in their order.
	Filled  int   `json:"filled"`
	Sources []int `json:"sources"`
	Values  int   `json:"values"`
	// Shapes are the most frequent shapes of the values. Odd are rare ones, if a few shapes have nearly all values;
	// OddValues is how many values have a rare shape.
	Shapes    []Shape `json:"shapes"`
	Odd       []Shape `json:"odd"`
	OddValues int     `json:"odd_values"`
}

// SizeCount is how many entities have a number of records.
type SizeCount struct {
	Records  int `json:"records"`
	Entities int `json:"entities"`
}

// WeightCount counts pairs whose match weight is at least Bits and below Bits + 1: within entities, and between two.
type WeightCount struct {
	Bits   int `json:"bits"`
	Joined int `json:"joined"`
	Apart  int `json:"apart"`
}

// Profile looks at the records of a small installation, or at a sample of at most 16,384 or so of a large one.
func (h *Handle) Profile(ctx context.Context, q ProfileQuery) (*Profile, error) {
	if q.Threshold < 0 || q.Threshold > maxThreshold {
		return nil, problem.Invalid("/threshold", "invalid", "a threshold is above 0 and at most %v bits",
			int(maxThreshold/100))
	}
	s, err := survey.Take(ctx, h.engine, q.Kinds, true)
	if err != nil {
		return nil, err
	}
	kinds := map[string][]*entity.Record{}
	for _, rec := range s.Sample {
		kinds[rec.Kind] = append(kinds[rec.Kind], rec)
	}
	p := &Profile{Records: s.Records, Whole: s.Whole, Kinds: []KindProfile{}}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if err := h.engine.EnsureKind(ctx, kind); err != nil {
			return nil, err
		}
		m := h.engine.Kind(kind).Matcher
		of := KindProfile{Kind: kind, Records: len(kinds[kind]), Threshold: m.Threshold()}
		of.sources(kinds[kind], s.Entities)
		of.attributes(m.Schema(), kinds[kind])
		of.sizes(kinds[kind], s.Entities)
		of.weights(s.Pairs)
		of.Keyed = min(len(kinds[kind]), keyed)
		thorough := m.Thorough()
		of.Evidence = evidenceOf(m, s.Pairs, vectorsWithin(s, thorough, h.engine.Normalise),
			vectorsApart(thorough, kinds[kind][:of.Keyed], h.engine.Normalise))
		of.Keys = keysOf(kinds[kind][:of.Keyed], h.engine.Normalise)
		if of.Thresholds, err = h.effects(ctx, s, kind, q.Threshold); err != nil {
			return nil, err
		}
		p.Kinds = append(p.Kinds, of)
	}
	return p, nil
}

// alone returns the records that are entities of their own.
func alone(records []*entity.Record, several []*entity.Entity) []*entity.Record {
	anchors := map[entity.PUID]bool{}
	for _, e := range several {
		anchors[e.Anchor()] = true
	}
	var single []*entity.Record
	for _, rec := range records {
		if rec.PUID == rec.Anchor && !anchors[rec.PUID] {
			single = append(single, rec)
		}
	}
	return single
}

// sources counts records and duplicates by source. Duplicates are counted by entity: for entities in the sample all
// records are known, even if the records are not in it.
func (k *KindProfile) sources(sample []*entity.Record, several []*entity.Entity) {
	of := map[string]*SourceProfile{}
	at := func(source string) *SourceProfile {
		if of[source] == nil {
			of[source] = &SourceProfile{Source: source}
		}
		return of[source]
	}
	for _, rec := range sample {
		at(rec.Source).Records++
	}
	for _, rec := range alone(sample, several) {
		at(rec.Source).Members++
	}
	for _, e := range several {
		if e.Kind != k.Kind {
			continue
		}
		members := map[string]int{}
		for _, m := range e.Members {
			members[m.Source]++
		}
		for source, n := range members {
			s := at(source)
			s.Members += n
			s.Duplicates += n - 1
			if n > 1 && (n > s.most || n == s.most && e.ID.Compare(s.Example) < 0) {
				s.most, s.Example = n, e.ID
			}
		}
	}
	k.Sources = []SourceProfile{}
	for _, s := range of {
		k.Sources = append(k.Sources, *s)
	}
	slices.SortFunc(k.Sources, func(a, b SourceProfile) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Source, b.Source))
	})
	k.MoreSources = max(0, len(k.Sources)-maxProfiled)
	k.Sources = k.Sources[:len(k.Sources)-k.MoreSources]
}

func (k *KindProfile) attributes(schema *match.Schema, sample []*entity.Record) {
	source := map[string]int{}
	for i, s := range k.Sources {
		source[s.Source] = i
	}
	k.Attributes = make([]AttributeProfile, 0, len(schema.Attributes))
	for _, a := range schema.Attributes {
		of := AttributeProfile{Name: a.Name, Type: string(a.Type), Sources: make([]int, len(k.Sources))}
		seen := shapes{}
		for _, rec := range sample {
			values := rec.Attributes[a.Name]
			if len(values) == 0 {
				continue
			}
			of.Filled++
			if i, listed := source[rec.Source]; listed {
				of.Sources[i]++
			}
			for _, v := range values {
				of.Values++
				seen.add(v, rec.Ref)
			}
		}
		of.Shapes, of.Odd, of.OddValues = seen.told(of.Values)
		k.Attributes = append(k.Attributes, of)
	}
}

func (k *KindProfile) sizes(sample []*entity.Record, several []*entity.Entity) {
	sizes := map[int]int{}
	if n := len(alone(sample, several)); n > 0 {
		sizes[1] = n
	}
	for _, e := range several {
		if e.Kind == k.Kind {
			sizes[len(e.Members)]++
		}
	}
	k.Sizes = []SizeCount{}
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		k.Entities += sizes[n]
		k.Sizes = append(k.Sizes, SizeCount{n, sizes[n]})
	}
}

func (k *KindProfile) weights(pairs []survey.Pair) {
	bins := make([]WeightCount, MostBits+1)
	last := -1
	for i := range pairs {
		p := &pairs[i]
		if p.Kind() != k.Kind || p.Weight < 0 { // a relation
			continue
		}
		bits := min(int(p.Weight)/100, MostBits)
		last = max(last, bits)
		if p.Joined() {
			bins[bits].Joined++
		} else {
			bins[bits].Apart++
		}
	}
	k.Weights = []WeightCount{}
	for bits := range last + 1 {
		bins[bits].Bits = bits
		k.Weights = append(k.Weights, bins[bits])
	}
}
