// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	_ "time/tzdata" // time zones also on machines without a database

	"github.com/danielgtaylor/huma/v2"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/strictjson"
)

// Series are counts by time, with a column for each metric.
type Series struct {
	Step     counter.Step `json:"step" enum:"minute,hour,day"`
	Zone     string       `json:"zone"`
	Times    []time.Time  `json:"times" doc:"Begin of each step, in the zone; each line has a value for each"`
	Complete time.Time    `json:"complete" doc:"Time up to which the series is complete; later values are null"`
	Lines    []SeriesLine `json:"lines" doc:"In the requested order, or by name"`
}

// SeriesLine is the series of one metric.
type SeriesLine struct {
	Metric string `json:"metric"`
	Kind   string `json:"kind" enum:"counter,gauge"`
	Values Column `json:"values,omitzero" doc:"Values of a counter; null if unknown: before the first hit, in the future, or no longer kept"`
	Total  *int64 `json:"total,omitempty" doc:"Sum of a counter over the whole range, even where single values are no longer kept. Missing if nothing is known"`
	// Columns of a gauge.
	Min   Column    `json:"min,omitzero" doc:"Columns of a gauge; null if there was no reading"`
	Max   Column    `json:"max,omitzero"`
	Sum   Column    `json:"sum,omitzero"`
	Count Column    `json:"count,omitzero"`
	Last  Column    `json:"last,omitzero"`
	Since time.Time `json:"since" doc:"Day of the first hit; values before it are null"`
	Kept  time.Time `json:"kept,omitzero" doc:"Since when this step is kept; older values are null. Missing if everything is kept"`
}

// Column holds the values of a line, counter.Null where there is none.
type Column []counter.Value

// MarshalJSON writes numbers and null.
func (c Column) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(c)+2)
	b = append(b, '[')
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if v == counter.Null {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, int64(v), 10)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads the output of MarshalJSON.
func (c *Column) UnmarshalJSON(data []byte) error {
	var values []*int64
	if err := json.Unmarshal(data, &values); err != nil {
		return fmt.Errorf("column of a series: %w", err)
	}
	*c = make(Column, len(values))
	for i, v := range values {
		if (*c)[i] = counter.Null; v != nil {
			(*c)[i] = counter.Value(*v)
		}
	}
	return nil
}

// Schema tells huma that a column is an array.
func (Column) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray,
		Items: &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeInteger, Format: "int64"}, {Type: "null"}}}}
}

// Text returns the value of a step, "" if there is none.
func (c Column) Text(step int) string {
	if step >= len(c) || c[step] == counter.Null {
		return ""
	}
	return strconv.FormatInt(int64(c[step]), 10)
}

// Columns returns the columns of the line in a table, with their names: one for a counter, five for a gauge.
func (l *SeriesLine) Columns() (names []string, columns []Column) {
	if l.Kind == counter.Counter.String() {
		return []string{l.Metric}, []Column{l.Values}
	}
	for _, what := range []string{"min", "max", "sum", "count", "last"} {
		names = append(names, l.Metric+" "+what)
	}
	return names, []Column{l.Min, l.Max, l.Sum, l.Count, l.Last}
}

// SeriesRequest is the body of POST /v1/series/query.
type SeriesRequest struct {
	Metrics []string     `json:"metrics" minItems:"1" maxItems:"1000" doc:"Names, in the order of the lines of the response"`
	From    string       `json:"from" doc:"RFC 3339, or a date, which means the begin of that day in the zone"`
	To      string       `json:"to" doc:"End of the range, exclusive, in the form of from"`
	Step    counter.Step `json:"step" enum:"minute,hour,day"`
	Zone    string       `json:"zone,omitempty" doc:"Time zone of hours and days, such as Europe/Berlin; UTC by default"`
}

func (s *Server) getSeries(c *call) (any, error) {
	q, err := rangeOf(c.query, "?")
	if err != nil {
		return nil, err
	}
	metric, one := c.query["metric"]
	prefix, many := c.query["prefix"]
	switch {
	case one == many:
		return nil, fault(CodeInvalid, "?metric", "want either metric, a name, or prefix, which may be empty for all")
	case one:
		q.Metrics = []counter.Metric{counter.Metric(metric)}
	default:
		p := counter.Metric(prefix)
		q.Prefix = &p
	}
	return s.series(c, q)
}

