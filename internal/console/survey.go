// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

// Survey describes a bounded sample of the data.
type Survey struct {
	At       time.Time // when it was made
	Entities int       // how many entities it looked at
	// Changes is how many of the latest changes it read, and Since the time of the first; zero if there are none.
	Changes int
	Since   time.Time
	Sources []SourceLately   // the one with the most records first
	Largest []*entity.Entity // the largest first, each with several records
	Weakest []WeakJoin       // the weakest first
	Shared  []SharedValue    // the one with the most names first
}

// SourceLately counts the outcomes of the records of a source among the latest changes.
type SourceLately struct {
	Source  string
	New     int // records that were put for the first time
	Matched int // how many of them have other records in their entity
	Updated int
	Review  int       // records in the first pairs of the review queue
	Last    time.Time // of its latest change
	// Before and After count the new records of the older and of the newer half of the source's, and how many matched.
	Before, After Share
}

// Share is how many of some records matched.
type Share struct{ Matched, Of int }

// Percent returns the share, 0 of none.
func (s Share) Percent() int { return 100 * s.Matched / max(s.Of, 1) }

const (
	// worseOf is the least number of new records in each half for a comparison.
	worseOf = 20
	// worseBy is by how many percent fewer of the newer half match.
	worseBy = 20
)

// Worse reports whether fewer of the newer records match than of the older ones, by more than chance explains.
func (s SourceLately) Worse() bool {
	return s.Before.Of >= worseOf && s.After.Of >= worseOf && s.Before.Percent()-s.After.Percent() >= worseBy
}

// WeakJoin is the weakest comparison that holds an entity together.
type WeakJoin struct {
	Entity *entity.Entity
	A, B   entity.Ref
	Weight match.Weight
}

// SharedValue is a value of an attribute that identifies, and the different names of the records that have it.
type SharedValue struct {
	Kind, Attribute, Value string
	Names                  []string // in order
	Entities               int
}

// SourcesLately sorts the latest changes by source. stored holds the records that changed; the source of records
// deleted since is unknown.
func SourcesLately(latest []changes.Change, stored []*records.Record, queue []review.Pair) []SourceLately {
	size := map[locality.ID]int{} // records of an entity after its last change
	for _, c := range latest {
		if !c.Kind.OfRecord() {
			size[c.Entity] = len(c.After)
		}
	}
	bySource := map[string]*SourceLately{}
	of := func(source string) *SourceLately {
		if bySource[source] == nil {
			bySource[source] = &SourceLately{Source: source}
		}
		return bySource[source]
	}
	matched := map[string][]bool{} // of the new records of a source, in order
	known := map[entity.PUID]*records.Record{}
	for _, r := range stored {
		if !r.Deleted() {
			known[r.PUID] = r
		}
	}
	for _, c := range latest {
		if c.Kind != changelog.Put || len(c.After) == 0 {
			continue
		}
		r := known[c.After[0].PUID]
		if r == nil {
			continue
		}
		line := of(r.Source)
		line.Last = c.Time
		if len(c.Before) > 0 {
			line.Updated++
			continue
		}
		line.New++
		if size[r.Entity] > 1 {
			line.Matched++
		}
		matched[r.Source] = append(matched[r.Source], size[r.Entity] > 1)
	}
	for source, all := range matched {
		for i, is := range all {
			half := &of(source).Before
			if i >= len(all)/2 {
				half = &of(source).After
			}
			if half.Of++; is {
				half.Matched++
			}
		}
	}
	asked := map[entity.Ref]bool{}
	for _, p := range queue {
		for _, r := range []entity.Ref{p.A, p.B} {
			if !asked[r] {
				asked[r] = true
				of(r.Source).Review++
			}
		}
	}
	return slices.SortedFunc(values(bySource), func(a, b SourceLately) int {
		return cmp.Or(cmp.Compare(b.New+b.Updated, a.New+a.Updated), cmp.Compare(b.Review, a.Review),
			strings.Compare(a.Source, b.Source))
	})
}

// minNames is how many different names make a shared value suspicious.
const minNames = 3

// SharedValues returns the values of identifying attributes that records of at least three different names have. The
// names are compared without regard to case.
func SharedValues(sample []*entity.Entity, schema func(kind string) *match.Schema) []SharedValue {
	type key struct{ kind, attribute, value string }
	type shared struct {
		names    map[string]string
		entities int
	}
	found := map[key]*shared{}
	for _, e := range sample {
		s := schema(e.Kind)
		if s == nil {
			continue
		}
		names := namesOf(e, s)
		for _, a := range e.View {
			if declared, _ := s.Attribute(a.Name); !identifies(declared.Type) {
				continue
			}
			for _, v := range a.Values {
				k := key{e.Kind, a.Name, v.Value}
				if found[k] == nil {
					found[k] = &shared{names: map[string]string{}}
				}
				found[k].entities++
				for _, m := range v.Members {
					if name := names[m]; name != "" {
						found[k].names[strings.ToLower(name)] = name
					}
				}
			}
		}
	}
	var all []SharedValue
	for k, s := range found {
		if len(s.names) >= minNames {
			all = append(all, SharedValue{k.kind, k.attribute, k.value, slices.Sorted(maps.Values(s.names)), s.entities})
		}
	}
	slices.SortFunc(all, func(a, b SharedValue) int {
		return cmp.Or(cmp.Compare(len(b.Names), len(a.Names)), strings.Compare(a.Attribute, b.Attribute),
			strings.Compare(a.Value, b.Value), strings.Compare(a.Kind, b.Kind))
	})
	return all
}

// identifies reports whether values of a type should belong to one thing.
func identifies(t match.Type) bool {
	return t == match.TypePhone || t == match.TypeEmail || t == match.TypeID || t == match.TypeURL
}

// namesOf returns the name of each record of an entity, by its position.
func namesOf(e *entity.Entity, s *match.Schema) map[int]string {
	names := map[int]string{}
	for _, a := range e.View {
		if declared, _ := s.Attribute(a.Name); declared.Type != match.TypeName {
			continue
		}
		for _, v := range a.Values {
			for _, m := range v.Members {
				if names[m] == "" {
					names[m] = v.Value
				}
			}
		}
	}
	return names
}

func values[K comparable, V any](m map[K]*V) func(func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(*v) {
				return
			}
		}
	}
}
