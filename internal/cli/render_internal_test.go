// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func TestWaterfall_AddsUp(t *testing.T) {
	t.Parallel()
	var e explanation
	if err := json.Unmarshal([]byte(`{"outcome":"same","match_weight":12.3,"lines":[
		{"attribute":"name","level":"alike","match_weight":6.5,"a":["Joes Pizza"],"b":["Joe's \u001bPizza"]},
		{"attribute":"phone","level":"equal","match_weight":9,"a":["415-555-2300","415"],"b":["4155552300"]},
		{"attribute":"address","level":"different","match_weight":-3.2,"a":["1 Main St"],"b":["2 Oak Ave"]}],
		"blocking_keys":[{"kind":"phone","text":"155552300"}]}`), &e); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &app{stdout: &out, out: term.Style{Terminal: true}}
	if err := a.waterfall(&out, &e, "5"); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`   met by phone 155552300`,
		`  weight    sum  field    agreement  one side            other side`,
		`   +6.50   6.50  name     alike      Joes Pizza          Joe's \x1bPizza`,
		`   +9.00  15.50  phone    equal      415-555-2300 | 415  4155552300`,
		`   -3.20  12.30  address  different  1 Main St           2 Oak Ave`,
		`   same: 12.3 bits, the threshold is 5`, ``,
	}, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1}`: `{"type":"result","a":1}`,
		`{}`:      `{"type":"result"}`,
	} {
		if got := string(typed("result", json.RawMessage(in))); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestPrintStatus(t *testing.T) {
	t.Parallel()
	var out, talk bytes.Buffer
	a := &app{stdout: &out, stderr: &talk}
	s := &cells.Status{Ready: true, Rules: "r", Counts: entity.Counts{Records: 1234567, Entities: 5}, Cells: []cells.CellStatus{
		{Stats: cell.Stats{Cell: cell.ID{Gen: 0, Index: 3}, URL: "sqlite:cells/g0-3.db", PUIDs: 7, Bytes: 4096},
			Counts: entity.Counts{Records: 7, Entities: 5}},
	}}
	if err := a.printStatus(s); err != nil {
		t.Fatal(err)
	}
	if want := "cell\trecords\tentities\tredo\tpuids\tbytes\turl\ng0-3\t7\t5\t0\t7\t4096\tsqlite:cells/g0-3.db\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if !strings.HasPrefix(talk.String(), "ready   1,234,567 records, 5 entities") {
		t.Errorf("got %q", talk.String())
	}
}

func TestBatch_RejectedInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	b := newBatch()
	for line := int64(2); line < 8; line++ {
		if line%2 == 0 {
			b.add(&bulk.Row{Line: line, Source: "x", Key: fmt.Sprint(line)})
			b.items[len(b.items)-1].result.Error = &httpapi.Fault{Code: "invalid", Detail: "no"}
			continue
		}
		b.refuse(&bulk.RowError{Line: line, Code: "malformed"})
	}
	var lines []int64
	for _, r := range b.rejected() {
		lines = append(lines, r.Line)
	}
	if diff := cmp.Diff([]int64{2, 3, 4, 5, 6, 7}, lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"refused": 6}, b.outcomes()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, _, ok := b.lastAccepted(); ok {
		t.Error("a refused row is accepted")
	}
}
