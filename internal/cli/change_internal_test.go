// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

func local(h http.HandlerFunc) *client {
	return &client{base: &url.URL{Scheme: "http", Host: "localhost"}, http: &http.Client{Transport: &inProcess{h}}, close: func() error { return nil }}
}

// feedOf writes text as a stream of events, and then waits for the reader to leave if the text ends with "wait".
func feedOf(w http.ResponseWriter, r *http.Request, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	text, waits := strings.CutSuffix(text, "wait")
	_, _ = io.WriteString(w, text)
	if waits {
		<-r.Context().Done()
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	ask := func(text string, leave error) (got []string, err error) {
		cl := local(func(w http.ResponseWriter, r *http.Request) { feedOf(w, r, text) })
		err = cl.events(t.Context(), "/v1/changes", nil, func(e event) error {
			got = append(got, e.name+" "+e.id+" "+string(e.data))
			return leave
		})
		return got, err
	}
	const two = "event: start\nid: g0-0:1\ndata: {}\n\n: a comment\n\nevent:change\nid:g0-0:2\ndata:[1,\ndata:2]\n\n"
	got, err := ask(two+"event: change\nid: g0-0:3\ndata: half", nil)
	if diff := cmp.Diff([]string{"start g0-0:1 {}", "change g0-0:2 [1,2]"}, got); diff != "" || !errors.Is(err, errCut) {
		t.Errorf("%v\n%s", err, diff)
	}
	var problem *httpapi.Problem
	if _, err := ask(two+`event: end`+"\n"+`data: {"code":"draining","detail":"d","outcome":"not_applied"}`+"\n\n", nil); !errors.As(err, &problem) || problem.Code != httpapi.CodeDraining {
		t.Errorf("the end of the other side is %v", err)
	}
	if _, err := ask("event: end\ndata: what\n\n", nil); !errors.Is(err, errCut) {
		t.Errorf("an end without a reason is %v", err)
	}
	if got, err := ask(two+"wait", errEnough); !errors.Is(err, errEnough) || len(got) != 1 {
		t.Errorf("leaving is %v after %v", err, got)
	}
	network, _ := clients(t)
	if err := network.events(t.Context(), "/problem", nil, nil); !errors.As(err, &problem) || problem.Code != httpapi.CodeNotFound {
		t.Errorf("a refusal is %v", err)
	}
	if err := network.events(t.Context(), "/html", nil, nil); err == nil || !strings.Contains(err.Error(), "is it a Locus server?") {
		t.Errorf("no events are %v", err)
	}
}

// A connection without events for too long counts as lost; heartbeats keep it.
func TestEvents_Silence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		beats := 0
		cl := local(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 20 {
				_, _ = io.WriteString(w, "event: heartbeat\ndata: {}\n\n")
				time.Sleep(eventSilence / 2) //nolint:forbidigo // the time of a bubble
			}
			<-r.Context().Done()
		})
		err := cl.events(t.Context(), "/v1/changes", nil, func(event) error { beats++; return nil })
		if !errors.Is(err, errSilent) || !repeatable(err) || beats != 20 {
			t.Errorf("%v after %d beats", err, beats)
		}
	})
}

// A lost connection is resumed after the last line, and an interrupt prints how to continue.
func TestFollow_GoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		var asked []string
		cl := local(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.RawQuery)
			change := func(seq int) string {
				return fmt.Sprintf("event: change\nid: g0-0:%d\ndata: {\"cell\":\"g0-0\",\"seq\":\"%d\",\"kind\":\"created\",\"time\":\"2026-11-21T00:00:00Z\",\"after\":[{\"puid\":\"1\",\"version\":1}]}\n\n", seq, seq)
			}
			switch n := len(asked); {
			case n == 1:
				feedOf(w, r, "event: start\nid: g0-0:7\ndata: {}\n\n"+change(8))
			case n < 12:
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, `{"code":"draining","detail":"stopping","outcome":"not_applied"}`)
			default:
				time.AfterFunc(time.Second, interrupt)
				feedOf(w, r, "event: start\nid: g0-0:8\ndata: {}\n\n"+change(9)+"event: heartbeat\nid: g0-0:11\ndata: {}\n\nwait")
			}
		})
		var out, talk bytes.Buffer
		tail := &tailing{app: &app{stdout: &out, stderr: &talk}, follow: true, cells: []string{"g0-0"}}
		began := time.Now()
		err := tail.feed(ctx, cl)
		var f *failure
		if !errors.As(err, &f) || f.Exit != exitInterrupted ||
			f.Hint != "locus change tail --follow --after g0-0:11 continues" {
			t.Errorf("%v", err)
		}
		want := "cell\tseq\ttime\tkind\tentity\twhat\n" +
			"g0-0\t8\t2026-11-21T00:00:00.000Z\tcreated\t00000000-0000-0000-0000-000000000000\tnothing -> 1 record\n" +
			"g0-0\t9\t2026-11-21T00:00:00.000Z\tcreated\t00000000-0000-0000-0000-000000000000\tnothing -> 1 record\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if len(asked) != 12 || asked[0] != "cell=g0-0" || asked[11] != "after=g0-0%3A8&cell=g0-0" {
			t.Errorf("asked for %q", asked)
		}
		if lost, back := strings.Count(talk.String(), "connection lost"), strings.Count(talk.String(), "connected again"); lost != 1 || back != 1 {
			t.Errorf("said:\n%s", talk.String())
		}
		if took := time.Since(began); took > 12*feedPatience {
			t.Errorf("it took %v", took)
		}
	})
}

