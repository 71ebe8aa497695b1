// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
)

// staff writes n people, each second one twice, with another city, another spelling of the name and often another day.
func staff(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"id", "first_name", "last_name", "dob", "city"})
	random := rand.New(rand.NewPCG(31, uint64(n)))
	name := func(parts ...string) string {
		return parts[random.IntN(len(parts))] + parts[random.IntN(len(parts))] + parts[random.IntN(len(parts))]
	}
	for i := range n {
		given, family := name("ka", "lo", "mi", "ne", "ro", "su", "ta"), name("ber", "dal", "gor", "hil", "lam", "mer",
			"sten", "tor", "wick")
		year, day := 1930+random.IntN(70), 10+random.IntN(19)
		born := func() string { return fmt.Sprintf("%d-%d-%d", year, 10+i%3, day) }
		_ = w.Write([]string{strconv.Itoa(i), given, family, born(), "Oslo"})
		if i%2 == 0 {
			if i%3 == 1 {
				day = 10 + random.IntN(19)
			}
			at := random.IntN(len(family))
			_ = w.Write([]string{strconv.Itoa(i) + "x", given, family[:at] + "y" + family[at+1:], born(), "Bergen"})
		}
	}
	w.Flush()
	file := filepath.Join(t.TempDir(), "staff.csv")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// names writes n names of people, each twice and with nothing else.
func names(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("id,first_name,last_name\n")
	for i := range n {
		for _, source := range []string{"a", "b"} {
			fmt.Fprintf(&b, "%s%d,Ka%c%c,Lo%c%cberg\n", source, i, 'a'+i%26, 'a'+i/26, 'a'+i/26, 'a'+i%26)
		}
	}
	file := filepath.Join(t.TempDir(), "names.csv")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestKindLearn_WritesAKindThatDedupeTakes(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	name := staff(t, 500)
	kind := filepath.Join(t.TempDir(), "person.yaml")
	r := run(t.Context(), nil, "kind", "learn", name, "--kind", "person", "-o", kind)
	if r.code != 0 || r.stdout != "" || !strings.Contains(r.err, "750 records") ||
		!strings.Contains(r.err, "any two records") {
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
		if r := run(t.Context(), nil, "dedupe", name, "--kind", by, "-o", out, "--learn=false"); r.code != 0 || !strings.Contains(r.err, "750 rows in ") {
			t.Errorf("dedupe --kind %s: exit %d: %s", by, r.code, r.err)
		}
		weighed[by] = written(t, out)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	if r := run(t.Context(), nil, "dedupe", name, "--kind", "person", "-o", out); r.code != 0 || !strings.Contains(r.err, "weights learned from ") {
		t.Errorf("dedupe: exit %d: %s", r.code, r.err)
	}
	if written(t, out) != weighed[kind] {
		t.Error("dedupe weighs otherwise than by the draft")
	}
	if r := run(t.Context(), nil, "dedupe", name, "--kind", kind, "-o", out); r.code != 0 || strings.Contains(r.err, "weights learned from ") || written(t, out) != weighed[kind] {
		t.Errorf("dedupe --kind YAML does not take the weights of the kind: exit %d: %s", r.code, r.err)
	}
	if weighed[kind] == weighed["person"] {
		t.Error("dedupe weighs by the draft as by the built-in kind")
	}
}

func TestKindLearn_RefusesWithTheReasons(t *testing.T) {
	t.Parallel()
	name := staff(t, 6)
	r := run(t.Context(), nil, "kind", "learn", name, "--kind", "person")
	if r.code != 1 || r.stdout != "" || !strings.Contains(r.err, "the current weights stay") ||
		!strings.Contains(r.err, "too few to learn from") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := run(t.Context(), nil, "kind", "learn", name, "--kind", "person", "--anyway"); r.code != 0 || !strings.Contains(r.stdout, "kind: person") {
		t.Errorf("--anyway: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	// dedupe says nothing of a file that is too small to learn from, and otherwise why the weights stay.
	out := filepath.Join(t.TempDir(), "out.csv")
	if r := run(t.Context(), nil, "dedupe", name, "--kind", "person", "-o", out); r.code != 0 || strings.Contains(r.err, "the weights of the kind stay") {
		t.Errorf("dedupe of few rows: exit %d: %s", r.code, r.err)
	}
	if r := run(t.Context(), nil, "dedupe", names(t, 600), "--kind", "person", "-o", out); r.code != 0 || !strings.Contains(r.err, "the weights of the kind stay: only names") {
		t.Errorf("dedupe of names: exit %d: %s", r.code, r.err)
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

// Decisions move the weights of the fields that were decisive, in a kind that the installation accepts.
func TestKindLearn_Decisions(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	data := []string{"--data", path("data")}
	var rows, decided strings.Builder
	rows.WriteString("source,key,given_name,family_name,birth_date,city\n")
	for i := range 24 {
		// Pairs who agree in all but the day of their birth: the city decides.
		other, verdict := "Oslo", "same"
		if i%2 == 0 {
			other, verdict = "Bergen", "different"
		}
		name := "Abel" + strings.Repeat("son", 1+i%3) + string(rune('a'+i))
		fmt.Fprintf(&rows, "a,%d,Anna,%s,1950-03-11,Oslo\nb,%d,Anna,%s,1950-03-1%d,%s\n", i, name, i, name, 2+i%3, other)
		fmt.Fprintf(&decided, "{\"verdict\":%q,\"a\":\"a:%d\",\"b\":\"b:%d\",\"author\":\"ann\"}\n", verdict, i, i)
	}
	for name, text := range map[string]string{"people.csv": rows.String(), "decisions.jsonl": decided.String()} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done(t, append([]string{"ingest", path("people.csv"), "--kind", "person", "--yes"}, data...)...)
	learn := append([]string{"kind", "learn", "--decisions", "--kind", "person"}, data...)
	if r := run(t.Context(), nil, learn...); r.code != 1 || !strings.Contains(r.err, "answers: 0 same") {
		t.Fatalf("without decisions: exit %d: %s", r.code, r.err)
	}
	done(t, append([]string{"decision", "import", path("decisions.jsonl")}, data...)...)
	r := run(t.Context(), nil, append(learn, "-o", path("person.yaml"))...)
	if r.code != 0 || !strings.Contains(r.err, "24 decisions, 12 say same") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	schema, err := match.ParseSchema([]byte(written(t, path("person.yaml"))))
	if err != nil {
		t.Fatal(err)
	}
	if city := schema.Weights["city"]; city["equal"] <= match.Person().Weights["city"]["equal"] || city["different"] >= match.Person().Weights["city"]["different"] {
		t.Errorf("the weights of the city are %v", city)
	}
	var draft struct {
		Schema  string
		Answers int
		Levels  []json.RawMessage
	}
	r = run(t.Context(), nil, append(learn, "--json")...)
	if err := json.Unmarshal([]byte(r.stdout), &draft); err != nil || draft.Answers != 24 || len(draft.Levels) == 0 || draft.Schema != string(schema.YAML()) {
		t.Errorf("%v: %s", err, r.stdout)
	}
	if r = run(t.Context(), nil, append(learn, path("people.csv"))...); r.code != 2 {
		t.Errorf("decisions and a file: exit %d: %s", r.code, r.err)
	}
	if r = run(t.Context(), nil, "kind", "learn"); r.code != 2 {
		t.Errorf("neither: exit %d: %s", r.code, r.err)
	}
}
