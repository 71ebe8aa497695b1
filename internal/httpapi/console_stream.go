// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"time"

	"github.com/locus-db/locus/internal/console"
)

const (
	// maxStreams is how many pages can be kept alive at once.
	maxStreams = 64
	// streamBeat is the time between two events. A page takes five of it without one for silence.
	streamBeat = time.Second
	// streamWrite is how long one event may take to be written to a slow viewer.
	streamWrite = 10 * time.Second
)

// events keeps a first screen alive until the viewer leaves or the server stops. A beat that cannot
// be read from the stores is left out, so that the page says by itself that its numbers are old.
func (p *site) events(w http.ResponseWriter, r *http.Request) {
	select {
	case p.streaming <- struct{}{}:
		defer func() { <-p.streaming }()
	default:
		p.refuse(w, r, fault(CodeOverloaded, "", "%d pages are being kept alive already: close some, or reload by hand", maxStreams))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not collect events
	if r.Method == http.MethodHead {
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // there is nothing left to read, however long it takes
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	var shown console.Live
	for {
		if snapshot, err := p.overview(r.Context()); err == nil {
			_ = control.SetWriteDeadline(time.Now().Add(streamWrite)) // without a network there is none
			now := p.pages.Live(snapshot)
			if now.WriteEvent(w, shown) != nil || control.Flush() != nil {
				return
			}
			shown = now
		}
		select {
		case <-beat.C:
		case <-r.Context().Done():
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
