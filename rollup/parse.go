// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxText is how long a definition may be, in bytes.
const maxText = 64 << 10

// Parse reads a definition in YAML, of which JSON is a part, and checks it as far as that can be done
// without its kind: see Check. The error is an *InvalidError with everything that is wrong.
func Parse(text []byte) (*Definition, error) { return ParseNamed("", text) }

// ParseNamed is Parse of a text that need not say the name, because it is known: if it says one, it is that.
func ParseNamed(name string, text []byte) (*Definition, error) {
	p := &parser{lines: map[string]int{}}
	d := p.parse(text)
	switch {
	case name == "":
	case d.Name == "" && p.lines["rollup"] == 0:
		d.Name = name
	case d.Name != "" && d.Name != name:
		p.problems = append(p.problems, Problem{p.line("rollup"), "rollup", fmt.Sprintf("the text says %.64q, the address %.64q", d.Name, name)})
	}
	if len(p.problems) == 0 {
		for _, problem := range d.problems(nil) {
			problem.Line = p.line(problem.Field)
			p.problems = append(p.problems, problem)
		}
	}
	if len(p.problems) > 0 {
		return nil, &InvalidError{p.problems}
	}
	d = d.canonical()
	return &d, nil
}

// parser reads a tree of nodes and notes where each field stands.
type parser struct {
	problems []Problem
	lines    map[string]int
}

// line is that of a field, or of what it is in.
func (p *parser) line(field string) int {
	for {
		if line, ok := p.lines[field]; ok {
			return line
		}
		i := strings.LastIndexByte(field, '.')
		if i < 0 {
			return 0
		}
		field = field[:i]
	}
}

func (p *parser) fail(n *yaml.Node, field, format string, args ...any) {
	p.problems = append(p.problems, Problem{n.Line, field, fmt.Sprintf(format, args...)})
}

func (p *parser) parse(text []byte) (d Definition) {
	var document yaml.Node
	if len(text) > maxText {
		p.problems = append(p.problems, Problem{Field: "rollup", Text: fmt.Sprintf("the text has %d bytes, %d are allowed", len(text), maxText)})
		return d
	}
	if json.Valid(text) && utf8.Valid(text) {
		text = jsonToYAML(text)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); err != nil {
		p.problems = append(p.problems, syntaxProblem(err))
		return d
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		p.problems = append(p.problems, Problem{Field: "rollup", Text: "the text has a second document; define one rollup at a time"})
		return d
	}
	p.object(document.Content[0], "", func(name string, n *yaml.Node) bool {
		switch name {
		case "rollup":
			d.Name = p.scalar(n, name)
		case "kind":
			d.Kind = p.scalar(n, name)
		case "over":
			d.Over = Over(p.scalar(n, name))
		case "where":
			p.object(n, name, func(attribute string, n *yaml.Node) bool {
				d.Where = append(d.Where, p.condition(n, attribute, name+"."+attribute))
				return true
			})
		case "group":
			d.Group = p.list(n, name)
		case "dimension":
			d.Dimension = p.scalar(n, name)
		case "measures":
			p.object(n, name, func(measure string, n *yaml.Node) bool {
				d.Measures = append(d.Measures, p.measure(n, measure, name+"."+measure))
				return true
			})
		default:
			return false
		}
		return true
	})
	return d
}

// object calls each with every field; one that each does not know is a problem.
func (p *parser) object(n *yaml.Node, field string, each func(name string, n *yaml.Node) bool) {
	if n.Kind != yaml.MappingNode {
		p.fail(n, or(field, "rollup"), "want fields with values, not %s", what(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := key.Value
		if field != "" {
			at = field + "." + key.Value
		}
		p.lines[at] = key.Line
		switch {
		case key.Kind != yaml.ScalarNode || key.Value == "<<":
			p.fail(key, or(field, "rollup"), "want the name of a field, not %s", what(key))
		case seen[key.Value]:
			p.fail(key, at, "the field stands here twice")
		case !each(key.Value, value):
			p.fail(key, at, "no such field")
		}
		seen[key.Value] = true
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
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
	default:
		return "that"
	}
}

// scalar reads a single value as it is written.
func (p *parser) scalar(n *yaml.Node, field string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.fail(n, field, "want one value, not %s", what(n))
		return ""
	}
	return n.Value
}

// list reads one value or several.
func (p *parser) list(n *yaml.Node, field string) []string {
	if n.Kind != yaml.SequenceNode {
		before := len(p.problems)
		value := p.scalar(n, field)
		if len(p.problems) > before {
			return nil
		}
		return []string{value}
	}
	values := make([]string, len(n.Content))
	for i, one := range n.Content {
		values[i] = p.scalar(one, field)
	}
	return values
}

func (p *parser) number(n *yaml.Node, field string) int {
	value, err := strconv.Atoi(p.scalar(n, field))
	if err != nil {
		p.fail(n, field, "want a whole number")
	}
	return value
}

func (p *parser) condition(n *yaml.Node, attribute, field string) Condition {
	c := Condition{Attribute: attribute}
	if n.Kind != yaml.MappingNode {
		before := len(p.problems)
		if c.Values = p.list(n, field); len(c.Values) == 0 && len(p.problems) == before {
			p.fail(n, field, "want a value, a list of them, or min, max, exists, not")
		}
		return c
	}
	if len(n.Content) > 2 && slices.ContainsFunc(n.Content, func(n *yaml.Node) bool { return n.Value == "not" || n.Value == "exists" }) {
		p.fail(n, field, "not and exists stand alone; conditions on other attributes are fields of their own")
	}
	p.object(n, field, func(word string, n *yaml.Node) bool {
		at := field + "." + word
		switch word {
		case "min":
			c.Min = p.scalar(n, at)
		case "max":
			c.Max = p.scalar(n, at)
		case "exists":
			switch p.scalar(n, at) {
			case "true":
				c.Exists = true
			case "false":
				c.Absent = true
			default:
				p.fail(n, at, "want true or false")
			}
		case "not":
			if c = p.condition(n, attribute, at); c.Not {
				p.fail(n, at, "not stands around a condition, once")
			}
			c.Not = true
		default:
			return false
		}
		return true
	})
	return c
}

func (p *parser) measure(n *yaml.Node, name, field string) Measure {
	m := Measure{Name: name}
	if n.Kind == yaml.ScalarNode {
		m.Func = Func(p.scalar(n, field))
		return m
	}
	p.object(n, field, func(word string, n *yaml.Node) bool {
		at := field + "." + word
		switch f := Func(word); {
		case word == "scale":
			m.Scale = p.number(n, at)
		case word == "k":
			m.K = p.number(n, at)
		case f == Count || !f.known():
			return false
		case m.Func != "":
			p.fail(n, at, "a measure has one function; this one has %s", m.Func)
		default:
			m.Func, m.Attribute = f, p.scalar(n, at)
		}
		return true
	})
	return m
}
