// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
	"github.com/locus-db/locus/sink/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret, older = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// receiver keeps the event with the highest rev of each ID, as a consumer does.
type receiver struct {
	t      testing.TB
	verify *standard.Webhook

	mu     sync.Mutex
	events map[locality.ID]sink.Event
	ids    []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err == nil {
		err = r.verify.Verify(body, req.Header)
	}
	var e sink.Event
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err != nil {
		r.t.Error(err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for name, value := range e.View { // lists of texts come back as such
		if list, ok := value.([]any); ok {
			texts := make([]string, len(list))
			for i := range list {
				texts[i], _ = list[i].(string)
			}
			e.View[name] = texts
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, req.Header.Get("webhook-id"))
	if e.Rev > r.events[e.ID].Rev {
		r.events[e.ID] = e
	}
}

func open(t *testing.T, h http.Handler) *webhook.Sink {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	secrets, err := webhook.ParseSecrets(older + " " + secret)
	if err != nil {
		t.Fatal(err)
	}
	s, err := webhook.Open(server.URL+"/locus?token=hidden", webhook.Options{Name: "hook", Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newReceiver(t testing.TB, secret string) *receiver {
	t.Helper()
	verify, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return &receiver{t: t, verify: verify, events: map[locality.ID]sink.Event{}}
}

// The reference library verifies every request, with either of two secrets.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{secret, older} {
		sinktest.Run(t, func(t *testing.T) sinktest.Target {
			r := newReceiver(t, secret)
			return sinktest.Target{Sink: open(t, r), Get: func(_ context.Context, id locality.ID) (sink.Event, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				return r.events[id], nil
			}}
		})
	}
}

func batch(n int) sink.Batch {
	b := sink.Batch{Token: 1}
	for i := range n {
		b.Events = append(b.Events, sink.Event{ID: locality.ID{0: byte(i), 15: 1}, Rev: sinktest.Rev(1, int64(i+1)),
			Op: sink.Delete})
	}
	return b
}

func TestDeliver_RepeatsHaveTheSameID(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, secret)
	s := open(t, r)
	for range 2 {
		if err := s.Deliver(t.Context(), batch(1)); err != nil {
			t.Fatal(err)
		}
	}
	const want = "hook.00000000-0000-0000-0000-000000000001.1099511627777"
	if len(r.ids) != 2 || r.ids[0] != want || r.ids[1] != want {
		t.Errorf("the ids are %q, want twice %s", r.ids, want)
	}
}

func TestDeliver_WhatFollowsFromAStatus(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		200: "done", 204: "done", 301: "dead", 307: "dead", 400: "dead", 401: "dead", 404: "dead", 408: "again", 409: "dead",
		410: "stop", 422: "dead",
		425: "again", 429: "again", 500: "again", 503: "again",
	} {
		followed := false
		s := open(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if followed = req.URL.Path == "/elsewhere"; !followed {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(code)
				if code != http.StatusNoContent {
					_, _ = io.WriteString(w, "name is\nmissing"+strings.Repeat(" x", 500))
				}
			}
		}))
		err := s.Deliver(t.Context(), batch(2))
		var rejected *sink.RejectedError
		got := "again"
		switch {
		case err == nil:
			got = "done"
		case errors.Is(err, sink.ErrStop):
			got = "stop"
		case errors.As(err, &rejected):
			got = "dead"
			if len(rejected.Events) != 2 || !strings.Contains(rejected.Events[1].Reason, "name is missing") ||
				len(rejected.Events[1].Reason) > 400 {
				t.Errorf("status %d: %v", code, rejected.Events)
			}
		}
		if got != want || followed {
			t.Errorf("status %d: %s (%v), want %s; the redirect was followed: %v", code, got, err, want, followed)
		}
	}
}

func TestDeliver_HangingReceiversAreTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := webhook.Open("http://127.0.0.1:1/", webhook.Options{Name: "hook"})
		if err != nil {
			t.Fatal(err)
		}
		webhook.SetTransport(s, hanging{})
		begun := time.Now()
		err = s.Deliver(t.Context(), batch(1))
		var rejected *sink.RejectedError
		if took := time.Since(begun); err == nil || errors.As(err, &rejected) || errors.Is(err, sink.ErrStop) || took != 15*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// hanging never answers.
type hanging struct{}

func (hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// Errors are stored and shown, and the query of a URL may be a secret.
func TestDeliver_ErrorsHideTheURL(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	s, err := webhook.Open(server.URL+"/?token=hidden", webhook.Options{Name: "hook"})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	if err := s.Deliver(t.Context(), batch(1)); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("the error is %v", err)
	}
}

func TestParseSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "whsec_", "whsec_AAAA", "whsec_%%%%%%", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", secret + " " + older + " " + older} {
		if s, err := webhook.ParseSecrets(text); !errors.Is(err, webhook.ErrSecret) || len(text) > 8 && strings.Contains(err.Error(), text[6:]) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}
