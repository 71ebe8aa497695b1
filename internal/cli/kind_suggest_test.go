// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

func TestKindSuggest_WritesAKindThatDedupeTakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	films := "movie_id;Film;Regie;Jahr\n1;Alien;Ridley Scott;1979\n2;Alien;\"Scott, R.\";1979\n3;Brazil;Terry Gilliam;1985\n"
	if err := os.WriteFile(path("films.csv"), []byte(films), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t.Context(), nil, "kind", "suggest", path("films.csv"))
	schema, err := match.ParseSchema([]byte(r.stdout))
	if r.code != 0 || err != nil || schema.Kind != "film" || len(schema.Attributes) != 3 ||
		!strings.Contains(r.err, "names the things") {
		t.Fatalf("exit %d, %v: %s%s", r.code, err, r.stdout, r.err)
	}
	if r = run(t.Context(), nil, "kind", "suggest", path("films.csv"), "--name", "movie", "-o", path("movie.yaml")); r.code != 0 || r.stdout != "" {
		t.Fatalf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if text := written(t, path("movie.yaml")); !strings.Contains(text, "kind: movie") {
		t.Errorf("the kind is %s", text)
	}
	r = run(t.Context(), nil, "dedupe", path("films.csv"), "--kind", path("movie.yaml"), "-o", path("out.csv"))
	if r.code != 0 || !strings.Contains(r.err, "3 rows in 2 clusters") ||
		!strings.Contains(r.err, "compared by Film, Regie, Jahr") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestKindSuggest_Refuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "numbers.csv")
	if err := os.WriteFile(name, []byte("a,b\n1.5,2\n2.5,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says string }{
		{name, "records are compared by"},
		{name + " --name Ä", "kind: want a name"},
		{filepath.Join(dir, "none.csv"), "none.csv"},
	} {
		if r := run(t.Context(), nil, append([]string{"kind", "suggest"}, strings.Fields(c.args)...)...); r.code == 0 || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
