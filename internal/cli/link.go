// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/exchange"
)

func (a *app) linkCommand() *cobra.Command {
	var o oneShot
	c := &cobra.Command{
		Use:   "link FILE FILE -o FILE",
		Short: "Find the rows of a second file that describe the same things as rows of a first one; needs no installation",
		Long: "Writes a row per pair: match_weight, the columns of the first file, and those of the second prefixed with second_, in\n" +
			"the order of the first file. Rows of one file are never compared with each other. A row is in one pair at most, that of\n" +
			"the highest match weight, if the other file seems to list nothing twice; --one-to-one and --one-to-one=false decide that\n" +
			"for both files. --left adds the rows of the first file without a pair. Files are recognised as by locus dedupe. Linked\n" +
			"rows are kept in memory.",
		Example: "  locus link crm.csv shop.csv -o links.csv\n" +
			"  locus link crm.csv shop.csv -o links.csv --one-to-one --left --set phones=tel",
		Args: arguments("FILE", "FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.oneShot(c.Context(), &o, args, a.link) },
	}
	o.flags(c)
	o.learnFlag(c)
	o.once.flag(c)
	c.Flags().BoolVar(&o.left, "left", false, "also write the rows of the first file without a pair")
	return c
}

// link matches the second file with the first and writes the pairs.
func (a *app) link(ctx context.Context, o *oneShot) (err error) {
	if err := o.weigh(ctx, a); err != nil {
		return err
	}
	o.declareOnce(o.sources[:1]) // its rows are not compared with each other
	s, err := dedupe.Open(ctx, &dedupe.Options{Kinds: o.kinds, Terms: o.terms, Counted: o.schema.Kind, Resolving: o.resolving})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := o.load(ctx, a, s, 0); err != nil {
		return err
	}
	first := o.header
	o.header = dedupe.Header{}
	pairs, rows, err := o.pairs(ctx, a, s)
	if err != nil {
		return err
	}
	pairs = o.best(a, pairs)
	slices.SortStableFunc(pairs, func(x, y dedupe.Pair) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.B, y.B))
	})
	if err := a.table(ctx, o.out, linkColumns(&first, &o.header), func(w exchange.Writer) error { return o.linked(w, &first, pairs, s.Len()) }); err != nil {
		return err
	}
	err = o.summary(a, map[string]any{"first": s.Len(), "second": rows, "pairs": len(pairs), "one_to_one": o.once.First && o.once.Second},
		counted(int64(len(pairs)), "pair", "pairs")+" of "+counted(int64(s.Len()), "row", "rows")+" and "+counted(int64(rows), "row", "rows"))
	return errors.Join(err, o.partly(s.Len()+rows))
}

// pairs matches the rows of the second file.
func (o *oneShot) pairs(ctx context.Context, a *app, s *dedupe.Session) ([]dedupe.Pair, int, error) {
	in, err := o.input(1)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	pairs, rows, err := s.Pairs(ctx, in, func(f dedupe.Refusal) error { return o.refuse(a, f.RowError, 1) })
	o.leftOut(a, in.Reader, 1)
	return pairs, rows, err
}

// linkColumns returns the columns of pairs.
func linkColumns(first, second *dedupe.Header) []exchange.Column {
	columns := append([]exchange.Column{{Name: "match_weight", Type: exchange.Float}}, first.Columns...)
	for _, c := range second.Columns {
		c.Name = "second_" + c.Name
		columns = append(columns, c)
	}
	return columns
}

// linked writes the pairs, in the order of the first file, and with --left also its other rows in their places.
func (o *oneShot) linked(w exchange.Writer, first *dedupe.Header, pairs []dedupe.Pair, rows int) error {
	a, b := map[int]bool{}, map[int]bool{}
	for _, p := range pairs {
		a[p.A], b[p.B] = true, true
	}
	firsts, err := o.taken(0, first, func(row int) bool { return o.left || a[row] })
	if err != nil {
		return err
	}
	seconds, err := o.taken(1, &o.header, func(row int) bool { return b[row] })
	if err = errors.Join(err, o.unchanged()); err != nil {
		return err
	}
	to := make(exchange.Row, 1+len(first.Columns)+len(o.header.Columns))
	middle := 1 + len(first.Columns)
	for row := range rows {
		clear(to)
		first.Fill(to[1:middle], firsts[row])
		for ; len(pairs) > 0 && pairs[0].A == row; pairs = pairs[1:] {
			to[0] = dedupe.Weight(pairs[0].Weight)
			o.header.Fill(to[middle:], seconds[pairs[0].B])
			if err := w.Write(to); err != nil {
				return err
			}
		}
		if o.left && !a[row] {
			if err := w.Write(to); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *oneShot) taken(i int, h *dedupe.Header, wanted func(int) bool) (map[int][]bulk.Field, error) {
	r, err := o.open(i)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return dedupe.Taken(r, h, wanted)
}
