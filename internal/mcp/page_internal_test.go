// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Following the cursors gives every item once and in order, in pages that are small enough.
func TestPage_CursorsGiveEveryItemOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 6000), 0, 30).Draw(t, "sizes")
		var items []any
		for i, size := range sizes {
			items = append(items, strings.Repeat(string(rune('a'+i%26)), size))
		}
		from := rapid.SampledFrom([]string{"", "state.of~list"}).Draw(t, "from")
		var got []any
		cursor := ""
		for n := 0; ; n++ {
			p := &page{head: map[string]int{"n": n}, list: "items", items: items, from: from}
			if err := p.resume(cursor); err != nil {
				t.Fatal(err)
			}
			raw, err := p.encode()
			if err != nil || len(raw) > MaxResult {
				t.Fatalf("%d bytes, %v", len(raw), err)
			}
			var read struct {
				N      *int
				Items  []any
				Cursor string
			}
			if err := json.Unmarshal(raw, &read); err != nil || *read.N != n || p.from != from {
				t.Fatalf("page %d: %v in %.200s", n, err, raw)
			}
			got = append(got, read.Items...)
			if cursor = read.Cursor; cursor == "" {
				break
			}
		}
		if !slices.Equal(got, items) {
			t.Fatalf("%d of %d items", len(got), len(items))
		}
	})
}

// A shortened text is a prefix, is valid if the text is, and fits.
func TestClip_Fits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\x00-\x1f<>&"\\éa]{0,60}`),
			rapid.Just("a\xff\xfeb\u2028c")).Draw(t, "text")
		size := rapid.IntRange(3, 60).Draw(t, "size")
		got := clip(text, size)
		raw, err := json.Marshal(got)
		if err != nil || len(raw)-2 > size {
			t.Fatalf("%q in %d: %q has %d", text, size, got, len(raw)-2)
		}
		if whole, cut := got == text, strings.TrimSuffix(got, "…"); !whole && (!strings.HasPrefix(text, cut) || cut == got) || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q in %d: %q", text, size, got)
		}
		if all, _ := json.Marshal(text); len(all)-2 <= size && got != text {
			t.Fatalf("%q fits in %d and is cut: %q", text, size, got)
		}
	})
}
