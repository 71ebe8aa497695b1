// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/exchange"
)

// A refused row has its source and key wherever they can be read, in every format.
func TestRowError_SourceAndKey(t *testing.T) {
	t.Parallel()
	csv := func(rows ...string) string {
		return "source,tenant,no,name,updated\n" + strings.Join(rows, "\n") + "\n"
	}
	parquet := func(rows ...exchange.Row) string {
		var b bytes.Buffer
		w, err := exchange.New(&b, exchange.Parquet, []exchange.Column{{Name: "source"}, {Name: "tenant"}, {Name: "no"}, {Name: "name"}, {Name: "updated"}}, nil)
		for _, row := range rows {
			err = errors.Join(err, w.Write(row))
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	updated := bulk.Observed{Column: "updated", Layout: "02.01.2006"}
	for name, c := range map[string]struct {
		text   string
		format bulk.Format
		o      bulk.Options
		want   string
	}{
		"CSV":                  {csv("x,a,1,Joe,now"), bulk.CSV, bulk.Options{Key: []string{"no"}, Ignore: []string{"tenant"}, Observed: updated}, "x:1"},
		"CSV, said source":     {csv("x,a,1,Joe,now"), bulk.CSV, bulk.Options{Source: "s", Key: []string{"no"}, Ignore: []string{"tenant"}, Observed: updated}, "s:1"},
		"CSV, two columns":     {csv("x,a,1,Joe,now"), bulk.CSV, bulk.Options{Key: []string{"tenant", "no"}, Observed: updated}, "x:a/1"},
		"CSV, part is missing": {csv("x,,1,Joe,now"), bulk.CSV, bulk.Options{Key: []string{"tenant", "no"}, Observed: updated}, "x:"},
		"CSV, null":            {csv("x,a,NULL,Joe,now"), bulk.CSV, bulk.Options{Key: []string{"no"}, Ignore: []string{"tenant"}, Observed: updated, Null: []string{"NULL"}}, "x:"},
		"CSV, no source":       {csv(",a,1,Joe,01.02.2026"), bulk.CSV, bulk.Options{Key: []string{"no"}, Ignore: []string{"tenant"}, Observed: updated}, ":1"},
		"CSV, width":           {csv("x,a,1,Joe"), bulk.CSV, bulk.Options{Key: []string{"no"}, Ignore: []string{"tenant"}, Observed: updated}, ":"},
		"CSV, quote":           {csv(`x,a,1,"Joe,now`), bulk.CSV, bulk.Options{Key: []string{"no"}, Ignore: []string{"tenant"}, Observed: updated}, ":"},
		"JSON, unknown name":   {`{"source":"x","key":"1","name":"Joe","nothing":"1"}` + "\n", bulk.JSONL, bulk.Options{}, "x:1"},
		"JSON, number":         {`{"nothing":"1","source":"x","key":17}` + "\n", bulk.JSONL, bulk.Options{}, "x:17"},
		"JSON, list of keys":   {`{"source":"x","key":["1","2"],"name":"Joe"}` + "\n", bulk.JSONL, bulk.Options{}, ":"},
		"JSON, list elsewhere": {`{"source":"x","key":"1","kind":["a","b"]}` + "\n", bulk.JSONL, bulk.Options{}, "x:1"},
		"JSON, by content":     {`{"source":"x","name":"Joe","nothing":"1"}` + "\n", bulk.JSONL, bulk.Options{Key: []string{bulk.HashKey}}, "x:"},
		"JSON, damaged":        {`{"source":"x","key":"1","name":"Joe"` + "\n", bulk.JSONL, bulk.Options{}, ":"},
		"Parquet":              {parquet(exchange.Row{{"x"}, {"a"}, {"1"}, {"Joe"}, {"now"}}), bulk.Parquet, bulk.Options{Key: []string{"tenant", "no"}, Observed: updated}, "x:a/1"},
		"Parquet, not UTF-8":   {parquet(exchange.Row{{"x"}, {"a"}, {"1"}, {"J\xff"}, nil}), bulk.Parquet, bulk.Options{Key: []string{"no"}, Ignore: []string{"tenant"}, Observed: updated}, "x:1"},
	} {
		r, err := open(bulk.Stdin, strings.NewReader(c.text), c.format, &c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, err = r.Next()
		refused, ok := errors.AsType[*bulk.RowError](err)
		if !ok {
			t.Errorf("%s: %v, want a refused row", name, err)
		} else if got := refused.Source + ":" + refused.Key; got != c.want {
			t.Errorf("%s: %q, want %q: %v", name, got, c.want, refused)
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: more rows: %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Compare agrees with sets, for keys of any bytes.
func TestSnapshot_ComparesSets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(rapid.SampledFrom([]string{"a", "a/b", "a\x00", "b", "ü", "10", "9"}), rapid.StringN(1, 4, -1))
		s := bulk.NewSnapshot("x")
		defer s.Close()
		stored, seen, accepted := map[string]bulk.Stored{}, map[string]bool{}, map[string]bool{}
		for _, k := range rapid.SliceOfDistinct(key, rapid.ID).Draw(t, "stored") {
			stored[k] = bulk.Stored{Key: k, Kind: rapid.SampledFrom([]string{"place", "person"}).Draw(t, "kind"), Version: rapid.Int64Range(1, 1<<60).Draw(t, "version")}
		}
		for _, rec := range stored {
			if err := s.Store(rec); err != nil {
				t.Fatal(err)
			}
		}
		rows := int64(0)
		for _, k := range rapid.SliceOf(key).Draw(t, "rows") {
			seen[k] = true
			if rapid.Bool().Draw(t, "accepted") {
				accepted[k] = true
				rows++
				if err := s.Accept("x", k, "place", "here"); err != nil {
					t.Fatal(err)
				}
			} else if err := s.Refuse("x", k, "here"); err != nil {
				t.Fatal(err)
			}
		}
		most, err := bulk.ParseMaxDelete(fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "most")))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Compare(rows, most); err != nil {
			t.Fatal(err)
		}
		var missing []bulk.Stored
		kinds := map[string]int64{}
		created := int64(0)
		for _, k := range slices.Sorted(maps.Keys(stored)) {
			if !seen[k] {
				missing = append(missing, stored[k])
				kinds[stored[k].Kind]++
			}
		}
		for k := range accepted {
			if stored[k].Key == "" {
				created++
			}
		}
		var got []bulk.Stored
		for rec, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rec)
		}
		if diff := cmp.Diff(missing, got); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(kinds, s.MissingKinds); diff != "" || s.New != created || s.Present != s.Stored-s.Missing || s.Missing != int64(len(missing)) {
			t.Fatalf("%s\n%+v, want %d new", diff, s, created)
		}
		want := bulk.Reason("")
		switch {
		case rows == 0:
			want = bulk.ReasonEmpty
		case kinds["person"] > 0:
			want = bulk.ReasonKinds
		case int64(len(missing)) > most.Of(s.Stored):
			want = bulk.ReasonLimit
		}
		if reason, _, _ := s.Forbids(most); reason != want {
			t.Fatalf("reason %q, want %q", reason, want)
		}
	})
}

func TestMaxDelete(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[int64]int64{
		"":      {0: 100, 999: 100, 1000: 100, 1001: 100, 1010: 101, 50_000: 5000},
		"0":     {0: 0, 1000: 0},
		"0%":    {0: 0, 1000: 0},
		"7":     {0: 7, 1000: 7},
		"10%":   {0: 0, 9: 0, 10: 1, 1000: 100},
		"2.5 %": {1000: 25},
		"100%":  {7: 7},
	} {
		m, err := bulk.ParseMaxDelete(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		for stored, most := range want {
			if got := m.Of(stored); got != most {
				t.Errorf("%q of %d is %d, want %d", text, stored, got, most)
			}
		}
	}
	for _, text := range []string{"-1", "x", "1.5", "%", "-1%", "100.1%", "NaN%", "Inf%", "1e9999"} {
		if m, err := bulk.ParseMaxDelete(text); err == nil {
			t.Errorf("%q is read as %v", text, m)
		}
	}
}
