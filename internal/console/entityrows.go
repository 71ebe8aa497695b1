// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/match"
)

// row is one attribute: the merged values, and the values of each record.
type row struct {
	Attribute string
	Because   string // why the first value leads
	Values    []value
	Cells     []cellValue
}

// value is a merged value with the numbers of its supporting records.
type value struct {
	Text    string
	By      []from
	Weight  string // of its records' trust and freshness; "" if unknown
	Leading bool   // the main value; the others are variants
	Pinned  bool   // pinned by a decision
}

// States of a record's values compared with the merged view.
const (
	same    = "same"    // the leading spelling
	spelled = "spelled" // the same value in another spelling
	differs = "differs" // another value
	unused  = "unused"  // a value missing from the view, such as "N/A"
	missing = "missing" // no value
)

// cellValue holds the values of one record for one attribute.
type cellValue struct {
	Texts []string
	State string
}

// Words describes the state.
func (c cellValue) Words() string {
	switch c.State {
	case spelled:
		return "spelled differently"
	case differs:
		return "differs"
	case unused:
		return "not used"
	case missing:
		return "no value"
	default:
		return ""
	}
}

// rows returns the attributes of the view, then those that only records have: a value that normalises to nothing, such
// as "N/A", is not evidence, but is shown.
func rows(why *explain.Explanation, schema *match.Schema) []row {
	view := why.Entity.View
	all := make([]row, 0, len(view))
	seen := map[string]bool{}
	for _, a := range view {
		seen[a.Name] = true
		declared, _ := schema.Attribute(a.Name)
		all = append(all, newRow(a, declared.Many, why.Records, why.Supports[a.Name]))
	}
	var rest []string
	for _, r := range why.Records {
		for name := range r.Attributes {
			if !seen[name] {
				seen[name] = true
				rest = append(rest, name)
			}
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		all = append(all, newRow(entity.MergedAttribute{Name: name}, false, why.Records, nil))
	}
	return all
}

func newRow(a entity.MergedAttribute, many bool, records []*entity.Record, supports []entity.Support) row {
	r := row{Attribute: a.Name}
	if len(a.Values) > 0 {
		r.Because = wonBecause(a, many, supports)
	}
	for i, v := range a.Values {
		shown := value{Text: v.Value, By: bySource(v.Members, records), Leading: many || i == 0}
		if len(supports) == len(a.Values) {
			shown.Weight = heft(supports[i].Weight)
		}
		r.Values = append(r.Values, shown)
	}
	for i, rec := range records {
		texts := rec.Attributes[a.Name]
		r.Cells = append(r.Cells, cellValue{texts, state(a, many, i, texts)})
	}
	return r
}

// state compares a record's values of an attribute with the merged ones: with the leading value, or with any of them if
// the attribute is a list. When the view was made it was decided which spellings are the same value; that is taken from
// the members of its values.
func state(a entity.MergedAttribute, many bool, member int, texts []string) string {
	if len(texts) == 0 {
		return missing
	}
	supports := func(v entity.MergedValue) bool { return slices.Contains(v.Members, member) }
	if !slices.ContainsFunc(a.Values, supports) {
		return unused
	}
	leading := a.Values
	if !many {
		leading = leading[:1]
	}
	if !slices.ContainsFunc(leading, supports) {
		return differs
	}
	for _, text := range texts {
		if !slices.ContainsFunc(leading, func(v entity.MergedValue) bool { return v.Value == text }) {
			return spelled
		}
	}
	return same
}

// number returns the position of a record in the comparison, from 1; 0 if it is not there.
func number(records []*entity.Record, ref entity.Ref) int {
	return 1 + slices.IndexFunc(records, func(r *entity.Record) bool { return r.Ref == ref })
}
