// SPDX-License-Identifier: Apache-2.0

package span_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/span"
)

func TestStatements_HaveTheTextOfTheProgram(t *testing.T) {
	t.Parallel()
	for want, sql := range map[string][]string{
		"/SELECT record|db.query.text=SELECT key FROM record WHERE puid = $1": {"SELECT key\n\tFROM record WHERE puid = $1"},
		"/INSERT entity|db.query.text=INSERT INTO entity(id) VALUES (?)":      {"INSERT INTO entity(id) VALUES (?)"},
		"/UPDATE locus_state|db.query.text=UPDATE locus_state SET n = n + 1":  {"UPDATE locus_state SET n = n + 1"},
		"/COMMIT|db.query.text=COMMIT":                                        {"COMMIT"},
		"/DELETE|db.query.text=DELETE FROM":                                   {"DELETE FROM"},
		"/statement|db.query.text=":                                           {""},
		"/statements|db.query.text=BEGIN; SELECT 1 FROM a|db.operation.batch.size": {"BEGIN",
			"SELECT 1 FROM a"},
		"/SELECT long_|db.query.text=SELECT " + strings.Repeat("é", 490) + strings.Repeat("x",
			1000-7-2*490): {"SELECT " + strings.Repeat("é", 490) + strings.Repeat("x", 1000) + " FROM long_"},
	} {
		var told []string
		root := span.New(&written{"", &told})
		s := root.Statements(t.Context(), "sqlite", len(sql), func(i int) string { return sql[i] })
		s.End(nil)
		name, rest, _ := strings.Cut(want, "|")
		expected := []string{name + ": db.system.name=sqlite"}
		for text := range strings.SplitSeq(rest, "|") {
			expected = append(expected, name+": "+text)
		}
		if expected = append(expected, name+": end"); !slices.Equal(told, expected) {
			t.Errorf("told %q, want %q", told, expected)
		}
	}
}

// Without a recording the statements are not looked at.
func TestStatements_OffAllocatesNothing(t *testing.T) { //nolint:paralleltest // counts allocations of the process
	sql := []string{"SELECT 1"}
	if n := testing.AllocsPerRun(1000, func() {
		s := span.Of(t.Context()).Statements(t.Context(), "sqlite", len(sql), func(i int) string { t.Error("looked at"); return sql[i] })
		if s.On() {
			t.Error("recorded")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