// Permanent errors are reported at once: a refusal, and a first connection that fails.
func TestFollow_EndsWithARefusal(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1} {
		asked := 0
		cl := local(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked <= after {
				feedOf(w, r, "event: start\nid: g0-0:7\ndata: {}\n\n")
				return
			}
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, `{"code":"trimmed","detail":"gone","outcome":"not_applied"}`)
		})
		tail := &tailing{app: &app{stdout: io.Discard, stderr: io.Discard}, follow: true}
		var problem *httpapi.Problem
		if err := tail.feed(t.Context(), cl); !errors.As(err, &problem) || problem.Code != "trimmed" || asked != after+1 {
			t.Errorf("%v after %d questions", err, asked)
		}
	}
	cl := local(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	tail := &tailing{app: &app{stdout: io.Discard, stderr: io.Discard}, follow: true}
	if err := tail.feed(t.Context(), cl); err == nil {
		t.Error("a first connection that is lost is taken up again")
	}
}

func TestWhat(t *testing.T) {
	t.Parallel()
	image := func(name, city string) *changelog.Image {
		return &changelog.Image{Sources: []string{"crm"}, Attributes: entity.Attributes{"name": {name}, "city": {city}}}
	}
	id := locality.ID{15: 1}
	two, one := []changelog.Version{{PUID: 7, Version: 1},
		{PUID: 8, Version: 3}}, []changelog.Version{{PUID: 7, Version: 1}}
	for want, c := range map[string]changelog.Change{
		"nothing -> record 7 version 1":            {Kind: changelog.Put, After: one},
		"record 7 version 1 -> nothing":            {Kind: changelog.Deleted, Before: one},
		"nothing -> 1 record":                      {Kind: changelog.Created, After: one},
		"1 record -> 2 records":                    {Kind: changelog.Merged, Before: one, After: two},
		"1 record -> nothing":                      {Kind: changelog.Retired, Before: one},
		"2 records -> merged into " + id.String():  {Kind: changelog.Retired, Before: two, Into: id},
		"nothing -> city: Y; name: X; source: crm": {Kind: changelog.Created, Is: image("X", "Y")},
		"city: Y; name: X; source: crm -> nothing": {Kind: changelog.Deleted, Was: image("X", "Y")},
		"city: Y -> Z": {Kind: changelog.Changed, Was: image("X", "Y"),
			Is: image("X", "Z")},
		`name: X -> \x1b[31m`: {Kind: changelog.Changed, Was: image("X", "Y"),
			Is: image("\x1b[31m", "Y")},
		"says the same": {Kind: changelog.Changed, Was: image("X", "Y"),
			Is: image("X", "Y")},
		"city: Y; name: X; source: crm -> merged into " + id.String(): {Kind: changelog.Retired,
			Was: image("X", "Y"), Into: id},
		"outcome: created -> matched": {
			Kind: changelog.Assigned, Was: &changelog.Image{Outcome: changelog.OutcomeCreated},
			Is: &changelog.Image{Outcome: changelog.OutcomeMatched},
		},
	} {
		if got := what(&c); got != want {
			t.Errorf("%s: got %q, want %q", c.Kind, got, want)
		}
	}
}

// Pages are printed with a header, and end with the watermark to continue from.
func TestTail_Pages(t *testing.T) {
	t.Parallel()
	cl := local(func(w http.ResponseWriter, r *http.Request) {
		next, changes := "g0-0:2", `[{"cell":"g0-0","seq":"1","kind":"put"},{"cell":"g0-0","seq":"2","kind":"put"}]`
		if r.URL.Query().Get("after") != "" {
			changes = `[]`
		}
		_, _ = io.WriteString(w, `{"changes":`+changes+`,"next":"`+next+`"}`)
	})
	for _, all := range []bool{false, true} {
		var out, talk bytes.Buffer
		tail := &tailing{app: &app{stdout: &out, stderr: &talk, json: true}, limit: 2, all: all}
		if err := tail.pages(t.Context(), cl); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 3 || lines[2] != `{"type":"summary","count":2,"watermark":"g0-0:2"}` ||
			!json.Valid([]byte(lines[0])) {
			t.Errorf("all %t:\n%s", all, out.String())
		}
		tail = &tailing{app: &app{stdout: &out, stderr: &talk, out: term.Style{Terminal: true}}, limit: 2, all: all}
		if err := tail.pages(t.Context(), cl); err != nil {
			t.Fatal(err)
		}
		want := "continue with --after g0-0:2, or use --all\n"
		if all {
			want = "end of the logs; continue with --after g0-0:2\n"
		}
		if talk.String() != want || !strings.Contains(out.String(), "\ng0-0           1  0001-01-01T00:00:00.000Z  put  ") {
			t.Errorf("all %t: %s\n%s", all, talk.String(), out.String())
		}
	}
}
