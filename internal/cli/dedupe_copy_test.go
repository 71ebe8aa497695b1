// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/cli"
)

const (
	streamA = "id,name,city,phone\n1,Blue Door,Oakland,415-555-0101\n2,Green Gate,Oakland,415-555-0102\n"
	streamB = "no,company,phone\nx,Blue Door,(415) 555-0101\n"
)

// Standard input is read like a file, and no copy of it remains. Tables are written to standard output, messages about
// them are not.
func TestDedupe_Streams(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	a, b := write(t, "a.csv", streamA), write(t, "b.csv", streamB)
	want := "match_weight,id,name,city,phone,second_no,second_company,second_phone\n"
	for _, c := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{"link", a, b, "-o", "-"}},
		{streamB, []string{"link", a, "-", "-o", "-"}},
		{streamA, []string{"link", "-", b, "-o", "/dev/stdout"}},
	} {
		r := runWith(t.Context(), c.stdin, nil, c.args...)
		if rows := strings.Split(r.stdout, "\n"); r.code != 0 || len(rows) != 3 || rows[0]+"\n" != want || !strings.HasSuffix(rows[1], ",1,Blue Door,Oakland,415-555-0101,x,Blue Door,(415) 555-0101") {
			t.Errorf("%q: exit %d\n%s%s", c.args, r.code, r.stdout, r.err)
		}
		if !strings.Contains(r.err, "stdout: 1 pair of 2 rows and 1 row") {
			t.Errorf("%q: %s", c.args, r.err)
		}
	}
	r := runWith(t.Context(), streamA+"3,\"x\ny\n", nil, "dedupe", "-", "-o", "-", "--json")
	if lines := strings.Split(r.stdout, "\n"); r.code != 3 || !strings.HasPrefix(lines[0], `{"id":"1","name":"Blue Door"`) || strings.Contains(r.stdout, `"type"`) || !strings.Contains(r.err, `"type":"summary"`) {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	_ = os.Remove("stdout.rejected.jsonl") // in the current directory
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A command without an end of its standard input ends with its context.
func TestDedupe_StreamWithoutEnd(t *testing.T) {
	t.Parallel()
	from, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	defer into.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, talk bytes.Buffer
	if code := cli.Run(ctx, []string{"dedupe", "-", "-o", filepath.Join(t.TempDir(), "out.csv")}, from, &out, &talk, nil); code != 130 {
		t.Errorf("exit %d: %s", code, talk.String())
	}
}
