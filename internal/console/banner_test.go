// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/console"
)

// A banner is shown as text on every page of a console that has one, and otherwise on none.
func TestConsole_Banner(t *testing.T) {
	t.Parallel()
	plain := console.New("1.2.3")
	for name, c := range map[string]struct {
		console *console.Console
		want    bool
	}{"with a banner": {plain.With(&console.Banner{Text: "a <b>demo</b>", Command: "locus demo"}), true}, "without": {plain, false}} {
		var page bytes.Buffer
		if err := c.console.Notice(&page, console.Notice{Title: "x"}); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{`class="banner"`, "a &lt;b&gt;demo&lt;/b&gt;", `data-copy="locus demo"`} {
			if strings.Contains(page.String(), part) != c.want {
				t.Errorf("%s: want %s %v:\n%s", name, part, c.want, page.String())
			}
		}
	}
}
