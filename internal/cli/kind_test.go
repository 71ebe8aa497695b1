// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

func TestKind_CreateShowAndMigrate(t *testing.T) {
	t.Parallel()
	env := installed(t)
	ship := write(t, "ship.yaml", "kind: ship\nversion: 1\nattributes:\n  name: {type: name, required: true}\n  phones: {type: phone, many: true}\n")
	for _, want := range []string{"created: kind ship, version 1", "unchanged: kind ship, version 1"} {
		if got := must(t, env, "kind", "create", ship); !strings.Contains(got.err, want) {
			t.Errorf("create: %s, want %s", got.err, want)
		}
	}
	if got := must(t, env, "kind", "list"); !strings.Contains(got.stdout, "\nship\t1\t") || !strings.Contains(got.stdout, "\nplace\t1\tyes\t") {
		t.Errorf("list:\n%s", got.stdout)
	}
	shown := must(t, env, "kind", "show", "place").stdout
	if !strings.HasPrefix(shown, "kind: place\nversion: 1\n") {
		t.Fatalf("show:\n%s", shown)
	}
	changed := write(t, "place.yaml",
		strings.Replace(shown, "version: 1\n", "version: 2\n", 1)+"sources:\n  crm: {trust: 0.9}\n")
	if got := must(t, env, "kind", "migrate", changed, "--dry-run"); !strings.HasPrefix(got.stdout, "kind place, version 2, term-frequency table ") {
		t.Errorf("dry run:\n%s%s", got.stdout, got.err)
	}
	if got := must(t, env, "kind", "show", "place").stdout; got != shown {
		t.Error("a dry run has migrated the kind")
	}
	if got := must(t, env, "kind", "migrate", changed, "--yes"); !strings.Contains(got.err, "done: kind place has version 2") {
		t.Errorf("migrate: %s", got.err)
	}
	if got := must(t, env, "kind", "diff", changed).stdout; !strings.Contains(got, "0 of these show other values; 0 would be merged from several, 0 would be split") {
		t.Errorf("compared with what is:\n%s", got)
	}
}

func TestTerms_BuildDiffAndMigrate(t *testing.T) {
	t.Parallel()
	env := installed(t)
	hash := strings.TrimSpace(must(t, env, "terms", "build", "--kind", "place").stdout)
	if len(hash) != 16 {
		t.Fatalf("the hash of the term-frequency table is %q", hash)
	}
	if got := must(t, env, "terms", "diff", hash).stdout; !strings.HasPrefix(got, "kind place, version 1, term-frequency table "+hash+": ") {
		t.Errorf("diff:\n%s", got)
	}
	if got := must(t, env, "terms", "migrate", hash, "--yes"); !strings.Contains(got.err, "done: kind place has version 1 and term-frequency table "+hash) {
		t.Errorf("migrate: %s", got.err)
	}
	if got := must(t, env, "terms", "list").stdout; strings.Count(got, "\n") != 3 || !strings.Contains(got, "\n"+hash+"\tplace\t") {
		t.Errorf("list:\n%s", got)
	}
}

// Labelled records may be of any kind, built in or in a file.
func TestEval_OfAKind(t *testing.T) {
	t.Parallel()
	people := write(t, "people.csv", "id,truth,given_name,family_name,birth_date\n1,a,Maria,Santos,1980-02-03\n2,a,Maria,Santoz,1980-02-03\n3,b,Ann,Baker,1950-05-05\n")
	boats := write(t, "boat.yaml", "kind: boat\nversion: 1\nattributes:\n  given_name: { type: name }\n")
	for kind, want := range map[string]string{"person": `"f1":{"value":1,`, boats: `"kind":"boat"`} {
		r := run(t.Context(), nil, "eval", "clusters", people, "--truth", "truth", "--kind", kind, "--json")
		if r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("%s: exit %d, want %s in\n%s%s", kind, r.code, want, r.stdout, r.err)
		}
	}
	if r := run(t.Context(), nil, "eval", "clusters", people, "--truth", "truth", "--kind", "persn"); r.code != 2 || !strings.Contains(r.err, "persn") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
