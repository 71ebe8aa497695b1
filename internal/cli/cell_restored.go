// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

func (a *app) cellRestored() *cobra.Command {
	var f changing
	c := &cobra.Command{
		Use:   "restored",
		Short: "Make a restored backup safe to serve, so that no puid is allocated twice",
		Long: "Run this once on a restored backup, before the first server starts. Each cell skips the puids that it may have\n" +
			"allocated after the backup, and is sealed if there is a newer generation.\n\n" +
			"The cell map of a backup that was restored to other servers still points to the original. --map OLD=NEW names the old\n" +
			"and the new place of each server, rewrites the map and gives the copy an identity of its own; the original stays\n" +
			"untouched. OLD and NEW are values of serve's --map, the server with the cell map first. Use OLD=OLD for a server that was\n" +
			"restored in place.\n" +
			"\n" +
			"With counters and groups in MongoDB, --mongodb OLD=NEW assigns the copy of that database to the copy of the\n" +
			"installation.",
		Example: "  locus cell restored --data /var/lib/locus\n" +
			"  locus cell restored --map postgres://db1/locus=postgres://db2/locus --mongodb mongodb://db1/locus=mongodb://db2/locus --dry-run",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			pairs, err := a.readdressed(c)
			if err != nil {
				return err
			}
			documents, err := a.copiedDocuments(c, pairs != nil)
			if err != nil {
				return err
			}
			w, err := a.locate(c)
			if err != nil {
				return err
			}
			if err := a.restored(c, w, restoring{pairs: pairs, mongodb: documents}, &f); err != nil || f.dryRun {
				return err
			}
			a.nameTokens(c.Context(), w)
			return nil
		},
	}
	f.flags(c)
	a.installation(c)
	c.Flags().Lookup("mongodb").Value = (*mongoPairFlag)(&a.mongodb)
	c.Flags().Lookup("mongodb").Usage = "OLD=NEW: the MongoDB database of the original installation and its copy"
	c.Flags().Lookup("data").Usage = "data directory that was restored"
	c.Flags().Lookup("map").Value = &pairsFlag{mapFlag{urls: &a.cellMap}}
	c.Flags().Lookup("map").Usage = "databases of a shared installation, separated by commas, or OLD=NEW if it was restored elsewhere; the one with the cell map first"
	return c
}

// newer matches where NEW begins in OLD=NEW.
var newer = regexp.MustCompile(`=(?:postgres(?:ql)?://|sqlite:)`)

// pairsFlag is --map with URLs that may be pairs OLD=NEW. These may be files too, because cells of a data directory can
// be moved elsewhere.
type pairsFlag struct{ mapFlag }

// Set implements pflag.Value.
func (f *pairsFlag) Set(text string) error {
	for _, one := range splitURLs(text) {
		at := newer.FindStringIndex(one)
		if at == nil {
			if err := checkShared(one); err != nil {
				return err
			}
			continue
		}
		for _, url := range []string{one[:at[0]], one[at[0]+1:]} {
			if !strings.HasPrefix(url, "sqlite:/") {
				if err := checkShared(url); err != nil {
					return err
				}
			}
		}
	}
	*f.urls = strings.TrimPrefix(*f.urls+","+text, ",")
	return nil
}

// readdressed removes the pairs OLD=NEW from --map and returns them. The map is read at the first NEW, unless that is a
// file: then it is in the data directory.
func (a *app) readdressed(c *cobra.Command) (pairs [][2]string, err error) {
	if a.cellMap == "" {
		return nil, nil
	}
	urls := splitURLs(a.cellMap)
	for _, text := range urls {
		if at := newer.FindStringIndex(text); at != nil {
			pairs = append(pairs, [2]string{text[:at[0]], text[at[0]+1:]})
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	if len(pairs) != len(urls) {
		return nil, usage("OLD=OLD for a server that was restored in its place", "--map: some URLs are OLD=NEW and some are not")
	}
	a.cellMap = ""
	if first := pairs[0][1]; isShared(first) && !c.Flags().Changed("data") {
		a.cellMap = first
	}
	return pairs, nil
}

// errAgreed ends a dry run.
var errAgreed = errors.New("a dry run ends here")

// restoring describes the cells that were restored elsewhere.
type restoring struct {
	pairs   [][2]string // OLD and NEW of the cells
	mongodb *[2]string  // OLD and NEW of the document database, nil if not given
	mark    string      // the mark that every cell has to be at, "" for none
}

func (a *app) restored(c *cobra.Command, w where, r restoring, f *changing) error {
	pairs := r.pairs
	agree := func(m *cell.Map) error {
		a.say("%s: %s, cell map %s, epoch %d\nwill make each cell skip 1,048,576 puids, and seal those of older generations",
			w, plural(len(m.Cells()), "cell"), m.Spec().ID, m.Epoch())
		if r.mongodb != nil {
			a.say("will assign %s to it, a copy of %s", shownMongo(r.mongodb[1]), shownMongo(r.mongodb[0]))
		}
		if f.dryRun {
			return errAgreed
		}
		return a.confirm(f.yes, "Was it restored from a backup, and is no server using it?")
	}
	opts := &storage.Options{MustExist: true, Notice: w.notice, Restored: true, UnsafeDurability: w.unsafe}
	if pairs != nil {
		opts.Readdress = &cell.Readdress{URL: cell.Rewrite(pairs), Agree: func(m *cell.Map, cells []cell.Readdressed) error {
			for _, r := range cells {
				from, to := term.Escape(cell.Redact(r.From)), term.Escape(cell.Redact(r.To))
				if r.From == r.To {
					a.say("cell %v stays at %s", r.Cell, to)
				} else {
					a.say("cell %v was at %s, is at %s", r.Cell, from, to)
				}
			}
			if err := r.atMark(c, m, cells); err != nil {
				return err
			}
			return agree(m)
		}}
	}
	cells, err := storage.Open(c.Context(), w.place, opts)
	if errors.Is(err, errAgreed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the data: %w", err)
	}
	defer cells.Close()
	if pairs == nil {
		if err := r.atMark(c, cells.Map(), nil); err != nil {
			return err
		}
		if err := agree(cells.Map()); errors.Is(err, errAgreed) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := a.handOver(c.Context(), cells, w, r.mongodb); err != nil {
		return fmt.Errorf("%s: %w", w, err)
	}
	if err := cell.Reincarnate(c.Context(), cells); err != nil {
		return fmt.Errorf("%s: %w", w, err)
	}
	m := cells.Map()
	if a.json {
		return a.printJSON(map[string]any{"type": "summary", "map": m.Spec().ID, "cells": len(m.Cells()), "epoch": m.Epoch()})
	}
	a.say("done: it may be served")
	return nil
}
