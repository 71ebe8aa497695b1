// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Texts from a target or a message may contain values, and counts over all kinds include kinds that a viewer does not
// see, so viewers get neither.
func TestP10_StreamsWithoutReasons(t *testing.T) {
	t.Parallel()
	const said = "the target says: 212-555-0101"
	hides := &viewer{&access.Restriction{Hide: []string{"phones"}}, nil}
	places := &viewer{&access.Restriction{Kinds: []string{"place"}}, nil}
	both := &viewer{&access.Restriction{Kinds: []string{"place"}, Hide: []string{"phones"}}, nil}

	sinks := SinkList{Sinks: []Sink{{Name: "all", Reason: said, Filled: 7},
		{Name: "people", Kind: "person", Reason: said, Filled: 7}, {Name: "places", Kind: "place", Reason: said, Filled: 7}}}
	streams := console.Streams{In: []console.Stream{{Name: "crm", Reason: said}}}
	for _, s := range sinks.Sinks {
		streams.Out = append(streams.Out, console.Stream{Name: s.Name, Kind: s.Kind, Reason: said})
	}
	for name, of := range map[string]struct {
		*viewer
		sees, in string
		filled   int64
	}{
		"hides": {hides, "all people places", "crm", 7}, "places": {places, "places", "", 0}, "both": {both, "places", "", 0},
	} {
		left, _, known := of.left(sinks)
		var names []string
		for _, one := range left.(SinkList).Sinks { //nolint:forcetypeassert // what is left is of the same type
			if names = append(names, one.Name); one.Reason != "" || one.Filled != of.filled {
				t.Errorf("%s: %+v", name, one)
			}
		}
		if got := strings.Join(names, " "); !known || got != of.sees {
			t.Errorf("%s sees the sinks %s", name, got)
		}
		for _, one := range sinks.Sinks {
			left, kind, _ := of.left(one)
			if other := kind != "" && !of.Sees(kind); other == strings.Contains(of.sees, one.Name) || strings.Contains(fmt.Sprint(left), said) {
				t.Errorf("%s: the sink %s: %+v of %q", name, one.Name, left, kind)
			}
		}
		page, _, _ := of.left(streams)
		var out, in []string
		for _, one := range page.(console.Streams).Out { //nolint:forcetypeassert // as above
			out = append(out, one.Name)
		}
		for _, one := range page.(console.Streams).In { //nolint:forcetypeassert // as above
			in = append(in, one.Name)
		}
		if strings.Join(out, " ") != of.sees || strings.Join(in, " ") != of.in || strings.Contains(fmt.Sprint(page), said) {
			t.Errorf("%s: page: %+v", name, page)
		}
	}

	read := Source{Source: "crm", Kinds: []SourceKind{}, Stream: &Stream{From: "kafka://b/t", Reason: said, Messages: 3}}
	left, kind, _ := hides.left(read)
	if s := left.(Source).Stream; kind != "" || s == nil || s.Reason != "" || s.Messages != 3 || read.Stream.Reason != said { //nolint:forcetypeassert // as above
		t.Errorf("a stream without hidden attributes: %+v of %q", s, kind)
	}
	if left, kind, _ := places.left(read); left.(Source).Stream != nil || kind != otherKind { //nolint:forcetypeassert // as above
		t.Errorf("a stream of any kind: %+v of %q", left, kind)
	}
	list, _, _ := hides.left(SourceList{Sources: []Source{read}})
	if got := list.(SourceList).Sources; len(got) != 1 { //nolint:forcetypeassert // as above
		t.Errorf("the source that is only a stream is left out: %+v", got)
	}
}

func TestP10_RulesOfSeenKinds(t *testing.T) {
	t.Parallel()
	places := &viewer{&access.Restriction{Kinds: []string{"place"}}, nil}
	terms, _, _ := places.left(TermsList{Terms: []resolve.Terms{{Hash: "built in"}, {Hash: "1", Kind: "person", Records: 9}, {Hash: "2", Kind: "place"}}})
	if diff := cmp.Diff(TermsList{Terms: []resolve.Terms{{Hash: "built in"}, {Hash: "2", Kind: "place"}}}, terms); diff != "" {
		t.Error(diff)
	}
	rules, _, _ := places.left([]kinds.Rules{{Schema: &match.Schema{Kind: "person"}},
		{Schema: &match.Schema{Kind: "place"}}})
	if got := rules.([]kinds.Rules); len(got) != 1 || got[0].Schema.Kind != "place" { //nolint:forcetypeassert // as above
		t.Errorf("%+v", got)
	}
}

// A match does not name its kind, so its name is hidden if the names of any kind are.
func TestP10_MatchesWithoutHiddenNames(t *testing.T) {
	t.Parallel()
	all := []changes.Match{{Time: time.Unix(1, 0), Name: "Ann"}}
	schemas := []*match.Schema{{Kind: "person",
		Attributes: []match.Attribute{{Name: "name", Type: match.TypeName}, {Name: "phones"}}}}
	for hide, name := range map[string]string{"name": "(hidden)", "phones": "Ann"} {
		r := &viewer{&access.Restriction{Hide: []string{hide}}, nil}
		if got := r.matches(all, schemas); got[0].Name != name || all[0].Name != "Ann" {
			t.Errorf("without %s: %+v", hide, got)
		}
	}
}
