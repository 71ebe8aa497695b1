// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"errors"
	"strings"
	"time"
)

// isoText writes a time in another form. A text that is not a time, such as infinity, is not changed.
func isoText(text, layout string, format func(time.Time) string) string {
	at, err := time.Parse(layout, text)
	if err != nil {
		return text
	}
	return format(at)
}

var errArray = errors.New("an array cannot be taken apart")

// elements returns the elements of an array as PostgreSQL writes it, {a,"b, c",NULL} or {{1,2},{3,4}}, without nulls.
func elements(text string, each func(string) string) (all []string, err error) {
	if strings.HasPrefix(text, "[") { // bounds: [2:3]={a,b}
		if _, after, ok := strings.Cut(text, "="); ok {
			text = after
		}
	}
	add := func(value string, quoted bool) {
		if !quoted && strings.EqualFold(value, "NULL") {
			return
		}
		if each != nil {
			value = each(value)
		}
		all = append(all, value)
	}
	depth := 0
	var b strings.Builder
	begun, quoted := false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}' || c == ',':
			if begun {
				add(b.String(), quoted)
			}
			b.Reset()
			begun, quoted = false, false
			if c == '}' {
				depth--
			}
		case c == '"':
			begun, quoted = true, true
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' && i+1 < len(text) {
					i++
				}
				b.WriteByte(text[i])
			}
			if i == len(text) {
				return nil, errArray
			}
		default:
			begun = true
			if c == '\\' && i+1 < len(text) {
				i++
			}
			b.WriteByte(text[i])
		}
		if depth == 0 && i < len(text)-1 || depth < 0 {
			return nil, errArray
		}
	}
	return all, nil
}
