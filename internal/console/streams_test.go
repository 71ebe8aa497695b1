// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/console"
)

func sinkOf(name, state string) console.Stream {
	lag := 90 * time.Second
	return console.Stream{
		Name: name, URL: "https://crm.example/locus", State: state, Owner: "server-1", Waits: &lag, Done: 12345, Failed: 7,
		Dead: 3, Kind: "place", Saved: noon,
	}
}

// streamRenderings returns pages of streams with every external text set to s.
func streamRenderings(c *console.Console, s string) map[string]func(io.Writer) error {
	hostile := console.Stream{Name: "hostile", URL: s, State: "failing", Reason: s, Owner: s, Kind: s, Dead: 1}
	return map[string]func(io.Writer) error{
		"streams": func(w io.Writer) error {
			return c.Streams(w, console.Streams{Time: noon, Out: []console.Stream{hostile, sinkOf("golden", "following")},
				In: []console.Stream{hostile}})
		},
		"streams, empty": func(w io.Writer) error { return c.Streams(w, console.Streams{Time: noon}) },
	}
}

// A card shows how far a stream is, what it has refused, why it fails, and commands for details.
func TestStreams_SayHowFarTheyAre(t *testing.T) {
	t.Parallel()
	c := console.New("1")
	failing := sinkOf("hook", "failing")
	elsewhere := sinkOf("elsewhere", "filling")
	elsewhere.Waits = nil
	failing.Reason, failing.Waits, failing.Saved = "no route to host", nil, time.Time{}
	idle := console.Stream{Name: "idle", URL: "nats://bus/CRM", State: "waiting"}
	in := console.Stream{Name: "crm", URL: "kafka://b1/customers", State: "running", Owner: "server-2", Behind: 41,
		Done: 1000, Put: 990, Deleted: 8, Dead: 2, Saved: noon}
	root := render(t, func(w io.Writer) error {
		return c.Streams(w, console.Streams{Time: noon,
			Out: []console.Stream{sinkOf("golden", "following"), failing, elsewhere, idle}, In: []console.Stream{in}})
	})
	for card, want := range map[string][]string{
		"sink-golden": {
			"golden following", "to https://crm.example/locus", "Lag: 1 min", "Delivered: 12,345", "Failed attempts: 7",
			"Dead letters: 3", "Entities of: place",
			"run by server-1, position stored 2026-11-20 12:00:00 UTC", "locus sink dead list golden", "locus sink show golden",
		},
		"sink-hook":      {"hook failing", "no route to host", "Lag: –Delivered", "run by server-1 "},
		"sink-elsewhere": {"elsewhere filling", "Lag: known to the process that delivers"},
		"sink-idle":      {"idle waiting", "Lag: –", "Entities of: all kinds", "run by no process", "locus sink show idle"},
		"source-crm": {"crm running", "from kafka://b1/customers", "Lag: 41 messages", "Read: 1,000", "Records put: 990",
			"Deleted: 8", "Refused: 2", "locus source dead list crm"},
	} {
		said := strings.Join(strings.Fields(text(byID(t, root, card).Parent)), " ")
		for _, w := range want {
			if !strings.Contains(said+" ", w) {
				t.Errorf("%s says %q, want %q in it", card, said, w)
			}
		}
	}
	if said := text(byID(t, root, "sink-idle").Parent); strings.Contains(said, "dead list") || strings.Contains(said, "stored") {
		t.Errorf("an idle sink says %q", said)
	}
}
