// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/archtest"
)

// The check must be seen to fail: each planted line must be found for the right reason.
func TestCheck_FindsPlantedImports(t *testing.T) {
	t.Parallel()
	const m = archtest.Module
	tests := map[string]struct {
		pkg  archtest.Package
		want string
	}{
		"library imports a driver": {
			archtest.Package{ImportPath: m + "/entity", Imports: []string{"modernc.org/sqlite"}},
			"entity: imports modernc.org/sqlite: a driver lives in its backend",
		},
		"library imports a module that is not pure": {
			archtest.Package{ImportPath: m + "/match", Imports: []string{"github.com/spf13/cobra"}},
			"match: imports github.com/spf13/cobra, but a library takes pure modules only",
		},
		"library imports a pure module that it was not given": {
			archtest.Package{ImportPath: m + "/locality", Imports: []string{"github.com/cespare/xxhash/v2"}},
			"locality: imports github.com/cespare/xxhash/v2, a module that it may not take",
		},
		"arrow upwards": {
			archtest.Package{ImportPath: m + "/cell", Imports: []string{m + "/resolve"}},
			"cell: imports resolve, an arrow that is not drawn",
		},
		"library imports the service": {
			archtest.Package{ImportPath: m + "/resolve", Imports: []string{m}},
			"resolve: imports locus, an arrow that is not drawn",
		},
		"service imports a backend": {
			archtest.Package{ImportPath: m, Imports: []string{m + "/storage/sqlite"}},
			"locus: imports " + m + "/storage/sqlite: only storage/all knows every driver",
		},
		"service speaks HTTP": {
			archtest.Package{ImportPath: m, Imports: []string{"net/http"}},
			"locus: imports net/http: status codes are known at the edge",
		},
		"a package below net/http counts": {
			archtest.Package{ImportPath: m + "/resolve", Imports: []string{"net/http/httptrace"}},
			"resolve: imports net/http/httptrace: status codes are known at the edge",
		},
		"backend resolves": {
			archtest.Package{ImportPath: m + "/storage/sqlite", Imports: []string{m + "/resolve"}},
			"storage/sqlite: imports " + m + "/resolve: a backend stores what is derived and does not resolve",
		},
		"storage above the resolver": {
			archtest.Package{ImportPath: m + "/storage", Imports: []string{m + "/resolve"}},
			"storage: imports resolve, an arrow that is not drawn",
		},
		"library speaks SQL": {
			archtest.Package{ImportPath: m + "/changelog", Imports: []string{"database/sql"}},
			"changelog: imports database/sql: SQL is spoken in backends",
		},
		"huma outside its place": {
			archtest.Package{ImportPath: m + "/internal/cli", Imports: []string{"github.com/danielgtaylor/huma/v2/humacli"}},
			"internal/cli: imports github.com/danielgtaylor/huma/v2/humacli: one place knows how HTTP operations are declared",
		},
		"cobra outside its place": {
			archtest.Package{ImportPath: m + "/internal/httpapi", Imports: []string{"github.com/spf13/cobra"}},
			"internal/httpapi: imports github.com/spf13/cobra: flags and exit codes are known in one place",
		},
		"phone tables in match": {
			archtest.Package{ImportPath: m + "/match", Imports: []string{"github.com/nyaruka/phonenumbers"}},
			"match: imports github.com/nyaruka/phonenumbers: package match reads phone numbers by itself; the tables of the module weigh 6 MB",
		},
		"test module in production code": {
			archtest.Package{ImportPath: m + "/cell", Imports: []string{"pgregory.net/rapid"}},
			"cell: imports pgregory.net/rapid, a module that it may not take",
		},
		"unknown module in a test": {
			archtest.Package{ImportPath: m + "/cell", XTestImports: []string{"github.com/stretchr/testify/require"}},
			"cell: a test imports github.com/stretchr/testify/require, which is no test module",
		},
		"module of the tests in production code": {
			archtest.Package{ImportPath: m + "/bench/ids", Imports: []string{"github.com/google/uuid"}},
			"bench/ids: imports github.com/google/uuid, a module that it may not take",
		},
		"module that no test takes": {
			archtest.Package{ImportPath: m + "/bench/ids"},
			"bench/ids: does not take github.com/google/uuid any more; erase it in internal/archtest/picture.go",
		},
		"package that was not drawn": {
			archtest.Package{ImportPath: m + "/util"},
			"util: package is not in the picture; draw it in internal/archtest/picture.go first",
		},
		"arrow without an import": {
			archtest.Package{ImportPath: m + "/entity"},
			"entity: does not import locality any more; erase the arrow in internal/archtest/picture.go",
		},
		"module without an import": {
			archtest.Package{ImportPath: m + "/entity", Imports: []string{m + "/locality"}},
			"entity: does not take github.com/cespare/xxhash/v2 any more; erase it in internal/archtest/picture.go",
		},
		"a longer name is another package": {
			archtest.Package{ImportPath: m + "/cell", Imports: []string{m + "/localitypgx"}},
			"cell: imports localitypgx, an arrow that is not drawn",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := archtest.Check([]archtest.Package{tc.pkg}, archtest.Picture, archtest.Laws)
			if !slices.Contains(got, tc.want) {
				t.Errorf("planted %v: not reported as %q", tc.pkg, tc.want)
			}
		})
	}
}

