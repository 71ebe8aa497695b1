// SPDX-License-Identifier: Apache-2.0

//go:build unix

package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// BenchmarkClosed reads a record over loopback from an installation without tokens, from one with, and from one without
// tokens whose server checks no access at all, in turn, and reports how many times longer each takes than the simpler
// one: in clock time, and in processor time of blocks of requests, which a busy machine does not change.
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
	var busy [3][]time.Duration
	n := 0
	for b.Loop() {
		for i := range get { // the first of a round alternates
			i = (i + n) % len(get)
			began := processors(b)
			for range 50 {
				took[i] = append(took[i], get[i]())
			}
			busy[i] = append(busy[i], processors(b)-began)
		}
		n++
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2])
	}
	var clock, cpu [3]float64
	for i := range took {
		clock[i], cpu[i] = median(took[i]), median(busy[i])/50
	}
	b.ReportMetric(clock[0], "open-ns")
	b.ReportMetric(cpu[0], "open-cpu-ns")
	b.ReportMetric(clock[0]/clock[2], "open/bare")
	b.ReportMetric(clock[1]/clock[0], "closed/open")
	b.ReportMetric(cpu[0]/cpu[2], "open/bare-cpu")
	b.ReportMetric(cpu[1]/cpu[0], "closed/open-cpu")
}

// processors returns the time that this process has used of processors.
func processors(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
