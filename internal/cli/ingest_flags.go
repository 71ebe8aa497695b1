// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/sqltable"
	"github.com/locus-db/locus/records"
)

// reading holds the flags that control how files are read, for all commands that read files of records.
type reading struct {
	source, kind, format, encoding, delimiter, quote string
	rows, sheet, mapping                             string
	key, set, ignore, null, columns                  []string
	noHeader, ignoreUnknown, spreadsheet             bool

	unstored bool          // see bulk.Options
	options  *bulk.Options // of the flags and the mapping file
}

func (o *reading) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.key, "key", nil, "column with the source's key of a row; repeat it for a key of several columns; @hash derives one from the content (default \"key\", or a column that looks like it)")
	f.StringVar(&o.kind, "kind", "",
		"kind of all rows; by default the column kind, or the kind that recognises most columns")
	f.StringArrayVar(&o.set, "set", nil, "ATTRIBUTE=COLUMN, repeatable: several columns as phones=tel,mobile, a composition as 'name={first} {last}', a path as city=location.city")
	f.StringVar(&o.mapping, "mapping", "",
		"YAML file with source, kind, key, set, ignore, observed_at and format; flags override it")
	f.StringArrayVar(&o.ignore, "ignore", nil, "column to ignore; may be repeated")
	f.BoolVar(&o.ignoreUnknown, "ignore-unknown", false, "ignore columns that are not attributes; with --set, guess none")
	o.layoutFlags(f)
}

// layoutFlags are the flags for how a file is written.
func (o *reading) layoutFlags(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "",
		"csv, jsonl (an object per line), json (an array or a document), parquet or xlsx; recognised by default")
	f.StringVar(&o.encoding, "encoding", "",
		"utf-8, utf-16le, windows-1252, cp850, macintosh, shift_jis, ...; by default what the text shows")
	f.StringVar(&o.delimiter, "delimiter", "", "delimiter of a CSV file, a character or tab; recognised by default")
	f.StringVar(&o.quote, "quote", "", "quote character of a CSV file, or none; recognised by default")
	f.BoolVar(&o.noHeader, "no-header", false,
		"the first row of a CSV or XLSX file is a record; --columns names the columns")
	f.StringSliceVar(&o.columns, "columns", nil,
		"column names of a CSV or XLSX file without a header, separated by commas")
	f.StringArrayVar(&o.null, "null", nil, "text that stands for a missing value, such as NULL; may be repeated")
	f.BoolVar(&o.spreadsheet, "spreadsheet", false,
		"take cells of a CSV or XLSX file as a spreadsheet shows them: 00123 for =\"00123\" and '00123")
	f.StringVar(&o.sheet, "sheet", "", "sheet of an XLSX file; by default the first one with a header")
	f.StringVar(&o.rows, "rows", "", "path of the list of rows in a JSON document, such as data.items")
}

// ingesting holds the flags of an import.
type ingesting struct {
	reading

	table, query, since      string
	load                     string
	dryRun, preview, yes     bool
	snapshot                 bool
	maxDeleteText            string
	maxDelete                bulk.MaxDelete
	limit, maxRejects, batch int
}

func (o *ingesting) flags(f *pflag.FlagSet) {
	f.StringVar(&o.source, "source", "", "source of all rows; by default the column source, or the name of the file")
	o.reading.flags(f)
	f.StringVar(&o.table, "table", "", "table of a database, perhaps with its schema")
	f.StringVar(&o.query, "query", "", "query of a database, a SELECT")
	f.StringVar(&o.since, "since", "",
		"column of a database, such as updated_at: read only the rows from the highest value of the last import on")
	f.BoolVar(&o.yes, "yes", false,
		"accept what was recognised without a question; columns without a meaning are left out")
	f.BoolVar(&o.preview, "preview", false, "show the format, the columns and three rows as records, and write nothing")
	f.BoolVar(&o.dryRun, "dry-run", false, "read the files and validate every row as the server does, and write nothing")
	f.BoolVar(&o.snapshot, "snapshot", false,
		"the files are the whole of their source: delete the records of the source that are in none of them")
	f.StringVar(&o.maxDeleteText, "max-delete", "", "with --snapshot: delete nothing if more records than this are missing, a number or a share (default 10%, at least 100)")
	f.IntVar(&o.limit, "limit", 0, "stop after this many rows of each file; 0 means all")
	f.IntVar(&o.maxRejects, "max-rejects", 0, "stop once more rows than this are refused; 0 means never")
	f.StringVar(&o.load, "load", loadAuto,
		"auto, always or never: resolve all rows at once when they are stored; auto does so for large files")
	f.IntVar(&o.batch, "batch", 500, "rows per request, at most 1000")
}

