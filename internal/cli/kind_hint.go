// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// drafts reports whether a kind may be drafted for files: neither the kind nor the meaning of a column was given.
func (o *reading) drafts() bool {
	return o.kind == "" && len(o.options.Set) == 0 && !o.options.IgnoreUnknown
}

// hintKind names the files whose rows no kind compares well, and suggests how to get a kind that does.
func (a *app) hintKind(files []string, kinds []*match.Schema, o *reading) {
	if !o.drafts() {
		return
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue // a pipe cannot be read twice
		}
		d, err := o.draft(kinds, kindOf(name), []string{name})
		if err != nil || !d.Better || slices.ContainsFunc(kinds, func(k *match.Schema) bool { return k.Kind == d.Schema.Kind }) {
			continue
		}
		file, kind := term.Escape(shellWord(name)), d.Schema.Kind
		a.say("no kind has %s: draft one that has with locus kind suggest %s -o %s.yaml, store it with locus kind create %s.yaml, and import with --kind %s",
			lost(d), file, kind, kind, kind)
	}
}

// lost names the columns that no kind compares.
func lost(d *bulk.Draft) string {
	if len(d.Lost) == 0 {
		return "any of the columns"
	}
	return term.Escape(strings.Join(d.Lost, ", "))
}
