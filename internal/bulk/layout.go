// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// String returns the plan in one line: equal plans read a file equally.
func (p *Plan) String() string {
	guess, _ := json.Marshal(p.mapping.guess) // cannot fail: strings; sorted by name
	title := ""
	if p.title > 0 {
		title = fmt.Sprintf(" title=%d", p.title)
	}
	if p.groups > 0 {
		title += " groups"
	}
	return fmt.Sprintf("%s guess=%s observed=%v ignore=%q columns=%q", strings.Join(p.Args(), " "), guess, p.mapping.observed, p.options.Ignore, p.options.Columns) +
		fmt.Sprintf(" dialect={%d %d} encoding=%s header=%t all=%t", p.Dialect.Delimiter, p.Dialect.Quote, p.Encoding, p.Header, p.mapping.ignoreAll) + title
}

// Layout describes the format for a person: "CSV with semicolons, Windows-1252, a header".
func (p *Plan) Layout() string {
	var parts []string
	switch p.Format {
	case CSV:
		name := map[byte]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "pipes"}[p.Dialect.Delimiter]
		parts = append(parts, "CSV with "+cmp.Or(name, strconv.QuoteRune(rune(p.Dialect.Delimiter))))
		switch p.Dialect.Quote {
		case '"':
		case 0:
			parts = append(parts, "no quotes")
		default:
			parts = append(parts, "quotes "+string(rune(p.Dialect.Quote)))
		}
		switch {
		case p.groups > 0:
			parts = append(parts, fmt.Sprintf("header in lines %d and %d", p.skip+1, p.skip+2))
		case p.title > 0:
			parts = append(parts, fmt.Sprintf("header in line %d", p.title+1))
		}
	case JSONL:
		parts = append(parts, "JSON lines")
	case Parquet:
		return "Parquet"
	case XLSX:
		text := strings.Join(append([]string{p.sheetLayout()}, p.cellLayout()...), ", ")
		if len(p.Sheets) > 0 {
			text += "; not read: " + listed(p.Sheets)
		}
		return text
	case SQL:
		return p.databaseLayout()
	default:
		parts = append(parts, "JSON")
		if p.Rows != "" {
			parts = append(parts, "rows in "+p.Rows)
		}
	}
	parts = append(parts, cmp.Or((&lines{encoding: p.Encoding}).encodingName(), "ASCII so far"))
	if p.Format == CSV && !p.Header {
		parts = append(parts, "no header")
	}
	parts = append(parts, p.cellLayout()...)
	return strings.Join(parts, ", ")
}

// cellLayout describes which texts mean no value or are decoded.
func (p *Plan) cellLayout() (parts []string) {
	if p.options.Spreadsheet {
		parts = append(parts, `="00123" and '00123 are 00123`)
	}
	switch texts := p.options.Null; len(texts) {
	case 0:
	case 1:
		parts = append(parts, texts[0]+" is no value")
	default:
		parts = append(parts, strings.Join(texts[:len(texts)-1], ", ")+" and "+texts[len(texts)-1]+" are no values")
	}
	return parts
}
