// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSchema is how long the text of a kind may be, in bytes.
const maxSchema = 256 << 10

// ParseSchema reads a kind in YAML, of which JSON is a part. The error is a *SchemaError with
// everything that is wrong.
func ParseSchema(text []byte) (*Schema, error) {
	p := &schemaParser{lines: map[string]int{}}
	s := p.parse(text)
	if !p.broken {
		for _, problem := range s.problems() {
			if !p.failed(problem.Field) {
				problem.Line = p.line(problem.Field)
				p.problems = append(p.problems, problem)
			}
		}
	}
	if len(p.problems) > 0 {
		sortProblems(p.problems)
		return nil, &SchemaError{p.problems}
	}
	return s, nil
}

// schemaParser reads a tree of nodes and notes where each field stands.
type schemaParser struct {
	problems []SchemaProblem
	lines    map[string]int
	broken   bool // the text is not YAML of one document
}

// line is that of a field, or of what it is in.
func (p *schemaParser) line(field string) int {
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

// failed tells whether a field has been complained about: its value is then nobody's word.
func (p *schemaParser) failed(field string) bool {
	for _, problem := range p.problems {
		if problem.Field == field {
			return true
		}
	}
	return false
}

func (p *schemaParser) fail(line int, field, format string, args ...any) {
	p.problems = append(p.problems, SchemaProblem{line, field, fmt.Sprintf(format, args...)})
}

func (p *schemaParser) stop(line int, format string, args ...any) *Schema {
	p.broken = true
	p.fail(line, "kind", format, args...)
	return nil
}

func (p *schemaParser) parse(text []byte) *Schema {
	if len(text) > maxSchema {
		return p.stop(0, "the text has %d bytes, %d are allowed", len(text), maxSchema)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		line, what := yamlProblem(err)
		return p.stop(line, "%s", what)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return p.stop(0, "the text has a second document: define one kind at a time")
	}
	s := &Schema{Sources: map[string]Source{}}
	p.object(document.Content[0], "", "kind, version, attributes, sources and bits", func(name, at string, n *yaml.Node) bool {
		switch name {
		case "kind":
			s.Kind = p.text(n, at)
		case "version":
			s.Version = p.whole(n, at)
		case "attributes":
			p.object(n, at, "", func(name, at string, n *yaml.Node) bool {
				s.Attributes = append(s.Attributes, p.attribute(n, name, at))
				return true
			})
		case "sources":
			p.object(n, at, "", func(name, at string, n *yaml.Node) bool {
				s.Sources[name] = p.source(n, at)
				return true
			})
		case "bits":
			p.bits(s, n, at)
		default:
			return false
		}
		return true
	})
	return s
}

func (p *schemaParser) attribute(n *yaml.Node, name, at string) Attribute {
	a := Attribute{Name: name}
	const words = "type, role, style, scope, region, half_life, many, required, tag and dimension"
	p.object(n, at, words, func(word, at string, n *yaml.Node) bool {
		switch word {
		case "type":
			a.Type = Type(p.text(n, at))
		case "role":
			a.Role = Role(p.text(n, at))
		case "style":
			a.Style = Style(p.text(n, at))
		case "scope":
			a.Scope = Scope(p.text(n, at))
		case "region":
			a.Region = p.text(n, at)
		case "half_life":
			if a.HalfLife = p.whole(n, at); a.HalfLife == 0 && !p.failed(at) {
				p.fail(n.Line, at, "want a number of days above 0")
			}
		case "many":
			a.Many = p.truth(n, at)
		case "required":
			a.Required = p.truth(n, at)
		case "tag":
			a.Tag = p.truth(n, at)
		case "dimension":
			a.Dimension = p.truth(n, at)
		default:
			return false
		}
		return true
	})
	return a
}

func (p *schemaParser) source(n *yaml.Node, at string) Source {
	var s Source
	p.object(n, at, "trust, attributes and deduplicated", func(word, at string, n *yaml.Node) bool {
		switch word {
		case "trust":
			s.Trust = p.trust(n, at)
		case "deduplicated":
			s.Deduplicated = p.truth(n, at)
		case "attributes":
			s.Attributes = map[string]float64{}
			p.object(n, at, "", func(attribute, at string, n *yaml.Node) bool {
				s.Attributes[attribute] = p.trust(n, at)
				return true
			})
		default:
			return false
		}
		return true
	})
	return s
}

// trust reads a number that is said: one that is not said is not 0.
func (p *schemaParser) trust(n *yaml.Node, at string) float64 {
	trust := p.number(n, at)
	if trust == 0 && !p.failed(at) {
		p.fail(n.Line, at, "want a number above 0, up to 1")
	}
	return trust
}

func (p *schemaParser) bits(s *Schema, n *yaml.Node, at string) {
	s.Bits = map[string]map[string]Score{}
	p.object(n, at, "", func(line, at string, n *yaml.Node) bool {
		levels := map[string]Score{}
		p.object(n, at, "", func(level, at string, n *yaml.Node) bool {
			bits := p.number(n, at)
			if bits < -maxBits || bits > maxBits {
				p.fail(n.Line, at, "want bits from %d to %d", -maxBits, maxBits)
				return true
			}
			levels[level] = Score(math.Round(100 * bits))
			return true
		})
		s.Bits[line] = levels
		return true
	})
}

// object calls each with every field; one that each does not know is a problem, which names the words
// that it knows.
func (p *schemaParser) object(n *yaml.Node, field, words string, each func(name, at string, n *yaml.Node) bool) {
	if n.Kind != yaml.MappingNode {
		if field == "" {
			p.stop(n.Line, "want fields with values such as \"kind: place\", not %s", whatNode(n))
			return
		}
		p.fail(n.Line, field, "want fields with values, not %s", whatNode(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := key.Value
		if field != "" {
			at = field + "." + key.Value
		}
		first := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			p.fail(key.Line, fieldOr(field, "kind"), "want the name of a field, not %s", whatNode(key))
			continue
		case first > 0:
			p.fail(key.Line, at, "stands here twice, first in line %d: leave one of the two", first)
			continue
		}
		seen[key.Value], p.lines[at] = key.Line, key.Line
		if !each(key.Value, at, value) {
			p.fail(key.Line, at, "no such word: there are %s%s", words, meant(key.Value, strings.FieldsFunc(words, notWord)))
		}
	}
}

func notWord(r rune) bool { return r == ',' || r == ' ' }

func fieldOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// whatNode names a node to people.
func whatNode(n *yaml.Node) string {
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

// text reads a single value as it is written.
func (p *schemaParser) text(n *yaml.Node, at string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.fail(n.Line, at, "want one value, not %s", whatNode(n))
		return ""
	}
	return n.Value
}

func (p *schemaParser) whole(n *yaml.Node, at string) int {
	text := p.text(n, at)
	value, err := strconv.Atoi(text)
	if (err != nil || value < 0) && !p.failed(at) {
		p.fail(n.Line, at, "want a whole number, not %q", clip(text))
		return 0
	}
	return value
}

func (p *schemaParser) number(n *yaml.Node, at string) float64 {
	text := p.text(n, at)
	value, err := strconv.ParseFloat(text, 64)
	if (err != nil || math.IsNaN(value) || math.IsInf(value, 0)) && !p.failed(at) {
		p.fail(n.Line, at, "want a number, not %q", clip(text))
		return 0
	}
	return value
}

func (p *schemaParser) truth(n *yaml.Node, at string) bool {
	switch text := p.text(n, at); {
	case text == "true":
		return true
	case text != "false" && !p.failed(at):
		p.fail(n.Line, at, "want true or false, not %q", clip(text))
	}
	return false
}

// yamlProblem is what the reader of YAML says; it names the line in its text.
func yamlProblem(err error) (line int, text string) {
	if errors.Is(err, io.EOF) {
		return 0, "the text is empty: it begins with \"kind: \" and a name"
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
