// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
)

// listMark ends the name of a column of lists in CSV.
const listMark = "[]"

// exported returns the options for a table that locus export or dedupe has written, and unchanged options for any
// other. Columns of records that are not content are left out. Entities become records whose key is the id of the
// entity, golden rows those whose key is the cluster. Links and decisions are not records: for them it returns an error
// that names the command to use.
func (p *Plan) exported() (*Options, error) {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			return !slices.Contains(p.columns, name) && !slices.Contains(p.columns, name+listMark)
		})
	}
	only := func(names ...string) bool {
		return has(names...) && len(p.columns) == len(names)
	}
	o := *p.options
	switch {
	case o.Exact || o.Unstored || o.IgnoreUnknown || len(o.Set) > 0: // options already say what the columns mean
		return p.options, nil
	case has("verdict", "a") && !has(ColumnKey):
		return nil, &FileError{Name: p.Name, Reason: "it has decisions, and no records", Hint: "locus decision import " + p.Name + " makes them"}
	case only(ColumnSource, ColumnKey, ColumnKind, "entity"), only(ColumnSource, ColumnKey, ColumnKind, "entity", "puid"):
		return nil, &FileError{Name: p.Name, Reason: "it has links of records to entities, and no attributes", Hint: "locus decision import " + p.Name + " decides that the records of each entity are the same"}
	case has("entity", ColumnKind, "records") && !has(ColumnKey):
		p.Entities = true
		if len(o.Key) == 0 {
			o.Key = []string{"entity"}
		}
		o.Ignore = append(slices.Clone(o.Ignore), "records", "records"+listMark)
	case has("cluster_id", "records") && !has(ColumnKey): // the golden rows of locus dedupe
		if len(o.Key) == 0 {
			o.Key = []string{"cluster_id"}
		}
		o.Ignore = append(slices.Clone(o.Ignore), "records", "records"+listMark)
	case has(ColumnSource, ColumnKey, ColumnKind, ColumnObserved):
		o.Ignore = append(slices.Clone(o.Ignore), "entity", "puid", "version")
	default:
		return p.options, nil
	}
	o.Ignore = slices.DeleteFunc(o.Ignore, func(name string) bool { return !slices.Contains(p.columns, name) })
	return &o, nil
}
