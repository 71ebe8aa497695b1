// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// takeNameless leaves the attributes that name things out of a built-in kind whose other attributes alone the files
// have: things without names, such as houses for sale, are known by their addresses.
func (o *oneShot) takeNameless() {
	if o.kind != "" {
		return
	}
	var mapped []string
	for _, p := range o.plans {
		for _, c := range p.Columns {
			mapped = append(mapped, c.To...)
		}
	}
	nameless := *o.schema
	nameless.Attributes = slices.DeleteFunc(slices.Clone(nameless.Attributes), func(a match.Attribute) bool {
		return a.Names() && !slices.Contains(mapped, a.Name)
	})
	has := func(is func(match.Attribute) bool) bool { return slices.ContainsFunc(nameless.Attributes, is) }
	if !has(match.Attribute.Names) && has(func(a match.Attribute) bool { return a.Type == match.TypeAddress && slices.Contains(mapped, a.Name) }) {
		o.schema, o.kinds = &nameless, dedupe.Kinds(&nameless)
	}
}

// takeNames gives the name of the kind to the column that names the things of a file, as a draft shows it, if no column
// of that file has it.
func (o *oneShot) takeNames(naming []string) {
	i := slices.IndexFunc(o.schema.Attributes, func(a match.Attribute) bool { return a.Type == match.TypeName && a.Role == match.RoleNone })
	if i < 0 {
		return
	}
	renamed := *o
	options := *o.options
	for file, p := range o.plans {
		taken := slices.ContainsFunc(o.plans, func(p *bulk.Plan) bool {
			return slices.ContainsFunc(p.Columns, func(c bulk.Column) bool { return c.Name == naming[file] && len(c.To) > 0 })
		})
		if naming[file] != "" && !taken && !named(p, o.schema) {
			options.Set = append(options.Set, bulk.Assignment{Attribute: o.schema.Attributes[i].Name, Expression: naming[file]})
		}
	}
	if renamed.options = &options; len(options.Set) > 0 {
		if plans, _, err := renamed.recognise(o.schema); err == nil {
			o.options, o.plans = renamed.options, plans
		}
	}
}

// takeDraft uses a kind drafted from the files, as by locus kind suggest, if a built-in one would not compare most of
// the distinguishing columns, or else what the draft knows of their names. It does nothing if the kind or the meaning of a
// column is given.
func (o *oneShot) takeDraft(a *app) {
	if !o.drafts() {
		return
	}
	name := kindOf(o.files[0])
	if slices.ContainsFunc(o.kinds, func(k *match.Schema) bool { return k.Kind == name }) {
		name = "thing"
	}
	d, err := o.draft(match.Kinds(), name, o.files)
	if err == nil && !(d.Better && o.compareBy(a, d)) {
		o.takeNames(d.Naming)
	}
}

// compareBy uses a drafted kind, unless a file lacks the columns of the draft.
func (o *oneShot) compareBy(a *app, d *bulk.Draft) bool {
	drafted := *o
	options := *o.options
	for _, c := range d.Columns {
		if c.Set {
			options.Set = append(options.Set, bulk.Assignment{Attribute: c.Attribute, Expression: c.Name})
		}
	}
	options.Composed = d.Composed
	drafted.options, drafted.kinds = &options, dedupe.Kinds(d.Schema)
	plans, _, err := drafted.recognise(d.Schema)
	if err != nil {
		return false
	}
	more := false
	for i, p := range plans {
		now, before := len(p.Attributes()), len(o.plans[i].Attributes())
		if more = more || now > before || !named(o.plans[i], o.schema); now < before || !d.Names(p.Attributes()) {
			return false
		}
	}
	if !more {
		return false
	}
	var types []string
	for _, c := range d.Columns {
		if as := c.Attribute + " as " + c.Type; c.Attribute != "" && !slices.Contains(types, as) {
			types = append(types, as)
		}
	}
	a.say("no kind has %s: compared with the draft of locus kind suggest, %s", lost(d),
		term.Escape(shortList(types)))
	if d.Known != "" {
		a.say("--kind %s compares fewer columns with a built-in one", d.Known)
	}
	o.options, o.kinds, o.schema, o.plans = drafted.options, drafted.kinds, d.Schema, plans
	return true
}

// named reports whether one of the columns of a file names the things.
func named(p *bulk.Plan, kind *match.Schema) bool {
	return slices.ContainsFunc(p.Columns, func(c bulk.Column) bool {
		return slices.ContainsFunc(c.To, func(name string) bool {
			a, _ := kind.Attribute(name)
			return a.Type == match.TypeName
		})
	})
}
