// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) cellMapCommand() *cobra.Command {
	var check string
	var history, sql bool
	c := &cobra.Command{
		Use:   "map",
		Short: "Print the cell map as JSON, its history, or its arithmetic as SQL functions",
		Long: "With the cell map a program computes the cell of a key, puid or id without reading a database. An outdated map gives\n" +
			"the same result as the newest one, or an error, never another cell. locus id --map FILE reads the map.",
		Example: "  locus cell map > map.json\n" +
			"  locus cell map --sql | psql mydatabase",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if n := count(check != "", history, sql); n > 1 {
				return usage("give one of them", "--check, --history and --sql exclude each other")
			}
			if check != "" {
				return a.checkMap(check)
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			if history {
				return a.mapHistory(c, cl)
			}
			m, raw, err := newestMap(c, cl)
			if err != nil {
				return err
			}
			if sql {
				text, err := sqlOf(m)
				if err == nil {
					_, err = fmt.Fprint(a.stdout, text)
				}
				return err
			}
			return a.printRaw(raw)
		},
	}
	f := c.Flags()
	f.StringVar(&check, "check", "", "validate the cell map in this file; needs no installation")
	f.BoolVar(&history, "history", false, "list the stored versions and what each of them changed")
	f.BoolVar(&sql, "sql", false, "print the functions locus_cell(bigint) and locus_cell(uuid) for PostgreSQL")
	return a.connection(c)
}

func count(flags ...bool) (n int) {
	for _, set := range flags {
		if set {
			n++
		}
	}
	return n
}

// checkMap reports whether a file contains a usable cell map.
func (a *app) checkMap(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return usage("a file written by locus cell map", "--check %.200q: cannot be read: %v", path, errors.Unwrap(err))
	}
	m, err := cell.ParseMap(text)
	if err != nil {
		return usage("get it again: locus cell map > "+path, "--check %.200q: %v", path, err)
	}
	if a.json {
		return a.printJSON(map[string]any{"valid": true, "id": m.Spec().ID, "epoch": m.Epoch(),
			"generations": m.Generations(), "cells": len(m.Cells())})
	}
	_, err = fmt.Fprintf(a.stdout, "valid: map %s, epoch %d, %s in %s\n", term.Escape(m.Spec().ID), m.Epoch(),
		plural(len(m.Cells()), "cell"), plural(m.Generations(), "generation"))
	return err
}

// mapHistory lists the versions of the map.
func (a *app) mapHistory(c *cobra.Command, cl *client) error {
	var answer httpapi.MapHistory
	if _, err := cl.get(c.Context(), "/v1/map/history", nil, &answer); err != nil {
		return err
	}
	t := &term.Table{Header: []string{"epoch", "cells", "current", "floor", "until", "changed"},
		Right: map[int]bool{0: true, 2: true, 3: true}}
	var before *cell.Map
	for _, raw := range answer.Maps {
		m, err := cell.ParseMap(raw)
		if err != nil {
			return fmt.Errorf("read a cell map: %w", err)
		}
		changed := mapChanges(before, m)
		before = m
		if a.json {
			line, err := json.Marshal(map[string]any{"epoch": m.Epoch(), "changed": changed, "map": raw})
			if err != nil {
				return fmt.Errorf("write JSON: %w", err)
			}
			if err := a.printRaw(typed("result", line)); err != nil {
				return err
			}
			continue
		}
		counts := make([]string, m.Generations())
		for g := range counts {
			counts[g] = fmt.Sprint(m.Count(g))
		}
		until := ""
		if u := m.Until(); !u.IsZero() {
			until = u.Format(time.RFC3339)
		}
		t.Add(fmt.Sprint(m.Epoch()), strings.Join(counts, " "), fmt.Sprint(m.Current()), fmt.Sprint(m.Floor()), until,
			strings.Join(changed, ", "))
	}
	if a.json {
		return nil
	}
	return a.printTable(t)
}

// mapChanges describes what a version of the map changed.
func mapChanges(before, m *cell.Map) (list []string) {
	if before == nil {
		return []string{"oldest version kept"}
	}
	was, is := before.Spec(), m.Spec()
	for g := len(was.Generations); g < len(is.Generations); g++ {
		list = append(list, fmt.Sprintf("generation %d announced: %d cells from %s", g, is.Generations[g].Cells,
			is.Generations[g].Starts.Format(time.RFC3339)))
	}
	if is.Current != was.Current {
		list = append(list, fmt.Sprintf("generation %d takes new keys", is.Current))
	}
	if is.Floor != was.Floor {
		list = append(list, fmt.Sprintf("keys are looked up from generation %d on", is.Floor))
	}
	var moved []cell.ID
	for id, home := range is.Moved {
		if was.Moved[id] != home {
			moved = append(moved, id)
		}
	}
	slices.SortFunc(moved, cell.ID.Compare)
	for _, id := range moved {
		list = append(list, fmt.Sprintf("cell %v moved to %s", id, cell.Redact(is.Moved[id].URL)))
	}
	if len(list) == 0 && !is.Until.Equal(was.Until) {
		list = append(list, "covers later ids")
	}
	return list
}
