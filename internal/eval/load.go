// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/locus-db/locus/match"
)

// Errors of loading a set.
var (
	// ErrForbidden means that a column which reveals the answer was mapped to an attribute.
	ErrForbidden = errors.New("eval: column gives the answer away")
	// ErrSet means that a file is not in the format of its protocol.
	ErrSet = errors.New("eval: unexpected content")
)

// forbidden are the columns that are never evidence: the truth, ids of any kind, the name of the source, confidence.
// Folded: lower case, single spaces.
var forbidden = map[string]bool{
	"class": true, "cluster": true, "true id": true, "unique id": true, "rec id": true, "id": true, "gold": true,
	"label":  true,
	"winner": true, "split": true, "pair": true, "source": true, "sources": true, "confidence": true,
}

// columns maps columns to attributes.
type columns struct {
	of    map[string]string // column → attribute
	asked map[string]string // the requested part: a file must have these
	kind  *match.Schema
}

// columnsFor maps the columns named like an attribute, and the requested ones. Columns that reveal the answer are
// rejected.
func columnsFor(kind *match.Schema, asked map[string]string) (columns, error) {
	c := columns{of: map[string]string{}, asked: asked, kind: kind}
	for _, a := range kind.Attributes {
		c.of[a.Name] = a.Name
	}
	for _, column := range sortedKeys(asked) {
		name := strings.Join(strings.FieldsFunc(strings.ToLower(column), func(r rune) bool { return r == ' ' || r == '_' || r == '-' }), " ")
		if forbidden[name] {
			return columns{}, fmt.Errorf("%w: map %q: leave it out", ErrForbidden, column)
		}
		if _, ok := kind.Attribute(asked[column]); !ok {
			return columns{}, fmt.Errorf("%w: map %q: kind %s has no attribute %q", ErrSet, column, kind.Kind, asked[column])
		}
		c.of[column] = asked[column]
	}
	return c, nil
}

// add adds a value. Several columns of an attribute with a single value are parts of it, such as house number and
// street.
func (c columns) add(to match.Attributes, attribute, value string) {
	if a, _ := c.kind.Attribute(attribute); !a.Many && len(to[attribute]) > 0 {
		to[attribute][0] += " " + value
		return
	}
	to[attribute] = append(to[attribute], value)
}

// row is one line of a CSV file: its attributes, and the columns that a protocol requested by name, such as an id or
// the truth.
type row struct {
	attributes match.Attributes
	columns    map[string]string
}

// readCSV reads the mapped columns of a file as attributes, and the wanted ones as they are. An empty wanted name means
// the next column from the left. All other columns are dropped.
func readCSV(path string, c columns, wanted ...string) ([]row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open set: %w", err)
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReader(f))
	r.TrimLeadingSpace = true
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read header of %s: %w", path, err)
	}
	at := map[string]int{}
	for i, column := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(column, "\ufeff"))
		at[header[i]] = i
	}
	for i, column := range wanted {
		if column == "" && i < len(header) {
			wanted[i] = header[i]
		}
	}
	for _, column := range append(sortedKeys(c.asked), wanted...) {
		if _, ok := at[column]; !ok {
			return nil, fmt.Errorf("%w: %s has no column %q: it has %s", ErrSet, path, column, strings.Join(header, ", "))
		}
	}
	var rows []row
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		field := func(column string) string {
			if i, ok := at[column]; ok && i < len(fields) {
				return strings.TrimSpace(fields[i])
			}
			return ""
		}
		next := row{attributes: match.Attributes{}, columns: map[string]string{}}
		for _, column := range header {
			if attribute, ok := c.of[column]; ok && field(column) != "" {
				c.add(next.attributes, attribute, field(column))
			}
		}
		for _, column := range wanted {
			next.columns[column] = field(column)
		}
		rows = append(rows, next)
	}
}

// pair is two records and whether they are the same thing.
type pair struct {
	a, b  match.Attributes
	split string
	same  bool
}

// readPairs reads JSON lines: {"label": 0 or 1, "split": ..., "a": {...}, "b": {...}}. Unmapped columns of the sides
// are dropped.
func readPairs(path string, c columns) ([]pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open set: %w", err)
	}
	defer f.Close()
	var pairs []pair
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var line struct {
			Split string         `json:"split"`
			Label *int           `json:"label"`
			A     map[string]any `json:"a"`
			B     map[string]any `json:"b"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("read line %d of %s: %w", n, path, err)
		}
		if line.Label == nil || line.A == nil || line.B == nil {
			return nil, fmt.Errorf("%w: line %d of %s needs label, a and b", ErrSet, n, path)
		}
		pairs = append(pairs, pair{a: mapSide(line.A, c.of), b: mapSide(line.B, c.of), split: line.Split,
			same: *line.Label == 1})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return pairs, nil
}

// mapSide maps the JSON values of a side to attributes.
func mapSide(side map[string]any, mapping map[string]string) match.Attributes {
	a := match.Attributes{}
	add := func(attribute string, value any) {
		switch v := value.(type) {
		case string:
			a[attribute] = append(a[attribute], v)
		case float64:
			a[attribute] = append(a[attribute], strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	for _, column := range sortedKeys(side) {
		attribute, ok := mapping[column]
		if !ok {
			continue
		}
		if list, ok := side[column].([]any); ok {
			for _, v := range list {
				add(attribute, v)
			}
			continue
		}
		add(attribute, side[column])
	}
	return a
}

// readDitto reads lines of two sides and a label, separated by tabs. A side is "COL name VAL value ..." with stray
// quotes and blanks around the values.
func readDitto(path, split string, c columns) ([]pair, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open set: %w", err)
	}
	var pairs []pair
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%w: line %d of %s has %d fields, not 3", ErrSet, n, path, len(fields))
		}
		pairs = append(pairs, pair{
			a: dittoSide(fields[0], c.of), b: dittoSide(fields[1], c.of), split: split,
			same: strings.TrimSpace(fields[2]) == "1",
		})
	}
	return pairs, nil
}

func dittoSide(side string, mapping map[string]string) match.Attributes {
	a := match.Attributes{}
	for part := range strings.SplitSeq(side, "COL ") {
		column, value, ok := strings.Cut(part, " VAL ")
		attribute, mapped := mapping[strings.TrimSpace(column)]
		if !ok || !mapped {
			continue
		}
		value = strings.NewReplacer(` \ '`, "'", `\ '`, "'", ` '`, "'", `\`, "").Replace(strings.TrimSpace(value))
		value = strings.Trim(value, "`' ")
		if value != "" {
			a[attribute] = append(a[attribute], value)
		}
	}
	return a
}
