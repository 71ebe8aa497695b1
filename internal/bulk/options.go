// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"fmt"
	"strings"
)

// Names of columns that are not attributes.
const (
	ColumnSource   = "source"
	ColumnKey      = "key"
	ColumnObserved = "observed_at"
	ColumnKind     = "kind"
)

// HashKey as the only key column makes the key of a row from its mapped content, 128 bits of SHA-256 in hexadecimal:
// equal rows are one record, and an edited row is a new one.
const HashKey = "@hash"

// Options describe a file. The zero value recognises everything.
type Options struct {
	// Copies maps the names of streams, which can be read only once, to the files that are read instead.
	Copies map[string]string
	// Context ends the statements of a database. Nil never does.
	Context context.Context //nolint:containedctx // a plan opens databases long after it was made

	Format    Format
	Encoding  Encoding
	Delimiter string // one character; "" is recognised
	Quote     string // one character, or "none"; "" means to recognise it
	// NoHeader means that the first row is a record. Columns then names the columns; columns without a name are called
	// column1 and so on.
	NoHeader bool
	Columns  []string
	Null     []string // texts that mean that there is no value
	// Spreadsheet means that cells of CSV and XLSX are read as a spreadsheet shows them: 00123 for ="00123" and '00123.
	Spreadsheet bool
	Table       string // of a database
	Query       string // of a database
	Since       string // column of a database; see sqltable.Options
	Sheet       string // of a workbook; "" is the first one with a header
	Rows        string // path to the list of rows in a JSON document, such as data.items

	Source string // source of all rows; "" is the column "source", or the name of the file
	Kind   string // kind of all rows; "" is the column "kind", or the kind that explains most columns
	// Key are the columns of the key, several of them joined by "/" with "\" as escape, or HashKey. If empty, the key
	// is the column "key" or a column that looks like a key.
	Key []string
	// Set maps columns to attributes. An attribute in Set takes no values from a column of its own name.
	Set []Assignment
	// Composed are assignments for the files that have all of their columns.
	Composed []Composition
	// Observed is when the record was observed; its zero value is the column "observed_at", in RFC 3339.
	Observed Observed
	// Ignore are columns to leave out; IgnoreUnknown leaves out all that mean nothing. With IgnoreUnknown and Set no
	// attribute is guessed.
	Ignore        []string
	IgnoreUnknown bool
	// Unstored means that the rows are compared and not stored. The source and the key may be missing: Row.Source and
	// Row.Key are then "". Columns without a meaning are left out, and columns named by options may be missing; see
	// Plan.Missing.
	Unstored bool
	// Part means that the text is a part of a file: its end is not the end of the rows.
	Part bool
	// Likely are the kinds that are preferred to others that explain as many columns.
	Likely []string
	// Exact takes the names of columns as they are and guesses nothing. Names without a meaning are refused.
	Exact bool
}

// Assignment sets an attribute from columns.
type Assignment struct {
	Attribute string
	// Expression is a column, a path such as contacts[].email, several of them separated by commas, each of which gives
	// values, or a composition such as "{first} {last}". An empty part of a composition is dropped together with the
	// text before it. A column whose whole name equals the expression is preferred, whatever characters it contains.
	Expression string
}

// ParseAssignment parses ATTRIBUTE=EXPRESSION.
func ParseAssignment(text string) (Assignment, error) {
	attribute, expression, found := strings.Cut(text, "=")
	if attribute, expression = strings.TrimSpace(attribute), strings.TrimSpace(expression); !found || attribute == "" || expression == "" {
		return Assignment{}, fmt.Errorf("%.60q: want ATTRIBUTE=COLUMN, such as name=company, phones=tel,mobile or 'name={first} {last}'", text)
	}
	return Assignment{attribute, expression}, nil
}

// String returns the assignment as ParseAssignment parses it.
func (a Assignment) String() string { return a.Attribute + "=" + a.Expression }

// Observed describes where the time of a record is and how it is written.
type Observed struct {
	Column string
	Layout string // of package time; "" is RFC 3339
	Zone   string // of the IANA database, for layouts without one; "" is UTC
}

// CheckDialect checks that the delimiter and the quote are one ASCII character each, or a word for one.
func (o *Options) CheckDialect() error {
	one := func(text string) bool { return len(text) == 1 && text[0] < 0x80 && text != "\n" && text != "\r" }
	switch {
	case o.Delimiter != "" && !one(o.Delimiter):
		return fmt.Errorf("the delimiter %.20q is not one ASCII character", o.Delimiter)
	case o.Quote != "" && o.Quote != noQuote && !one(o.Quote):
		return fmt.Errorf("the quote %.20q is neither one ASCII character nor none", o.Quote)
	case o.Quote != "" && o.Quote == o.Delimiter:
		return fmt.Errorf("%q cannot separate and quote", o.Quote)
	}
	return nil
}
