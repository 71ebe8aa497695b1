// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/definition"
	"github.com/locus-db/locus/internal/problem"
)

// maxMapping is the length of a mapping file, in bytes.
const maxMapping = 64 << 10

// ParseMapping parses a mapping file, in YAML:
//
//	source: customers
//	kind: person
//	key: [tenant, customer_no]
//	ignore: [note]
//	format: { delimiter: ";", "null": [NULL] }
//	set:
//	  name: "{first} {last}"
//	  phones: [tel, mobile]
//	observed_at: { column: updated, layout: "02.01.2006 15:04", zone: Europe/Berlin }
//
// The error names all problems.
func ParseMapping(text []byte) (*Options, error) {
	r, all := definition.Read("mapping", maxMapping, text)
	o := &Options{}
	all.Fields("source, kind, key, set, ignore, ignore_unknown, observed_at and format", func(name string, v definition.Value) bool {
		switch name {
		case "source":
			o.Source = v.Text()
		case "kind":
			o.Kind = v.Text()
		case "key":
			o.Key = textOrList(v)
		case "ignore":
			o.Ignore = textOrList(v)
		case "ignore_unknown":
			o.IgnoreUnknown = v.Truth()
		case "set":
			v.Fields("", func(attribute string, v definition.Value) bool {
				for _, expression := range textOrList(v) {
					o.Set = append(o.Set, Assignment{attribute, expression})
				}
				return true
			})
		case "observed_at":
			o.Observed = parseObserved(v)
		case "format":
			parseFormat(v, o)
		default:
			return false
		}
		return true
	})
	if len(r.Problems) == 0 {
		if err := o.CheckDialect(); err != nil {
			return nil, err
		}
		return o, nil
	}
	problem.Sort(r.Problems)
	return nil, errors.New("the mapping is not valid: " + problem.Join(r.Problems))
}

func textOrList(v definition.Value) []string {
	if v.Single() {
		return []string{v.Text()}
	}
	return v.List()
}

func parseObserved(v definition.Value) (at Observed) {
	if v.Single() {
		at.Column = v.Text()
		return at
	}
	v.Fields("column, layout and zone", func(name string, v definition.Value) bool {
		switch name {
		case "column":
			at.Column = v.Text()
		case "layout":
			at.Layout = v.Text()
		case "zone":
			if at.Zone = v.Text(); !v.Failed() {
				if _, err := time.LoadLocation(at.Zone); err != nil {
					v.Fail("want a zone of the IANA database, such as Europe/Berlin")
				}
			}
		default:
			return false
		}
		return true
	})
	return at
}

func parseFormat(v definition.Value, o *Options) {
	v.Fields("type, delimiter, quote, encoding, header, columns, null, rows, sheet and spreadsheet", func(name string, v definition.Value) bool {
		switch name {
		case "type":
			if o.Format = Format(v.Text()); !slices.Contains(Formats, o.Format) {
				v.Fail("want csv, jsonl, json, parquet or xlsx")
			}
		case "delimiter":
			o.Delimiter = v.Text()
		case "quote":
			o.Quote = v.Text()
		case "encoding":
			var err error
			if o.Encoding, err = ParseEncoding(v.Text()); err != nil {
				v.Fail("%v", err)
			}
		case "header":
			o.NoHeader = !v.Truth()
		case "columns":
			o.Columns = v.List()
		case "null":
			o.Null = textOrList(v)
		case "rows":
			o.Rows = v.Text()
		case "sheet":
			o.Sheet = v.Text()
		case "spreadsheet":
			o.Spreadsheet = v.Truth()
		default:
			return false
		}
		return true
	})
}
