// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

const (
	// feedAgain is how soon a lost connection is taken up again at first, feedPatience how late at last.
	feedAgain    = 100 * time.Millisecond
	feedPatience = 5 * time.Second
)

// feed prints changes as they come, until somebody stops it. A connection that is lost is taken up again after
// the last line that was printed; the first one has to come about.
func (t *tailing) feed(ctx context.Context, cl *client) error {
	begun, lost, wait := false, false, feedAgain
	for {
		err := cl.events(ctx, "/v1/changes", t.query(), func(e event) error {
			if lost {
				t.say("the connection is there again")
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
			t.say("the connection was lost: %s; trying again", term.Escape(err.Error()))
		}
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return t.interrupted()
		}
		wait = min(2*wait, feedPatience)
	}
}

// take prints an event, and remembers the place after it.
func (t *tailing) take(e event) error {
	switch e.name {
	case httpapi.EventChange:
		if err := t.print(e.data); err != nil {
			return err
		}
	case httpapi.EventStart:
		if t.at == "" && !t.json {
			t.say("following from %s on; Ctrl-C ends it", e.id)
		}
	}
	if e.id != "" {
		t.at = e.id
	}
	return nil
}
