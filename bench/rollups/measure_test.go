// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/bench/internal/processor"
	"github.com/locus-db/locus/bench/internal/rounds"
	"github.com/locus-db/locus/bench/internal/rounds/roundstest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/rollup"
)

// TestMeasure is an invocation of the program.
func TestMeasure(t *testing.T) {
	t.Parallel()
	roundstest.Measure(t, measure)
}

// bench is an invocation.
type bench struct {
	*Report
	tb     testing.TB
	server *pgtest.Server
	from   string // the template of the peers' databases
}

// measure creates everything afresh and measures each method.
func measure(tb testing.TB, o Options) *Report {
	tb.Helper()
	b := &bench{tb: tb, Report: &Report{Options: o, Machine: rounds.Machine()}}
	b.server = pgtest.Start(tb, &pgtest.Options{Settings: map[string]string{
		"shared_buffers": "1GB", "work_mem": "64MB", "max_wal_size": "8GB", "checkpoint_timeout": "30min",
	}})
	ctx := tb.Context()
	var err error
	if b.from, err = template(ctx, tb, b.server, newWorld(o)); err != nil {
		tb.Fatal(err)
	}
	methods := []struct {
		key string
		do  func(context.Context, *world) error
	}{
		{"locus", b.locusPostgres},
		{"ceiling", b.ceiling},
		{"trigger-row", func(ctx context.Context, w *world) error { return b.trigger(ctx, w, "trigger-row") }},
		{"locus-sqlite", b.locusSQLite},
		{"trigger-sum", func(ctx context.Context, w *world) error { return b.trigger(ctx, w, "trigger-sum") }},
		{"view", b.view},
		{"xmin", b.xmin},
		{"gin", b.gin},
	}
	for i := range methods {
		m := methods[(i+o.Invocation*3)%len(methods)]
		if len(o.Methods) > 0 && !slices.Contains(o.Methods, m.key) {
			continue
		}
		fmt.Fprintf(os.Stderr, " %s", m.key)
		if err := m.do(ctx, newWorld(o)); err != nil {
			tb.Fatalf("%s: %v", m.key, err)
		}
	}
	fmt.Fprintln(os.Stderr)
	return b.Report
}

func (b *bench) seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (b *bench) length() time.Duration { return b.seconds(b.Options.Seconds) }

// load drives a load and records the results. settle waits until everything is counted, and returns when it was and
// how late each update became visible; it is nil for methods that count in the transaction, or not at all.
func (b *bench) load(ctx context.Context, w *world, method string, l Load, write writer, settle func(*written) (time.Time, []delay, error)) error {
	d := b.length()
	if l.Foreign {
		d = b.seconds(b.Foreign) + 2*b.lead()
	}
	before := b.used()
	done, err := drive(ctx, w, l, d, write)
	if err == nil && done.updates() == 0 {
		err = errors.New("nothing was written")
	}
	end, delays := time.Now(), []delay(nil)
	if err == nil && settle != nil {
		end, delays, err = settle(done)
	}
	if err != nil {
		return fmt.Errorf("%+v: %w", l, err)
	}
	late := make([]time.Duration, len(delays))
	for i, d := range delays {
		late[i] = d.late()
	}
	spent := max(done.spent, end.Sub(done.began))
	if settle == nil {
		spent = done.spent
	}
	server, program, others := b.used().Since(before, done.updates())
	b.Runs = append(b.Runs, Run{
		Method: method, Load: l, PerSecond: float64(done.updates()) / spent.Seconds(), Deadlocks: done.deadlocks,
		VisibleP50: rounds.Quantile(late, 0.5), VisibleP99: rounds.Quantile(late, 0.99),
		CommitP50: rounds.Quantile(done.waits, 0.5), CommitP99: rounds.Quantile(done.waits, 0.99),
		Server: server, Program: program, Others: others,
	})
	if l.Foreign {
		b.Fresh = append(b.Fresh, Fresh{
			Method: method, Points: staleness(delays, d), From: b.lead().Seconds(), To: b.lead().Seconds() + b.Foreign,
		})
	}
	return nil
}

// lead is how long a disturbed load runs before and after the foreign transaction.
func (b *bench) lead() time.Duration { return min(b.length(), 5*time.Second) }

// disturb drives the load with a foreign transaction open in the middle, in the database at url.
func (b *bench) disturb(ctx context.Context, url string, load func() error) error {
	held := make(chan error, 1)
	go func() {
		until(ctx, time.Now().Add(b.lead()))
		held <- hold(ctx, url, b.seconds(b.Foreign))
	}()
	return errors.Join(load(), <-held)
}

func (b *bench) locusPostgres(ctx context.Context, w *world) error {
	return b.locus(ctx, w, "locus", "postgres", b.server.URL("locus"))
}

func (b *bench) locusSQLite(ctx context.Context, w *world) error {
	return b.locus(ctx, w, "locus-sqlite", "sqlite", filepath.Join(b.tb.TempDir(), "cell"))
}

// locus measures Locus on one kind of cell.
func (b *bench) locus(ctx context.Context, w *world, method, kind, url string) (err error) {
	if !slices.Contains(b.Cells, kind) {
		return nil
	}
	l, err := openLocus(ctx, url, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.cells.Close()) }()
	place := l.cells.Map().URL(l.cells.Map().Cells()[0])
	f, err := l.follow(ctx, b.Batch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.end()) }()
	if kind == "postgres" {
		if err := vacuum(ctx, place); err != nil {
			return err
		}
	}
	if err := b.answered(b.all(Answer{Method: method}, func() error {
		groups, err := f.answer(ctx, rollup.Query{}, nil)
		return found(len(groups), err)
	})); err != nil {
		return err
	}
	if b.Answers[len(b.Answers)-1].One, err = f.ones(ctx, w); err != nil {
		return err
	}
	run := func(load Load) error {
		f.begin()
		err := b.load(ctx, w, method, load, l.write, func(done *written) (time.Time, []delay, error) {
			end, err := f.drain(ctx)
			if err != nil {
				return end, nil, err
			}
			delays, err := f.delays(done, len(w.pets))
			return end, delays, err
		})
		if err == nil {
			err = f.verify(ctx)
		}
		return err
	}
	return b.each(ctx, place, kind == "postgres",
		[]Load{at(1), at(10), disturbed, at(50), shared, single, tens, hundreds}, run)
}

// each runs one load after the other; the disturbed one only if there is a server to disturb, at url.
func (b *bench) each(ctx context.Context, url string, server bool, loads []Load, run func(Load) error) (err error) {
	for _, l := range loads {
		switch {
		case err != nil:
		case !l.Foreign:
			err = run(l)
		case server && b.Foreign > 0:
			err = b.disturb(ctx, url, func() error { return run(l) })
		}
	}
	return err
}

// used returns the processor time so far.
func (b *bench) used() processor.Used { return processor.Read(b.server.CPU()) }
