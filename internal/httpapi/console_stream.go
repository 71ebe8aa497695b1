// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"time"

	"github.com/locus-db/locus/internal/console"
)

const (
	// maxStreams is how many open pages can be updated at a time.
	maxStreams = 64
	// streamBeat is the interval of events. A page treats five intervals without an event as a lost connection.
	streamBeat = time.Second
	// streamWrite limits the time to write one event to a slow viewer.
	streamWrite = 10 * time.Second
)

// events updates an operations page until the viewer leaves or the server stops. If the stores cannot be read the event
// is omitted, so that the page notices that its numbers are old.
func (p *site) events(w http.ResponseWriter, r *http.Request) {
	select {
	case p.streaming <- struct{}{}:
		defer func() { <-p.streaming }()
	default:
		p.refuse(w, r, fault(CodeOverloaded, "", "%d pages are already updated live: close some, or reload by hand",
			maxStreams))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // keeps proxies from buffering events
	if r.Method == http.MethodHead {
		return
	}
	ctx, end := p.whileLive(r.Context())
	defer end()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // nothing more is read; the stream may be long
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	var shown console.Live
	for {
		if snapshot, err := p.overview(ctx); err == nil {
			_ = control.SetWriteDeadline(time.Now().Add(streamWrite)) // fails without a network
			now := p.pages.Live(snapshot)
			if now.WriteEvent(w, shown) != nil || control.Flush() != nil {
				return
			}
			shown = now
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		case <-p.streams.Done():
			_ = control.SetWriteDeadline(time.Now().Add(streamWrite))
			if console.WriteEnd(w) == nil {
				_ = control.Flush()
			}
			return
		}
	}
}
