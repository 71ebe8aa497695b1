// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadCSV(t *testing.T) {
	t.Parallel()
	path := file(t, "a.csv", "\ufeffid, name,Phone 1,Phone 2,class\n7,\"Joe's,\nPizza\",415, 510,9\n8,Bar\n")
	rows, err := readCSV(path, mapped(t, map[string]string{"Phone 1": "phones", "Phone 2": "phones"}), "id")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].columns["id"] != "7" || rows[1].columns["id"] != "8" {
		t.Fatalf("%+v", rows)
	}
	if diff := cmp.Diff(match.Attributes{"name": {"Joe's,\nPizza"}, "phones": {"415", "510"}}, rows[0].attributes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(match.Attributes{"name": {"Bar"}}, rows[1].attributes); diff != "" {
		t.Error(diff)
	}
}

func TestReadCSV_Refuses(t *testing.T) {
	t.Parallel()
	path := file(t, "a.csv", "id,name\n1,a\n")
	if _, err := readCSV(path, mapped(t, map[string]string{"title": "name"})); !errors.Is(err, ErrSet) {
		t.Errorf("a mapped column that is missing: %v", err)
	}
	if _, err := readCSV(path, columns{}, "truth"); !errors.Is(err, ErrSet) {
		t.Errorf("a wanted column that is missing: %v", err)
	}
	if _, err := readCSV(path+".not", columns{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := readCSV(file(t, "b.csv", "a,b\n\"open\n"), columns{}); err == nil {
		t.Error("an open quote is read")
	}
}

func TestReadPairs(t *testing.T) {
	t.Parallel()
	path := file(t, "p.jsonl", `{"label":1,"split":"train","a":{"name":"Joe's","phones":["1",null,""],"n":7,"id":"x"},"b":{"name":null}}`+"\n"+
		`{"label":0,"a":{},"b":{"n":1.5}}`+"\n")
	pairs, err := readPairs(path, mapped(t, map[string]string{"n": "city"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []pair{
		{a: match.Attributes{"name": {"Joe's"}, "phones": {"1", ""}, "city": {"7"}}, b: match.Attributes{}, split: "train",
			same: true},
		{a: match.Attributes{}, b: match.Attributes{"city": {"1.5"}}},
	}
	if diff := cmp.Diff(want, pairs, cmp.AllowUnexported(pair{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"a":{},"b":{}}`, `{"label":1,"a":{}}`} {
		if _, err := readPairs(file(t, "bad.jsonl", bad), columns{}); !errors.Is(err, ErrSet) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := readPairs(file(t, "bad.jsonl", "{"), columns{}); err == nil {
		t.Error("half a line is read")
	}
}

func TestReadDitto(t *testing.T) {
	t.Parallel()
	path := file(t, "p.txt", "COL name VAL ` gallagher \\ 's ' COL addr VAL ' 228 w. 52nd st. ' COL class VAL 7\tCOL name VAL bar COL addr VAL \t1\n")
	pairs, err := readDitto(path, "test", mapped(t, map[string]string{"addr": "address"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []pair{{a: match.Attributes{"name": {"gallagher's"}, "address": {"228 w. 52nd st."}},
		b: match.Attributes{"name": {"bar"}}, split: "test", same: true}}
	if diff := cmp.Diff(want, pairs, cmp.AllowUnexported(pair{})); diff != "" {
		t.Error(diff)
	}
	if _, err := readDitto(file(t, "bad.txt", "one field\n"), "", columns{}); !errors.Is(err, ErrSet) {
		t.Errorf("a line of one field: %v", err)
	}
}

// mapped are the columns of place and those that are asked for.
func mapped(t *testing.T, asked map[string]string) columns {
	t.Helper()
	c, err := columnsFor(match.Place(), asked)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadCSV_ColumnsByPosition(t *testing.T) {
	t.Parallel()
	names := []string{"", ""}
	rows, err := readCSV(file(t, "gold.csv", "left,right\n1,2\n"), columns{}, names...)
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].columns[names[0]] != "1" || rows[0].columns[names[1]] != "2" {
		t.Errorf("%+v by %q", rows, names)
	}
}

func TestColumnsFor_RefusesWhatGivesTheAnswerAway(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"class", "CLASS", "cluster", "True Id", "true_id", "unique_id", "rec_id", "Id", "source", "confidence", "label", "gold"} {
		if _, err := columnsFor(match.Place(), map[string]string{column: "name"}); !errors.Is(err, ErrForbidden) {
			t.Errorf("%q may be mapped: %v", column, err)
		}
	}
	if _, err := columnsFor(match.Place(), map[string]string{"Site name": "name"}); err != nil {
		t.Error(err)
	}
	if _, err := columnsFor(match.Place(), map[string]string{"Site name": "title"}); !errors.Is(err, ErrSet) {
		t.Errorf("an attribute that the kind does not have: %v", err)
	}
}
