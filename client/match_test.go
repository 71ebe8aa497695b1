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
	"time"

	"github.com/locus-db/locus/client"
)

// replies is a server that sends one reply and keeps the request.
type replies struct {
	status     int
	text       string
	path, body string
}

func (s *replies) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.path, s.body = r.Method+" "+r.URL.Path, string(body)
	return answer(s.status, s.text), err
}

func matching(t testing.TB, s *replies) *client.Client {
	t.Helper()
	c, err := client.New("http://127.0.0.1:7070/", &client.Options{HTTP: &http.Client{Transport: s}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func TestMatch_SendsProbesAndReadsResults(t *testing.T) {
	t.Parallel()
	s := &replies{status: 200, text: `{"results":[
		{"put":{"outcome":"matched","entity":"80e5","merges":["91"]},"skipped":["phone"],"entities":[
			{"id":"80e5","match_weight":19.7,"level":"same","record":{"source":"crawl","key":"a7"},"records":2,"view":{}}]},
		{"entities":[],"error":{"code":"invalid","detail":"no","pointer":"/probes/1/kind"}}]}`}
	c := matching(t, s)
	found, err := c.Match(t.Context(), []client.Probe{
		{Attributes: map[string][]string{"phones": {"415 555 2300"}}, ObservedAt: time.Unix(1e9, 0).UTC()}, {Kind: "rocket"},
	}, &client.MatchOptions{Put: true, MinMatchWeight: -1.5})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"probes":[{"observed_at":"2001-09-09T01:46:40Z","attributes":{"phones":["415 555 2300"]}},{"kind":"rocket"}],"min_match_weight":-1.5,"put":true}`
	if s.path != "POST /v1/match" || s.body != want {
		t.Errorf("sent %s %s", s.path, s.body)
	}
	if e := found[0].Entities[0]; e.MatchWeight != 19.7 || e.Record.Key != "a7" || found[0].Put.Merges[0] != "91" || found[0].Skipped[0] != "phone" || found[0].Error != nil {
		t.Errorf("%+v", found[0])
	}
	if found[1].Error == nil || found[1].Error.Pointer != "/probes/1/kind" {
		t.Errorf("%+v", found[1])
	}
}

func TestMatch_Fails(t *testing.T) {
	t.Parallel()
	for _, s := range []*replies{
		{status: 503, text: `{"code":"overloaded","detail":"later"}`},
		{status: 502, text: `<html>`},
		{status: 200, text: `{"results":[]}`},
		{status: 200, text: `{`},
	} {
		found, err := matching(t, s).Match(t.Context(), make([]client.Probe, 1), nil)
		if found != nil || err == nil {
			t.Errorf("%d %s: %v, %v", s.status, s.text, found, err)
		}
		var refused *client.Error
		if is := errors.As(err, &refused); is != (s.status != 200) || is && refused.Status != s.status {
			t.Errorf("%d %s: %v", s.status, s.text, err)
		}
		if s.status == 503 && refused.Code != "overloaded" || s.status == 502 && !strings.Contains(err.Error(), "502") {
			t.Errorf("%d: %v", s.status, err)
		}
	}
}

func ExampleClient_Match() {
	// This example's server runs in the process; most programs omit the options.
	server := &replies{status: 200, text: `{"results":[{"put":{"outcome":"matched","entity":"80e5"},"entities":[{"id":"80e5","match_weight":9,"level":"same"}]}]}`}
	c, err := client.New("http://127.0.0.1:7070", &client.Options{HTTP: &http.Client{Transport: server}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	found, err := c.Match(ctx, []client.Probe{{Attributes: map[string][]string{"phones": {"415 555 2300"}}}}, &client.MatchOptions{Put: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found[0].Put.Outcome, found[0].Entities[0].Level, found[0].Entities[0].MatchWeight, c.Close(ctx))
	// Output:
	// matched same 9 <nil>
}
