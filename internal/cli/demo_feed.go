// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// feed puts all records at the requested speed.
func (a *app) feed(ctx context.Context, cl *client, g *demo.Generator, s *showing, truth map[entity.Ref]int64) error {
	progress := term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	defer progress.Close()
	start, counts := time.Now(), map[string]int{}
	size := 500
	if s.speed > 0 {
		size = min(max(s.speed/10, 1), 500)
	}
	b, done := newBatch(), 0
	for r := range g.All() {
		b.add(row(r))
		truth[entity.Ref{Source: r.Source, Key: r.Key}] = r.Place
		if b.rows() < size && done+b.rows() < s.records {
			continue
		}
		if err := deliver(ctx, cl, b, counts); err != nil {
			return err
		}
		done += b.rows()
		b = newBatch()
		progress.Update(func() string {
			return fmt.Sprintf("records        %s / %s   %.0f/s   new %s   matched %s", term.Count(int64(done)), term.Count(int64(s.records)),
				float64(done)/time.Since(start).Seconds(), term.Count(int64(counts["created"])), term.Count(int64(counts["matched"])))
		})
		if s.speed > 0 {
			due := start.Add(time.Duration(float64(done) / float64(s.speed) * float64(time.Second)))
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Until(due)):
			}
		}
	}
	return nil
}

// deliver sends a batch and counts its records by outcome.
func deliver(ctx context.Context, cl *client, b *batch, counts map[string]int) error {
	b.send(ctx, ctx, cl)
	if b.err != nil {
		return b.err
	}
	for outcome, n := range b.outcomes() {
		counts[outcome] += n
	}
	if rejected := b.rejected(); len(rejected) > 0 {
		return fmt.Errorf("the server refuses a record of the demo: %s %s", rejected[0].Reason, rejected[0].Row)
	}
	return nil
}

func row(r demo.Record) *bulk.Row {
	return &bulk.Row{Source: r.Source, Key: r.Key, Attributes: r.Attributes}
}

// trickle keeps making changes: two new records and two updates every half second, and occasionally a deletion.
func (a *app) trickle(ctx context.Context, cl *client, g *demo.Generator) error {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for tick := int64(0); ; tick++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		b := newBatch()
		for i := range int64(2) {
			b.add(row(g.Record(g.Len() + 2*tick + i)))
			b.add(row(g.Update((2*tick+i)*7%g.Len(), 1+int(tick/100))))
		}
		if err := deliver(ctx, cl, b, map[string]int{}); err != nil {
			return err
		}
		if tick%5 == 4 {
			r := g.Record(g.Len() + tick)
			_, err := cl.do(ctx, http.MethodDelete, httpapi.RecordPath(r.Source, r.Key), nil, nil, nil)
			var problem *httpapi.Problem
			if err != nil && !errors.As(err, &problem) {
				return err
			}
		}
	}
}
