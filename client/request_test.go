// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/client"
)

// reply makes a response.
func reply(status int, text string, header http.Header) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)), Header: header}
}

const (
	refusedBody = `{"code":"overloaded","detail":"later","outcome":"not_applied"}`
	unknownBody = `{"code":"commit_unknown","detail":"lost","outcome":"unknown"}`
)

// TestRequest_RepeatsWhatIsSafe counts how often calls are sent that fail three times.
func TestRequest_RepeatsWhatIsSafe(t *testing.T) {
	t.Parallel()
	put := func(c *client.Client, t *testing.T) error {
		_, err := c.PutRecords(t.Context(), &client.PutRequest{})
		return err
	}
	token := func(c *client.Client, t *testing.T) error {
		_, err := c.CreateToken(t.Context(), &client.TokenRequest{})
		return err
	}
	lost := errors.New("connection reset")
	for name, tc := range map[string]struct {
		call  func(*client.Client, *testing.T) error
		fails func() (*http.Response, error)
		sent  int
		least time.Duration
	}{
		"refused, repeatable":     {put, func() (*http.Response, error) { return reply(503, refusedBody, nil), nil }, 4, 0},
		"refused, not repeatable": {token, func() (*http.Response, error) { return reply(503, refusedBody, nil), nil }, 4, 0},
		"unknown, repeatable":     {put, func() (*http.Response, error) { return reply(503, unknownBody, nil), nil }, 4, 0},
		"unknown, not repeatable": {token, func() (*http.Response, error) { return reply(503, unknownBody, nil), nil }, 1, 0},
		"lost, repeatable":        {put, func() (*http.Response, error) { return nil, lost }, 4, 0},
		"lost, not repeatable":    {token, func() (*http.Response, error) { return nil, lost }, 1, 0},
		"invalid": {put, func() (*http.Response, error) {
			return reply(422, `{"code":"invalid","detail":"no","outcome":"not_applied"}`, nil), nil
		}, 1, 0},
		"Retry-After": {put, func() (*http.Response, error) { return reply(429, refusedBody, http.Header{"Retry-After": {"7"}}), nil }, 4, 21 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			c := connectTo(t, transport(func(*http.Request) (*http.Response, error) {
				if sent++; sent <= 3 {
					return tc.fails()
				}
				return reply(200, `{"results":[]}`, nil), nil
			}))
			begin := time.Now()
			err := tc.call(c, t)
			if sent != tc.sent || (err == nil) != (sent == 4) || time.Since(begin) < tc.least {
				t.Errorf("%s: sent %d times in %v, then %v", name, sent, time.Since(begin), err)
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func connectTo(t testing.TB, to http.RoundTripper) *client.Client {
	t.Helper()
	c, err := client.New("http://127.0.0.1:7070", &client.Options{HTTP: &http.Client{Transport: to}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRequest_HitsHaveOneKey checks that repeated hits have the same key and time.
func TestRequest_HitsHaveOneKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[string]bool{}
		sent := 0
		c := connectTo(t, transport(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			seen[r.Header.Get("Idempotency-Key")+string(body)] = true
			if sent++; sent < 3 {
				return nil, errors.New("lost")
			}
			if key := r.Header.Get("Idempotency-Key"); key == "" || !strings.Contains(string(body), `"at"`) {
				t.Errorf("key %q, body %s", key, body)
			}
			return reply(200, `{"results":[{}]}`, nil), err
		}))
		if _, err := c.AddHits(t.Context(), &client.HitRequest{Hits: []client.HitInput{{Metric: "m"}}}, nil); err != nil || sent != 3 || len(seen) != 1 {
			t.Errorf("%v after %d, %v", err, sent, seen)
		}
		_ = c.Close(t.Context())
	})
}

// TestFollowChanges_Resumes cuts a feed twice and checks that it goes on after the last event.
func TestFollowChanges_Resumes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		change := func(n int) string {
			return fmt.Sprintf("event: change\nid: g0-0:%d\ndata: {\"entity\":\"e%d\"}\n\n", n, n)
		}
		feeds := []string{
			"event: start\nid: g0-0:1\ndata: {}\n\n" + change(2) + "event: change\nid: g0-0:3\n",
			"event: start\nid: g0-0:2\ndata: {}\n\n" + change(3) + "event: end\ndata: {\"code\":\"draining\",\"outcome\":\"not_applied\",\"status\":503}\n\n",
			"event: start\nid: g0-0:3\ndata: {}\n\n" + change(4) + "event: end\ndata: {\"code\":\"trimmed\",\"outcome\":\"not_applied\",\"status\":410}\n\n",
		}
		var asked []string
		c := connectTo(t, transport(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.RawQuery)
			return reply(200, feeds[len(asked)-1], nil), nil
		}))
		var got []string
		for e, err := range c.FollowChanges(t.Context(), "g0-0:1") {
			switch {
			case err != nil:
				got = append(got, client.CodeOf(err))
			case e.Change != nil:
				got = append(got, e.Watermark+" "+e.Change.Entity)
			default:
				got = append(got, e.Watermark)
			}
		}
		if fmt.Sprint(got) != "[g0-0:1 g0-0:2 e2 g0-0:3 e3 g0-0:4 e4 trimmed]" ||
			fmt.Sprint(asked) != "[after=g0-0%3A1 after=g0-0%3A2 after=g0-0%3A3]" {
			t.Errorf("%v, asked %v", got, asked)
		}
		_ = c.Close(t.Context())
	})
}

// TestLines_EndWithTheResult checks progress, errors in the stream, and a stream that is cut off.
func TestLines_EndWithTheResult(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\"type\":\"progress\"}\n{\"type\":\"result\",\"cells\":3}\n":                "1 ",
		"{\"type\":\"error\",\"code\":\"conflict\",\"detail\":\"no\",\"status\":409}": "0 conflict",
		"{\"type\":\"progress\"}\n": "1 cut off",
	} {
		c := connectTo(t, transport(func(*http.Request) (*http.Response, error) { return reply(200, text, nil), nil }))
		progress := 0
		checked, err := c.CheckInstallation(t.Context(), &client.CheckRequest{}, func(client.Line) { progress++ })
		got := fmt.Sprintf("%d %s", progress, client.CodeOf(err))
		if got != want && (want != "1 cut off" || err == nil || !strings.Contains(err.Error(), "cut off")) || err == nil &&
			checked.Cells != 3 {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		_ = c.Close(t.Context())
	}
}

// ExampleClient_AllEntities reads all pages of a search.
func ExampleClient_AllEntities() {
	pages := map[string]string{"": `{"entities":[{"id":"a"},{"id":"b"}],"cursor":"2"}`, "2": `{"entities":[{"id":"c"}]}`}
	// This example's server runs in the process; most programs omit the options.
	server := transport(func(r *http.Request) (*http.Response, error) {
		return reply(200, pages[r.URL.Query().Get("cursor")], nil), nil
	})
	c, err := client.New("http://127.0.0.1:7070", &client.Options{HTTP: &http.Client{Transport: server}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for entity, err := range c.AllEntities(ctx, &client.ListEntitiesParams{Q: "nord"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(entity.ID)
	}
	fmt.Println(c.Close(ctx))
	// Output:
	// a
	// b
	// c
	// <nil>
}
