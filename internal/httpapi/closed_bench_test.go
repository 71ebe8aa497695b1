// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// BenchmarkClosed reads a record over loopback from an installation without tokens, from one with, and from one without tokens whose
// server checks no access at all, in turn, and reports how many times longer each takes than the simpler one.
func BenchmarkClosed(b *testing.B) {
	var get [3]func() time.Duration
	for i := range get {
		svc := openService(b, b.TempDir(), 0)
		b.Cleanup(func() { _ = svc.Close() })
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
		done := make(chan error, 1)
		server := httpapi.New(svc, &httpapi.Options{Linger: -1})
		go func() { done <- server.Serve(ctx, l) }()
		b.Cleanup(func() { stop(); <-done })
		base := "http://" + l.Addr().String()
		send := func(method, path, body, secret string) time.Duration {
			r, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if secret != "" {
				r.Header.Set("Authorization", "Bearer "+secret)
			}
			began := time.Now()
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			text, err := io.ReadAll(a.Body)
			took := time.Since(began)
			a.Body.Close()
			if err != nil || a.StatusCode != http.StatusOK {
				b.Fatalf("%d %s %v", a.StatusCode, text, err)
			}
			return took
		}
		send(http.MethodPost, "/v1/records", one(joe), "")
		if i == 2 {
			server.Bare()
		}
		secret := ""
		if i == 1 {
			secret, _, err = svc.Tokens().Create(ctx, tokens.Operator(), tokens.Request{
				Name: "root", Roles: []string{"administrator"}, Rates: tokens.Rates{Requests: 10_000_000},
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		get[i] = func() time.Duration { return send(http.MethodGet, "/v1/records/guide/1", "", secret) }
	}
	defer http.DefaultClient.CloseIdleConnections()
	var took [3][]time.Duration
	n := 0
	for b.Loop() {
		for i := range get { // the first of a round alternates
			i = (i + n) % len(get)
			took[i] = append(took[i], get[i]())
		}
		n++
	}
	var median [3]float64
	for i := range took {
		slices.Sort(took[i])
		median[i] = float64(took[i][len(took[i])/2])
	}
	b.ReportMetric(median[0], "open-ns")
	b.ReportMetric(median[1], "closed-ns")
	b.ReportMetric(median[2], "bare-ns")
	b.ReportMetric(median[0]/median[2], "open/bare")
	b.ReportMetric(median[1]/median[0], "closed/open")
}
