// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"
)

const (
	// drift is how far the clocks of a server and of this machine may differ: the time of a response has whole seconds.
	drift = 5 * time.Second
	// mapLeft is how long the cell map of a running server lasts at least, which moves its end on.
	mapLeft = 10 * time.Second
)

// connectionOf looks at the connection to a server: its certificate, and its clock.
func connectionOf(ctx context.Context, cl *client, x *examination) error {
	began := time.Now()
	response, err := cl.send(ctx, cl.http, question{method: http.MethodGet, path: "/livez"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	x.line(response.TLS, response.Header.Get("Date"), began, time.Now())
	return nil
}

// line judges a response that was asked for and came at two moments of this machine's clock.
func (x *examination) line(state *tls.ConnectionState, date string, asked, came time.Time) {
	if state != nil && len(state.PeerCertificates) > 0 {
		until := state.PeerCertificates[0].NotAfter
		switch left := until.Sub(came); {
		case left < ending:
			x.warn("certificate", "replace its files: the server reads them again", "it ends at %s", until.Local().Format(time.DateTime))
		default:
			x.ok("certificate", "it ends at %s", until.Local().Format(time.DateTime))
		}
	}
	at, err := http.ParseTime(date)
	if x.served = err == nil; !x.served {
		return // no server, or one that does not report its time
	}
	var off time.Duration
	switch {
	case at.Before(asked):
		off = asked.Sub(at)
	case at.After(came):
		off = at.Sub(came)
	}
	if off > drift {
		x.warn("clock", "synchronise both clocks (NTP): ids and tokens have times",
			"that of the server and that of this machine differ by %v", off.Round(time.Second))
	}
}
