// SPDX-License-Identifier: Apache-2.0

package span

import (
	"context"
	"strings"
)

// maxStatement is how many bytes of the text of statements a span has.
const maxStatement = 1000

// Statements starts a span below this one for statements that a database gets at once. Their texts are constants of the
// program with parameters, so they contain no values. Without a recording they are not read.
func (s Span) Statements(ctx context.Context, system string, count int, sql func(i int) string) Span {
	if s.recording == nil || count == 0 {
		return Span{}
	}
	var text strings.Builder
	name := "statements"
	for i := range count {
		words := strings.Fields(sql(i))
		if count == 1 {
			name = summary(words)
		}
		if text.Len() < maxStatement {
			if i > 0 {
				text.WriteString("; ")
			}
			text.WriteString(strings.Join(words, " "))
		}
	}
	_, of := s.Start(ctx, name)
	of.Text("db.system.name", system)
	if all := text.String(); len(all) > maxStatement {
		of.Text("db.query.text", strings.ToValidUTF8(all[:maxStatement], ""))
	} else {
		of.Text("db.query.text", all)
	}
	if count > 1 {
		of.Number("db.operation.batch.size", int64(count))
	}
	return of
}

// summary returns the operation of a statement and its first table: "SELECT record".
func summary(words []string) string {
	if len(words) == 0 {
		return "statement"
	}
	name := strings.ToUpper(words[0])
	for i, word := range words[:len(words)-1] {
		switch strings.ToUpper(word) {
		case "FROM", "INTO", "UPDATE":
			if table, _, _ := strings.Cut(words[i+1], "("); table != "" {
				return name + " " + strings.TrimRight(table, "),;")
			}
		}
	}
	return name
}
