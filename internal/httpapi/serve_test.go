// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

// running is a server on real listeners.
type running struct {
	*fixture
	addr  string
	stop  context.CancelFunc
	steps chan string
	done  chan error
}

func serve(t *testing.T, opts httpapi.Options) *running {
	t.Helper()
	return serveFor(t, opts, 0)
}

func serveFor(t *testing.T, opts httpapi.Options, notice time.Duration) *running {
	t.Helper()
	r := &running{steps: make(chan string, 16), done: make(chan error, 1)}
	opts.OnDrain = func(step string) { r.steps <- step }
	r.fixture = setupFor(t, &opts, notice)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listeners := []net.Listener{l}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if l6, err := net.Listen("tcp", "[::1]:"+port); err == nil {
		listeners = append(listeners, l6)
	}
	r.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() { r.done <- r.server.Serve(ctx, listeners...) }()
	t.Cleanup(cancel)
	return r
}

// wait waits until a step of the drain is announced.
func (r *running) wait(step string) {
	r.Helper()
	deadline := time.After(patience)
	for {
		select {
		case s := <-r.steps:
			if s == step {
				return
			}
		case <-deadline:
			r.Fatalf("no step %q", step)
		}
	}
}

func (r *running) finished() error {
	r.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		r.Fatal("still serving")
		return nil
	}
}

func TestServe_AnswersOnAllListenersAndStops(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	_, port, _ := net.SplitHostPort(r.addr)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		res, err := client.Get("http://" + net.JoinHostPort(host, port) + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", host, res.StatusCode)
		}
	}
	r.stop()
	if err := r.finished(); err != nil {
		t.Error(err)
	}
	var steps []string
	for len(r.steps) > 0 {
		steps = append(steps, <-r.steps)
	}
	want := []string{"not ready any more", "no new work", "event streams ended", "finishing what is in flight", "drained"}
	if !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("the port still answers")
	}
}

func TestP13_LingersUnready(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: time.Second})
	r.stop()
	r.wait("not ready any more")
	if a := r.get("/readyz"); !strings.Contains(a.Body.String(), "draining") || a.Header().Get("Retry-After") == "" {
		t.Errorf("readyz %s", a.Body)
	}
	if a := r.get("/livez"); a.Code != http.StatusOK {
		t.Errorf("livez %d", a.Code)
	}
	r.put([4]string{"late", "1", "Late Place", ""})
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

// TestP13_DrainFinishesWhatIsInFlight keeps a request open through its body: the drain waits for it, refuses later
// requests on other connections, and returns when it is answered.
func TestP13_DrainFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1})
	body := one(`{"source":"slow","key":"1","attributes":{"name":"Slow Place"}}`)
	slow, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /v1/records HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", r.addr, len(body))
	reader := bufio.NewReader(slow)
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	r.stop()
	r.wait("finishing what is in flight")
	r.get("/v1/records").refused(503, httpapi.CodeDraining)
	if a := r.get("/v1/records"); a.Header().Get("Connection") != "close" {
		t.Errorf("headers %v", a.Header())
	}
	if a := r.get("/livez"); a.Code != http.StatusOK {
		t.Errorf("livez %d", a.Code)
	}
	select {
	case err := <-r.done:
		t.Fatalf("stopped with a request in flight: %v", err)
	default:
	}
	if _, err := reader.ReadString('\n'); err != nil { // the empty line after 100 Continue
		t.Fatal(err)
	}
	if _, err := io.WriteString(slow, body); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"created"`) || !res.Close {
		t.Errorf("%d %s, close %v", res.StatusCode, answer, res.Close)
	}
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

func TestServe_CutsOffWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1, ShutdownTimeout: 50 * time.Millisecond})
	stuck, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	fmt.Fprintf(stuck, "POST /v1/records HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", r.addr)
	if _, err := bufio.NewReader(stuck).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	r.stop()
	if err := r.finished(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want to hear that a request was cut off", err)
	}
}

func TestServe_ReportsAListenerThatFails(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := f.server.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestP12_WhatIsTooMuchIsRefused sends more than can run at once: each request is answered or refused, and nothing
// acknowledged is lost.
func TestP12_WhatIsTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Running: 2, Waiting: 4, Wait: 20 * time.Millisecond})
	var wg sync.WaitGroup
	var mu sync.Mutex
	done, refused := map[string]bool{}, 0
	for i := range 64 {
		wg.Go(func() {
			key := fmt.Sprint(i)
			a := f.do(http.MethodPost, "/v1/records",
				one(`{"source":"load","key":"`+key+`","attributes":{"name":"Place `+key+`"}}`))
			mu.Lock()
			defer mu.Unlock()
			switch a.Code {
			case http.StatusOK:
				done[key] = true
			case http.StatusServiceUnavailable:
				refused++
				a.refused(503, httpapi.CodeOverloaded)
			default:
				t.Errorf("%d %s", a.Code, a.Body)
			}
		})
	}
	wg.Wait()
	list := decode[httpapi.RecordList](f.get("/v1/records?limit=1000"))
	if len(done)+refused != 64 || len(done) == 0 || len(list.Records) != len(done) {
		t.Errorf("%d done, %d refused, %d stored", len(done), refused, len(list.Records))
	}
	f.good()
}
