// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/match"
)

// matchLine is a line of the output: a row of the file and one of the entities near it.
type matchLine struct {
	Line   int64  `json:"line"`
	Source string `json:"source,omitempty"`
	Key    string `json:"key,omitempty"`
	// Outcome is the predicted outcome of a put of the row, incomplete if it would be refused, or refused. Into is the
	// entity that the record would be in.
	Outcome string `json:"outcome"`
	Into    string `json:"into,omitempty"`
	// Rank is 1 for the best entity; the following fields describe it.
	Rank        int           `json:"rank,omitempty"`
	Entity      string        `json:"entity,omitempty"`
	Level       string        `json:"level,omitempty"`
	MatchWeight *match.Weight `json:"match_weight,omitempty"`
	Relation    string        `json:"relation,omitempty"`
	Record      string        `json:"record,omitempty"`
	Name        string        `json:"name,omitempty"`
	// Reason says why there is no entity, or why the row was refused.
	Reason string `json:"reason,omitempty"`
}

var matchHeader = []string{"line", "source", "key", "outcome", "into", "rank", "entity", "level", "match_weight",
	"relation", "record", "name", "reason"}

func (l *matchLine) fields() []string {
	rank, weight := "", ""
	if l.Rank > 0 {
		rank, weight = strconv.Itoa(l.Rank), strings.TrimPrefix(l.MatchWeight.String(), "+")
	}
	return []string{strconv.FormatInt(l.Line, 10), l.Source, l.Key, l.Outcome, l.Into, rank, l.Entity, l.Level, weight,
		l.Relation, l.Record, l.Name, l.Reason}
}

// matchWriter writes lines. close with keep false removes a file that is not complete.
type matchWriter interface {
	write(*matchLine) error
	close(keep bool) error
}

// openMatches returns the writer of the output. A file gets its name once it is complete.
func (a *app) openMatches(o *matching) (matchWriter, error) {
	into, file, err := a.create(cmp.Or(o.output, bulk.Stdin))
	if err != nil {
		return nil, err
	}
	f := &matchFile{file: file}
	f.buffer = bufio.NewWriter(into)
	if strings.HasSuffix(strings.ToLower(o.output), ".csv") || o.output == "" && !a.json {
		f.csv = csv.NewWriter(f.buffer)
		return f, f.csv.Write(matchHeader)
	}
	f.json = json.NewEncoder(f.buffer)
	f.json.SetEscapeHTML(false)
	return f, nil
}

type matchFile struct {
	file   *exchange.File
	buffer *bufio.Writer
	csv    *csv.Writer
	json   *json.Encoder
}

func (f *matchFile) write(l *matchLine) error {
	if f.csv != nil {
		return f.csv.Write(l.fields())
	}
	return f.json.Encode(struct {
		Type string `json:"type"`
		*matchLine
	}{"match", l})
}

func (f *matchFile) close(keep bool) error {
	defer f.file.Discard()
	var err error
	if f.csv != nil {
		f.csv.Flush()
		err = f.csv.Error()
	}
	if err = errors.Join(err, f.buffer.Flush()); err == nil && keep {
		err = f.file.Commit()
	}
	return err
}

// write writes the lines of a row.
func (m *matcher) write(p *probed, r *httpapi.MatchResult) error {
	line := matchLine{Outcome: refused}
	if p.refused != nil {
		m.refused++
		m.counts[refused]++
		if m.why == nil {
			m.why = p.refused
		}
		line.Line, line.Reason = p.refused.Line, strings.TrimPrefix(p.refused.Pointer+": "+p.refused.Reason, ": ")
		return m.out.write(&line)
	}
	line = matchLine{Line: p.row.Line, Source: p.row.Source, Key: p.row.Key, Reason: r.Reason}
	switch {
	case r.Put != nil:
		line.Outcome, line.Into = r.Put.Outcome, r.Put.Entity.String()
		if r.Put.Entity.IsZero() {
			line.Into = ""
		}
	case r.PutError != nil:
		line.Outcome = "incomplete"
		if line.Reason == "" {
			line.Reason = r.PutError.Detail
		}
	}
	m.counts[line.Outcome]++
	if len(r.Entities) == 0 {
		return m.out.write(&line)
	}
	for i, e := range r.Entities {
		of := line
		of.Rank, of.Entity, of.Level, of.MatchWeight, of.Relation = i+1, e.ID.String(), string(e.Level), &e.MatchWeight, e.Relation
		of.Record, of.Name = e.Record.String(), winner(e.View, "name")
		if err := m.out.write(&of); err != nil {
			return err
		}
	}
	return nil
}