// delimiterNames are delimiters that are hard to type.
var delimiterNames = map[string]string{"tab": "\t", `\t`: "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

// check validates these flags and the reading flags.
func (o *ingesting) check(files []string) error {
	switch {
	case o.batch < 1 || o.batch > records.MaxBatch:
		return usage("--batch 500", "--batch %d: want 1 to %d", o.batch, records.MaxBatch)
	case o.load != loadAuto && o.load != loadAlways && o.load != loadNever:
		return usage("--load auto, --load always, --load never", "unknown --load %.20q", o.load)
	case o.load == loadAlways && o.snapshot:
		return usage("--snapshot without --load",
			"--load always resolves rows when all are stored, and --snapshot then still deletes")
	case o.limit < 0 || o.maxRejects < 0:
		return usage("", "--limit and --max-rejects cannot be below 0")
	}
	databases := 0
	for _, name := range files {
		if sqltable.IsURL(name) {
			databases++
		}
	}
	switch {
	case databases == 0 && o.table+o.query+o.since != "":
		return usage("locus ingest postgres://HOST/DATABASE --table NAME",
			"--table, --query and --since are those of a database, and no URL of one is given")
	case databases > 0 && len(files) > 1:
		return usage("one command for each database", "a database is read alone")
	case o.table != "" && o.query != "":
		return usage("--table or --query", "--table and --query exclude each other")
	}
	if err := o.checkSnapshot(); err != nil {
		return err
	}
	if err := o.reading.check(files); err != nil {
		return err
	}
	o.options.Table, o.options.Query, o.options.Since = o.table, o.query, o.since
	return nil
}

func (o *ingesting) checkSnapshot() (err error) {
	switch {
	case !o.snapshot && o.maxDeleteText != "":
		return usage("--snapshot --max-delete 20%", "--max-delete is the limit of --snapshot, which is missing")
	case o.snapshot && o.since != "":
		return usage("--snapshot without --since",
			"--since reads a part of a table, and a snapshot is the whole of its source")
	case o.snapshot && o.limit > 0:
		return usage("--snapshot without --limit",
			"--limit reads a part of a file, and a snapshot is the whole of its source")
	}
	if o.maxDelete, err = bulk.ParseMaxDelete(o.maxDeleteText); err != nil {
		return usage("--max-delete 500, --max-delete 20%", "--max-delete %v", err)
	}
	return nil
}

// check validates the flags, reads the mapping file and sets the options.
func (o *reading) check(files []string) error {
	switch {
	case o.format != "" && !slices.Contains(bulk.Formats, bulk.Format(o.format)):
		return usage("--format csv, --format jsonl, --format json, --format parquet, --format xlsx",
			"unknown --format %.20q", o.format)
	case len(o.columns) > 0 && !o.noHeader:
		return usage("--no-header --columns id,name,...", "--columns names the columns of a file without a header")
	}
	for i, name := range files {
		if o.unstored && sqltable.IsURL(name) {
			return usage("locus ingest reads databases", "%.80q is a database, and a file is wanted", sqltable.Name(name))
		}
		if slices.ContainsFunc(files[:i], func(other string) bool { return isSameFile(name, other) }) {
			return usage("give each file once", "%.80q is given twice", name)
		}
	}
	b := &bulk.Options{}
	if o.mapping != "" {
		text, err := os.ReadFile(o.mapping)
		if err != nil {
			return usage("--mapping FILE", "the mapping cannot be read: %v", err)
		}
		if b, err = bulk.ParseMapping(text); err != nil {
			return usage("", "%.80q: %v", o.mapping, err)
		}
	}
	o.options = b
	return o.override(b)
}

// override sets options from the flags.
func (o *reading) override(b *bulk.Options) error {
	b.Source, b.Kind, b.Rows = cmp.Or(o.source, b.Source), cmp.Or(o.kind, b.Kind), cmp.Or(o.rows, b.Rows)
	b.Sheet = cmp.Or(o.sheet, b.Sheet)
	b.Format = cmp.Or(bulk.Format(o.format), b.Format)
	b.Delimiter = cmp.Or(delimiterNames[o.delimiter], o.delimiter, b.Delimiter)
	b.Quote = cmp.Or(o.quote, b.Quote)
	o.kind, b.Unstored = b.Kind, o.unstored
	if err := b.CheckDialect(); err != nil {
		return usage("--delimiter ';', --delimiter tab, --quote none", "%v", err)
	}
	if o.encoding != "" {
		var err error
		if b.Encoding, err = bulk.ParseEncoding(o.encoding); err != nil {
			return usage("--encoding utf-8", "%v", err)
		}
	}
	if len(o.key) > 0 {
		b.Key = o.key
	}
	if len(b.Key) > 1 && slices.Contains(b.Key, bulk.HashKey) {
		return usage("--key "+bulk.HashKey, "%s is a key by itself", bulk.HashKey)
	}
	if len(o.columns) > 0 {
		b.Columns = o.columns
	}
	b.NoHeader, b.Spreadsheet = b.NoHeader || o.noHeader, b.Spreadsheet || o.spreadsheet
	b.IgnoreUnknown = b.IgnoreUnknown || o.ignoreUnknown
	b.Ignore, b.Null = append(b.Ignore, o.ignore...), append(b.Null, o.null...)
	said := map[string]bool{}
	var set []bulk.Assignment
	for _, text := range o.set {
		a, err := bulk.ParseAssignment(text)
		if err != nil {
			return usage("", "--set %v", err)
		}
		said[a.Attribute] = true
		set = append(set, a)
	}
	b.Set = append(slices.DeleteFunc(b.Set, func(a bulk.Assignment) bool { return said[a.Attribute] }), set...)
	return nil
}
