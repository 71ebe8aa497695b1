// SPDX-License-Identifier: Apache-2.0

package eval_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/internal/eval"
	"github.com/locus-db/locus/internal/longtest"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var columns = map[string]string{"name": "name", "address": "address", "phone": "phones"}

func TestPairs(t *testing.T) {
	t.Parallel()
	path := write(t, "pairs.jsonl", `
{"label":1,"split":"x","a":{"name":"Joes Pizza","address":"1000 Market Street","phone":"415-555-2300"},"b":{"name":"Joe's","address":"1000 Market St.","phone":"4155552300"}}
{"label":0,"split":"x","a":{"name":"Zanzibar","phone":"415-555-0001"},"b":{"name":"Quetzal","phone":"212-555-0002"}}
{"label":1,"split":"x","a":{"name":"Zanzibar"},"b":{"name":"Quetzal"}}
{"label":0,"split":"x","a":{"name":"Zanzibar Grill","phone":"415-555-0001"},"b":{"name":"Zanzibar Grill","phone":"415-555-0001"}}
{"label":1,"split":"y","a":{"name":"A"},"b":{"name":"B"}}
`[1:])
	r, err := eval.Pairs(t.Context(), eval.PairsOptions{Name: "small", Path: path, Split: "x", Mapping: columns, Configuration: eval.Configuration{Judge: true}})
	if err != nil {
		t.Fatal(err)
	}
	want := eval.Counts{TruePositive: 1, FalsePositive: 1, FalseNegative: 1}
	if r.Counts != want || r.F1.Value != 0.5 || r.Positives != 2 || r.Blocking != 0.5 || r.WithJudge.Before != r.F1 {
		t.Errorf("%+v, blocking %v, F1 %v", r.Counts, r.Blocking, r.F1)
	}
	if len(r.Errors) != 2 {
		t.Fatalf("%d errors", len(r.Errors))
	}
	if _, err := eval.Pairs(t.Context(), eval.PairsOptions{Path: path, Split: "z", Mapping: columns}); !errors.Is(err, eval.ErrSet) {
		t.Errorf("a split that the file does not have: %v", err)
	}
	if _, err := eval.Pairs(t.Context(), eval.PairsOptions{Path: path, Mapping: map[string]string{"label": "name"}}); !errors.Is(err, eval.ErrForbidden) {
		t.Errorf("the label mapped: %v", err)
	}

	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"small (pairs)", "F1", "0.5000", "false positive", "false negative", "no common blocking key", "Zanzibar Grill"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if out, err := json.Marshal(r); err != nil || !bytes.Contains(out, []byte(`"blocking_recall":0.5`)) {
		t.Errorf("%s, %v", out, err)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	left := write(t, "left.csv", "id,name,address,phone\n1,Joes Pizza,1000 Market Street,415-555-2300\n2,Zanzibar Grill,5 Elm St,415-555-0001\n3,Lost,,\n")
	right := write(t, "right.csv", "id,name,address,phone\n1,Joe's,1000 Market St.,(415) 555-2300\n2,Zanzibar Grill,5 Elm Street,415-555-0001\n3,Zanzibar Grill Bar,5 Elm Street,415-555-0001\n4,Gone,,\n")
	gold := write(t, "gold.csv", "l,r\n1,1\n2,2\n3,4\n")
	o := eval.TablesOptions{Left: left, Right: right, Gold: gold, GoldLeft: "l", GoldRight: "r", Mapping: columns,
		Configuration: eval.Configuration{Judge: true}}
	r, err := eval.Tables(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := (eval.Counts{TruePositive: 2, FalsePositive: 1, FalseNegative: 1}); r.Counts != want {
		t.Errorf("%+v, want %+v", r.Counts, want)
	}
	o.OneToOne = true
	if r, err = eval.Tables(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if want := (eval.Counts{TruePositive: 2, FalseNegative: 1}); r.Counts != want || r.WithJudge.Before != r.F1 {
		t.Errorf("one to one: %+v, want %+v", r.Counts, want)
	}
	o.Gold = write(t, "gold.csv", "l,r\n1,77\n")
	if _, err := eval.Tables(t.Context(), o); !errors.Is(err, eval.ErrSet) {
		t.Errorf("gold that names no row: %v", err)
	}
}

func TestClusters(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	rows.WriteString("truth,name,address,phone\n")
	for i := range 30 {
		fmt.Fprintf(&rows, "%d,Unique%c%c Grill,%d Elm St,415-555-%04d\n", i/3, 'a'+i/3, 'x'-i/3, 100+i/3, 5000+7*(i/3))
	}
	r, err := eval.Clusters(t.Context(), eval.ClustersOptions{Path: write(t, "rows.csv", rows.String()), Truth: "truth", Mapping: columns, Configuration: eval.Configuration{Judge: true}})
	if err != nil {
		t.Fatal(err)
	}
	if want := (eval.Counts{TruePositive: 30}); r.Counts != want || r.WithJudge.Before != r.F1 || r.Clusters != 10 || r.Largest != 3 {
		t.Errorf("%+v in %d clusters, the largest of %d", r.Counts, r.Clusters, r.Largest)
	}
}

// TestClusters_AStormOfOneNameEnds puts a component beyond every cut to the test.
func TestClusters_AStormOfOneNameEnds(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	rows.WriteString("truth,name,address,phone\n")
	for i := range 1000 {
		fmt.Fprintf(&rows, "%d,Bolt Coffee,%d Elm St,415-555-%04d\n", i, i/2+1, i/2)
	}
	r, err := eval.Clusters(t.Context(),
		eval.ClustersOptions{Path: write(t, "rows.csv", rows.String()), Truth: "truth", Mapping: columns})
	if err != nil {
		t.Fatal(err)
	}
	if r.Largest > 2 {
		t.Errorf("a cluster of %d: the two records of a house are all that belongs together", r.Largest)
	}
}

// TestSets_ForbiddenColumnsSayNothing shuffles the columns that reveal the answer, and the rows, of each set. The
// figures must not change in any digit.
func TestSets_ForbiddenColumnsSayNothing(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	data := dataSets(t)
	t.Run("clusters", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(data, "chicago_childcare", "records.csv")
		mapping := map[string]string{"Site name": "name", "Address": "address", "Zip": "postcode", "Phone": "phones"}
		measure := func(path string) *eval.Report {
			r, err := eval.Clusters(t.Context(), eval.ClustersOptions{Name: "x", Path: path, Truth: "True Id", Mapping: mapping})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		shuffled := write(t, "records.csv", shuffle(t, path, "Id", "Source", "IDHS Provider ID"))
		equalReports(t, measure(path), measure(shuffled))
	})
	t.Run("tables", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(data, "fodors_zagats")
		measure := func(left, right string) *eval.Report {
			r, err := eval.Tables(t.Context(), eval.TablesOptions{
				Name: "x", Left: left, Right: right, Gold: filepath.Join(dir, "matches_fodors_zagats.csv"),
				GoldLeft: "fodors_id", GoldRight: "zagats_id", OneToOne: true,
				Mapping: map[string]string{"name": "name", "addr": "address", "city": "city", "phone": "phones",
					"type": "category"},
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		left, right := filepath.Join(dir, "fodors.csv"), filepath.Join(dir, "zagats.csv")
		equalReports(t, measure(left, right),
			measure(write(t, "left.csv", shuffle(t, left)), write(t, "right.csv", shuffle(t, right))))
	})
	t.Run("pairs", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(data, "overture_pairs", "pairs.jsonl")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		spoiled := strings.NewReplacer(`"a": {`, `"a": {"id": "08f2a1", "class": 1, "confidence": 0.9, "source": "meta", `,
			`"b": {`, `"b": {"id": "08f2a1", "class": 1, "confidence": 0.1, "source": "msft", `).Replace(string(text))
		measure := func(path string) *eval.Report {
			r, err := eval.Pairs(t.Context(), eval.PairsOptions{
				Name: "x", Path: path, Split: "validation",
				Mapping: map[string]string{"name": "name", "address": "address", "phones": "phones", "city": "city",
					"postcode": "postcode"},
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		equalReports(t, measure(path), measure(write(t, "pairs.jsonl", spoiled)))
	})
}

// equalReports compares figures; the order of equally bad errors may differ.
func equalReports(t *testing.T, want, got *eval.Report) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(eval.Report{}, "Normalise", "Compare", "Errors", "Precision", "Recall", "F1")); diff != "" {
		t.Error(diff)
	}
}

// shuffle reorders the rows of a CSV file, and the values of the columns among the rows.
func shuffle(t *testing.T, path string, columns ...string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	header, rows := rows[0], rows[1:]
	for _, column := range columns {
		for i, name := range header {
			if name == column {
				random.Shuffle(len(rows), func(x, y int) { rows[x][i], rows[y][i] = rows[y][i], rows[x][i] })
			}
		}
	}
	random.Shuffle(len(rows), func(x, y int) { rows[x], rows[y] = rows[y], rows[x] })
	var out strings.Builder
	w := csv.NewWriter(&out)
	if err := w.WriteAll(append([][]string{header}, rows...)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAll_WithoutData(t *testing.T) {
	t.Parallel()
	if _, err := eval.All(t.Context(), eval.AllOptions{Data: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, eval.ErrNoData) {
		t.Errorf("%v", err)
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	report := func(name string, f1 float64) *eval.Report {
		return &eval.Report{Name: name, F1: eval.Figure{Value: f1}}
	}
	path := write(t, "baseline.json", `{"a": 0.9, "b": 0.8}`)
	b, err := eval.ReadBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		reports []*eval.Report
		worse   string
	}{
		{"equal", []*eval.Report{report("a", 0.9), report("b", 0.8)}, ""},
		{"within the tolerance", []*eval.Report{report("a", 0.896), report("b", 0.9), report("new", 0.1)}, ""},
		{"worse", []*eval.Report{report("a", 0.894), report("b", 0.8)}, "a has F1 0.8940"},
		{"not measured", []*eval.Report{report("a", 0.9)}, "b was not measured"},
	} {
		err := b.Compare(c.reports)
		if (err != nil) != (c.worse != "") || err != nil &&
			(!errors.Is(err, eval.ErrWorse) || !strings.Contains(err.Error(), c.worse)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := eval.ReadBaseline(path + ".not"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing baseline: %v", err)
	}
	if _, err := eval.ReadBaseline(write(t, "b.json", "[]")); err == nil {
		t.Error("a list is read as a baseline")
	}
}
