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
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/rollup"
)

// Animals by tag and location.
func TestGroupsTable(t *testing.T) {
	t.Parallel()
	const animals = `[
		{"group":["cat"],"total":{"pets":9,"mean":4.25},"by":[
			{"value":null,"values":{"pets":1,"mean":null}},{"value":"house","values":{"pets":8,"mean":4.25}}]},
		{"group":["dog"],"total":{"pets":6,"mean":30},"by":[
			{"value":"backyard","values":{"pets":4,"mean":32.5}},{"value":"house","values":{"pets":2,"mean":25}}]}]`
	var groups []httpapi.RollupGroup
	if err := json.Unmarshal([]byte(animals), &groups); err != nil {
		t.Fatal(err)
	}
	pets := []rollup.Measure{{Name: "pets", Func: rollup.Count}}
	both := append([]rollup.Measure{{Name: "mean", Func: rollup.Avg}}, pets...)
	for _, c := range []struct {
		name string
		d    rollup.Definition
		rows bool
		want string
	}{
		{
			"one measure",
			rollup.Definition{Group: []string{"tag"}, Dimension: "location", Measures: pets},
			false,
			"tag\tbackyard\thouse\t(none)\ttotal\ncat\t\t8\t1\t9\ndog\t4\t2\t\t6\n",
		},
		{
			"one measure in rows",
			rollup.Definition{Group: []string{"tag"}, Dimension: "location", Measures: pets},
			true,
			"tag\tlocation\tpets\ncat\thouse\t8\ncat\t(none)\t1\ncat\ttotal\t9\ndog\tbackyard\t4\ndog\thouse\t2\ndog\ttotal\t6\n",
		},
		{
			"two measures",
			rollup.Definition{Group: []string{"tag"}, Dimension: "location", Measures: both},
			false,
			"tag\tlocation\tmean\tpets\ncat\thouse\t4.25\t8\ncat\t(none)\t\t1\ncat\ttotal\t4.25\t9\n" +
				"dog\tbackyard\t32.5\t4\ndog\thouse\t25\t2\ndog\ttotal\t30\t6\n",
		},
		{"no dimension", rollup.Definition{Group: []string{"tag"}, Measures: both}, false,
			"tag\tmean\tpets\ncat\t4.25\t9\ndog\t30\t6\n"},
	} {
		var out bytes.Buffer
		if err := groupsTable(&c.d, groups, c.rows, false).Write(&out, term.Style{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

// A terminal gets rows if there are too many columns; a program always gets the same format.
func TestGroupsTable_TooWide(t *testing.T) {
	t.Parallel()
	d := rollup.Definition{Group: []string{"tag"}, Dimension: "location",
		Measures: []rollup.Measure{{Name: "pets", Func: rollup.Count}}}
	for n, rows := range map[int]int{maxAcross: 1, maxAcross + 1: maxAcross + 2} {
		g := httpapi.RollupGroup{Group: []string{"cat"}}
		for i := range n {
			value := fmt.Sprintf("place %02d", i)
			g.By = append(g.By, httpapi.RollupSlot{Value: &value, Values: httpapi.Measures{"pets": json.RawMessage("1")}})
		}
		if got := groupsTable(&d, []httpapi.RollupGroup{g}, false, true).Len(); got != rows {
			t.Errorf("%d values: %d rows, want %d", n, got, rows)
		}
		if got := groupsTable(&d, []httpapi.RollupGroup{g}, false, false).Len(); got != 1 {
			t.Errorf("%d values in a pipe: %d rows", n, got)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "null": "", "17": "17", " -2.50 ": "-2.50", "[]": "", "[9,8.5]": "9 8.5"} {
		if got := text(json.RawMessage(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLineOf(t *testing.T) {
	t.Parallel()
	lines := strings.Split("rollup: x\nwhere:\n  city: { min: 3 }\nmeasures:\n  n: count\n  city:\n    sum: a\n", "\n")
	for field, want := range map[string]int{
		"rollup": 1, "where.city.min": 3, "measures.city": 6, "measures.city.sum": 7, "measures.n.scale": 5, "dimension": 0,
		"measures.gone.sum": 4,
	} {
		if got := lineOf(lines, strings.Split(field, ".")); got != want {
			t.Errorf("%s: %d, want %d", field, got, want)
		}
	}
	if got := lineOf([]string{`{"rollup":"x","group":["a"]}`}, []string{"group"}); got != 1 {
		t.Errorf("JSON: %d", got)
	}
}

func TestCaret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, field, want string }{
		{"  n: { sum: a }", "measures.n.sum", "    7 |   n: { sum: a }\n      |        ^"},
		{"\tn: a", "x", "    7 |  n: a\n      |  ^"},
		{"é\x1b: sum: a", "sum", "    7 | é\\x1b: sum: a\n      |        ^"},
		{strings.Repeat("a", 300) + " sum", "sum",
			"    7 | ..." + strings.Repeat("a", 49) + " sum\n      |" + strings.Repeat(" ", 54) + "^"},
	} {
		if got := caret(7, c.line, strings.Split(c.field, ".")); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// verify runs the command against a server that returns these lines.
func verify(t *testing.T, asJSON bool, lines ...string) (out, talk string, err error) {
	t.Helper()
	cl := local(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"rollups":[{"name":"a","generation":3},{"name":"b","generation":0}]}`)
			return
		}
		_, _ = io.WriteString(w, strings.Join(lines, "\n")+"\n")
	})
	var stdout, stderr bytes.Buffer
	v := newVerifying(&app{stdout: &stdout, stderr: &stderr, json: asJSON})
	c := &cobra.Command{}
	c.SetContext(t.Context())
	err = v.all(c, cl, nil)
	return stdout.String(), stderr.String(), err
}

// Every difference is printed and gives exit code 1. A rollup that is being built is not skipped silently.
func TestVerify(t *testing.T) {
	t.Parallel()
	const counted = `{"type":"progress","step":"counted","cell":"g0-0","things":5}`
	var f *failure
	out, talk, err := verify(t, false, counted,
		`{"type":"verified","cell":"g0-0","watermark":"17","things":9,"rows":4,"differs":2,"differences":[{"group":["cat","x"],"stored":"house [1]","recomputed":""}]}`,
		`{"type":"result","cells":1,"things":9,"rows":4,"differs":2}`)
	if !errors.As(err, &f) || f.Exit != exitFailed || f.Code != "differs" ||
		out != "rollup\tcells\tthings\trows\tdiffer\na\t1\t9\t4\t2\n" {
		t.Errorf("%v\n%s", err, out)
	}
	for _, says := range []string{"differs a in cell g0-0, watermark 17: group cat, x is stored as house [1], but is nothing\n", "and 1 row more in cell g0-0\n"} {
		if !strings.Contains(talk, says) {
			t.Errorf("it does not say %q:\n%s", says, talk)
		}
	}
	good := []string{counted, `{"type":"verified","cell":"g0-0","watermark":"17","things":9,"rows":4,"differs":0}`,
		`{"type":"result","cells":1,"things":9,"rows":4,"differs":0}`}
	if _, _, err := verify(t, false, good...); !errors.As(err, &f) || f.Exit != exitUnavailable || !strings.Contains(f.Message, "rollup b is being built") {
		t.Errorf("one is being built: %v", err)
	}
	out, _, _ = verify(t, true, good...)
	if want := `{"type":"result","rollup":"a","cells":1,"things":9,"rows":4,"differs":0}` + "\n" + `{"building":1,"differs":0,"rollups":1,"type":"summary"}` + "\n"; out != want {
		t.Errorf("JSON: %s", out)
	}
	if _, _, err := verify(t, false, counted); !errors.As(err, &f) || f.Exit != exitUnavailable {
		t.Errorf("an answer that breaks off: %v", err)
	}
}

// Waiting ends when the generation is active, fails if its build fails, and otherwise prints how to look again.
func TestAwait(t *testing.T) {
	t.Parallel()
	const cells = `"cells":[{"cell":"g0-0","state":"following","watermark":"0","last":"0"},{"cell":"g0-1","watermark":"0","last":"0"}]`
	for _, c := range []struct {
		name    string
		answers []string
		code    string // of the failure
		says    string
	}{
		{"serves", []string{`{"name":"a","state":"building","building":2,` + cells + `}`,
			`{"name":"a","state":"following","generation":2}`}, "", ""},
		{"a later one serves", []string{`{"name":"a","state":"following","generation":3,"building":4}`}, "", ""},
		{"fails", []string{`{"name":"a","state":"failed","building":2,"cells":[{"cell":"g0-1","state":"failed","watermark":"0","last":"0","reason":"too many"}]}`}, "failed", "is stalled in cell g0-1: too many"},
		{"dropped", []string{`{"name":"a","state":"building","building":1}`}, "conflict", "concurrently"},
		{"interrupted", []string{`{"name":"a","state":"building","building":2,` + cells + `}`, "interrupt"}, "interrupted",
			"interrupted"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			asked := 0
			cl := local(func(w http.ResponseWriter, _ *http.Request) {
				answer := c.answers[min(asked, len(c.answers)-1)]
				asked++
				if answer == "interrupt" {
					interrupt()
				}
				_, _ = io.WriteString(w, answer)
			})
			a := &app{stdout: io.Discard, stderr: io.Discard}
			of, _, err := a.await(ctx, cl, &httpapi.Rollup{Name: "a", Building: 2})
			var f *failure
			switch {
			case c.code == "" && (err != nil || of.Generation < 2):
				t.Errorf("%s: %v", c.name, err)
			case c.code != "" && (!errors.As(err, &f) || f.Code != c.code || !strings.Contains(f.Message, c.says)):
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
}

func TestBuildLine(t *testing.T) {
	t.Parallel()
	a := &app{}
	var of httpapi.Rollup
	if err := json.Unmarshal([]byte(`{"name":"a","state":"building","building":2,"built":1,"groups":7,"cells":[{"cell":"g0-0","state":"following","watermark":"0","last":"0"},{"cell":"g0-1","watermark":"0","last":"0"}]}`), &of); err != nil {
		t.Fatal(err)
	}
	if got, want := a.buildLine(&of, nil), "building generation 2: 1 of 2 cells, 7 groups"; got != want {
		t.Errorf("got %q", got)
	}
	of.State, of.Generation = "following", 1
	if got, want := a.buildLine(&of, nil), "building generation 2 beside 1, which serves: 1 of 2 cells"; got != want {
		t.Errorf("got %q", got)
	}
	a.json = true
	if got, want := a.buildLine(&of, json.RawMessage(`{"name":"a"}`)), `{"type":"progress","name":"a"}`; got != want {
		t.Errorf("got %q", got)
	}
}
