// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/cli"
)

// shown reads the console of a demo once all of its records are in, and ends it.
type shown struct {
	mu    sync.Mutex
	text  bytes.Buffer
	look  func(base string)
	ended bool
}

var consoleAt = regexp.MustCompile(`console +(http://\S+)/`)

func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(b)
	if m := consoleAt.FindStringSubmatch(s.text.String()); m != nil && !s.ended && strings.Contains(s.text.String(), "live  ") {
		s.ended = true
		s.look(m[1])
	}
	return n, err
}

// The demo fills rollups and counters, and states on its console and in the terminal that it is a demo, that it is slow
// on purpose, and how to keep it running.
func TestDemo_ShowsWhatItSells(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pages := map[string][]string{
		"/":                           {"This is a demo", "slowed down to 10,000 records a second", "locus demo --speed 0"},
		"/counters":                   {"This is a demo", "views citydir", "views yellow", "views mapcrowd", "views ledger"},
		"/rollups/places_by_category": {"This is a demo", "food"},
		"/rollups/records_by_source":  {"citydir", "ledger", "created", "matched"},
	}
	talk := &shown{look: func(base string) {
		defer cancel()
		for path, wants := range pages {
			for deadline, lacks := time.Now().Add(8*time.Minute), path; lacks != ""; { // rollups follow
				body := ""
				if resp, err := http.Get(base + path); err == nil { //nolint:forbidigo // a local server of this test
					text, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					body = string(text)
				}
				lacks = ""
				for _, want := range wants {
					if !strings.Contains(body, want) {
						lacks = want
					}
				}
				if lacks != "" && (!strings.HasPrefix(path, "/rollups/") || time.Now().After(deadline)) {
					t.Errorf("%s does not show %q:\n%s", path, lacks, body)
					return
				}
			}
		}
	}}
	code := cli.Run(ctx, []string{"demo", "--records", "400", "--speed", "10000", "--cells", "2", "--addr", "127.0.0.1:0"},
		strings.NewReader(""), io.Discard, talk, nil)
	for _, want := range []string{"slowed down    to 10,000 records a second", "--speed 0", "generated      everything", "not for production"} {
		if !strings.Contains(talk.text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, talk.text.String())
		}
	}
	if code != 0 || !talk.ended {
		t.Errorf("exit code %d:\n%s", code, talk.text.String())
	}
}
