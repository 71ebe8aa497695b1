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
	// How is how the entity was formed; nil if unknown.
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
		p.Decisions, p.Relations = decisionRows(shown.Standing.Decisions,
			"/entities/"+p.ID), relations(shown.Standing.Relations)
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
			Words: words[r.Relation], Entity: r.Entity.String(), Name: r.Name, Ours: ours, Theirs: theirs,
			Weight:  r.Weight.String(),
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
