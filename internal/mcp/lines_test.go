// SPDX-License-Identifier: Apache-2.0

package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/locus-db/locus/internal/mcp"
)

// A line that is no message is refused with the codes of JSON-RPC, and what follows is served.
func TestServe_GoesOnAfterWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	server, err := mcp.New(t.Context(), caller(t), &mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	for line, code := range map[string]int{
		"no message": -32700, `{"jsonrpc":"2.0","id":7,"method":"tools/li`: -32700, "{} {}": -32700, "\xff": -32700,
		"42": -32600, "null": -32600, "{}": -32600, "[]": -32600, `{"jsonrpc":"1.0","id":7,"method":"ping"}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: -32600,
		`"` + strings.Repeat("x", 16<<20) + `"`:     -32600,
		"\r":                                        0, "": 0,
	} {
		in := hello + line + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		var out bytes.Buffer
		if err := server.Serve(t.Context(), iotest.HalfReader(strings.NewReader(in)), &out); err != nil {
			t.Fatalf("%.50q: %v", line, err)
		}
		var ids []any
		refused := 0
		for answer := range strings.Lines(out.String()) {
			var m struct {
				ID    any
				Error struct{ Code int }
			}
			if err := json.Unmarshal([]byte(answer), &m); err != nil {
				t.Fatalf("%.50q: %q", line, answer)
			}
			if ids = append(ids, m.ID); m.ID == nil {
				refused = m.Error.Code
			}
		}
		if refused != code || !slices.Contains(ids, any(1.)) {
			t.Errorf("%.50q: code %d, want %d, and responses to %v", line, refused, code, ids)
		}
	}
	broken := errors.New("the pipe is broken")
	if err := server.Serve(t.Context(), io.MultiReader(strings.NewReader(hello), iotest.ErrReader(broken)), io.Discard); !errors.Is(err, broken) {
		t.Errorf("an input that cannot be read: %v", err)
	}
}
