// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
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

// others are extensions of formats that programs would assume by the name, although the content is different.
var others = strings.Fields(".tsv .tab .psv .json .xlsx .xlsm .xls .ods .docx .pdf .gz .zst .zip .bz2 .xz .arrow .feather .avro .orc .db .sqlite")

// ParseFormat returns the format with a name. If name is "", it returns the format for the extension of file, and
// without extension fallback. The error means that there is no such format.
func ParseFormat(name, file string, fallback Format) (Format, error) {
	if name == "" {
		switch ext := strings.ToLower(filepath.Ext(file)); ext {
		case ".csv":
			return CSV, nil
		case ".jsonl", ".ndjson":
			return JSONL, nil
		case ".parquet":
			return Parquet, nil
		default:
			if slices.Contains(others, ext) {
				return "", fmt.Errorf("nothing is written as %s: there are csv, jsonl and parquet", ext)
			}
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
