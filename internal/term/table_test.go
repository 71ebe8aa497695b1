// SPDX-License-Identifier: Apache-2.0

package term_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/term"
)

func cells() *term.Table {
	t := &term.Table{Header: []string{"cell", "records", "note"}, Right: map[int]bool{1: true}}
	t.Add("g0-0", "7", "")
	t.Add("g0-12", "1204", "a\tb")
	t.Add("寿司", "3", "\x1b[31m")
	return t
}

func TestTable_Write(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		style term.Style
		want  string
	}{
		{"pipe", term.Style{}, "cell\trecords\tnote\n" +
			"g0-0\t7\t\n" +
			"g0-12\t1204\ta\\tb\n" +
			"寿司\t3\t\\x1b[31m\n"},
		{"terminal", term.Style{Terminal: true}, "" +
			"cell   records  note\n" +
			"g0-0         7\n" +
			"g0-12     1204  a\\tb\n" +
			"寿司         3  \\x1b[31m\n"},
		{"colour", term.Style{Terminal: true, Color: true}, "" +
			"\x1b[1mcell   records  note\x1b[0m\n" +
			"g0-0         7\n" +
			"g0-12     1204  a\\tb\n" +
			"寿司         3  \\x1b[31m\n"},
	} {
		var b strings.Builder
		if err := cells().Write(&b, c.style); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTable_EmptyKeepsItsHeader(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	table := &term.Table{Header: []string{"a", "b"}}
	if err := table.Write(&b, term.Style{}); err != nil || b.String() != "a\tb\n" || table.Len() != 0 {
		t.Errorf("got %q, %v, %d rows", b.String(), err, table.Len())
	}
}

type closedPipe struct{}

var errClosed = errors.New("closed")

func (closedPipe) Write([]byte) (int, error) { return 0, errClosed }

func TestTable_SaysThatThePipeIsClosed(t *testing.T) {
	t.Parallel()
	if err := cells().Write(closedPipe{}, term.Style{}); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}

func TestStyle_Paint(t *testing.T) {
	t.Parallel()
	if got := (term.Style{}).Paint("1", "x"); got != "x" {
		t.Errorf("without colour: %q", got)
	}
	if got := (term.Style{Color: true}).Paint("1", ""); got != "" {
		t.Errorf("empty text: %q", got)
	}
}
