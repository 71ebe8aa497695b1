// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// Aliases are written with the text of a kind but are not part of its hash: changing them resolves no record again.
func TestSchema_AliasesAreNotInTheHash(t *testing.T) {
	t.Parallel()
	s := match.Place()
	before := s.Hash()
	s.Attributes[0].Aliases = append(slices.Clone(s.Attributes[0].Aliases), "trade_name")
	if s.Hash() != before {
		t.Error("an alias changes the hash")
	}
	again, err := match.ParseSchema(s.YAML())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("(-written +read)\n%s", diff)
	}
	s.Attributes[0].HalfLife++
	if s.Hash() == before {
		t.Error("another half-life does not change the hash")
	}
}

// A kind that was stored without aliases gets the aliases of the built-in kind of the same name, for attributes of
// equal name and type.
func TestSchema_AliasesOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	stored := match.Place()
	for i := range stored.Attributes {
		stored.Attributes[i].Aliases = nil
	}
	if got := stored.AliasesOf("postcode"); !slices.Contains(got, "plz") {
		t.Errorf("the stored kind has %q", got)
	}
	stored.Attributes[0].Type = match.TypeText
	if got := stored.AliasesOf("name"); got != nil {
		t.Errorf("an attribute of another type has %q", got)
	}
	stored.Attributes[1].Aliases = []string{"ring"}
	if got := stored.AliasesOf("postcode"); got != nil {
		t.Errorf("a kind with aliases of its own has %q", got)
	}
	stored.Kind = "boat"
	if got := stored.AliasesOf("phones"); !slices.Equal(got, []string{"ring"}) {
		t.Errorf("its own aliases are %q", got)
	}
	if got := stored.AliasesOf("none"); got != nil {
		t.Errorf("no attribute has %q", got)
	}
}

func TestParseSchema_Aliases(t *testing.T) {
	t.Parallel()
	const text = "kind: boat\nversion: 1\nattributes:\n  name: { type: name, aliases: [%] }\n"
	for _, aliases := range []string{"schiff, bateau_2", strings.Repeat("船", 64)} {
		if _, err := match.ParseSchema([]byte(strings.Replace(text, "%", aliases, 1))); err != nil {
			t.Error(err)
		}
	}
	for _, aliases := range []string{"Schiffsname", strings.Repeat("船", 65), `""`} {
		if _, err := match.ParseSchema([]byte(strings.Replace(text, "%", aliases, 1))); err == nil || !strings.Contains(err.Error(), "without accents and capitals") {
			t.Errorf("%s: %v", aliases, err)
		}
	}
}
