// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/access"
)

// TestPrincipal_ForEqualsTheGroups draws groups, and compares what each route lets their member do, with things of each
// kind and source, with this rule of the documentation: the roles of a group are for its kinds and sources, for those
// of all groups if it has none.
func TestPrincipal_ForEqualsTheGroups(t *testing.T) {
	t.Parallel()
	kinds, sources := []string{"person", "place", "product"}, []string{"crm", "shop"}
	some := func(list []string) *rapid.Generator[[]string] {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(list), 0, 2, rapid.ID)
	}
	rapid.Check(t, func(t *rapid.T) {
		type group struct{ roles, kinds, sources []string }
		var groups []group
		var lists [][]string
		anyKinds, anySources := []string{}, []string{}
		for range rapid.IntRange(1, 3).Draw(t, "groups") {
			g := group{some(access.Roles()).Draw(t, "roles"), some(kinds).Draw(t, "kinds"), some(sources).Draw(t, "sources")}
			items := slices.Clone(g.roles)
			for _, k := range g.kinds {
				items = append(items, "kind:"+k)
			}
			for _, s := range g.sources {
				items = append(items, "source:"+s)
			}
			if len(items) > 0 {
				groups, lists = append(groups, g), append(lists, items)
			}
			anyKinds, anySources = append(anyKinds, g.kinds...), append(anySources, g.sources...)
		}
		given, err := access.ParseGiven(access.JoinGroups(lists))
		if err != nil {
			t.Fatal(err)
		}
		who := given.Principal()
		has := func(limits, all []string, name string) bool {
			if len(limits) == 0 {
				limits = all
			}
			return len(limits) == 0 || slices.Contains(limits, name)
		}
		may := func(p access.Permission, kind, source string) bool {
			return slices.ContainsFunc(groups, func(g group) bool {
				set, _ := access.Grant(g.roles, nil)
				return set.Has(access.Of(p)) && has(g.kinds, anyKinds, kind) && (source == "" || has(g.sources, anySources, source))
			})
		}
		for _, kind := range kinds {
			for _, name := range access.Permissions() {
				p := access.Permission(name)
				at := who.For(access.All(p))
				if got, want := at != nil && at.Restriction.Sees(kind), may(p, kind, ""); got != want {
					t.Fatalf("%v: %s of %s: %v", lists, p, kind, got)
				}
				for _, source := range sources {
					if got, want := at.WritesKind(source, kind), may(p, kind, source); p == access.Write && got != want {
						t.Fatalf("%v: %s of %s from %s: %v", lists, p, kind, source, got)
					}
				}
				if at != nil && at.For(access.All(access.Read)) != nil != (who.For(access.All(access.Read)) != nil) {
					t.Fatalf("%v: For of For", lists)
				}
			}
			both := who.For(access.All(access.Read, access.Operate))
			if got, want := both != nil && both.Restriction.Sees(kind), may(access.Read, kind, "") && may(access.Operate, kind, ""); got != want {
				t.Fatalf("%v: read and operate of %s: %v", lists, kind, got)
			}
			one := who.For(access.Any(access.Read, access.Operate))
			if got, want := one != nil && one.Restriction.Sees(kind), may(access.Read, kind, "") || may(access.Operate, kind, ""); got != want {
				t.Fatalf("%v: read or operate of %s: %v", lists, kind, got)
			}
		}
	})
}

func TestPrincipal_ForOneGroup(t *testing.T) {
	t.Parallel()
	if who := access.Local(); who.For(access.All(access.Erase)) != who || who.Whole() != who {
		t.Error("the principal without shares is not the same")
	}
	if (*access.Principal)(nil).For(access.Public()) != nil {
		t.Error("there is a principal without one")
	}
	// A permission for some kinds only does not count for all kinds.
	g, err := access.ParseGiven([]string{"administrator,kind:place", "reader,kind:person"})
	if err != nil {
		t.Fatal(err)
	}
	at := g.Principal().For(access.All(access.Read))
	if at.May(access.ActFor) || !at.May(access.Read) || !at.Whole().May(access.ActFor) || len(at.Restriction.Kinds) != 2 {
		t.Errorf("%+v", at)
	}
}

func TestJoinGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		groups [][]string
		want   []string
		role   bool
	}{
		{nil, nil, false},
		{[][]string{{"reviewer"}, {"reader", "operator"}, {"reader"}}, []string{"operator", "reader", "reviewer"}, true},
		{[][]string{{"reviewer", "kind:place"}}, []string{"kind:place", "reviewer"}, true},
		{[][]string{{"reviewer", "kind:place"}, {"reader"}}, []string{"reader", "reviewer,kind:place"}, true},
		{[][]string{{"hide:emails"}, {"kind:place", "source:crm"}}, []string{"hide:emails", "kind:place,source:crm"}, false},
	} {
		got := access.JoinGroups(c.groups)
		if diff := cmp.Diff(c.want, got); diff != "" || access.GivesRole(got) != c.role {
			t.Errorf("%v: %s %v", c.groups, diff, access.GivesRole(got))
		}
	}
	for _, wrong := range []string{"reader,", ",", "reader,root", "reader,kind:", "reader,,kind:place"} {
		if g, err := access.ParseGiven([]string{wrong}); err == nil {
			t.Errorf("%q: %+v", wrong, g)
		}
	}
}

func FuzzParseGiven(f *testing.F) {
	f.Add("reader", "kind:place,source:vendor-*")
	f.Add("reviewer,kind:place", "hide:ssn")
	f.Fuzz(func(t *testing.T, a, b string) {
		g, err := access.ParseGiven([]string{a, b})
		if err != nil {
			return
		}
		who := g.Principal()
		for _, share := range who.Shares {
			if !who.Permissions.Has(share.Permissions) {
				t.Errorf("%q %q: a share has more than the whole", a, b)
			}
			for _, kind := range share.Kinds {
				if !who.Restriction.Sees(kind) {
					t.Errorf("%q %q: a share has a kind of its own", a, b)
				}
			}
		}
	})
}
