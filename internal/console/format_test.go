// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/console"
)

func TestCount_IsExactAbove2To53(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567",
		9007199254740993: "9,007,199,254,740,993",
		math.MaxInt64:    "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := console.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount_LosesNoDigit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		if got := strings.ReplaceAll(console.Count(n), ",", ""); got != strconv.FormatInt(n, 10) {
			t.Fatalf("Count(%d) = %s", n, got)
		}
	})
}

func TestRate(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", -1: "0", math.NaN(): "0", 0.04: "0", 0.3: "0.3", 12: "12", 99.94: "99.9", 99.96: "100", 512.5: "513",
		12345.6: "12,346", math.Inf(1): "1,000,000,000,000,000",
	} {
		if got := console.Rate(v); got != want {
			t.Errorf("Rate(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestPercent_NeverRoundsSomethingToNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		part, whole float64
		want        string
	}{
		{0, 10, "0 %"},
		{1, 0, "0 %"},
		{10, 10, "100.0 %"},
		{1, 16, "6.25 %"},
		{1, 3, "33.3 %"},
		{1, 10000, "0.01 %"},
		{1, 1 << 32, "0.000000023 %"},
		{1250, 1 << 32, "0.000029 %"},
	} {
		if got := console.Percent(c.part, c.whole); got != c.want {
			t.Errorf("Percent(%v, %v) = %q, want %q", c.part, c.whole, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.IntRange(1, math.MaxInt32).Draw(t, "part")
		if got := console.Percent(float64(part), 1<<63); !strings.ContainsAny(got, "123456789") {
			t.Fatalf("Percent(%d, 2^63) = %q", part, got)
		}
	})
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 40960: "41.0 kB", 412345: "412 kB", 999499: "999 kB", 999500: "1.0 MB",
		math.MaxInt64: "9.2 EB",
	} {
		if got := console.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestOdds(t *testing.T) {
	t.Parallel()
	for bits, want := range map[float64]string{
		0: "as likely as not", 3: "8.0 times likelier", -3: "8.0 times less likely", 5: "32 times likelier",
		19.7: "852 thousand times likelier", 25: "34 million times likelier", 40: "over a billion times likelier",
	} {
		if got := console.Odds(bits); got != want {
			t.Errorf("Odds(%v) = %q, want %q", bits, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"pos:1042":     "pos:1042",
		"":             "''",
		"--q":          "--q",
		"Joe's":        `'Joe'\''s'`,
		"$(reboot)":    "'$(reboot)'",
		"寿司 屋":         "'寿司 屋'",
		"a\nreboot\n":  `$'a\U0000000areboot\U0000000a'`,
		"\u202etxt'\\": `$'\U0000202etxt\'\\'`,
		"a\u00a0b":     `$'a\U000000a0b'`,
	} {
		if got := console.Quote(s); got != want {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestQuote_ShowsAllThatItHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		for _, r := range console.Quote(s) {
			if !unicode.IsGraphic(r) || unicode.IsSpace(r) && r != ' ' {
				t.Fatalf("Quote(%q) holds %U", s, r)
			}
		}
	})
}
