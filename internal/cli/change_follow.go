// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

const (
	// feedAgain is the first pause before reconnecting, feedPatience the longest.
	feedAgain    = 100 * time.Millisecond
	feedPatience = 5 * time.Second
)

// feed prints changes as they arrive, until it is interrupted. It reconnects after the last printed line. The first
// connection must succeed.
func (t *tailing) feed(ctx context.Context, cl *client) error {
	begun, lost, wait := false, false, feedAgain
	for {
		err := cl.events(ctx, "/v1/changes", t.query(), func(e event) error {
			if lost {
				t.say("connected again")
			}
			begun, lost, wait = true, false, feedAgain
			return t.take(e)
		})
		switch {
		case ctx.Err() != nil:
			return t.interrupted()
		case !begun || !repeatable(err):
			return err
		case !lost:
			lost = true
			t.say("connection lost: %s; trying again", term.Escape(err.Error()))
		}
		if delay.For(ctx, wait) != nil {
			return t.interrupted()
		}
		wait = min(2*wait, feedPatience)
	}
}

// take prints an event and records the watermark after it.
func (t *tailing) take(e event) error {
	switch e.name {
	case httpapi.EventChange:
		if err := t.print(e.data); err != nil {
			return err
		}
	case httpapi.EventStart:
		if t.at == "" && !t.json {
			t.say("following from %s; Ctrl-C ends it", e.id)
		}
	}
	if e.id != "" {
		t.at = e.id
	}
	return nil
}
