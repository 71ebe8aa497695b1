// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/longtest"
)

const (
	byCategory = "../../docs/examples/places_by_category.yaml"
	bySource   = "../../docs/examples/records_by_source.yaml"
)

const shops = `id,name,phones,category,city
1,Joe's Pizza,415-555-2300,food > pizza,Springfield
2,Golden Bakery,415-555-7777,food > bakery,Springfield
3,Blue Door Books,415-555-1234,shop > books,Shelbyville
4,Corner Bakery,415-555-9876,food > bakery,
`

// again is another source's record of one of the shops.
const again = `id,name,phones
a,Joes Pizza,(415) 555-2300
`

// installed returns a data directory with some shops.
func installed(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{"LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	if code, said := runUntil(t, env, "Ctrl-C", "demo", "--no-load", "--cells", "2", "--addr", "127.0.0.1:0", "--keep", env["LOCUS_DATA"]); code != 0 {
		t.Fatalf("make cells: exit code %d\n%s", code, said)
	}
	must(t, env, "ingest", "--source", "crm", "--key", "id", write(t, "shops.csv", shops))
	must(t, env, "ingest", "--source", "web", "--key", "id", write(t, "again.csv", again))
	return env
}

// The examples of the documentation are defined, read and verified.
func TestRollup_Examples(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := installed(t)
	for _, file := range []string{byCategory, bySource} {
		if got := must(t, env, "rollup", "define", file); !strings.Contains(got.err, "defined: rollup ") || !strings.Contains(got.err, " serves ") {
			t.Errorf("%s: %s", file, got.err)
		}
		if got := must(t, env, "rollup", "define", file); !strings.Contains(got.err, "unchanged: rollup ") {
			t.Errorf("%s again: %s", file, got.err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"places_by_category"}, "category\tShelbyville\tSpringfield\t(none)\ttotal\n" +
			"food > bakery\t\t1\t1\t2\nfood > pizza\t\t1\t\t1\nshop > books\t1\t\t\t1\n"},
		{[]string{"places_by_category", "--rows", "--limit", "1"}, "category\tcity\tplaces\n" +
			"food > bakery\tSpringfield\t1\nfood > bakery\t(none)\t1\nfood > bakery\ttotal\t2\n"},
		{[]string{"places_by_category", "--all", "--limit", "1", "--latest"}, "category\tShelbyville\tSpringfield\t(none)\ttotal\n" +
			"food > bakery\t\t1\t1\t2\nfood > pizza\t\t1\t\t1\nshop > books\t1\t\t\t1\n"},
		{[]string{"places_by_category", "--top", "1"}, "category\tSpringfield\t(none)\ttotal\nfood > bakery\t1\t1\t2\n"},
		{[]string{"places_by_category", "shop > books"}, "category\tShelbyville\ttotal\nshop > books\t1\t1\n"},
		{[]string{"records_by_source", "--top", "2", "--by", "records"},
			"source\tcreated\tmatched\ttotal\ncrm\t4\t\t4\nweb\t\t1\t1\n"},
	} {
		got := must(t, env, append([]string{"rollup", "get"}, c.args...)...)
		if diff := cmp.Diff(c.want, got.stdout); diff != "" {
			t.Errorf("get %v: -want +got:\n%s", c.args, diff)
		}
		if !strings.Contains(got.err, "true at g0-0:") ||
			strings.Contains(got.err, "more follow") != (c.args[len(c.args)-1] == "1" && c.args[1] == "--rows") {
			t.Errorf("get %v: %s", c.args, got.err)
		}
	}
	got := must(t, env, "rollup", "verify")
	if !regexp.MustCompile(`^rollup\tcells\tthings\trows\tdiffer\nplaces_by_category\t2\t4\t\d\t0\nrecords_by_source\t2\t5\t\d\t0\n$`).MatchString(got.stdout) {
		t.Errorf("verify:\n%s", got.stdout)
	}
	if got := must(t, env, "rollup", "status", "places_by_category"); strings.Count(got.stdout, "\tfollowing\t") != 2 || !strings.Contains(got.err, "   verified 20") {
		t.Errorf("status:\n%s%s", got.stdout, got.err)
	}
}

