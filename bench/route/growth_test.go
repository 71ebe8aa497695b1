// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// put is one put of one key.
type put struct {
	key   cell.Key
	puid  int64
	begin time.Time
	took  time.Duration
}

// activation is the result of one growth for BenchmarkActivation and BenchmarkStall, in milliseconds.
type activation struct{ sealed, stall float64 }

var activated *activation

// activate grows 16 cells to 64 while eight writers put keys; no put may fail or change its result afterwards.
func activate(b *testing.B) *activation {
	b.Helper()
	if activated != nil {
		return activated
	}
	before, after := 16, uint64(64)
	if testing.Short() {
		before, after = 2, 4
	}
	cells := onPostgres(b, "activation", before)
	directory := cell.NewDirectory[storage.Tx](cells)
	ctx, stop := context.WithCancel(b.Context())
	puts := make([][]put, 8)
	var wg sync.WaitGroup
	for w := range puts {
		wg.Go(func() {
			for ctx.Err() == nil {
				p := put{key: newKeys(cells.Map(), 1)[0], begin: time.Now()}
				rows, err := directory.Put(b.Context(), []cell.Key{p.key})
				p.took = time.Since(p.begin)
				if err != nil {
					b.Errorf("a put while growing: %v", err)
					return
				}
				p.puid = rows[0].PUID
				puts[w] = append(puts[w], p)
			}
		})
	}
	var announced, current, sealed time.Time
	err := cell.Grow(b.Context(), cells, cell.Growth{Cells: after}, func(p cell.Progress) {
		switch p.Step {
		case cell.StepAnnounced:
			announced = time.Now()
		case cell.StepCurrent:
			current = time.Now()
		case cell.StepSealed:
			sealed = time.Now()
		}
	})
	stop()
	wg.Wait()
	if err != nil {
		b.Fatal(err)
	}
	var quiet, growing time.Duration
	for _, some := range puts {
		var keys []cell.Key
		for _, p := range some {
			keys = append(keys, p.key)
			switch end := p.begin.Add(p.took); {
			case end.Before(announced):
			case end.Before(current):
				quiet = max(quiet, p.took)
			default:
				growing = max(growing, p.took)
			}
		}
		puids, err := cell.NewDirectory[storage.Tx](cells).Lookup(b.Context(), keys)
		if err != nil {
			b.Fatal(err)
		}
		for i, puid := range puids {
			if puid != some[i].puid {
				b.Errorf("a key got puid %d, and has %d", some[i].puid, puid)
			}
		}
	}
	activated = &activation{sealed: milliseconds(sealed.Sub(current)), stall: max(0, milliseconds(growing-quiet))}
	return activated
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// reportOne reports an existing measurement of Locus.
func reportOne(b *testing.B, unit string, figure float64) {
	b.Helper()
	report(b, unit, map[string]func(*testing.B) float64{"locus": func(*testing.B) float64 { return figure }})
}

func BenchmarkActivation(b *testing.B) {
	a := activate(b)
	reportOne(b, "ms", a.sealed)
}

func BenchmarkStall(b *testing.B) {
	a := activate(b)
	reportOne(b, "ms", a.stall)
}

// compacted is the time of filters and of a compaction per key, in microseconds.
type compacted struct{ filters, copied float64 }

var compaction *compacted

// compact fills four cells, grows to eight, which builds filters for the four, and copies all keys to the eight.
func compact(b *testing.B) *compacted {
	b.Helper()
	if compaction != nil {
		return compaction
	}
	cells := onPostgres(b, "compact", 4)
	directory, n := cell.NewDirectory[storage.Tx](cells), little(400_000)
	for done := 0; done < n; {
		keys := newKeys(cells.Map(), min(n-done, 20_000))
		if _, err := directory.Put(b.Context(), keys); err != nil {
			b.Fatal(err)
		}
		done += len(keys)
	}
	var sealed, filtered time.Time
	if err := cell.Grow(b.Context(), cells, cell.Growth{Cells: 8}, func(p cell.Progress) {
		switch p.Step {
		case cell.StepSealed:
			sealed = time.Now()
		case cell.StepFilters:
			filtered = time.Now()
		}
	}); err != nil {
		b.Fatal(err)
	}
	var began, ended time.Time
	rows := 0
	if err := cell.Compact(b.Context(), cells, 1, func(p cell.Progress) {
		switch {
		case p.Step == cell.StepCopied:
			rows, ended = p.Done, time.Now()
		case began.IsZero():
			began = time.Now()
		}
	}); err != nil {
		b.Fatal(err)
	}
	if rows != n {
		b.Fatalf("%d of %d keys were copied", rows, n)
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(n) }
	compaction = &compacted{filters: each(filtered.Sub(sealed)), copied: each(ended.Sub(began))}
	return compaction
}

func BenchmarkCompact(b *testing.B) {
	c := compact(b)
	reportOne(b, "µs", c.copied)
}

func BenchmarkFilterBuild(b *testing.B) {
	c := compact(b)
	reportOne(b, "µs", c.filters)
}

// BenchmarkMove moves one of two cells to another database while records are written.
func BenchmarkMove(b *testing.B) {
	cells := onPostgres(b, "move", 2)
	service, err := locus.OpenCells(b.Context(), cells, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := service.Close(); err != nil {
			b.Error(err)
		}
	})
	n := little(10_000)
	invented := demo.New(1, int64(100*n))
	write := func(first, n int) error {
		var puts []records.Input
		for i := range n {
			r := invented.Record(int64(first + i))
			puts = append(puts, records.Input{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Attributes: r.Attributes})
		}
		results, err := service.Records().Put(b.Context(), puts)
		for _, r := range results {
			if err == nil {
				err = r.Err
			}
		}
		return err
	}
	for done := 0; done < n; done += 1000 {
		if err := write(done, min(1000, n-done)); err != nil {
			b.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for next := (w + 1) * 10 * n; ctx.Err() == nil; next += 10 {
				if err := write(next, 10); err != nil {
					b.Errorf("a write while the cell moves: %v", err)
					return
				}
			}
		})
	}
	id := cell.ID{Index: 1}
	progress, err := service.Cells().Move(b.Context(), id, cell.Destination{URL: pgtest.Shared(b).URL("moved")}, nil)
	stop()
	wg.Wait()
	if err != nil {
		b.Fatal(err)
	}
	reportOne(b, "ms", milliseconds(progress.Pause))
}
