// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/records"
)

// reading holds the flags that say how files are read, of all commands that read files of records.
type reading struct {
	source, kind, format, encoding, delimiter, quote string
	rows, mapping                                    string
	key, set, ignore, null, columns                  []string
	noHeader, ignoreUnknown                          bool

	unstored bool          // see bulk.Options
	options  *bulk.Options // of the flags and the mapping file
}

func (o *reading) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.key, "key", nil, "column with the source's own key; repeated, a key of several columns; @hash makes one of the content (default \"key\", or a column that looks like it)")
	f.StringVar(&o.kind, "kind", "", "kind of all rows; without it the column kind says it, or the kind that explains most columns")
	f.StringArrayVar(&o.set, "set", nil, "ATTRIBUTE=COLUMN, repeatable: several columns as phones=tel,mobile, a composition as 'name={first} {last}', a path as city=location.city")
	f.StringVar(&o.mapping, "mapping", "", "YAML file with source, kind, key, set, ignore, observed_at and format; flags override it")
	f.StringArrayVar(&o.ignore, "ignore", nil, "column to leave out, repeatable")
	f.BoolVar(&o.ignoreUnknown, "ignore-unknown", false, "leave out columns that are no attributes; with --set, guess none")
	f.StringVar(&o.format, "format", "", "csv, jsonl (an object on each line) or json (an array, or a document); without it the file shows it")
	f.StringVar(&o.encoding, "encoding", "", "utf-8, utf-16le, utf-16be or windows-1252; without it the file shows it")
	f.StringVar(&o.delimiter, "delimiter", "", "character between the columns of a CSV file, or tab; without it the file shows it")
	f.StringVar(&o.quote, "quote", "", "character around fields of a CSV file, or none; without it the file shows it")
	f.BoolVar(&o.noHeader, "no-header", false, "the first row of a CSV file is a record; --columns names the columns")
	f.StringSliceVar(&o.columns, "columns", nil, "names of the columns of a CSV file without a header, with commas")
	f.StringArrayVar(&o.null, "null", nil, "text that means that there is no value, such as NULL, repeatable")
	f.StringVar(&o.rows, "rows", "", "path to the list of rows in a JSON document, such as data.items")
}

// ingesting holds the flags of an import.
type ingesting struct {
	reading

	dryRun, preview, yes     bool
	limit, maxRejects, batch int
}

func (o *ingesting) flags(f *pflag.FlagSet) {
	f.StringVar(&o.source, "source", "", "source of all rows; without it the column source says it, or the name of the file")
	o.reading.flags(f)
	f.BoolVar(&o.yes, "yes", false, "accept what was guessed")
	f.BoolVar(&o.preview, "preview", false, "show the format, the columns and three rows as records, write nothing")
	f.BoolVar(&o.dryRun, "dry-run", false, "read the files and judge every row as the server does, write nothing")
	f.IntVar(&o.limit, "limit", 0, "stop after so many rows of each file, 0 for all")
	f.IntVar(&o.maxRejects, "max-rejects", 0, "stop once more rows than this were refused, 0 for never")
	f.IntVar(&o.batch, "batch", 500, "rows of one request, at most 1000")
}

// delimiterNames are delimiters that are hard to type.
var delimiterNames = map[string]string{"tab": "\t", `\t`: "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

// check validates the flags and those of the reading.
func (o *ingesting) check(files []string) error {
	switch {
	case o.batch < 1 || o.batch > records.MaxBatch:
		return usage("--batch 500", "--batch %d: want 1 to %d", o.batch, records.MaxBatch)
	case o.limit < 0 || o.maxRejects < 0:
		return usage("", "--limit and --max-rejects cannot be below 0")
	}
	return o.reading.check(files)
}

// check validates the flags, reads the mapping file and sets the options.
func (o *reading) check(files []string) error {
	switch {
	case !slices.Contains([]string{"", "csv", "jsonl", "json"}, o.format):
		return usage("--format csv, --format jsonl, --format json", "--format %.20q is not known", o.format)
	case len(o.columns) > 0 && !o.noHeader:
		return usage("--no-header --columns id,name,...", "--columns names the columns of a file without a header")
	}
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			return usage("name every file once", "%.80q is named twice", name)
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

// override sets what the flags say.
func (o *reading) override(b *bulk.Options) error {
	b.Source, b.Kind, b.Rows = cmp.Or(o.source, b.Source), cmp.Or(o.kind, b.Kind), cmp.Or(o.rows, b.Rows)
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
	b.NoHeader = b.NoHeader || o.noHeader
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
