// SPDX-License-Identifier: Apache-2.0

package bulk

import "github.com/locus-db/locus/internal/strictjson"

type shape int

const (
	flat    shape = iota // a row: the attributes beside source and key
	printed              // a record as printed by locus record list --json, with the attributes in an object
	summary              // the last line of a list
	other                // another line of a list: an entity, a change
)

// shapeOf returns the shape of a line. A row is flat, so an object under "attributes" means a printed record. A summary
// has only a count and a cursor. Other printed lines have a field that only Locus sets.
func shapeOf(object strictjson.Value) shape {
	kind, attributes, more, ours := "", false, false, false
	for name, value := range object.Members() {
		switch name {
		case "type":
			if value.Kind() == strictjson.String {
				kind = value.Text()
			}
		case "count", "cursor":
		case "attributes":
			attributes = value.Kind() == strictjson.Object
			more = true
		default:
			ours = ours || name == "stamp" || name == "seq" || name == "puid"
			more = true
		}
	}
	switch {
	case attributes:
		return printed
	case kind == "summary" && !more:
		return summary
	case kind == "result" && ours:
		return other
	}
	return flat
}

// printed parses a record printed by Locus. Fields added by Locus (puid, version, entity) are dropped.
func (r *jsonlReader) printed(object strictjson.Value, refused *RowError) (row *Row, at, reason string) {
	row = &Row{Source: r.columns.Source, Kind: r.columns.Kind, Attributes: map[string][]string{}}
	refused.Code = "invalid"
	for name, value := range object.Members() {
		var single *string
		switch name {
		case ColumnSource:
			single = &row.Source
		case ColumnKey:
			single = &row.Key
		case ColumnObserved:
			single = &row.Observed
		case ColumnKind:
			single = &row.Kind
		default:
			continue
		}
		switch {
		case value.Kind() != strictjson.String:
			return nil, pointer(name), "it must be a string"
		case name == ColumnSource && r.columns.Source != "", name == ColumnKind && r.columns.Kind != "":
		default:
			*single = value.Text()
		}
	}
	if at, reason = r.lacks(row, ColumnKey); reason != "" {
		return nil, at, reason
	}
	for name, value := range object.Members() {
		if name != "attributes" {
			continue
		}
		for name, value := range value.Members() {
			to := r.target(name, true)
			if to.reason != "" {
				refused.Code = "unknown_field"
				return nil, pointer("attributes", name), to.reason
			}
			if reason := r.attribute(row, name, to.name, value); reason != "" {
				return nil, pointer("attributes", name), reason
			}
		}
		r.complete(row, value, true)
	}
	return row, "", ""
}
