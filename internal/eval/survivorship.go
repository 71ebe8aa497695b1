// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Survivorship measures how often the merged view of two records shows the values of the side that a human judged to be
// right.
type Survivorship struct {
	Name       string              `json:"name"`
	Rows       int                 `json:"rows"`
	Attributes []AttributeAccuracy `json:"attributes"`
}

// AttributeAccuracy is the accuracy of one attribute over the four answers base, alt, both and none.
type AttributeAccuracy struct {
	Attribute string `json:"attribute"`
	Accuracy  Figure `json:"accuracy"`
	// Majority is the accuracy of always giving the most frequent answer.
	Majority float64 `json:"majority"`
	Goal     float64 `json:"goal"`
	right    []Counts
}

// judgedAttributes are the judged attributes, their names in the kind, and the accuracy to beat: the better of the
// published one and of the most frequent answer, on twice as many rows.
var judgedAttributes = []struct {
	label, attribute string
	goal             float64
}{
	{"name", "name", .73}, {"phone", "phones", .72}, {"web", "websites", .705}, {"address", "address", .705},
	{"category", "category", .715},
}

// MeasureSurvivorship reads JSON lines of two records of one thing, with the side whose value is right: {"winner":
// {"name": "base" | "alt" | "both" | "none", ...}, "base": {...}, "alt": {...}}. The sides are merged as a resolver
// merges them, with default trust, each observed at its own update time. A side is right if the view shows its value.
func MeasureSurvivorship(path string) (*Survivorship, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open set: %w", err)
	}
	defer f.Close()
	place := match.Place()
	c, err := columnsFor(place, overtureColumns)
	if err != nil {
		return nil, err
	}
	m := match.New(place, nil)
	s := &Survivorship{Name: path}
	for _, j := range judgedAttributes {
		s.Attributes = append(s.Attributes, AttributeAccuracy{Attribute: j.label, Goal: j.goal})
	}
	answers := make([]map[string]int, len(judgedAttributes))
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Winner    map[string]string `json:"winner"`
			Base, Alt map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("read line %d of %s: %w", s.Rows+1, path, err)
		}
		s.Rows++
		sides := [2]*match.Record{m.Normalise("base", "", mapSide(line.Base, c.of)),
			m.Normalise("alt", "", mapSide(line.Alt, c.of))}
		view := entity.Merge([]entity.Testimony{testify(m, sides[0], 0, line.Base["updated"]),
			testify(m, sides[1], 1, line.Alt["updated"])}, resolve.NewSchemaPolicy(place))
		for i, j := range judgedAttributes {
			want := line.Winner[j.label]
			if answers[i] == nil {
				answers[i] = map[string]int{}
			}
			answers[i][want]++
			s.Attributes[i].Majority = max(s.Attributes[i].Majority, float64(answers[i][want]))
			s.Attributes[i].right = append(s.Attributes[i].right, decided(true, survivor(m, view, sides, j.attribute) == want))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if s.Rows == 0 {
		return nil, fmt.Errorf("%w: %s has no row", ErrSet, path)
	}
	for i := range s.Attributes {
		a := &s.Attributes[i]
		a.Majority /= float64(s.Rows)
		a.Accuracy, _, _ = figures(a.right)
	}
	return s, nil
}

// testify returns the testimony of a record, in the form that a resolver passes to the merged view.
func testify(m *match.Matcher, r *match.Record, member int, updated any) entity.Testimony {
	t := entity.Testimony{Member: member, Source: r.Source(), Values: map[string][]entity.Spelling{}}
	if text, ok := updated.(string); ok && len(text) >= len(time.DateOnly) {
		t.Observed, _ = time.Parse(time.DateOnly, text[:len(time.DateOnly)])
	}
	for _, a := range m.Schema().Attributes {
		for i, raw := range r.Attributes()[a.Name] {
			said := r.Said(&a, i)
			t.Values[a.Name] = append(t.Values[a.Name], entity.Spelling{Raw: raw, Normal: said.Normal, Worth: said.Worth, Local: said.Local})
		}
	}
	return t
}

// survivor returns the side whose value of an attribute the view shows, in the spelling of that side. For categories
// only the first counts: it is the main one of a source.
func survivor(m *match.Matcher, v entity.View, sides [2]*match.Record, attribute string) string {
	a, _ := m.Schema().Attribute(attribute)
	var shown []string
	for _, merged := range v {
		if merged.Name != attribute {
			continue
		}
		for i, value := range merged.Values {
			if i == 0 || a.Many && a.Type != match.TypeCategory {
				shown = append(shown, m.NormaliseValue(attribute, value.Value))
			}
		}
	}
	says := func(r *match.Record) bool {
		raws := r.Attributes()[attribute]
		if a.Type == match.TypeCategory {
			raws = raws[:min(1, len(raws))]
		}
		return slices.ContainsFunc(raws, func(raw string) bool {
			normal := m.NormaliseValue(attribute, raw)
			return normal != "" && slices.Contains(shown, normal)
		})
	}
	switch base, alt := says(sides[0]), says(sides[1]); {
	case base && alt:
		return "both"
	case base:
		return "base"
	case alt:
		return "alt"
	default:
		return "none"
	}
}

// WriteText writes the figures for humans.
func (s *Survivorship) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s (survivorship, %d rows)\n", s.Name, s.Rows); err != nil {
		return err
	}
	for _, a := range s.Attributes {
		if _, err := fmt.Fprintf(w, "  %-10s %.3f  95 %% interval %.3f to %.3f, the commonest answer %.3f, the goal %.3f\n", a.Attribute, a.Accuracy.Value, a.Accuracy.Low, a.Accuracy.High, a.Majority, a.Goal); err != nil {
			return err
		}
	}
	return nil
}
