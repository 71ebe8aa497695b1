// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Reader reads one definition and notes what is wrong with it, and where each field stands.
type Reader struct {
	Problems []Problem

	subject string
	lines   map[string]int
	broken  bool
}

// Read begins to read a definition of something, a kind or a rollup, of at most so many bytes. The subject is
// the field whose name stands for the whole of it. The value holds all fields, and nothing if the text is broken.
func Read(subject string, most int, text []byte) (*Reader, Value) {
	r := &Reader{subject: subject, lines: map[string]int{}}
	stop := func(line int, format string, args ...any) (*Reader, Value) {
		r.broken = true
		r.note(line, subject, format, args...)
		return r, Value{r: r, node: new(yaml.Node)}
	}
	if len(text) > most {
		return stop(0, "the text has %d bytes, %d are allowed", len(text), most)
	}
	if json.Valid(text) && utf8.Valid(text) {
		text = FromJSON(text)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		line, what := r.syntax(err)
		return stop(line, "%s", what)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return stop(0, "the text has a second document: define one %s at a time", subject)
	}
	if all := document.Content[0]; all.Kind != yaml.MappingNode {
		return stop(all.Line, "want fields with values such as \"%s: name\", not %s", subject, what(all))
	}
	return r, Value{r, document.Content[0], ""}
}

// Broken tells whether the text holds no fields at all, so that whatever else is missing need not be said.
func (r *Reader) Broken() bool { return r.broken }

// Line is that of a field, or of what it is in; 0 if there is none.
func (r *Reader) Line(field string) int {
	for {
		if line, ok := r.lines[field]; ok {
			return line
		}
		i := strings.LastIndexByte(field, '.')
		if i < 0 {
			return 0
		}
		field = field[:i]
	}
}

// Failed tells whether a field has been complained about: what was read of it is then nobody's word.
func (r *Reader) Failed(field string) bool {
	for _, problem := range r.Problems {
		if problem.Field == field {
			return true
		}
	}
	return false
}

func (r *Reader) note(line int, field, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{line, field, fmt.Sprintf(format, args...)})
}

// syntax is what the reader of YAML says, which names the line in its text.
func (r *Reader) syntax(err error) (line int, text string) {
	if errors.Is(err, io.EOF) {
		return 0, fmt.Sprintf("the text is empty: it begins with \"%s: \" and a name", r.subject)
	}
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, what, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			return line, what
		}
	}
	return 0, text
}

// Value is what stands at a field, such as measures.weight.scale. One that is not what it is read as is noted as a
// problem.
type Value struct {
	r     *Reader
	node  *yaml.Node
	field string
}

// Fail notes a problem with the value.
func (v Value) Fail(format string, args ...any) {
	v.r.note(v.node.Line, v.field, format, args...)
}

// Failed tells whether the value has been complained about.
func (v Value) Failed() bool { return v.r.Failed(v.field) }

// HasFields tells whether the value is read by Fields.
func (v Value) HasFields() bool { return v.node.Kind == yaml.MappingNode }

// Single tells whether the value is read by Text, Whole, Number or Truth.
func (v Value) Single() bool { return v.node.Kind == yaml.ScalarNode && v.node.Tag != "!!null" }

// Names are those of the fields of a value.
func (v Value) Names() []string {
	var names []string
	for i := 0; v.HasFields() && i+1 < len(v.node.Content); i += 2 {
		names = append(names, v.node.Content[i].Value)
	}
	return names
}

// Fields calls each with every field. One that each does not know is a problem, which says the words, such as
// "min, max and exists", that it would have known.
func (v Value) Fields(words string, each func(name string, v Value) bool) {
	if v.r.broken {
		return
	}
	if !v.HasFields() {
		v.Fail("want fields with values, not %s", what(v.node))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key, value := v.node.Content[i], Value{v.r, v.node.Content[i+1], v.node.Content[i].Value}
		if v.field != "" {
			value.field = v.field + "." + key.Value
		}
		switch line := first[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			at := v.field
			if at == "" {
				at = v.r.subject
			}
			v.r.note(key.Line, at, "want the name of a field, not %s", what(key))
			continue
		case line > 0:
			v.r.note(key.Line, value.field, "stands here twice, first in line %d: leave one of the two", line)
			continue
		}
		first[key.Value], v.r.lines[value.field] = key.Line, key.Line
		if !each(key.Value, value) {
			v.r.note(key.Line, value.field, "no such word: there are %s%s", words, Meant(key.Value, strings.Split(strings.Replace(words, " and ", ", ", 1), ", ")))
		}
	}
}

// Text is a single value as it is written.
func (v Value) Text() string {
	if !v.Single() {
		v.Fail("want one value, not %s", what(v.node))
		return ""
	}
	return v.node.Value
}

// List is one value, or several.
func (v Value) List() []string {
	if v.node.Kind != yaml.SequenceNode {
		if text := v.Text(); v.Single() {
			return []string{text}
		}
		return nil
	}
	values := make([]string, len(v.node.Content))
	for i, one := range v.node.Content {
		values[i] = Value{v.r, one, v.field}.Text()
	}
	return values
}

// Whole is a whole number.
func (v Value) Whole() int {
	text := v.Text()
	n, err := strconv.Atoi(text)
	if err != nil && !v.Failed() {
		v.Fail("want a whole number, not %q", Clip(text))
		return 0
	}
	return n
}

// Number is a finite number.
func (v Value) Number() float64 {
	text := v.Text()
	n, err := strconv.ParseFloat(text, 64)
	if (err != nil || math.IsNaN(n) || math.IsInf(n, 0)) && !v.Failed() {
		v.Fail("want a number, not %q", Clip(text))
		return 0
	}
	return n
}

// Truth is true or false.
func (v Value) Truth() bool {
	switch text := v.Text(); {
	case text == "true":
		return true
	case text != "false" && !v.Failed():
		v.Fail("want true or false, not %q", Clip(text))
	}
	return false
}

// what names a node to people.
func what(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "fields"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return "a value"
	}
	return "that"
}
