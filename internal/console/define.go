// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"

	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
)

// Define is a page to define a rollup, to change or to drop one.
type Define struct {
	Name string // of an existing rollup, "" for a new one
	YAML string // "" for an example
	// Schema is the schema of the example.
	Schema    *match.Schema
	MayDefine bool
	Problem   string
	// Read is the definition as it would be stored, nil before it was read.
	Read *rollup.Definition
	// Now is the newest definition of its name, nil if there is none.
	Now *rollup.Definition
}

// Define writes the page.
func (c *Console) Define(w io.Writer, d Define) error {
	p := struct {
		Define
		Counting      *counting
		Same, Changes bool   // whether the definition equals the existing one, or differs from it
		Shelf         string // its groups, if it is kept elsewhere
		Command, Drop string
	}{Define: d, Command: command("locus", "rollup", "define", "FILE")}
	if d.Name != "" {
		p.Drop = command("locus", "rollup", "drop", d.Name)
	}
	if p.YAML == "" && d.Schema != nil {
		p.YAML = exampleYAML(d.Schema)
	}
	if d.Read != nil {
		read := newCounting(d.Read)
		p.Counting, p.Shelf = &read, string(d.Read.Store)
		if d.Now != nil {
			p.Same = d.Now.Equal(*d.Read)
			p.Changes = !p.Same
		}
	}
	return c.render(w, "define", "", p)
}
