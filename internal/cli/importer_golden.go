// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
)

// shorten makes a row of an exported entity fit into a record: an entity shows the values of any number of records, the
// heaviest first. It takes the last values of an attribute that has too many, then of the attribute that has most.
func (im *importer) shorten(row *bulk.Row) {
	var left int64
	size := 0
	for name, values := range row.Attributes {
		if extra := len(values) - match.MaxValues; extra > 0 {
			left += int64(extra)
			values = values[:match.MaxValues]
			row.Attributes[name] = values
		}
		size += len(name)
		for _, v := range values {
			size += len(v)
		}
	}
	for size > records.MaxRecord {
		longest := ""
		for name, values := range row.Attributes {
			if n := len(row.Attributes[longest]); len(values) > n || len(values) == n && name < longest {
				longest = name
			}
		}
		values := row.Attributes[longest]
		last := len(values) - 1
		if last < 1 {
			break // a long text, not a list: refused like that of any row
		}
		size -= len(values[last])
		row.Attributes[longest] = values[:last]
		left++
	}
	if left > 0 {
		im.shortened.rows++
		im.shortened.values += left
	}
}

// sayShortened prints how many values of entities did not fit into records.
func (im *importer) sayShortened() {
	if s := im.shortened; s.rows > 0 {
		im.say("%s: %s more values than a record may have; the last %s left out", term.Escape(im.name),
			counted(s.rows, "entity has", "entities have"), counted(s.values, "is", "are"))
	}
}
