// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

// staff writes n people, each second one twice, with another city and another spelling of the name.
func staff(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"id", "first_name", "last_name", "dob", "city"})
	given, family := []string{"Anna", "Boris", "Chloe", "David", "Elena", "Felix", "Grete"}, []string{"Abelson", "Brandt", "Castell", "Dubois", "Eriksen", "Fontane", "Gruber", "Holm", "Iversen", "Jansky", "Keller"}
	for i := range n {
		born := strconv.Itoa(1930+i*7%70) + "-" + strconv.Itoa(10+i%3) + "-" + strconv.Itoa(10+i%17)
		name := family[i%11] + strings.Repeat("a", i/77%3)
		_ = w.Write([]string{strconv.Itoa(i), given[i%7], name, born, "Oslo"})
		if i%2 == 0 {
			_ = w.Write([]string{strconv.Itoa(i) + "x", given[i%7], strings.Replace(name, "e", "a", 1), born, "Bergen"})
		}
	}
	w.Flush()
	name := filepath.Join(t.TempDir(), "staff.csv")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestKindLearn_WritesAKindThatDedupeTakes(t *testing.T) {
	t.Parallel()
	name := staff(t, 300)
	kind := filepath.Join(t.TempDir(), "person.yaml")
	r := run(t.Context(), nil, "kind", "learn", name, "--kind", "person", "-o", kind)
	if r.code != 0 || r.stdout != "" || !strings.Contains(r.err, "450 records") || !strings.Contains(r.err, "any two records") {
		t.Fatalf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	text := written(t, kind)
	schema, err := match.ParseSchema([]byte(text))
	if err != nil || schema.Prior >= 0 || len(schema.Weights) == 0 {
		t.Fatalf("the draft: %v\n%s", err, text)
	}
	if r := run(t.Context(), nil, "kind", "learn", name, "--kind", "person"); r.code != 0 || r.stdout != text {
		t.Errorf("exit %d, another draft on the standard output: %s", r.code, r.stdout)
	}
	weighed := map[string]string{}
	for _, by := range []string{kind, "person"} {
		out := filepath.Join(t.TempDir(), "out.csv")
		if r := run(t.Context(), nil, "dedupe", name, "--kind", by, "-o", out); r.code != 0 || !strings.Contains(r.err, "450 rows in ") {
			t.Errorf("dedupe --kind %s: exit %d: %s", by, r.code, r.err)
		}
		weighed[by] = written(t, out)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	if r := run(t.Context(), nil, "dedupe", name, "--kind", "person", "--learn", "-o", out); r.code != 0 || !strings.Contains(r.err, "weights learned from ") {
		t.Errorf("dedupe --learn: exit %d: %s", r.code, r.err)
	}
	if written(t, out) != weighed[kind] {
		t.Error("dedupe --learn weighs otherwise than by the draft")
	}
	if weighed[kind] == weighed["person"] {
		t.Error("dedupe weighs by the draft as by the built-in kind")
	}
}

func TestKindLearn_RefusesWithTheReasons(t *testing.T) {
	t.Parallel()
	name := staff(t, 6)
	r := run(t.Context(), nil, "kind", "learn", name, "--kind", "person")
	if r.code != 1 || r.stdout != "" || !strings.Contains(r.err, "today's weights stay") || !strings.Contains(r.err, "too few to learn from") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := run(t.Context(), nil, "kind", "learn", name, "--kind", "person", "--anyway"); r.code != 0 || !strings.Contains(r.stdout, "kind: person") {
		t.Errorf("--anyway: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	r = run(t.Context(), nil, "kind", "learn", name, "--kind", "person", "--json")
	var draft struct {
		Type    string
		Refused []string
		Schema  string
	}
	if err := json.Unmarshal([]byte(strings.SplitN(r.stdout, "\n", 2)[0]), &draft); err != nil || draft.Type != "draft" || len(draft.Refused) == 0 || draft.Schema == "" {
		t.Errorf("--json: %v: %s", err, r.stdout)
	}
}
