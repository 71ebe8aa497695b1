// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// catalogues writes two lists of 420 papers, of which 20 differ from another one in two letters of the title. The second
// lacks every tenth paper; twice of the first are in it once more, with a letter less.
func catalogues(t *testing.T, twice int) (names []string) {
	t.Helper()
	words := strings.Fields("Granite Copper Willow Falcon Harbor Meadow Lantern Saddle Ripple Timber Cobalt Ember Orchid Pepper Quartz Raven Summit Tundra Velvet Walnut Zephyr Anchor Bramble Cedar Dahlia Ferry")
	drawn := rand.New(rand.NewPCG(3, 5))
	rows := [2][]string{}
	for i := range 400 {
		at := drawn.Perm(len(words))
		title := "Notes on " + words[at[0]] + " " + words[at[1]] + " " + words[at[2]]
		titles := []string{title}
		if i%20 == 0 {
			titles = append(titles, title[:len(title)-2]+"y"+title[len(title)-1:])
		}
		about := fmt.Sprintf("%c. %sson,%d\n", 'A'+drawn.IntN(7), words[drawn.IntN(len(words))], 1985+drawn.IntN(30))
		for n, title := range titles {
			rows[0] = append(rows[0], fmt.Sprintf("a%d-%d,%s,%s", i, n, title, about))
			if i < twice {
				rows[0] = append(rows[0], fmt.Sprintf("a%d-%d-2,%s,%s", i, n, title[:len(title)-1], about))
			}
			if i%10 != 9 {
				rows[1] = append(rows[1], fmt.Sprintf("b%d-%d,%s,%s", i, n, title, about))
			}
		}
	}
	for i, list := range rows {
		drawn.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		names = append(names, write(t, []string{"first.csv", "second.csv"}[i], "id,title,authors,year\n"+strings.Join(list, "")))
	}
	return names
}

// Rows of a file are not joined if each of them has a partner of its own in the other file.
func TestDedupe_FilesThatListNothingTwice(t *testing.T) {
	names := catalogues(t, 0)
	out := filepath.Join(t.TempDir(), "out.csv")
	for _, c := range []struct {
		args  []string
		says  []string
		not   string
		joins bool // papers that differ in two letters
	}{
		{says: []string{"first.csv lists nothing twice: ", "second.csv lists nothing twice: "}},
		{args: []string{"--deduplicated", "none"}, not: "nothing twice", joins: true},
		{args: []string{"--learn=false"}, not: "nothing twice", joins: true},
		{args: []string{"--learn=false", "--deduplicated", names[0] + "," + names[1]}, not: "nothing twice"},
	} {
		r := done(t, append([]string{"dedupe", names[0], names[1], "-o", out}, c.args...)...)
		for _, says := range c.says {
			if !strings.Contains(r.err, says) {
				t.Errorf("%v: does not say %q:\n%s", c.args, says, r.err)
			}
		}
		if c.not != "" && strings.Contains(r.err, c.not) {
			t.Errorf("%v: says %q:\n%s", c.args, c.not, r.err)
		}
		clusters := map[string]bool{}
		for _, row := range rowsOf(t, out)[1:] {
			clusters[row[5]] = true
		}
		if joins := len(clusters) < 420; joins != c.joins {
			t.Errorf("%v: %d clusters of 420 papers", c.args, len(clusters))
		}
	}
	if r := run(t.Context(), nil, "dedupe", names[0], names[1], "-o", out, "--deduplicated", "first"); r.code != 2 || !strings.Contains(r.err, "none") {
		t.Errorf("an unknown file: exit %d: %s", r.code, r.err)
	}
	r := done(t, "kind", "learn", names[0], names[1], "--anyway")
	if !strings.Contains(r.err, "lists nothing twice") || strings.Contains(r.stdout, "deduplicated") {
		t.Errorf("a draft from lists without duplicates:\n%s\n%s", r.err, r.stdout)
	}
}

// A file with real duplicates is told from one with neighbours.
func TestDedupe_AFileThatRepeatsItself(t *testing.T) {
	names := catalogues(t, 60)
	r := done(t, "dedupe", names[0], names[1], "-o", filepath.Join(t.TempDir(), "out.csv"))
	if strings.Contains(r.err, "first.csv lists nothing twice") || !strings.Contains(r.err, "second.csv lists nothing twice") {
		t.Errorf("the first file has 63 papers twice:\n%s", r.err)
	}
}
