// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/locus-db/locus/internal/problem"
)

// Reader reads one definition and records its problems and the lines of its fields.
type Reader struct {
	Problems []problem.Problem

	subject string
	lines   map[string]int
	columns map[string]int
	broken  bool
}

// Read parses a definition of at most most bytes. subject is the field that names the kind of definition, such as
// kind or rollup; problems of the whole text are reported there. The returned value has all fields, or none if
// the text is broken.
func Read(subject string, most int, text []byte) (*Reader, Value) {
	r := &Reader{subject: subject, lines: map[string]int{}, columns: map[string]int{}}
	stop := func(line int, format string, args ...any) (*Reader, Value) {
		r.broken = true
		r.note(line, problem.Pointer(subject), format, args...)
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

// Broken reports whether the text could not be parsed at all, so that reports of missing fields are pointless.
func (r *Reader) Broken() bool { return r.broken }

// Line returns the line of the field at a JSON pointer, or of its nearest parent; 0 if unknown.
func (r *Reader) Line(pointer string) int {
	for pointer != "" {
		if line, ok := r.lines[pointer]; ok {
			return line
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
	return 0
}

// Column returns the column, from 1, of the name of the field that a problem is about; 0 if it is unknown or in another
// line.
func (r *Reader) Column(p problem.Problem) int {
	if r.lines[p.Pointer] != p.Line {
		return 0
	}
	return r.columns[p.Pointer]
}

// Failed reports whether the field at a JSON pointer has a problem; its value must then not be used.
func (r *Reader) Failed(pointer string) bool {
	for _, p := range r.Problems {
		if p.Pointer == pointer {
			return true
		}
	}
	return false
}

func (r *Reader) note(line int, pointer, format string, args ...any) {
	r.Problems = append(r.Problems,
		problem.Problem{Code: "invalid", Detail: fmt.Sprintf(format, args...), Pointer: pointer, Line: line})
}

// syntax splits a YAML error into its line and text.
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

// Value is the value of a field, such as the one at /measures/weight/scale. Reading it as the wrong form records a
// problem.
type Value struct {
	r       *Reader
	node    *yaml.Node
	pointer string
}

// Fail records a problem of the value.
func (v Value) Fail(format string, args ...any) {
	v.r.note(v.node.Line, v.pointer, format, args...)
}

// Failed reports whether the value has a problem.
func (v Value) Failed() bool { return v.r.Failed(v.pointer) }

// Line returns the line of the value.
func (v Value) Line() int { return v.node.Line }

// Empty reports whether the field has no value, as in "name:".
func (v Value) Empty() bool { return v.node.Kind == yaml.ScalarNode && v.node.Tag == "!!null" }

// HasFields reports whether the value can be read by Fields or Each.
func (v Value) HasFields() bool { return v.node.Kind == yaml.MappingNode }

// Single reports whether the value can be read by Text, Whole, Number or Truth.
func (v Value) Single() bool { return v.node.Kind == yaml.ScalarNode && v.node.Tag != "!!null" }

// Names returns the names of a value's fields.
func (v Value) Names() []string {
	var names []string
	for i := 0; v.HasFields() && i+1 < len(v.node.Content); i += 2 {
		names = append(names, v.node.Content[i].Value)
	}
	return names
}

// Fields reads the fields of a value. A field that is not in known is a problem, which lists those that are.
func (v Value) Fields(known ...Field) {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	v.Each(func(name string, value Value) {
		if i := slices.Index(names, name); i >= 0 {
			known[i].read(value)
			return
		}
		last := len(names) - 1
		v.r.note(v.r.lines[value.pointer], value.pointer, "no such word: there are %s and %s%s",
			strings.Join(names[:last], ", "), names[last], Meant(name, names))
	})
}

// Each calls read with every field of a value, whatever its name.
func (v Value) Each(read func(name string, v Value)) {
	if v.r.broken {
		return
	}
	if !v.HasFields() {
		v.Fail("want fields with values, not %s", what(v.node))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		value := Value{v.r, v.node.Content[i+1], v.pointer + problem.Pointer(key.Value)}
		switch line := first[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			at := cmp.Or(v.pointer, problem.Pointer(v.r.subject))
			v.r.note(key.Line, at, "want the name of a field, not %s", what(key))
		case line > 0:
			v.r.note(key.Line, value.pointer, "is given twice, first in line %d: remove one of the two", line)
		default:
			first[key.Value], v.r.lines[value.pointer], v.r.columns[value.pointer] = key.Line, key.Line, key.Column
			read(key.Value, value)
		}
	}
}

// Text returns a single value as written.
func (v Value) Text() string {
	if !v.Single() {
		v.Fail("want one value, not %s", what(v.node))
		return ""
	}
	return v.node.Value
}

// List returns one value, or several.
func (v Value) List() []string {
	if v.node.Kind != yaml.SequenceNode {
		if text := v.Text(); v.Single() {
			return []string{text}
		}
		return nil
	}
	values := make([]string, len(v.node.Content))
	for i, one := range v.node.Content {
		values[i] = Value{v.r, one, v.pointer}.Text()
	}
	return values
}

// Whole returns a whole number.
func (v Value) Whole() int {
	text := v.Text()
	n, err := strconv.Atoi(text)
	if err != nil && !v.Failed() {
		v.Fail("want a whole number, not %q", problem.Clip(text))
		return 0
	}
	return n
}

// Number returns a finite number.
func (v Value) Number() float64 {
	text := v.Text()
	n, err := strconv.ParseFloat(text, 64)
	if (err != nil || math.IsNaN(n) || math.IsInf(n, 0)) && !v.Failed() {
		v.Fail("want a number, not %q", problem.Clip(text))
		return 0
	}
	return n
}

// Truth returns true or false.
func (v Value) Truth() bool {
	switch text := v.Text(); {
	case text == "true":
		return true
	case text != "false" && !v.Failed():
		v.Fail("want true or false, not %q", problem.Clip(text))
	}
	return false
}

// what describes a node in words.
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
