// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
)

// The picture has every record and every join, and marks the weakest join that no person decided. It is left out if it
// would be too dense.
func TestEntity_DrawsWhatHoldsItTogether(t *testing.T) {
	t.Parallel()
	for n, drawn := range map[int]bool{1: false, 2: true, 21: true, 60: true, 61: false, 200: false} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprint("name ", i)
		}
		w := why(t, names...)
		if n > 3 { // in descending order, the last by a decision
			w.Joins[n-3].Explanation.Weight, w.Joins[n-2].Explanation.Weight = 1100, 1000
			w.Joins[n-2].Decided = &entity.Decision{Verdict: entity.VerdictSame}
		}
		root := render(t, func(out io.Writer) error {
			return console.New("1.2.3").Entity(out,
				console.Entity{Why: w, Schema: match.Place(), Home: "g0-0", RecordPath: recordPath})
		})
		nodes, edges, open := 0, 0, 0
		var weak, seen []string
		elements(root, func(e *html.Node) {
			class, _ := attribute(e, "class")
			label, _ := attribute(e, "aria-label")
			_, shown := attribute(e, "open")
			switch {
			case e.Data == "circle" && e.Parent.Data == "a":
				x, _ := attribute(e, "cx")
				y, _ := attribute(e, "cy")
				seen = append(seen, x+" "+y)
				nodes++
			case e.Data == "a" && strings.HasSuffix(label, "bits") || strings.Contains(label, "bits, "):
				edges++
				if class == "weak" {
					weak = append(weak, label)
				}
			case e.Data == "details" && class == "join" && shown:
				open++
			}
		})
		if want := map[bool]int{true: n}[drawn]; nodes != want || edges != max(0, want-1) {
			t.Errorf("%d records: %d nodes and %d joins are drawn", n, nodes, edges)
		}
		places := map[string]bool{}
		for _, at := range seen {
			places[at] = true
		}
		if len(places) != nodes {
			t.Errorf("%d records: some are drawn in the same place", n)
		}
		if want := fmt.Sprintf("Records 1 and %d, +11.00 bits, the weakest", n-1); n > 3 && drawn && (len(weak) != 1 || weak[0] != want) {
			t.Errorf("%d records: %q is the weakest, want %q", n, weak, want)
		}
		if want := map[bool]int{true: n - 1}[n <= 4]; open != want {
			t.Errorf("%d records: %d joins are open", n, open)
		}
	}
}
