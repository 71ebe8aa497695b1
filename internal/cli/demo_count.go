// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
)

// history is the period before its start for which the demo has hits.
const history = 48 * time.Hour

// prepare defines the rollups of the demo, and counts past hits if there are no records yet.
func (a *app) prepare(ctx context.Context, cl *client, g *demo.Generator) error {
	for _, r := range demo.Rollups {
		if _, _, err := cl.exchange(ctx, question{method: http.MethodPut, path: rollupPath(r.Name), body: []byte(r.Definition), media: "application/yaml"}, nil); err != nil {
			return err
		}
	}
	var status cells.Status
	if _, err := cl.get(ctx, "/v1/status", nil, &status); err != nil {
		return err
	}
	if slices.ContainsFunc(status.Cells, func(c cells.CellStatus) bool { return c.Counts.Records > 0 }) {
		return nil
	}
	now := time.Now().Truncate(time.Minute)
	var views []demo.View
	for at := now.Add(-history); at.Before(now); at = at.Add(time.Minute) {
		views = append(views, g.Views(at, time.Minute)...)
	}
	for some := range slices.Chunk(views, counter.MaxBatch) {
		if err := countViews(ctx, cl, some); err != nil {
			return err
		}
	}
	return nil
}

// visit counts the hits of each second until ctx ends.
func visit(ctx context.Context, cl *client, g *demo.Generator) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if err := countViews(ctx, cl, g.Views(time.Now().Truncate(time.Second), time.Second)); err != nil {
			return cmp.Or(ctx.Err(), err)
		}
	}
}

// countViews counts hits once.
func countViews(ctx context.Context, cl *client, views []demo.View) error {
	if len(views) == 0 {
		return nil
	}
	request := httpapi.HitRequest{Hits: make([]httpapi.HitInput, len(views))}
	for i := range views {
		request.Hits[i] = httpapi.HitInput{Metric: views[i].Metric, At: views[i].At.UTC().Format(time.RFC3339),
			N: &views[i].N}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	answer, _, err := hit(ctx, ctx, cl, randomKey(), body, len(views))
	if err != nil {
		return err
	}
	for i := range answer.Results {
		if f := answer.Results[i].Error; f != nil {
			err = errors.Join(err, &httpapi.Problem{Fault: *f})
		}
	}
	return err
}
