// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Format is the format of a table.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
)

// ParseFormat returns the format of a name, or if that is "" the one that the extension of a file names. Without either
// it is fallback.
func ParseFormat(name, file string, fallback Format) (Format, error) {
	if name == "" {
		switch strings.ToLower(filepath.Ext(file)) {
		case ".csv":
			return CSV, nil
		case ".jsonl", ".ndjson":
			return JSONL, nil
		case ".parquet":
			return Parquet, nil
		}
		return fallback, nil
	}
	switch f := Format(name); f {
	case CSV, JSONL, Parquet:
		return f, nil
	}
	return "", fmt.Errorf("format %.20q is not known: there are csv, jsonl and parquet", name)
}

// Options configures New. Nil is the default.
type Options struct {
	// Spreadsheet writes an apostrophe before values of CSV that a spreadsheet would take for formulas. Such a file
	// cannot be read again without loss.
	Spreadsheet bool
	// Metadata are names and values for the footer of Parquet. CSV and JSON lines have no place for them.
	Metadata [][2]string
}

// New returns a writer of a table in a format.
func New(w io.Writer, format Format, columns []Column, opts *Options) (Writer, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	switch format {
	case CSV:
		return newCSV(w, columns, o.Spreadsheet)
	case JSONL:
		return newJSONL(w, columns), nil
	case Parquet:
		return newParquet(w, columns, o.Metadata), nil
	}
	return nil, fmt.Errorf("format %.20q is not known", format)
}
