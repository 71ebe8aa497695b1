// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

// If the reader closes the pipe, as head does, a command that writes ids exits without an error.
func TestID_EndsQuietlyWhenThePipeIsClosed(t *testing.T) {
	t.Parallel()
	const known = "20be0ffc-314a-bd53-7a50-013a65ca76d2"
	for _, args := range [][]string{
		{"id", "-n", "100000000"},
		{"id", "-n", "100000000", "--json"},
		{"id", "-n", "100000000", "--near", known},
		{"id", "-"},
		{"id", "-", "--json"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := command(t.Context(), t, t.TempDir(), args...)
			if args[1] == "-" {
				cmd.Stdin = strings.NewReader(strings.Repeat(known+"\n", 100_000))
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdout = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = w.Close() // the process has its own
			line, err := bufio.NewReader(r).ReadString('\n')
			if err != nil || line == "" {
				t.Errorf("first line %q: %v", line, err)
			}
			_ = r.Close()
			if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("%v, and on stderr: %s", err, stderr.String())
			}
		})
	}
}

// Ids minted by a server have the node configured by the operator.
func TestID_ServerTakesItsNode(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "127.0.0.1:0", "--node", "4711")
	answer, err := post(s.url, []httpapi.RecordInput{{Source: "x", Key: "1", Attributes: httpapi.Attributes{"name": {"a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	// The top bit marks ids minted near something, here the key of a record.
	id := answer.Results[0].Entity
	if node, ok := id.Node(); !ok || node != 4711|1<<27 {
		t.Errorf("%v: node %d", id, node)
	}
}
