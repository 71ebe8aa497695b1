// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// agent runs locus mcp on tool calls, each a JSON object of name and arguments, and returns the results in order.
func agent(t *testing.T, args []string, calls ...string) (results []map[string]any) {
	t.Helper()
	in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for i, call := range calls {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", i+1, call)
	}
	got := runWith(t.Context(), in, nil, append([]string{"mcp"}, args...)...)
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	results = make([]map[string]any, len(calls))
	for line := range strings.Lines(got.stdout) {
		var m struct {
			ID     int
			Result struct {
				StructuredContent map[string]any
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("the output is not only the protocol: %q", line)
		}
		if m.ID > 0 {
			results[m.ID-1] = m.Result.StructuredContent
		}
	}
	return results
}

// Decisions of an agent over standard input are withdrawn by its author's name, and decisions of people stay.
func TestMCP_DecidesAndIsTakenBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "people.csv")
	rows := "key,name,emails\n"
	for i, name := range []string{"Maria Gonzalez", "Rosa Parker", "Wei Zhang", "Amara Okafor"} {
		rows += fmt.Sprintf("%d,%s,p%d@example.org\n", i, name, i)
	}
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	locus := func(want int, args ...string) result {
		t.Helper()
		got := run(t.Context(), nil, append(args, "--data", data)...)
		if got.code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, got.code, want, got.err)
		}
		return got
	}
	ids := func() string {
		t.Helper()
		return locus(0, "record", "list", "--all").stdout
	}
	locus(0, "ingest", "--source", "crm", "--kind", "person", "--yes", file)
	locus(0, "review", "answer", "crm:0", "crm:1", "--same", "--author", "ann")
	before := ids()
	all := []string{"--data", data, "--agent", "helpdesk", "--allow", "remember,decide"}
	results := agent(
		t, all,
		`{"name":"decide","arguments":{"verdict":"same","a":"crm:2","b":"crm:3","reason":"one desk"}}`,
		`{"name":"decide","arguments":{"verdict":"same","a":"crm:0","b":"crm:3","reason":"one desk"}}`,
		`{"name":"decide","arguments":{"verdict":"different","a":"crm:0","b":"crm:1","reason":"no"}}`,
	)
	for i, r := range results {
		if (r["error"] == nil) != (i < 2) {
			t.Errorf("decision %d: %v", i, r)
		}
	}
	if ids() == before {
		t.Error("nothing was decided")
	}
	if got := locus(0, "decision", "withdraw", "--author", "agent:helpdesk", "--dry-run"); strings.Count(got.stdout, "agent:helpdesk") != 2 || strings.Contains(got.stdout, "ann") {
		t.Errorf("would withdraw %q", got.stdout)
	}
	locus(2, "decision", "withdraw", "--author", "agent:helpdesk")
	locus(2, "decision", "withdraw")
	locus(2, "decision", "withdraw", "crm:0", "crm:1", "--yes")
	if ids() == before {
		t.Error("withdrawn without --yes")
	}
	locus(0, "decision", "withdraw", "--author", "agent:helpdesk", "--yes")
	if after := ids(); after != before {
		t.Errorf("after the withdrawal\n%s\nbefore\n%s", after, before)
	}
	if got := locus(0, "decision", "withdraw", "--author", "agent:helpdesk", "--yes"); !strings.Contains(got.err, "no decision") {
		t.Errorf("repeated: %q", got.err)
	}

	results = agent(t, []string{"--data", data}, `{"name":"get","arguments":{"address":"crm:0"}}`,
		`{"name":"remember","arguments":{"attributes":{"name":"x"}}}`)
	if results[0]["id"] == nil || results[1] != nil {
		t.Errorf("reading: %v", results)
	}
	for _, args := range [][]string{{"--allow", "decide"}, {"--allow", "erase", "--agent", "a"}, {"--agent", "A B"}} {
		locus(2, append([]string{"mcp"}, args...)...)
	}
}
