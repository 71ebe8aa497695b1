// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// termsInForce returns the number of names that each kind's weights know, 0 for built-in tables.
func termsInForce(t *testing.T, env map[string]string) map[string]int {
	t.Helper()
	names := map[string]int{}
	of := map[string]int{}
	for line := range strings.Lines(run(t.Context(), env, "terms", "list", "--json").stdout) {
		var table struct {
			Hash    string
			Records int
		}
		if err := json.Unmarshal([]byte(line), &table); err != nil {
			t.Fatal(err)
		}
		of[table.Hash] = table.Records
	}
	for line := range strings.Lines(run(t.Context(), env, "kind", "list", "--json").stdout) {
		var kind struct {
			Kind  string
			Terms string `json:"term_frequencies"`
		}
		if err := json.Unmarshal([]byte(line), &kind); err != nil {
			t.Fatal(err)
		}
		names[kind.Kind] = of[kind.Terms]
	}
	return names
}

// The words of names in the first files of a kind are counted before its records are put; those of later files are not,
// and too few names are not counted at all.
func TestIngest_CountsTheNamesOfFirstFiles(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := map[string]string{"LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	imported := func(name string, flags ...string) {
		t.Helper()
		r := run(t.Context(), env, append([]string{"ingest", "--yes", "--ignore-unknown", "--key", "id", name}, flags...)...)
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
	}
	people := []string{"--kind", "person", "--set", "given_name=first_name", "--set", "family_name=last_name", "--set",
		"birth_date=dob", "--set", "city=city"}
	imported(staff(t, 700), append(people, "--dry-run")...)
	parts := generated(t, 1200)
	imported(parts[0], "--kind", "place")
	first := termsInForce(t, env)
	if first["place"] < 500 || first["person"] != 0 {
		t.Errorf("after the first file: %v, want the names of places", first)
	}
	imported(parts[1], "--kind", "place")
	imported(staff(t, 300), people...)
	if then := termsInForce(t, env); then["place"] != first["place"] || then["person"] != 0 {
		t.Errorf("after a second file of places and few persons: %v, want %v", then, first)
	}
	if r := run(t.Context(), env, "check"); r.code != 0 {
		t.Errorf("check: exit %d: %s%s", r.code, r.stdout, r.err)
	}
}
