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
	tableRecords = `source,key,name,phones,category,city
chamber,1,Joes Pizza,415-555-2300,food > pizza,San Francisco
crawler,2,Joe's Pizza,(415) 555-2300,food,San Francisco
crawler,3,"Blue ""Door"" | Books, =x",415-555-9999,a \\| b,
crawler,4,Ünïcode 寿司 𝄞,,,東京
`
	tableOthers = "source,key,name\nchamber,1,Anchor\ncrawler,2,Brass Heron\ncrawler,3,Corner Bakery\ncrawler,4,Deli\n"
)

// Every table of an export is read in again, in every format: records and entities as records, links and decisions as
// decisions.
func TestExport_EveryTableComesBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"in.csv": tableRecords, "others.csv": tableOthers,
		"in.jsonl": `{"verdict":"different","a":"crawler:3","b":"crawler:4","author":"ann","reason":"x, \"y\" | z"}` + "\n" + `{"verdict":"value","a":"crawler:2","attribute":"name","value":"Joes | Pizza"}` + "\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done(t, "ingest", "--data", path("a"), path("in.csv"))
	done(t, "decision", "import", "--data", path("a"), path("in.jsonl"))
	export := func(what, data, columns, name string) string {
		t.Helper()
		done(t, "export", what, "--data", path(data), "--columns", columns, "-o", path(name))
		return written(t, path(name))
	}
	const view = "name,phones,category,city"
	golden := strings.ReplaceAll(export("entities", "a", "entity,"+view, "golden.csv"), "entity,", "key,")
	links := export("links", "a", "source,key,entity", "l.csv")
	decided := export("decisions", "a", "*", "d.csv")
	for _, format := range []string{"csv", "jsonl", "parquet"} {
		file := func(what string) string { return path(what + "." + format) }
		for _, what := range []string{"records", "entities", "links", "decisions"} {
			done(t, "export", what, "--data", path("a"), "-o", file(what))
		}
		done(t, "export", "records", "--data", path("a"), "--columns", "*,entity,puid,version", "-o", file("all"))
		records := "r" + format
		done(t, "ingest", "--data", path(records), file("records"))
		again := run(t.Context(), nil, "ingest", "--data", path(records), file("all"))
		if again.code != 0 || !strings.Contains(again.stdout, "\t0\t0\t0\t4\t") {
			t.Errorf("%s: records with their ids are others: %s%s", format, again.stdout, again.err)
		}
		entities := "e" + format
		done(t, "ingest", "--data", path(entities), file("entities"))
		if got := export("records", entities, "key,"+view, "again.csv"); got != golden {
			t.Errorf("entities come back from %s as\n%s\nwant\n%s", format, got, golden)
		}
		// Records that have nothing in common are together as in the first installation.
		others := "o" + format
		done(t, "ingest", "--data", path(others), path("others.csv"))
		for _, what := range []string{"links", "decisions"} {
			r := run(t.Context(), nil, "ingest", "--data", path(others), file(what))
			if r.code != 2 || !strings.Contains(r.err, "locus decision import") {
				t.Errorf("%s as records: %d %s", file(what), r.code, r.err)
			}
			done(t, "decision", "import", "--data", path(others), file(what))
		}
		if got, want := together(export("links", others, "source,key,entity", "again.csv")), together(links); got != want {
			t.Errorf("links come back from %s as %s, want %s", format, got, want)
		}
		got := export("decisions", others, "*", "again.csv")
		for line := range strings.Lines(decided) {
			if !strings.Contains(got, line) {
				t.Errorf("decisions come back from %s as\n%s\nwithout\n%s", format, got, line)
			}
		}
	}
}

// together returns the keys of each entity of links, in their order.
func together(links string) string {
	of := map[string]string{}
	order := []string{}
	for line := range strings.Lines(links) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if of[fields[2]] == "" {
			order = append(order, fields[2])
		}
		of[fields[2]] += fields[0] + ":" + fields[1] + " "
	}
	all := ""
	for _, id := range order {
		all += of[id] + "| "
	}
	return all
}
