// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"time"

	"github.com/locus-db/locus/internal/console"
)

// streamsPage shows the sinks and the streams in, as GET /v1/sinks and GET /v1/sources have them.
func (p *site) streamsPage(c *call, body *bytes.Buffer) error {
	states, err := recently(c, p.looks, "streams", p.streamStates)
	shown, err := narrowed(p.Server, c, states, err)
	if err != nil {
		return err
	}
	return p.shown(c.r).Streams(body, shown)
}

func (p *site) streamStates(ctx context.Context) (console.Streams, error) {
	shown := console.Streams{Time: time.Now()}
	out, err := p.svc.Sinks().List(ctx)
	if err != nil {
		return shown, err
	}
	in, err := p.svc.Sources().List(ctx)
	if err != nil {
		return shown, err
	}
	for i := range out {
		s := p.oneSink(&out[i])
		of := console.Stream{
			Name: s.Name, URL: s.To, State: s.State, Reason: s.Reason, Owner: s.Owner, Kind: s.Kind, Done: s.Delivered,
			Failed: s.Failed, Dead: s.Dead, Saved: s.SavedAt,
		}
		if s.LagMS != nil {
			waits := time.Duration(*s.LagMS) * time.Millisecond
			of.Waits = &waits
		}
		shown.Out = append(shown.Out, of)
	}
	for i := range in {
		s := p.streamOf(&in[i])
		shown.In = append(shown.In, console.Stream{
			Name: in[i].Name, URL: s.From, State: s.State, Reason: s.Reason, Owner: s.Owner, Behind: s.Lag, Done: s.Messages,
			Put: s.Records, Deleted: s.Deleted,
			Dead: s.Dead, Saved: s.SavedAt,
		})
	}
	return shown, nil
}