func (s *Server) querySeries(c *call) (any, error) {
	fields, err := object(c.body, "metrics", "from", "to", "step", "zone")
	if err != nil {
		return nil, err
	}
	texts := values{}
	for name, v := range fields {
		if name == "metrics" {
			continue
		}
		if v.Kind() != strictjson.String {
			return nil, wrongKind("/"+name, v, "a string")
		}
		texts[name] = v.Text()
	}
	q, err := rangeOf(texts, "/")
	if err != nil {
		return nil, err
	}
	names := fields["metrics"]
	if names.Kind() != strictjson.Array {
		return nil, wrongKind("/metrics", names, "an array of 1 to 1000 names")
	}
	for i, v := range names.Items() {
		if i == counter.MaxBatch {
			return nil, fault(CodeTooLarge, "/metrics", "more than %d metrics: use several requests", counter.MaxBatch)
		}
		if v.Kind() != strictjson.String {
			return nil, wrongKind("/metrics", v, "an array of names")
		}
		q.Metrics = append(q.Metrics, counter.Metric(v.Text()))
	}
	if len(q.Metrics) == 0 {
		return nil, fault(CodeInvalid, "/metrics", "the list is empty: want 1 to %d names", counter.MaxBatch)
	}
	return s.series(c, q)
}

func (s *Server) series(c *call, q counter.Query) (any, error) {
	found, err := s.svc.Counters().Recorder().Series(c, q)
	if err != nil {
		return nil, err
	}
	return seriesOf(found), nil
}

func seriesOf(found *counter.Series) *Series {
	answer := &Series{Step: found.Step, Zone: found.Zone, Times: found.Times, Complete: found.Complete.UTC(),
		Lines: make([]SeriesLine, 0, len(found.Lines))}
	if answer.Times == nil {
		answer.Times = []time.Time{}
	}
	for i := range found.Lines {
		of := &found.Lines[i]
		line := SeriesLine{Metric: string(of.Metric), Kind: of.Kind.String(), Values: of.Values, Since: of.Since.UTC(),
			Kept: of.Kept.UTC()}
		if total := int64(of.Total); of.Kind == counter.Counter && of.Total != counter.Null {
			line.Total = &total
		}
		for _, r := range of.Readings {
			line.Min, line.Max, line.Sum = append(line.Min, r.Min), append(line.Max, r.Max), append(line.Sum, r.Sum)
			line.Count, line.Last = append(line.Count, r.Count), append(line.Last, r.Last)
		}
		answer.Lines = append(answer.Lines, line)
	}
	return answer
}

// rangeOf parses the range of a query. at is the prefix of pointers: to the query parameters, or to the body.
func rangeOf(texts values, at string) (q counter.Query, err error) {
	q.Step, q.Zone = counter.Step(texts["step"]), time.UTC
	if name, given := texts["zone"]; given {
		if q.Zone, err = time.LoadLocation(name); err != nil || name == "" || name == "Local" {
			return q, fault(CodeInvalid, at+"zone", "unknown zone %.60q: want one such as UTC or Europe/Berlin", name)
		}
	}
	if q.From, err = moment(texts, at, "from", q.Zone); err != nil {
		return q, err
	}
	q.To, err = moment(texts, at, "to", q.Zone)
	return q, err
}

// moment parses a time, or a date, which means the start of that day in the zone.
func moment(texts values, at, name string, zone *time.Location) (time.Time, error) {
	text, given := texts[name]
	if !given {
		return time.Time{}, fault(CodeInvalid, at+name, "the parameter %q is missing", name)
	}
	if shaped(text, "0000-00-00") {
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			return beginOf(day, zone), nil
		}
	} else if t, ok := parseInstant(text); ok {
		return t, nil
	}
	return time.Time{}, fault(CodeInvalid, at+name,
		"%.60q is neither a time of RFC 3339 such as 2026-11-20T12:00:00Z nor a date such as 2026-11-20", text)
}

// beginOf returns the start of a day in a zone. If the clocks go forward at midnight it is later; if midnight occurs
// twice it is the first. A day that the zone skips starts with the next one.
func beginOf(day time.Time, zone *time.Location) time.Time {
	const quarter = 15 * time.Minute // divides every offset in use
	date := func(t time.Time) time.Time {
		year, month, d := t.Date()
		return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
	}
	year, month, d := day.Date()
	begin := time.Date(year, month, d, 0, 0, 0, 0, zone)
	for date(begin).Before(day) {
		begin = begin.Add(quarter)
	}
	for !date(begin.Add(-quarter)).Before(day) {
		begin = begin.Add(-quarter)
	}
	return begin
}
