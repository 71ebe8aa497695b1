// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/xuri/excelize/v2"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/locus-db/locus/internal/pgtest"
)

var size = flag.Int64("size", 20_000, "how many records")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(pgtest.Main(m))
}

// BenchmarkTables measures imports of workbooks and of tables of databases beside one of the same rows as CSV, and
// exports into PostgreSQL beside COPY of the same rows into a table with the same key.
//
//	go -C bench test -run '^$' -bench Tables -benchtime 1x ./exchange
func BenchmarkTables(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "locus")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", binary, "github.com/locus-db/locus/cmd/locus").CombinedOutput(); err != nil {
		b.Fatalf("build locus: %v: %s", err, out)
	}
	if err := errors.Join(write(filepath.Join(dir, "rows.csv"), *size), tables(b.Context(), dir)); err != nil {
		b.Fatal(err)
	}
	server := pgtest.Start(b, &pgtest.Options{InMemory: true})
	for n := range b.N {
		to := func(name string) string { return filepath.Join(dir, fmt.Sprint(name, n)) }
		run := func(name string, against *cost, args ...string) *cost {
			took, err := measure(b.Context(), dir, binary, args)
			if err != nil {
				b.Fatalf("%s: %v", name, err)
			}
			b.ReportMetric(float64(took.processor.Microseconds())/float64(*size), "cpu-us/"+name)
			if against != nil {
				b.ReportMetric(against.clock.Seconds()/took.clock.Seconds(), name+"-by-clock")
				b.ReportMetric(against.processor.Seconds()/took.processor.Seconds(), name+"-by-cpu")
			}
			return &took
		}
		as := []string{"--kind", "place", "--key", "key", "--data"}
		file := run("csv", nil, append([]string{"ingest", "DIR/rows.csv"}, append(as, to("csv"))...)...)
		run("xlsx", file, append([]string{"ingest", "DIR/out.xlsx"}, append(as, to("xlsx"))...)...)
		run("sqlite", file, append([]string{"ingest", "sqlite:DIR/out.db", "--table", "records"},
			append(as, to("sqlite"))...)...)

		database := server.Remote(b, server.Database(b))
		exported := run("export", nil, "export", "records", "--to", database+"&table=records", "--data", to("csv"))
		copied := copyRows(b, database, dir)
		b.ReportMetric(copied.Seconds()/exported.clock.Seconds(), "export-of-COPY")
		run("postgres", file, append([]string{"ingest", database, "--table", "records", "--yes"},
			append(as, to("postgres"))...)...)
	}
}

// copyRows copies the exported rows into another table, and returns how long that takes.
func copyRows(b *testing.B, database, dir string) time.Duration {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), database)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context()) //nolint:errcheck // nothing is left to write
	file, err := os.Create(filepath.Join(dir, "records.copy"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	_, err = conn.PgConn().CopyTo(b.Context(), file, "COPY records TO STDOUT")
	if err == nil {
		_, err = conn.Exec(b.Context(), "CREATE TABLE copied (LIKE records INCLUDING ALL)")
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	begun := time.Now()
	if err == nil {
		_, err = conn.PgConn().CopyFrom(b.Context(), file, "COPY copied FROM STDIN")
	}
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

// tables writes the rows as a workbook and as a table of SQLite.
func tables(ctx context.Context, dir string) (err error) {
	file, err := os.Open(filepath.Join(dir, "rows.csv"))
	if err != nil {
		return err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	header, err := rows.Read()
	if err != nil {
		return err
	}
	book := excelize.NewFile()
	defer book.Close()
	sheet, err := book.NewStreamWriter("Sheet1")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "out.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = fmt.Sprintf("%q TEXT", name)
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE records ("+strings.Join(names, ", ")+", PRIMARY KEY (source, key))"); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO records VALUES (?"+strings.Repeat(", ?", len(header)-1)+")")
	if err != nil {
		return err
	}
	for n, row := 1, header; ; n++ {
		cells := make([]any, len(row))
		for i, text := range row {
			cells[i] = text
		}
		if err := sheet.SetRow(fmt.Sprintf("A%d", n), cells); err != nil {
			return err
		}
		if n > 1 {
			if _, err := insert.ExecContext(ctx, cells...); err != nil {
				return err
			}
		}
		if row, err = rows.Read(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	return errors.Join(sheet.Flush(), book.SaveAs(filepath.Join(dir, "out.xlsx")), tx.Commit())
}
