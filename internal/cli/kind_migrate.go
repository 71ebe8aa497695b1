// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/kinds"
)

// progressOf shows the progress of a rules change.
var progressOf = steps(func(p kinds.Progress) (step, line string, err error) { return p.Step, p.String(), nil })

// diffRules prints the effect of other rules.
func (a *app) diffRules(c *cobra.Command, kind string, request httpapi.KindRequest) error {
	cl, err := a.connect(c, reads)
	if err != nil {
		return err
	}
	defer cl.close()
	return a.diffed(c, cl, kind, request)
}

func (a *app) diffed(c *cobra.Command, cl *client, kind string, request httpapi.KindRequest) error {
	result, err := a.change(c.Context(), cl, kindPath(kind)+"/diff", request, progressOf)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(result)
	}
	d, err := resultOf[kinds.Diff](result)
	if err != nil {
		return err
	}
	return a.printDiff(&d)
}

func (a *app) printDiff(d *kinds.Diff) error {
	fmt.Fprintf(a.stdout, "kind %s, version %d, term-frequency table %s: %s records, %s entities now, %s then\n",
		term.Escape(d.Kind), d.Version, d.Terms, term.Count(int64(d.Records)), term.Count(int64(d.Before)), term.Count(int64(d.After)))
	fmt.Fprintf(a.stdout, "%s stay, %s of these show other values; %s would be merged from several, %s would be split\n",
		term.Count(int64(d.Stay)), term.Count(int64(d.Changed)), term.Count(int64(d.Merged)), term.Count(int64(d.Split)))
	for _, part := range []struct {
		what string
		of   []kinds.Example
	}{{"merge", d.Merges}, {"split", d.Splits}} {
		if len(part.of) == 0 {
			continue
		}
		fmt.Fprintln(a.stdout)
		t := &term.Table{Header: []string{part.what, "records", "record", "name", "entity now", "entity then"},
			Right: map[int]bool{1: true}}
		for i, e := range part.of {
			for n, r := range e.Records {
				first, size := "", ""
				if n == 0 {
					first, size = fmt.Sprint(i+1), fmt.Sprint(e.Size)
				}
				t.Add(first, size, r.String(), r.Name, r.From.String(), r.To.String())
			}
		}
		if err := a.printTable(t); err != nil {
			return err
		}
	}
	return nil
}

// migrateRules prints the plan of a migration, asks for confirmation, and migrates.
func (a *app) migrateRules(c *cobra.Command, kind string, request httpapi.KindRequest, f *changing) error {
	cl, err := a.connect(c, f.access())
	if err != nil {
		return err
	}
	defer cl.close()
	return a.switched(c, cl, kind, request, f)
}

func (a *app) switched(c *cobra.Command, cl *client, kind string, request httpapi.KindRequest, f *changing) error {
	if f.dryRun {
		return a.diffed(c, cl, kind, request)
	}
	var now httpapi.Kind
	raw, err := cl.get(c.Context(), kindPath(kind), nil, &now)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printRaw(typed("plan", raw))
	} else {
		a.say("kind %s has version %d and term-frequency table %s now; --dry-run shows what would merge and split", now.Kind,
			now.Version, now.Terms)
		a.say("then all its records are resolved again, cell by cell, during reads and writes; ids stay, and the migration can be reversed")
	}
	if err != nil {
		return err
	}
	if err := a.confirm(f.yes, fmt.Sprintf("Migrate kind %s?", kind)); err != nil {
		return err
	}
	result, err := a.change(c.Context(), cl, kindPath(kind)+"/migrate", request, progressOf)
	if err != nil {
		return err
	}
	k, err := resultOf[httpapi.Kind](result)
	if err != nil {
		return err
	}
	return a.summary(result, "done: kind %s has version %d and term-frequency table %s", k.Kind, k.Version, k.Terms)
}

// termsOf requests the stored term-frequency tables.
func termsOf(c *cobra.Command, cl *client) (terms []json.RawMessage, err error) {
	var list struct {
		Terms []json.RawMessage `json:"term_frequencies"`
	}
	_, err = cl.get(c.Context(), "/v1/term-frequencies", nil, &list)
	return list.Terms, err
}
