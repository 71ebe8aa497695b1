// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// mostLearned is the number of rows up to which dedupe and link learn weights without being asked: their candidates are
// in memory.
const mostLearned = 100_000

// sayLearning is the number of rows from which learning takes seconds, and is announced.
const sayLearning = 10_000

// learnFlag adds --learn to a command. Weights that a kind of the user's own states stay, unless --learn is given.
func (o *oneShot) learnFlag(c *cobra.Command) {
	c.Flags().BoolVar(&o.learn, "learn", true, "use weights learned from the files, as by locus kind learn, if they are clearly better; by default up to 100,000 rows, and not with a kind of your own")
	o.asked = func() bool { return c.Flags().Changed("learn") }
}

// weigh counts how common the words of the files are, looks which files list nothing twice, and fits the weights of the
// kind to them.
func (o *oneShot) weigh(ctx context.Context, a *app) error {
	rows, err := o.count(ctx, a)
	if err != nil {
		return err
	}
	if !o.learn || !o.asked() && rows > mostLearned {
		return nil
	}
	if err := o.lookOnce(ctx, a, "; --deduplicated=none joins them"); err != nil {
		return err
	}
	if o.weighed && !o.asked() {
		return nil
	}
	announced := rows >= sayLearning
	if announced {
		a.say("learning weights from %s; --learn=false leaves that out", counted(rows, "row", "rows"))
	}
	defer o.progress.Restart()
	d, _, err := o.drafted(ctx, func(int, *bulk.RowError) {}) // refused rows are reported when they are grouped
	if err != nil {
		return err
	}
	if refused := d.Refused(); len(refused) > 0 { // a small file has too few matches, as its user expects
		if o.asked() || announced || !d.Few() {
			a.say("the weights of the kind stay: %s", strings.Join(refused, "; "))
		}
		return nil
	}
	a.say("weights learned from %s that match", counted(int64(d.Matches), "pair", "pairs"))
	o.schema, o.kinds = d.Schema, dedupe.Kinds(d.Schema)
	return nil
}

// count counts the words of the names in all files, and returns how many rows there are.
func (o *oneShot) count(ctx context.Context, a *app) (rows int64, err error) {
	o.terms, rows, err = a.countNames(ctx, o.schema, o.plans)
	return rows, err
}

// countNames counts the words of the names in files, and returns how many rows there are.
func (a *app) countNames(ctx context.Context, schema *match.Schema, plans []*bulk.Plan) (terms *match.TermFrequencies, rows int64, err error) {
	progress := term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	defer progress.Close()
	terms = match.TermsOf(schema, func(yield func(match.Attributes) bool) {
		err = eachRow(ctx, plans, func(int, *bulk.RowError) {}, func(_, _ int, row *bulk.Row) bool {
			rows++
			progress.Update(func() string { return "reading the names: " + counted(rows, "row", "rows") })
			return yield(row.Attributes)
		})
	})
	return terms, rows, err
}

// eachRow reads the rows of files until fn returns false, and calls refuse for rows that are not records. Rows are
// numbered from 1 in each file.
func eachRow(ctx context.Context, plans []*bulk.Plan, refuse func(file int, e *bulk.RowError), fn func(file, number int, row *bulk.Row) bool) error {
	for i, p := range plans {
		more, err := eachRowOf(ctx, p, func(e *bulk.RowError) { refuse(i, e) }, func(number int, row *bulk.Row) bool { return fn(i, number, row) })
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func eachRowOf(ctx context.Context, p *bulk.Plan, refuse func(*bulk.RowError), fn func(number int, row *bulk.Row) bool) (more bool, err error) {
	r, err := p.Open()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	number := 0
	for row, err := range r.All() {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		number++
		if refused, ok := errors.AsType[*bulk.RowError](err); ok {
			refuse(refused)
			continue
		}
		if err != nil {
			return false, err
		}
		if !fn(number, row) {
			return false, nil
		}
	}
	return true, nil
}
