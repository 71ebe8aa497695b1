// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"slices"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/match"
)

// Entity is the content of an entity page.
type Entity struct {
	Why    *explain.Explanation
	Schema *match.Schema // says which attributes are lists
	Home   string        // its cell
	// RecordPath returns the URL of the JSON of a record.
	RecordPath func(source, key string) string
	// How says how it was formed; nil if unknown.
	How *explain.Lineage
	// Standing holds its decisions and relations; nil if unknown.
	Standing *Standing
	// Author is the last author, so that a name is typed only once.
	Author string
	// Hidden are attributes that the viewer may not see.
	Hidden []string
}

// Standing holds the decisions about an entity and its relations.
type Standing struct {
	Decisions []decisions.Decided // including withdrawn ones, the newest first
	Relations []entities.Relation
}

// Entity writes an entity page: the merged view with the supporting records, the records side by side, and the joins
// that hold it together.
func (c *Console) Entity(w io.Writer, shown Entity) error {
	why := shown.Why
	e := why.Entity
	name := nameOf(e.View)
	p := entityPage{
		ID:      e.ID.String(),
		Kind:    e.Kind,
		Signs:   signs{shown.Author, c.viewer.Name != ""},
		Name:    name,
		Title:   isolate(name),
		Home:    shown.Home,
		Rows:    rows(why, shown.Schema),
		Joins:   waterfalls(why),
		Graph:   newGraph(why),
		Map:     newPlacemap(shown.Schema, why.Records, e.View),
		Records: columns(why.Records, shown.RecordPath),
	}
	if p.Many = len(why.Records) > maxColumns; p.Many {
		p.Lines, p.Beyond = recordLines(p.Rows, p.Records)
	}
	if why.Requested != e.ID {
		p.Former = why.Requested.String()
	}
	sources := map[string]bool{}
	for _, m := range e.Members {
		sources[m.Source] = true
	}
	p.Made = counted(int64(len(e.Members)), "record") + " from " + counted(int64(len(sources)), "source")
	for _, a := range shown.Schema.Attributes {
		if slices.Contains(shown.Hidden, a.Name) {
			p.Hidden = append(p.Hidden, a.Name)
		} else {
			p.Attributes = append(p.Attributes, a.Name)
		}
	}
	if shown.Standing != nil {
		p.Known = true
		p.Decisions, p.Relations = decisionRows(shown.Standing.Decisions, "/entities/"+p.ID), relations(shown.Standing.Relations)
		markPins(p.Rows, pinned(shown.Standing.Decisions))
	}
	if p.How = newHow(shown.How, why.Records); p.How != nil {
		p.Events, p.Older = events(shown.How.Events, e.ID, why.Records)
		p.Since, p.Timeline = stamp(shown.How.Since), newTimeline(shown.How.Events, e.ID)
	}
	return c.render(w, "entity", "", p)
}

type entityPage struct {
	ID, Kind, Name, Title, Home string

	Former     string // the requested id, if it redirects here
	Made       string // number of records
	Rows       []row
	Records    []column
	Joins      []waterfall
	Graph      *graph
	Map        *placemap
	Many       bool // the records are rows, Lines, not columns
	Lines      []recordLine
	Beyond     int // records without a line
	Timeline   *timeline
	Known      bool // Decisions and Relations are known
	Decisions  []decision
	Relations  []relation
	How        *how
	Events     []event
	Older      int      // number of events left out
	Since      stamp    // from when on events are complete; zero from the beginning
	Attributes []string // attributes with a value that can be pinned
	Hidden     []string // attributes that the viewer may not see
	Signs      signs
}

// relation is a related entity.
type relation struct {
	Words, Entity, Name string
	Ours, Theirs        string // the pair of records that shows it
	Weight              string
	Command             string
}

func relations(all []entities.Relation) []relation {
	words := map[string]string{"part_of": "part of", "has_part": "has part", "co_located": "at the same place as"}
	lines := make([]relation, len(all))
	for i, r := range all {
		ours, theirs := r.Via[0].String(), r.Via[1].String()
		lines[i] = relation{
			Words: words[r.Relation], Entity: r.Entity.String(), Name: r.Name, Ours: ours, Theirs: theirs, Weight: r.Weight.String(),
			Command: command("locus", "entity", "why-not", ours, theirs),
		}
		if lines[i].Words == "" {
			lines[i].Words = r.Relation
		}
	}
	return lines
}

// nameOf returns the display name: the value of "name", or else of the first attribute.
func nameOf(v entity.View) string {
	if name := v.First("name"); name != "" || len(v) == 0 {
		return name
	}
	return v[0].Values[0].Value
}

// markPins marks the leading values that are pinned by decisions.
func markPins(rows []row, pins map[string]string) {
	for i := range rows {
		for j := range rows[i].Values {
			v := &rows[i].Values[j]
			if pin, ok := pins[rows[i].Attribute]; ok && v.Text == pin {
				v.Pinned = true
			}
		}
	}
}

// column is one record of the comparison, labelled by a number.
type column struct {
	Number  int
	Source  string
	Key     string
	Ref     string
	Seen    stamp  // when the source observed it
	JSON    string // URL of its JSON
	Command string
}

func columns(records []*entity.Record, path func(source, key string) string) []column {
	all := make([]column, len(records))
	for i, r := range records {
		all[i] = column{
			Number:  i + 1,
			Source:  r.Source,
			Key:     r.Key,
			Ref:     r.Ref.String(),
			Seen:    stamp(r.Observed),
			JSON:    path(r.Source, r.Key),
			Command: command("locus", "record", "get", r.Ref.String()),
		}
	}
	return all
}

const (
	// maxColumns is how many records are compared side by side. More are rows: a page of 200 columns cannot be read.
	maxColumns = 12
	// maxLines is how many records are rows.
	maxLines = 500
)

// recordLine is a record as a row, with a cell for each attribute.
type recordLine struct {
	column
	Cells []cellValue
}

func recordLines(rows []row, records []column) (lines []recordLine, beyond int) {
	beyond = max(0, len(records)-maxLines)
	for i, c := range records[:len(records)-beyond] {
		line := recordLine{column: c}
		for _, r := range rows {
			line.Cells = append(line.Cells, r.Cells[i])
		}
		lines = append(lines, line)
	}
	return lines, beyond
}

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
// the attribute is a list. Which spellings are the same value was decided when the view was made, and is taken from the
// members of its values.
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
