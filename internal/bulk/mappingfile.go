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
	all.Fields(
		definition.Text("source", &o.Source),
		definition.Text("kind", &o.Kind),
		textOrList("key", &o.Key),
		definition.Custom("set", func(v definition.Value) {
			v.Each(func(attribute string, v definition.Value) {
				for _, expression := range textsOf(v) {
					o.Set = append(o.Set, Assignment{attribute, expression})
				}
			})
		}),
		textOrList("ignore", &o.Ignore),
		definition.Truth("ignore_unknown", &o.IgnoreUnknown),
		definition.Custom("observed_at", func(v definition.Value) { o.Observed = parseObserved(v) }),
		definition.Custom("format", func(v definition.Value) { parseFormat(v, o) }),
	)
	if len(r.Problems) == 0 {
		if err := o.CheckDialect(); err != nil {
			return nil, err
		}
		return o, nil
	}
	problem.Sort(r.Problems)
	return nil, errors.New("the mapping is not valid: " + problem.Join(r.Problems))
}

func textOrList(name string, to *[]string) definition.Field {
	return definition.Custom(name, func(v definition.Value) { *to = textsOf(v) })
}

func textsOf(v definition.Value) []string {
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
	v.Fields(
		definition.Text("column", &at.Column),
		definition.Text("layout", &at.Layout),
		definition.Custom("zone", func(v definition.Value) {
			if at.Zone = v.Text(); !v.Failed() {
				if _, err := time.LoadLocation(at.Zone); err != nil {
					v.Fail("want a zone of the IANA database, such as Europe/Berlin")
				}
			}
		}),
	)
	return at
}

func parseFormat(v definition.Value, o *Options) {
	v.Fields(
		definition.Custom("type", func(v definition.Value) {
			if o.Format = Format(v.Text()); !slices.Contains(Formats, o.Format) {
				v.Fail("want csv, jsonl, json, parquet or xlsx")
			}
		}),
		definition.Text("delimiter", &o.Delimiter),
		definition.Text("quote", &o.Quote),
		definition.Custom("encoding", func(v definition.Value) {
			var err error
			if o.Encoding, err = ParseEncoding(v.Text()); err != nil {
				v.Fail("%v", err)
			}
		}),
		definition.Custom("header", func(v definition.Value) { o.NoHeader = !v.Truth() }),
		definition.List("columns", &o.Columns),
		textOrList("null", &o.Null),
		definition.Text("rows", &o.Rows),
		definition.Text("sheet", &o.Sheet),
		definition.Truth("spreadsheet", &o.Spreadsheet),
	)
}
