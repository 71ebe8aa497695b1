// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// eval measures the result of dedupe on the rows, with the weights of the kind and with learned ones. An import gives
// the same as a dedupe with the weights of the kind, see TestDedupe_MakesTheEntitiesOfAnImport.
func TestEval_MeasuresWhatDedupeMakes(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	rows := rowsOf(t, staff(t, 700))
	rows[0] = append(rows[0], "truth")
	for i := range rows[1:] {
		rows[i+1] = append(rows[i+1], strings.TrimSuffix(rows[i+1][0], "x"))
	}
	measuredAlike(t, rows, "person",
		map[string]string{"first_name": "given_name", "last_name": "family_name", "dob": "birth_date", "city": "city"})
}

// The same on labelled sets, one of each kind that has some with duplicates within a table.
func TestEval_MeasuresWhatDedupeMakesOfLabelledSets(t *testing.T) {
	t.Parallel()
	longtest.Only(t, "TestEval_MeasuresWhatDedupeMakes does the same with generated rows")
	if _, err := os.Stat(labelled); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the labelled sets are not at %s", labelled)
	}
	for name, set := range map[string]struct {
		file, truth, kind string
		columns           map[string]string
	}{
		"splink_fake1000": {"fake_1000.csv", "cluster", "person",
			map[string]string{"first_name": "given_name", "surname": "family_name", "dob": "birth_date"}},
		"chicago_childcare": {"records.csv", "True Id", "place",
			map[string]string{"Site name": "name", "Address": "address", "Zip": "postcode", "Phone": "phones"}},
		"historical_50k": {"records.csv", "truth", "person", map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			rows := rowsOf(t, filepath.Join(labelled, name, set.file))
			for i, column := range rows[0] {
				if column == set.truth {
					rows[0][i] = "truth"
				}
			}
			measuredAlike(t, rows, set.kind, set.columns)
		})
	}
}

// measuredAlike compares F1 over pairs of rows with the same truth, of eval and of dedupe.
func measuredAlike(t *testing.T, rows [][]string, kind string, columns map[string]string) {
	t.Helper()
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.WriteAll(rows)
	in, out := write(t, "rows.csv", text.String()), filepath.Join(t.TempDir(), "out.csv")
	for _, learn := range []string{"--learn=false", "--learn=true"} {
		measuring := []string{"eval", "clusters", in, "--truth", "truth", "--kind", kind, "--json", learn}
		grouping := []string{"dedupe", in, "-o", out, "--kind", kind, "--ignore-unknown", learn}
		for column, attribute := range columns {
			measuring = append(measuring, "--map", column+"="+attribute)
			grouping = append(grouping, "--set", attribute+"="+column)
		}
		r := run(t.Context(), nil, measuring...)
		var report struct{ F1 struct{ Value float64 } }
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
			t.Fatalf("%v: exit %d: %v: %s%s", measuring, r.code, err, r.stdout, r.err)
		}
		if r := run(t.Context(), nil, grouping...); r.code != 0 && r.code != 3 {
			t.Fatalf("%v: exit %d: %s", grouping, r.code, r.err)
		}
		found := pairsF1(rowsOf(t, out))
		t.Logf("%s: eval %.4f, dedupe %.4f", learn, report.F1.Value, found)
		// between joins of equal weight the keys decide, and eval gives rows other keys
		if math.Abs(found-report.F1.Value) > 0.004 {
			t.Errorf("%s: eval measures %.4f, dedupe makes %.4f", learn, report.F1.Value, found)
		}
	}
}

// pairsF1 returns F1 over pairs of rows, by the columns truth and cluster_id.
func pairsF1(rows [][]string) float64 {
	at := map[string]int{}
	for i, column := range rows[0] {
		at[column] = i
	}
	same, joined, both := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, row := range rows[1:] {
		truth, cluster := row[at["truth"]], row[at["cluster_id"]]
		if truth == "" || cluster == "" {
			continue
		}
		same[truth]++
		joined[cluster]++
		both[truth+" "+cluster]++
	}
	pairs := func(of map[string]float64) (n float64) {
		for _, k := range of {
			n += k * (k - 1) / 2
		}
		return n
	}
	return 2 * pairs(both) / (pairs(same) + pairs(joined))
}
