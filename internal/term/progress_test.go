// SPDX-License-Identifier: Apache-2.0

package term_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/term"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		terminal bool
		want     string
	}{
		{"a pipe gets a line every five seconds", false, "at 5s\na notice\nat 10s\nat 25s\n"},
		{"a terminal gets one line, written over", true,
			"\r\x1b[Kat 1s\r\x1b[Kat 5s\r\x1b[Ka notice\n\r\x1b[Kat 6s\r\x1b[Kat 10s\r\x1b[Kat 21s\r\x1b[Kat 25s\r\x1b[Kat 25s\n"},
	} {
		now := time.Unix(0, 0)
		var b strings.Builder
		p := term.NewProgress(&b, c.terminal, func() time.Time { return now })
		for _, second := range []int64{0, 1, 5, 6, 10, 21, 25} {
			if second == 21 {
				now = time.Unix(20, 0)
				p.Restart()
			}
			now = time.Unix(second, 0)
			p.Update(func() string { return "at " + time.Duration(second*1e9).String() })
			if second == 5 {
				p.Print("a notice")
			}
			if second == 25 {
				p.Print("at 25s") // a pipe has it
			}
		}
		p.Close()
		p.Close()
		if b.String() != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, b.String(), c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{term.Count(0), "0"},
		{term.Count(999), "999"},
		{term.Count(1000), "1,000"},
		{term.Count(-100), "-100"},
		{term.Count(-1234567), "-1,234,567"},
		{term.Count(9223372036854775807), "9,223,372,036,854,775,807"},
		{term.Short(0), "0"},
		{term.Short(902), "902"},
		{term.Short(11800), "11.8k"},
		{term.Short(999.9), "1.00k"},
		{term.Short(1240000), "1.24M"},
		{term.Short(3.1e9), "3.10G"},
		{term.Short(902e3), "902.0k"},
		{term.Left(12400 * time.Millisecond), "12s"},
		{term.Left(149 * time.Second), "2m29s"},
		{term.Left(185 * time.Minute), "3h05m"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