func TestCheck_AllowsWhatIsDrawn(t *testing.T) {
	t.Parallel()
	const m = archtest.Module
	picture := map[string]archtest.Rule{
		"":         {Imports: []string{"locality"}},
		"locality": {},
	}
	packages := []archtest.Package{
		{ImportPath: m, Imports: []string{"context", m + "/locality"}, TestImports: []string{"pgregory.net/rapid"}},
		{ImportPath: m + "/locality", Imports: []string{"database/sql/driver"}, XTestImports: []string{m + "/locality"}},
	}
	if diff := cmp.Diff([]string(nil), archtest.Check(packages, picture, archtest.Laws)); diff != "" {
		t.Errorf("a clean list (-want +got):\n%s", diff)
	}
}

func TestCheck_ReportsWhatIsGone(t *testing.T) {
	t.Parallel()
	got := archtest.Check(nil, map[string]archtest.Rule{"cell": {}}, nil)
	want := []string{"cell: drawn in the picture, but there is no such package"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("missing package (-want +got):\n%s", diff)
	}
}

func TestCheck_ReportsWhatIsDrawnTwice(t *testing.T) {
	t.Parallel()
	const m = archtest.Module
	got := archtest.Check([]archtest.Package{{ImportPath: m + "/cell", Imports: []string{m + "/locality"}}, {ImportPath: m + "/locality"}},
		map[string]archtest.Rule{"cell": {Imports: []string{"locality", "locality"}}, "locality": {}}, nil)
	want := []string{"cell: locality is drawn twice; erase one in internal/archtest/picture.go"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arrow drawn twice (-want +got):\n%s", diff)
	}
}

// The picture must be consistent: every import leads to a listed package, there are no cycles, and no library imports a
// module that is not pure. Libraries may import the packages of Shared.
func TestPicture_IsSound(t *testing.T) {
	t.Parallel()
	done := map[string]bool{}
	for name, rule := range archtest.Picture {
		for _, target := range rule.Imports {
			if _, ok := archtest.Picture[target]; !ok {
				t.Errorf("%q may import %q, which is not drawn", name, target)
			}
		}
		visit(t, name, nil, done)
	}
	for _, library := range archtest.Libraries {
		for _, target := range archtest.Picture[library].Imports {
			if !slices.Contains(archtest.Libraries, target) && !slices.Contains(archtest.Shared, target) {
				t.Errorf("library %s may import %s, which is no library", library, target)
			}
		}
		for _, module := range archtest.Picture[library].Modules {
			if !slices.Contains(archtest.Pure, module) {
				t.Errorf("library %s may import %s, which is not pure", library, module)
			}
		}
	}
}

// visit follows the arrows from a package, each once: done are the packages whose arrows were followed.
func visit(t *testing.T, name string, path []string, done map[string]bool) {
	t.Helper()
	if slices.Contains(path, name) {
		t.Errorf("arrows in a circle: %s", strings.Join(append(path, name), " -> "))
		return
	}
	if done[name] {
		return
	}
	for _, target := range archtest.Picture[name].Imports {
		visit(t, target, append(slices.Clip(path), name), done)
	}
	done[name] = true
}
