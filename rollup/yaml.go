// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// plain is a text that YAML reads as itself without quotes, whatever its version: "no" and "null" are in the reserved
// words.
var (
	plain    = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	reserved = map[string]bool{"y": true, "yes": true, "n": true, "no": true, "on": true, "off": true, "true": true,
		"false": true, "null": true}
)

// YAML returns a file that Parse reads as this definition: a line for each field, condition and measure.
func (d Definition) YAML() []byte {
	text, err := json.Marshal(d)
	if err != nil {
		return nil // a definition has texts and numbers only
	}
	var b bytes.Buffer
	for _, field := range fieldsOf(text) {
		b.WriteString(field.name + ":")
		switch parts := fieldsOf(field.value); {
		case field.name != "where" && field.name != "measures":
			b.WriteString(" " + unquoted(field.value) + "\n")
		case len(parts) > 0:
			b.WriteByte('\n')
			for _, part := range parts {
				b.WriteString("  " + unquoted(quotedName(part.name)) + ": " + unquoted(part.value) + "\n")
			}
		}
	}
	return b.Bytes()
}

// fieldText is a field of a JSON object.
type fieldText struct {
	name  string
	value json.RawMessage
}

// fieldsOf returns the fields of a JSON object in their order, nil for anything else.
func fieldsOf(text json.RawMessage) (list []fieldText) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		of := fieldText{}
		of.name, _ = name.(string)
		if err != nil || d.Decode(&of.value) != nil {
			return nil
		}
		list = append(list, of)
	}
	return list
}

func quotedName(name string) json.RawMessage {
	text, _ := json.Marshal(name) // cannot fail for a string
	return text
}

// unquoted returns a JSON value as YAML, in which every JSON value is itself: a plain text loses its quotes.
func unquoted(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && plain.MatchString(text) && !reserved[text] {
		return text
	}
	return string(value)
}
