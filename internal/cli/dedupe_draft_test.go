// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

const (
	films  = "id,title,year,director\n1,Solaris,1972,Andrei Tarkovsky\n2,Alien,1979,Ridley Scott\n3,Blade Runner,1982,Ridley Scott\n"
	films2 = "id,title,year,director\n1,Solaris,2002,Steven Soderbergh\n2,Alien,1979,R. Scott\n3,Blade Runner 2049,2017,Denis Villeneuve\n"
)

// clusterIDs returns the clusters of rows, in their order.
func clusterIDs(t *testing.T, file string) string {
	t.Helper()
	var clusters []string
	for line := range strings.Lines(written(t, file)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		clusters = append(clusters, fields[len(fields)-3])
	}
	return strings.Join(clusters[1:], " ")
}

// A built-in kind has nothing but the titles of films: remakes would join.
func TestDedupe_DraftsAKindThatComparesMore(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"films.csv": films, "more.csv": films2,
		"other.csv":   "id;name;jahr\n1;Alien;1979\n",
		"offers.csv":  "id,offer,brand,price\n1,Cordless drill KX200,Bosch,99\n2,Garden hose,Gard,20\n3,Cordless drill KX-200,Bosch,98\n",
		"sizes.csv":   "id,brand,product name,size\n1,Blue Door,Day Cream Rosewater,50 ml\n2,Blue Door,Day Cream Rosewater,200 ml\n3,Blue Door,Day Cream Rosewater,50ml\n",
		"homes.csv":   "id,address,city,beds\n1,12 Quince Rd Apt 4,Springfield,2\n2,12 Quince Road #4,Springfield,2\n3,12 Quince Road #5,Springfield,3\n",
		"cited.csv":   "id,citation\n1,\"Webb, A. Learning of rules in noisy domains. Proc. of the Int. Conf. on Learning, 1994.\"\n2,\"Moss, B. Views of graphs. Journal of Networks and Graphs, volume 12, pages 3-19, 1991.\"\n3,\"A. Webb: Learning of rules in noisy domains, Proc. of the Int. Conf. on Learning (1994)\"\n",
		"firms.csv":   "id,company,city\n1,Blue Door Ltd,Ulm\n2,Corner Bakery,Kiel\n3,Harbour Mills,Kiel\n",
		"payees.csv":  "id,payee,city\n1,Harbour Mills,Kiel\n2,Corner Bakery,Kiel\n3,Blue Door,Ulm\n",
		"letters.csv": "id,Название фильма,title,год,year\n1,Солярис,Solaris,1972,1972\n2,Солярис,Solaris,2002,2002\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		args     []string
		says     string
		clusters string
	}{
		{"two files", []string{path("films.csv"), path("more.csv")}, "kind film: compared by title, year, director",
			"1 2 3 4 2 5"},
		{"the kind is said", []string{path("films.csv"), path("more.csv"), "--kind", "place"},
			"kind place: compared by title", "1 2 3 1 2 4"},
		{"a meaning is said", []string{path("films.csv"), path("more.csv"), "--set", "name=title"},
			"kind place: compared by title", "1 2 3 1 2 4"},
		{"a column is ignored", []string{path("films.csv"), path("more.csv"), "--ignore", "director"},
			"kind film: compared by title, year", "1 2 3 4 2 5"},
		{"one file has other names", []string{path("films.csv"), path("other.csv")},
			"kind film: compared by title, year, director, name, jahr", "1 2 3 2"},
		{"no kind has the column of the names", []string{path("offers.csv")},
			"no kind has offer: compared with the draft", "1 2 1"},
		{"a kind of titles with one column more", []string{path("sizes.csv")},
			"kind size: compared by brand, product name, size", "1 2 1"},
		{"one column of texts", []string{path("cited.csv")}, "kind cited: compared by citation", "1 2 1"},
		{"things without names", []string{path("homes.csv")}, "kind place: compared by address, city", "1 1 2"},
		{"one file calls the names of the other payees", []string{path("firms.csv"), path("payees.csv")},
			"kind place: compared by company, city, payee", "1 2 3 3 2 1"},
		{"columns without Latin letters", []string{path("letters.csv")},
			"kind letter: compared by Название фильма, title, год, year", "1 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out.csv")
			r := run(t.Context(), nil, append([]string{"dedupe", "-o", out}, c.args...)...)
			if r.code != 0 || !strings.Contains(r.err, c.says) {
				t.Fatalf("exit %d, want %q: %s", r.code, c.says, r.err)
			}
			if got := clusterIDs(t, out); got != c.clusters {
				t.Errorf("clusters %s, want %s", got, c.clusters)
			}
		})
	}
}

// An import stores rows under an existing kind, so it explains how to get a better one.
func TestIngest_SaysThatAKindCanBeDrafted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "films.csv")
	if err := os.WriteFile(file, []byte(films), 0o600); err != nil {
		t.Fatal(err)
	}
	const hint = "no kind has year, director"
	ingest := func(args ...string) string {
		return run(t.Context(), nil, append([]string{"ingest", file, "--preview", "--data", filepath.Join(dir, "data")},
			args...)...).err
	}
	if said := ingest(); !strings.Contains(said, hint) || !strings.Contains(said, "--kind film") {
		t.Errorf("nothing says so: %s", said)
	}
	if said := ingest("--kind", "place"); strings.Contains(said, hint) {
		t.Errorf("the kind was said: %s", said)
	}
	kind := filepath.Join(dir, "film.yaml")
	for _, args := range [][]string{{"kind", "suggest", file, "-o", kind}, {"kind", "create", kind, "--data", filepath.Join(dir, "data")}} {
		if r := run(t.Context(), nil, args...); r.code != 0 {
			t.Fatalf("%v: %s", args, r.err)
		}
	}
	if said := ingest(); strings.Contains(said, hint) {
		t.Errorf("there is a kind film: %s", said)
	}
}
