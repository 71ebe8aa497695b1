// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"fmt"
	"slices"
	"sync"

	"github.com/locus-db/locus/internal/definition"
	"github.com/locus-db/locus/internal/problem"
)

// maxText limits the text of a definition, in bytes.
const maxText = 64 << 10

// Parse reads a definition in YAML or JSON and checks everything that does not depend on its kind: see Check. The
// error is an *InvalidError that lists every problem.
func Parse(text []byte) (*Definition, error) { return ParseNamed("", text) }

// ParseNamed is Parse with the name given by the caller. The text may omit the name; if present, it must be the
// same.
func ParseNamed(name string, text []byte) (*Definition, error) {
	r, all := definition.Read("rollup", maxText, text)
	d := parse(all)
	switch {
	case name == "" || r.Broken():
	case d.Name == "" && r.Line("/rollup") == 0:
		d.Name = name
	case d.Name != "" && d.Name != name:
		r.Problems = append(r.Problems, Problem{
			Code: "invalid", Detail: fmt.Sprintf("the text says %.64q, the address %.64q", d.Name, name),
			Pointer: "/rollup", Line: r.Line("/rollup"),
		})
	}
	if len(r.Problems) == 0 {
		for _, problem := range d.problems(nil) {
			problem.Line = r.Line(problem.Pointer)
			r.Problems = append(r.Problems, problem)
		}
	}
	if len(r.Problems) > 0 {
		return nil, invalid(r.Problems)
	}
	d = d.canonical()
	return &d, nil
}

// UnmarshalJSON accepts the same as Parse. Definitions of the same text share their slices.
func (d *Definition) UnmarshalJSON(text []byte) error {
	parsed, err := known.parse(text)
	if err == nil {
		*d = *parsed
	}
	return err
}

// known are the definitions that UnmarshalJSON has read. Every query and every step of a follower reads the generations
// of a cell, and parsing their definitions would take longer than the rest.
var known knownDefinitions

type knownDefinitions struct {
	mu     sync.Mutex
	byText map[string]*Definition
}

// maxKnown is how many texts are remembered.
const maxKnown = 256

func (p *knownDefinitions) parse(text []byte) (*Definition, error) {
	p.mu.Lock()
	d := p.byText[string(text)]
	p.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, err := Parse(text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byText == nil || len(p.byText) == maxKnown {
		p.byText = map[string]*Definition{}
	}
	p.byText[string(text)] = d
	return d, nil
}

func parse(all definition.Value) (d Definition) {
	all.Fields(
		definition.Text("rollup", &d.Name),
		definition.Text("kind", &d.Kind),
		definition.Text("over", &d.Over),
		definition.Custom("where", func(v definition.Value) {
			v.Each(func(attribute string, v definition.Value) { d.Where = append(d.Where, condition(v, attribute)) })
		}),
		definition.List("group", &d.Group),
		definition.Text("dimension", &d.Dimension),
		definition.Custom("measures", func(v definition.Value) {
			v.Each(func(name string, v definition.Value) { d.Measures = append(d.Measures, measure(v, name)) })
		}),
		definition.Text("store", &d.Store),
	)
	return d
}

func condition(v definition.Value, attribute string) Condition {
	c := Condition{Attribute: attribute}
	if !v.HasFields() {
		if c.Values = v.List(); len(c.Values) == 0 && !v.Failed() {
			v.Fail("want a value, a list of them, or min, max, exists, not")
		}
		return c
	}
	words := v.Names()
	if len(words) > 1 && slices.ContainsFunc(words, func(word string) bool { return word == "not" || word == "exists" }) {
		v.Fail("not and exists cannot be combined; give other attributes fields of their own")
	}
	v.Fields(
		definition.Text("min", &c.Min),
		definition.Text("max", &c.Max),
		definition.Custom("exists", func(v definition.Value) {
			c.Exists = v.Truth()
			c.Absent = !c.Exists
		}),
		definition.Custom("not", func(v definition.Value) {
			if c = condition(v, attribute); c.Not {
				v.Fail("not takes one condition, and cannot be nested")
			}
			c.Not = true
		}),
	)
	return c
}

func measure(v definition.Value, name string) Measure {
	m := Measure{Name: name}
	if v.Single() {
		m.Func = Func(v.Text())
		return m
	}
	var fields []definition.Field
	for _, f := range []Func{Sum, Avg, Min, Max, Top, Distinct} {
		fields = append(fields, definition.Custom(string(f), func(v definition.Value) {
			if m.Func != "" {
				v.Fail("a measure has one function; this one has %s", m.Func)
				return
			}
			m.Func, m.Attribute = f, v.Text()
		}))
	}
	v.Fields(append(fields, definition.Whole("scale", &m.Scale), definition.Whole("k", &m.K))...)
	return m
}

// InvalidError lists every problem of a definition. It is locus.InvalidError.
type InvalidError = problem.InvalidError

// Problem is one problem of a definition. It is locus.Problem.
type Problem = problem.Problem

func invalid(problems []Problem) error {
	return &InvalidError{Problems: problems, Definition: "rollup"}
}
