// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxResult is the maximum size of a result in bytes of JSON.
const MaxResult = 16 << 10

// page is a result: a head and, if list is not empty, as many items of a list as fit.
type page struct {
	head  any
	list  string // field of the items
	items []any
	skip  int    // items that earlier pages had
	from  string // the query that the items were read with, or its parts that must not change
	next  string // from of the next page, "" if these are the last items
}

// encode returns the JSON of the page. At least one item is in it, so that a reader of all pages comes to the end.
func (p *page) encode() (json.RawMessage, error) {
	out, err := json.Marshal(p.head)
	if err != nil {
		return nil, fmt.Errorf("write a result: %w", err)
	}
	if p.list == "" {
		return out, nil
	}
	if out = out[:len(out)-1]; len(out) > 1 {
		out = append(out, ',')
	}
	out = fmt.Appendf(out, "%q:[", p.list)
	n := min(p.skip, len(p.items))
	for first := n; n < len(p.items); n++ {
		item, err := json.Marshal(p.items[n])
		if err != nil {
			return nil, fmt.Errorf("write a result: %w", err)
		}
		if n > first {
			if len(out)+len(item)+len(p.cursor(n+1))+len(`,],"cursor":""}`) > MaxResult {
				break
			}
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	out = append(out, ']')
	if cursor := p.cursor(n); cursor != "" {
		out = fmt.Appendf(out, `,"cursor":%q`, cursor)
	}
	return append(out, '}'), nil
}

// cursor returns the cursor after the first n items, "" at the end.
func (p *page) cursor(n int) string {
	switch {
	case n < len(p.items):
		return strconv.Itoa(n) + "." + p.from
	case p.next != "":
		return "0." + p.next
	}
	return ""
}

// resume sets where a page continues.
func (p *page) resume(cursor string) error {
	if cursor == "" {
		return nil
	}
	skip, from, ok := strings.Cut(cursor, ".")
	n, err := strconv.Atoi(skip)
	if !ok || err != nil || n < 0 {
		return invalid("the cursor is not one of this tool: use the one of the last result, or none")
	}
	p.skip, p.from = n, from
	return nil
}

// clip shortens a text to at most size bytes of JSON, without its quotes.
func clip(text string, size int) string {
	end, used := 0, 0 // of the prefix that leaves room for the ellipsis
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		n := width
		switch {
		case r == '"' || r == '\\' || strings.ContainsRune("\b\f\n\r\t", r):
			n = 2
		case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError && width == 1:
			n = len(`\u0000`)
		}
		if used += n; used > size {
			return text[:end] + "…"
		}
		if i += width; used <= size-len("…") {
			end = i
		}
	}
	return text
}

// clips returns at most n texts, shortened, and how many are omitted.
func clips(list []string, n, size int) (kept []string, more int) {
	kept = []string{}
	for _, text := range list[:min(n, len(list))] {
		kept = append(kept, clip(text, size))
	}
	return kept, len(list) - len(kept)
}