// A write is counted, and explained by its change.
func TestRollup_ExplainsWhatWasWritten(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := installed(t)
	must(t, env, "rollup", "define", byCategory)
	must(t, env, "ingest", "--source", "crm", "--key", "id",
		write(t, "more.csv", "id,name,category,city\n2,Golden Bakery,food > bakery,Shelbyville\n"))
	if got := must(t, env, "rollup", "get", "places_by_category", "food > bakery", "--latest"); !strings.HasSuffix(got.stdout, "\nfood > bakery\t1\t1\t2\n") {
		t.Errorf("get:\n%s", got.stdout)
	}
	got := must(t, env, "rollup", "explain", "places_by_category", "food > bakery")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if len(lines) != 2 || !strings.Contains(lines[1], "\tSpringfield\tShelbyville\t") ||
		!strings.Contains(lines[1], "city: Springfield -> Shelbyville") {
		t.Errorf("explain:\n%s", got.stdout)
	}
	var line map[string]any
	got = must(t, env, "rollup", "explain", "places_by_category", "food > bakery", "--json")
	if err := json.Unmarshal([]byte(strings.SplitN(got.stdout, "\n", 2)[0]), &line); err != nil || line["type"] != "result" || line["kind"] != "changed" {
		t.Errorf("explain --json: %v\n%s", err, got.stdout)
	}
	if got := must(t, env, "rollup", "explain", "places_by_category", "shop > books"); !strings.Contains(got.err, "the logs contain no change of this group") {
		t.Errorf("explain nothing: %s", got.err)
	}
}

func TestRollup_RebuildAndDrop(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := installed(t)
	if got := must(t, env, "rollup", "list"); !strings.Contains(got.err, "there are no rollups") {
		t.Errorf("an empty list: %s", got.err)
	}
	must(t, env, "rollup", "define", bySource, "--wait")
	if got := must(t, env, "rollup", "rebuild", "records_by_source", "--wait"); !strings.Contains(got.err, "rebuilt: rollup records_by_source, generation 2 serves ") {
		t.Errorf("rebuild: %s", got.err)
	}
	if got := must(t, env, "rollup", "list", "--json"); !strings.Contains(got.stdout, `{"type":"result","name":"records_by_source","state":"following"`) {
		t.Errorf("list: %s", got.stdout)
	}
	if got := must(t, env, "rollup", "drop", "records_by_source", "--dry-run"); !strings.Contains(got.err, "will drop rollup records_by_source, ") {
		t.Errorf("dry run: %s", got.err)
	}
	if got := run(t.Context(), env, "rollup", "drop", "records_by_source"); got.code != 2 || !strings.Contains(got.err, "--yes is missing") {
		t.Errorf("without --yes: %d %s", got.code, got.err)
	}
	if got := must(t, env, "rollup", "drop", "records_by_source", "--yes", "--json"); !strings.HasSuffix(got.stdout, `{"outcome":"dropped","rollup":"records_by_source","type":"summary"}`+"\n") {
		t.Errorf("drop: %s", got.stdout)
	}
	if got := run(t.Context(), env, "rollup", "get", "records_by_source"); got.code != 4 {
		t.Errorf("get of what was dropped: %d %s", got.code, got.err)
	}
}

// All faults of a definition are reported at once, each with its line, before and after it is sent.
func TestRollupDefine_TellsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	env := installed(t)
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"fields": {"rollup: x\nkind: place\ngrup: category\nmeasures: { n: count, s: { summ: city } }\n", []string{
			":3: grup: ", "\n    3 | grup: category\n      | ^\n", ":4: measures.s.summ: ", "2 problems in the definition",
		}},
		"kind": {"rollup: x\nkind: place\ngroup: nme\ndimension: phones\nmeasures:\n  n: count\n  s: { sum: none }\n", []string{
			":3: group: kind place has no attribute nme\n", ":4: dimension: attribute phones has many values",
			":7: measures.s.sum: kind place has no attribute none\n    7 |   s: { sum: none }\n      |        ^\n",
			"3 problems in the definition",
		}},
		"json": {`{"rollup":"x","kind":"place","group":["category"],"dimension":"nope"}`,
			[]string{":1: dimension: kind place has no attribute nope\n"}},
		"yaml": {"rollup: x\ngroup:\n  - \"b\n",
			[]string{":3: rollup: found unexpected end of stream", "1 problem in the definition"}},
		"none": {" \n", []string{"contains no definition"}},
	} {
		file := write(t, "x.yaml", c.text)
		got := run(t.Context(), env, "rollup", "define", file)
		for _, says := range c.says {
			if !strings.Contains(got.err, says) {
				t.Errorf("%s: it does not say %q:\n%s", name, says, got.err)
			}
		}
		if got.code != 2 || got.stdout != "" {
			t.Errorf("%s: exit code %d, %q", name, got.code, got.stdout)
		}
		for line := range strings.Lines(run(t.Context(), env, "rollup", "define", file, "--json").err) {
			if !strings.HasPrefix(line, `{"type":"problem","file":"`) &&
				!strings.HasPrefix(line, `{"type":"exit_error","code":"invalid"`) {
				t.Errorf("%s --json: %s", name, line)
			}
		}
	}
}

