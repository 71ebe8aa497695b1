// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/match"
)

// settle writes the recognised meanings into the plan.
func (p *Plan) settle(found *recognition, kinds []*match.Schema, rows int) {
	m := found.mapping
	p.Kind, p.Key, p.Source = p.options.Kind, p.options.Key, p.options.Source
	if p.Kind == "" && found.kind != kinds[0] {
		p.Kind, p.KindGuessed, m.kind = found.kind.Kind, true, found.kind.Kind
	}
	if !m.hash && len(p.Key) == 0 {
		p.Key = m.key
	}
	has := func(kind useKind) bool {
		return slices.ContainsFunc(p.columns, func(name string) bool {
			uses, _ := m.resolve(name)
			return slices.ContainsFunc(uses, func(u use) bool { return u.kind == kind })
		})
	}
	asks := rows > 0 && !p.options.Exact || p.Format.hasColumns() && len(p.columns) > 0
	if p.Source == "" && !has(useSource) && !p.options.Unstored {
		if !p.options.Exact {
			p.Source = p.sourceOf()
			p.SourceGuessed = isDated(p.Source)
		}
		if p.Source == "" && asks {
			p.ask("there is no column \"source\"", "--source NAME names the source of the whole file")
		}
		m.source = p.Source
	}
	if asks && !m.hash && !has(useKey) && !p.options.Unstored {
		p.askKey(found)
	}
	for _, c := range found.columns {
		uses, reason := m.resolve(c.name)
		if misfit := found.misfits[c.name]; reason != "" && misfit != "" && len(c.values) > 0 {
			reason = misfit
		}
		column := Column{Name: c.name, Reason: cmp.Or(found.reasons[c.name], reason), Values: c.values[:min(len(c.values), 3)], Guessed: found.reasons[c.name] != ""}
		for _, u := range uses {
			column.To = append(column.To, map[useKind]string{
				useAttribute: u.attribute, usePart: u.attribute, useSource: ColumnSource, useKey: ColumnKey, useRowKind: ColumnKind, useObserved: ColumnObserved,
			}[u.kind])
		}
		switch {
		case reason == "":
		case len(c.values) == 0 && !p.options.Exact:
			column.Reason = ""
			m.ignore = append(slices.Clone(m.ignore), c.name) // the column has no value to lose
		case p.Format.hasColumns(), 2*c.rows > rows && !p.options.Exact:
			p.ask(reason, "--set ATTRIBUTE=COLUMN gives it a meaning, or --ignore-unknown leaves it out")
			p.Questions[len(p.Questions)-1].Column = c.name
		}
		p.Columns = append(p.Columns, column)
	}
}

func (p *Plan) ask(text, hint string) {
	p.Questions = append(p.Questions, Question{Text: text, Hint: hint})
}

// askKey asks for the key column, and names the columns that could be it.
func (p *Plan) askKey(found *recognition) {
	var unique []string
	for _, c := range found.columns {
		if found.isUnique(c) && found.rows > 1 {
			unique = append(unique, c.name)
		}
	}
	hint := "--key COLUMN names the column with the source's own key; the columns are: " + listed(p.columns)
	if len(unique) > 0 {
		hint = "--key COLUMN names the column with the source's own key; these differ in every row that was looked at: " + listed(unique)
	}
	p.asksKey = true
	p.ask("there is no column \"key\""+found.whyNoKey(), hint+". Without one, --key @hash makes a key of the content")
}

// whyNoKey returns the reason why the first column with the name of a key is not the key, "" if there is no such
// column.
func (r *recognition) whyNoKey() string {
	at := slices.IndexFunc(r.columns, func(c sampled) bool { return keyRank(c.plain) > 0 && len(c.values) > 0 })
	if at < 0 {
		return ""
	}
	c, seen := r.columns[at], map[string]bool{}
	for _, value := range c.values {
		if seen[value] {
			return fmt.Sprintf(", and %.60q has %.40q more than once", c.name, value)
		}
		seen[value] = true
	}
	return fmt.Sprintf(", and %.60q is not in every row", c.name)
}

// sampleMapping is the mapping for the rows of the sample: unknown columns are left out, and open questions are
// answered as in the proposed command, so that the rows are shown as records instead of being refused.
func (p *Plan) sampleMapping() *mapping {
	m := *p.mapping
	m.ignoreAll = true
	if p.asksKey {
		m.hash, m.key = true, nil
	}
	return &m
}

// readSample reads the rows of the sample as the file will be read.
func (p *Plan) readSample(text []byte) error {
	r := &Reader{Name: p.Name}
	if len(p.columns) == 0 && p.Format.hasColumns() {
		return nil
	}
	l := &lines{r: readerOf(text), encoding: UTF8, bad: -1, part: p.longer}
	if err := p.start(r, l, newMapper(p.sampleMapping())); err != nil {
		return nil //nolint:nilerr // the reading reports it
	}
	p.showSample(r.rows)
	return nil
}

// showSample reads the rows of the sample to its end, or to damage that the reading reports.
func (p *Plan) showSample(rows rowReader) {
	if footer := p.footerOf(rows, p.longer, nil); footer != nil {
		rows = footer
		defer func() { p.Footer = footer.left }()
	}
	for range sampleRows {
		row, err := rows.Next()
		refused, bad := errors.AsType[*RowError](err)
		switch {
		case bad:
			p.Refused = append(p.Refused, refused)
		case err != nil:
			return
		default:
			p.Sample = append(p.Sample, row)
		}
	}
}
