// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// Data is the content of the page of sources and imports.
type Data struct {
	Time    time.Time
	Sources []SourceState
	// Changes is the number of latest changes, since Since, that New, Updated and Last of the sources are counted over.
	Changes int
	Since   time.Time
	// Refused is how many records were refused today, of all sources; negative if unknown.
	Refused int64
	// Kinds are the names of the kinds.
	Kinds []string
	// MayImport reports that the viewer may write records.
	MayImport bool
}

// SourceState is the state of a source.
type SourceState struct {
	Name  string
	Trust []string // for each kind that declares it
	SourceLately
	// Stream is its stream in, nil if it has none.
	Stream *Stream
	// Import is its last import, nil if none was reported or the viewer may not know.
	Import *SourceImport
}

// SourceImport is the last import into a source.
type SourceImport struct {
	At            time.Time
	File          string
	Rows, Refused int64
	Stopped       bool
}

// Data writes the page.
func (c *Console) Data(w io.Writer, d Data) error {
	p := dataPage{Data: d, As: stamp(d.Time), First: stamp(d.Since), Log: counted(int64(d.Changes), "change"),
		Command: command("locus", "ingest", "--preview", "FILE")}
	for _, s := range d.Sources {
		line := dataSource{Name: s.Name, Trust: strings.Join(s.Trust, ", "), Last: stamp(s.Last), Rate: "–", Refused: "–"}
		if s.Trust == nil {
			line.Trust = "default"
		}
		if came := s.New + s.Updated; came > 0 {
			line.New, line.Matched, line.Updated = count(int64(s.New)), count(int64(s.Matched)), count(int64(s.Updated))
			if span := d.Time.Sub(d.Since).Hours(); span > 0 {
				line.Rate = strconv.FormatFloat(float64(came)/span, 'f', 0, 64)
			}
		}
		if s.Stream != nil {
			line.State, line.Refused = s.Stream.State, count(int64(s.Stream.Dead))
		}
		if i := s.Import; i != nil {
			line.Imported, line.File, line.Stopped = stamp(i.At), i.File, i.Stopped
			line.Rows = count(i.Rows)
			if i.Refused > 0 {
				line.Rows += ", " + count(i.Refused) + " refused"
			}
		}
		p.Lines = append(p.Lines, line)
	}
	if p.RefusedToday = "unknown"; d.Refused >= 0 {
		p.RefusedToday = count(d.Refused)
	}
	return c.render(w, "data", "", p)
}

type dataPage struct {
	Data
	As, First    stamp
	Log          string
	Lines        []dataSource
	RefusedToday string
	Command      string
}

// dataSource is a source as a row.
type dataSource struct {
	Name, Trust           string
	Last                  stamp
	New, Matched, Updated string
	Rate                  string // records an hour
	Refused, State        string // of its stream
	Imported              stamp  // the last import
	File, Rows            string
	Stopped               bool
}

// Import is a file before it is imported: how it is read, its first records and what they would match.
type Import struct {
	Name    string // of the file
	Layout  string // its format in words
	Source  string
	Kind    string
	Kinds   []string
	Key     string // columns, separated by commas; "" for the content of the row
	Columns []ImportColumn
	// Attributes are the attributes of the kind, each with the columns that it is made from.
	Attributes []ImportAttribute
	// Fixed are the parameters that read any part of the file in the same way.
	Fixed     map[string]string
	Questions []string
	Rows      []ImportRow
	Refused   []ImportRefusal
	Args      []string // flags of the command that does the same
	// Problem says why the file cannot be read; then there is nothing else.
	Problem string
}

// ImportColumn is a column of the file and its meaning.
type ImportColumn struct {
	Name, To, Reason string
	Values           []string
}

// ImportAttribute is an attribute and the expression that makes it of columns, "" if nothing does.
type ImportAttribute struct{ Name, From string }

// ImportRow is a record of the file and the effect of putting it.
type ImportRow struct {
	Line         int64
	Source, Key  string
	Values       []string // by attribute
	Outcome      string   // as entities.Prediction has it; "" if refused
	Entity, Name string   // the entity that it would be in, "" for a new one
	Near         []ImportNear
}

// ImportNear is an entity near a record of the file.
type ImportNear struct{ Entity, Name, Level, Weight string }

// ImportRefusal is a row that would be refused.
type ImportRefusal struct {
	Line   int64
	Reason string
}

// Import writes the page that proposes how a file is imported.
func (c *Console) Import(w io.Writer, i Import) error {
	return c.render(w, "import", "", struct {
		Import
		Command string
	}{i, command(append(append([]string{"locus", "ingest"}, i.Args...), i.Name)...)})
}