func TestRollup_Refuses(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := installed(t)
	must(t, env, "rollup", "define", byCategory)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"define"}, 2, "FILE is missing"},
		{[]string{"define", "none.yaml"}, 4, "read the definition"},
		{[]string{"get"}, 2, "NAME is missing"},
		{[]string{"get", "nope"}, 4, "not found"},
		{[]string{"get", "places_by_category", "nothing"}, 4, "not found"},
		{[]string{"get", "places_by_category", "a", "b"}, 2, "want 1 value of it, not 2"},
		{[]string{"get", "places_by_category", ""}, 2, "is empty"},
		{[]string{"get", "places_by_category", "a", "--top", "3"}, 2, "are not for one group"},
		{[]string{"get", "places_by_category", "--top", "3", "--limit", "3"}, 2, "--top excludes"},
		{[]string{"get", "places_by_category", "--top", "0"}, 2, "want 1 to 1000"},
		{[]string{"get", "places_by_category", "--limit", "0"}, 2, "want 1 to 1000"},
		{[]string{"get", "places_by_category", "--by", "places"}, 2, "--by needs --top"},
		{[]string{"get", "places_by_category", "--top", "3", "--by", "weight"}, 2, "weight"},
		{[]string{"get", "places_by_category", "--min-watermark", "17"}, 2, "not a watermark"},
		{[]string{"get", "places_by_category", "--cursor", "x"}, 2, "start again without it"},
		{[]string{"explain", "places_by_category"}, 2, "VALUE is missing"},
		{[]string{"explain", "places_by_category", "x", "--limit", "0"}, 2, "want 1 to 1000"},
		{[]string{"rebuild", "nope"}, 4, "not found"},
		{[]string{"verify", "nope"}, 4, "not found"},
		{[]string{"verify", "a", "b"}, 2, "unexpected argument"},
		{[]string{"status"}, 2, "NAME is missing"},
		{[]string{"statsu"}, 2, "did you mean locus rollup status?"},
	} {
		got := run(t.Context(), env, append([]string{"rollup"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.err, c.says) {
			t.Errorf("locus rollup %s: exit code %d, want %d, and %q:\n%s", strings.Join(c.args, " "), got.code, c.code,
				c.says, got.err)
		}
	}
}

// A definition may come from a pipe, and in JSON.
func TestRollupDefine_FromAPipe(t *testing.T) {
	t.Parallel()
	env := installed(t)
	text, err := os.ReadFile(byCategory)
	if err != nil {
		t.Fatal(err)
	}
	if got := runWith(t.Context(), string(text), env, "rollup", "define", "-"); got.code != 0 || !strings.Contains(got.err, "generation 1 serves") {
		t.Errorf("%d %s", got.code, got.err)
	}
	same := `{"rollup": "places_by_category", "kind": "place", "over": "entities", "group": ["category"], "dimension": "city", "measures": {"places": "count"}}`
	if got := runWith(t.Context(), same, env, "rollup", "define", "-", "--json"); got.code != 0 || !strings.Contains(got.stdout, `{"type":"summary",`) ||
		!strings.Contains(got.stdout, `"generation":1,`) {
		t.Errorf("the same in JSON: %d %s%s", got.code, got.stdout, got.err)
	}
}
