// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtable_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/pgtable"
	"github.com/locus-db/locus/internal/pgtest"
)

// begin connects to a table and begins an export.
func begin(t testing.TB, url string) (*pgtable.Target, *pgtable.State) {
	t.Helper()
	target, err := pgtable.Parse(url)
	if err == nil {
		err = target.Connect(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	state, err := target.Begin(t.Context(), pgtable.Spec{Installation: "i", What: "records"})
	if err != nil {
		t.Fatal(err)
	}
	return target, state
}

var columns = []pgtable.Column{{Name: "puid", Type: pgtable.Number}, {Name: "name", Type: pgtable.Text},
	{Name: `odd "'col`, Type: pgtable.List}}

func load(mark string, gone []string, rows ...exchange.Row) *pgtable.Load {
	return &pgtable.Load{
		Columns: columns, At: []int{0, 1, 2}, Key: "puid", Watermark: mark, Whole: gone == nil,
		Gone: each(gone), Rows: each(rows),
	}
}

func each[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func contents(t testing.TB, server *pgtest.Server, database string) (all [][]string) {
	t.Helper()
	return server.Exec(t, database,
		`SELECT puid, recs.name, array_to_json("odd ""'col"), watermark FROM recs, locus_export ORDER BY puid`)
}

// A table that changes are written to is a map that they are applied to.
func TestWrite_IsAMap(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	database := server.Database(t)
	text := rapid.StringOfN(rapid.SampledFrom([]rune("a| \\\",;\n\r\té{}N\u0001")), 1, 8, -1)
	target, state := begin(t, server.URL(database)+"&table=recs")
	mark, model := 0, map[string][2]string{}
	rapid.Check(t, func(r *rapid.T) {
		mark++
		var gone []string
		var rows []exchange.Row
		for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching("[1-9]"), 0, 5, rapid.ID).Draw(r, "keys") {
			gone = append(gone, key)
			delete(model, key)
			if rapid.Bool().Draw(r, "put") {
				name, list := text.Draw(r, "name"), rapid.SliceOfN(text, 1, 3).Draw(r, "list")
				rows = append(rows, exchange.Row{{key}, {name}, list})
				model[key] = [2]string{name, fmt.Sprintf("%q", list)}
			}
		}
		if gone == nil {
			gone = []string{}
		}
		if state.Watermark == "" {
			gone = nil
		}
		if n, err := target.Write(context.Background(), state, load(fmt.Sprint(mark), gone, rows...)); err != nil || n != len(rows) {
			r.Fatalf("%d of %d rows: %v", n, len(rows), err)
		}
		var err error
		if state, err = target.Begin(context.Background(), pgtable.Spec{Installation: "i", What: "records"}); err != nil || state.Watermark != fmt.Sprint(mark) {
			r.Fatalf("watermark %q, %v, want %d", state.Watermark, err, mark)
		}
		got := map[string][2]string{}
		for _, row := range server.Exec(t, database, `SELECT puid, name, (SELECT string_agg(v, '¦') FROM unnest("odd ""'col") AS v) FROM recs`) {
			got[row[0]] = [2]string{row[1], fmt.Sprintf("%q", strings.Split(row[2], "¦"))}
		}
		if diff := cmp.Diff(model, got); diff != "" {
			r.Fatalf("-want +got:\n%s", diff)
		}
	})
}

// A URL may leave everything to a service file.
func TestParse_ServiceFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "services")
	server := pgtest.Shared(t)
	database := server.Database(t)
	at, err := url.Parse(server.URL(database))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("[crm]\nhost=%s\nuser=%s\ndbname=%s\n", at.Query().Get("host"), at.Query().Get("user"), database)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGSERVICEFILE", file)
	target, state := begin(t, "postgres://?service=crm&table=recs")
	if n, err := target.Write(t.Context(), state, load("m", nil, exchange.Row{{"1"}, nil, nil})); n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

var errStop = errors.New("the rows end here")

// An export that fails or is interrupted in the middle leaves rows and watermark unchanged.
func TestWrite_AllOrNothing(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	database := server.Database(t)
	to := server.URL(database) + "&table=recs"
	target, state := begin(t, to)
	if _, err := target.Write(t.Context(), state, load("m1", nil, exchange.Row{{"1"}, {"one"}, {"x"}}, exchange.Row{{"2"}, {"two"}, nil})); err != nil {
		t.Fatal(err)
	}
	before := contents(t, server, database)
	for name, second := range map[string]func(context.CancelFunc) (exchange.Row, error){
		"error":          func(context.CancelFunc) (exchange.Row, error) { return nil, errStop },
		"interrupt":      func(stop context.CancelFunc) (exchange.Row, error) { stop(); return exchange.Row{{"4"}, nil, nil}, nil },
		"character 0":    func(context.CancelFunc) (exchange.Row, error) { return exchange.Row{{"4"}, {"a\x00b"}, nil}, nil },
		"not a number":   func(context.CancelFunc) (exchange.Row, error) { return exchange.Row{{"four"}, nil, nil}, nil },
		"key twice":      func(context.CancelFunc) (exchange.Row, error) { return exchange.Row{{"3"}, nil, nil}, nil },
		"several values": func(context.CancelFunc) (exchange.Row, error) { return exchange.Row{{"4"}, {"a", "b"}, nil}, nil },
	} {
		for _, gone := range [][]string{nil, {"1"}} {
			ctx, stop := context.WithCancel(t.Context())
			target, state := begin(t, to)
			l := load("m2", gone)
			l.Rows = func(yield func(exchange.Row, error) bool) {
				if yield(exchange.Row{{"3"}, {strings.Repeat("x", 1<<20)}, nil}, nil) {
					yield(second(stop))
				}
			}
			if _, err := target.Write(ctx, state, l); err == nil || name == "error" && !errors.Is(err, errStop) {
				t.Errorf("%s: %v", name, err)
			}
			stop()
			if diff := cmp.Diff(before, contents(t, server, database)); diff != "" {
				t.Errorf("%s: -before +after:\n%s", name, diff)
			}
		}
	}
}

// Of two concurrent exports, the later one does not overwrite the rows of the earlier one.
func TestWrite_OneOfTwo(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	database := server.Database(t)
	to := server.URL(database) + "&table=recs"
	for i, gone := range [][]string{nil, {"1"}} {
		first, was := begin(t, to)
		second, too := begin(t, to)
		if _, err := second.Write(t.Context(), too, load(fmt.Sprint("newer", i), gone, exchange.Row{{"1"}, {"new"}, {"x"}})); err != nil {
			t.Fatal(err)
		}
		if _, err := first.Write(t.Context(), was, load("older", gone, exchange.Row{{"1"}, {"old"}, nil})); !errors.Is(err, pgtable.ErrChanged) {
			t.Errorf("%v, want ErrChanged", err)
		}
		if got := contents(t, server, database); len(got) != 1 || got[0][1] != "new" || got[0][3] != fmt.Sprint("newer", i) {
			t.Errorf("%v", got)
		}
	}
}
