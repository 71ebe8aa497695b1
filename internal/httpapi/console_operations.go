// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"time"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
)

func (p *site) operationsPage(c *call, body *bytes.Buffer) error {
	snapshot, err := p.overview(c)
	if err != nil {
		return err
	}
	snapshot.Address = c.r.Host
	if c.r.TLS != nil {
		snapshot.Address = "https://" + c.r.Host
	}
	return p.shown(c.r).Operations(body, snapshot)
}

// snapshot returns the current state; the state of the cells may be a second old.
func (p *site) snapshot(ctx context.Context) (console.Snapshot, error) {
	status, err := p.recentStatus(ctx)
	if err != nil {
		return console.Snapshot{}, err
	}
	return console.Snapshot{Time: time.Now(), Status: status, Map: p.svc.Cells().Map(), History: &p.history}, nil
}

// overview returns a snapshot with the self-metrics, for the operations page.
func (p *site) overview(ctx context.Context) (console.Snapshot, error) {
	s, err := p.snapshot(ctx)
	if err == nil {
		s.Own, _ = recently(ctx, p.looks, "own", p.own) // on error the page shows it as unknown
		if received, known := console.Total(s.Own, console.Received); known {
			p.history.Add(s.Time, received)
		}
		s.Joins, _ = recently(ctx, p.looks, "joins", func(ctx context.Context) ([]changes.Match, error) {
			return p.svc.Changes().Matches(ctx), nil
		})
		s.Joins = p.viewer(&access.From(ctx).Restriction).matches(s.Joins, p.svc.Kinds().Schemas())
		if queue, err := p.queue(ctx, nil, 0); err == nil {
			s.Review, s.ReviewMore = len(queue.Pairs), queue.Next != ""
		}
	}
	return s, err
}
