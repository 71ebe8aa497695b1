// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/console"
)

func renderOperations(s console.Snapshot) func(io.Writer) error {
	return func(w io.Writer) error { return console.New("1.2.3").Operations(w, s) }
}

// event is the event that a page would receive.
func event(t *testing.T, now, old console.Live) (e console.Live, raw string) {
	t.Helper()
	var b bytes.Buffer
	if err := now.WriteEvent(&b, old); err != nil {
		t.Fatal(err)
	}
	raw = b.String()
	data, ok := strings.CutPrefix(raw, "data: ")
	if !ok || !strings.HasSuffix(data, "\n\n") || strings.Count(data, "\n") != 2 {
		t.Fatalf("not one event: %q", raw)
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatal(err)
	}
	return e, raw
}

func TestLive_EverySlotOfThePageHasItsValueInIt(t *testing.T) {
	t.Parallel()
	s := snapshot(t, 16, 12345)
	live := console.New("1.2.3").Live(s)
	root := render(t, renderOperations(s))
	texts, paths := map[string]bool{}, map[string]bool{}
	elements(root, func(n *html.Node) {
		if slot, ok := attribute(n, "data-text"); ok {
			texts[slot] = true
			got := text(n)
			if n.Data == "time" { // the module writes its text, from the instant
				got, _ = attribute(n, "datetime")
			}
			if got != live.Text[slot] {
				t.Errorf("slot %s shows %q, the event says %q", slot, got, live.Text[slot])
			}
		}
		if slot, ok := attribute(n, "data-path"); ok {
			paths[slot] = true
			if got, _ := attribute(n, "d"); got != live.Path[slot] {
				t.Errorf("shape %s is %q, the event says %q", slot, got, live.Path[slot])
			}
		}
	})
	for slot := range live.Text {
		if !texts[slot] {
			t.Errorf("no place on the page for slot %s", slot)
		}
	}
	for slot := range live.Path {
		if !paths[slot] {
			t.Errorf("no place on the page for shape %s", slot)
		}
	}
	if page, _ := attribute(byID(t, root, "live"), "data-page"); page != live.Page {
		t.Errorf("the page is %q, the event says %q", page, live.Page)
	}
}

func TestLive_EventsSayWhatChanged(t *testing.T) {
	t.Parallel()
	c := console.New("1.2.3")
	s := snapshot(t, 2, 1000)
	s.Joins = []changes.Match{{Time: noon, Record: entity.Ref{Source: "pos", Key: "1"}, Name: "Joe's", Entity: id(t, 1)}}
	first := c.Live(s)
	all, _ := event(t, first, console.Live{})
	if diff := cmp.Diff(first, all); diff != "" {
		t.Errorf("the first event differs from the page (-page +event):\n%s", diff)
	}
	nothing, raw := event(t, c.Live(s), first)
	if len(nothing.Text)+len(nothing.Path)+len(nothing.Joins) != 0 {
		t.Errorf("without a change the event says %s", raw)
	}
	s.Status.Counts.Records++
	change, raw := event(t, c.Live(s), first)
	if change.Text["records"] != "1,001" || len(change.Joins) != 0 || change.Text["entities"] != "" {
		t.Errorf("after one record the event says %s", raw)
	}
}

func TestLive_NumbersAreExactAndTextIsText(t *testing.T) {
	t.Parallel()
	for _, name := range hostile {
		s := snapshot(t, 1, 9007199254740993)
		s.Joins = []changes.Match{{Time: noon, Record: entity.Ref{Source: "pos", Key: name}, Name: name, Entity: id(t, 1)}}
		e, raw := event(t, console.New("1").Live(s), console.Live{})
		if e.Text["records"] != "9,007,199,254,740,993" {
			t.Errorf("records = %s", e.Text["records"])
		}
		if strings.ContainsAny(raw, "<>") {
			t.Errorf("markup in the event: %s", raw)
		}
		if e.Joins[0].Name != name || e.Joins[0].Record != "pos:"+name {
			t.Errorf("join = %+v", e.Joins[0])
		}
	}
}

func TestLive_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := snapshot(t, 1, 10)
	s.Status.Ready, s.Status.Reason, s.Status.Redo = false, "cell g0-0 is unavailable", 3
	live := console.New("1").Live(s)
	if got := live.Text["problem"]; got != "not ready: cell g0-0 is unavailable" {
		t.Errorf("problem = %q", got)
	}
	if got := live.Text["redo"]; got != "3 records not resolved yet" {
		t.Errorf("redo = %q", got)
	}
}

func TestLive_CellsThatNothingIsKnownOfAreNotEmpty(t *testing.T) {
	t.Parallel()
	s := snapshot(t, 4, 100)
	s.Status.Cells = s.Status.Cells[:2]
	live := console.New("1").Live(s)
	if got := live.Text["g0-3.records"]; got != "?" {
		t.Errorf("records of a missing cell = %q", got)
	}
}

func TestHome_EmptyStoreShowsTheNextCommand(t *testing.T) {
	t.Parallel()
	hidden := func(records int64) bool {
		n := byID(t, render(t, renderOperations(snapshot(t, 4, records))), "empty")
		if !strings.Contains(text(n), "locus ingest ") {
			t.Errorf("no command in %q", text(n))
		}
		_, hidden := attribute(n, "hidden")
		return hidden
	}
	if hidden(0) || !hidden(8) {
		t.Error("the next command is not shown just while there is no record")
	}
}

func TestWriteEnd(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := console.WriteEnd(&b); err != nil || b.String() != "event: end\ndata: {}\n\n" {
		t.Errorf("WriteEnd = %q, %v", b.String(), err)
	}
	if err := console.WriteEnd(failing{io.ErrClosedPipe}); err == nil {
		t.Error("no error for a viewer that left")
	}
}

func TestHome_ThousandsOfCellsAreDrawnTogether(t *testing.T) {
	t.Parallel()
	s := snapshot(t, 1024, 102400)
	live := console.New("1").Live(s)
	if n := len(live.Path); n != 256+1 {
		t.Errorf("%d shapes are kept alive", n)
	}
	root := render(t, renderOperations(s))
	if got := live.Text["g0-4.records"]; got != "400" {
		t.Errorf("four cells with 100 records each have %q", got)
	}
	page := text(root)
	for _, want := range []string{"g0-4 to g0-7", "1,024 cells", "Each piece stands for several neighbouring cells.", "an even share, 0.39 %"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Sums leave out cells that are unavailable, and say so.
func TestLive_SumsSayWhatIsDown(t *testing.T) {
	t.Parallel()
	s := snapshot(t, 16, 12345)
	s.Status.Down, s.Status.Reason = []cell.ID{{Index: 3}}, "cell g0-3 is unavailable"
	live := console.New("1.2.3").Live(s)
	for slot, want := range map[string]string{"each": "1 of 16 cells are unavailable", "problem": "missing: cell g0-3 is unavailable"} {
		if live.Text[slot] != want {
			t.Errorf("%s is %q, want %q", slot, live.Text[slot], want)
		}
	}
	for _, slot := range []string{"records", "entities", "merges", "splits"} {
		if !strings.HasPrefix(live.Text[slot], "\u2265 ") {
			t.Errorf("%s is %q, as if all cells answered", slot, live.Text[slot])
		}
	}
}
