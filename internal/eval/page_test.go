// SPDX-License-Identifier: Apache-2.0

package eval_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/eval"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
)

// The page equals the output for the results; this needs no data.
func TestPage_IsPrinted(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	stored, err := os.ReadFile(filepath.Join(root, "eval", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results eval.Results
	if err := json.Unmarshal(stored, &results); err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := results.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "quality.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(text)); diff != "" {
		t.Errorf("docs/quality.md is not what make eval prints (-want +got)\n%s", diff)
	}
}

// Columns that reveal the answer have no influence: shuffling them among the rows changes no decision.
func TestClusters_LeaksAreDropped(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	data := dataSets(t)
	for _, tt := range []struct {
		path, truth string
		leaks       []string
		mapping     map[string]string
		kind        *match.Schema
	}{
		{"splink_fake1000/fake_1000.csv", "cluster", []string{"unique_id", "cluster"},
			map[string]string{"first_name": "given_name", "surname": "family_name", "dob": "birth_date", "email": "emails"},
			match.Person()},
		{"febrl/dataset1.csv", "rec_id", []string{"rec_id", "soc_sec_id"},
			map[string]string{"surname": "family_name", "date_of_birth": "birth_date", "address_1": "address", "suburb": "city"},
			match.Person()},
		{"chicago_childcare/records.csv", "True Id", []string{"True Id", "Source"},
			map[string]string{"Site name": "name", "Address": "address", "Phone": "phones"}, match.Place()},
	} {
		path := filepath.Join(data, tt.path)
		measure := func(path string) *eval.Report {
			t.Helper()
			r, err := eval.Clusters(t.Context(), eval.ClustersOptions{Name: "x", Path: path, Truth: tt.truth, Mapping: tt.mapping, Kind: tt.kind, TruthOf: func(of string) string {
				entity, _, _ := strings.Cut(strings.TrimPrefix(of, "rec-"), "-") // of Febrl: rec-7-org and rec-7-dup-0
				return entity
			}})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		before, after := measure(path), measure(shuffled(t, path, tt.leaks))
		if before.Outcomes != after.Outcomes || before.Clusters != after.Clusters || before.Largest != after.Largest ||
			before.Compared != after.Compared {
			t.Errorf("%s: %+v, %d clusters became %+v, %d", tt.path, before.Outcomes, before.Clusters, after.Outcomes,
				after.Clusters)
		}
		if before.F1 == after.F1 {
			t.Errorf("%s: the truth was not shuffled", tt.path)
		}
	}
}

// shuffled returns a copy of a CSV file with the values of some columns in another order.
func shuffled(t *testing.T, path string, columns []string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.TrimLeadingSpace, r.FieldsPerRecord = true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i, column := range rows[0] {
		if !slices.Contains(columns, strings.TrimSpace(column)) {
			continue
		}
		body := rows[1:]
		random.Shuffle(len(body), func(a, b int) {
			if i < len(body[a]) && i < len(body[b]) {
				body[a][i], body[b][i] = body[b][i], body[a][i]
			}
		})
	}
	out := filepath.Join(t.TempDir(), "shuffled.csv")
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}
