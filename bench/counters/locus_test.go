// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// embedded is Locus in the program: one cell with the requested number of services.
type embedded struct {
	stored
	*recording
	services []*locus.DB
}

// recording holds recorders in the program.
type recording struct {
	hits      []counter.Metric
	recorders []*counter.Recorder
	commits   atomic.Int64
	written   atomic.Int64
}

func newRecording(names []string) *recording {
	r := &recording{}
	for _, name := range names {
		r.hits = append(r.hits, counter.Metric(name))
	}
	return r
}

// options returns the options of a recorder.
func (r *recording) options(s setting) counter.Options {
	return counter.Options{
		Now: s.now, Unprepared: s.unprepared, Names: max(200_000, 2*s.metrics), Quota: max(1_000_000, 2*s.metrics),
		OnGroup: func(g counter.Group) { r.commits.Add(1); r.written.Add(int64(g.Hits)) },
	}
}

// openLocus creates an installation of one cell in a kind of database.
func openLocus(kind string) func(context.Context, *bench, setting) (target, error) {
	return func(ctx context.Context, b *bench, s setting) (target, error) {
		e := &embedded{}
		e.names = names(s.metrics)
		e.recording = newRecording(e.names)
		url := b.place(kind)
		for range max(s.servers, 1) {
			cells, err := storage.Open(ctx, url, &storage.Options{Cells: 1})
			if err != nil {
				return nil, err
			}
			service, err := locus.OpenCells(ctx, cells, &locus.Options{Counters: e.options(s)})
			if err != nil {
				return nil, err
			}
			e.cells, e.services, e.recorders = cells, append(e.services, service), append(e.recorders,
				service.Counters().Recorder())
		}
		return e, e.connect(ctx, kind, url)
	}
}

// place returns where a new installation can be created.
func (b *bench) place(kind string) string {
	if kind == "postgres" {
		b.installations++
		return b.server.URL(fmt.Sprintf("locus%d", b.installations))
	}
	return filepath.Join(b.tb.TempDir(), "cells")
}

// add is one call of a recorder.
func (r *recording) add(ctx context.Context, caller int, c call) error {
	batch := counter.Batch{Hits: make([]counter.Hit, len(c.metrics)), Key: counter.Key(c.key)}
	for i, m := range c.metrics {
		batch.Hits[i] = counter.Hit{Metric: r.hits[m], At: c.at, N: 1}
	}
	answer, err := r.recorders[caller%len(r.recorders)].AddBatch(ctx, batch)
	return cmp.Or(err, errors.Join(answer.Results...))
}

func (r *recording) groups() (commits, hits int64) { return r.commits.Swap(0), r.written.Swap(0) }

func (e *embedded) close() (err error) {
	for _, s := range e.services {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, e.stored.close())
}

// stored is the contents of an installation's only cell.
type stored struct {
	names []string
	cells *storage.Cells
	conn  *pgx.Conn // nil for files
	dir   string    // of the files
}

// connect prepares for reading the sizes.
func (s *stored) connect(ctx context.Context, kind, place string) (err error) {
	if kind == "postgres" {
		s.conn, err = pgx.Connect(ctx, s.cells.Map().URL(s.cells.Map().Cells()[0]))
	}
	s.dir = place
	return err
}

func (s *stored) close() error {
	if s.conn == nil {
		return nil
	}
	return s.conn.Close(context.Background())
}

func (s *stored) logged(ctx context.Context) (int64, error) {
	if s.conn == nil {
		return 0, nil
	}
	return walOf(ctx, s.conn)
}

func (s *stored) size(ctx context.Context) (int64, error) {
	if s.conn == nil {
		return filesOf(s.dir)
	}
	return sizeOf(ctx, s.conn)
}

// sums reads the buckets of all days that were hit, at each level.
func (s *stored) sums(ctx context.Context) ([]int64, error) {
	db, err := s.cells.Cell(s.cells.Map().Cells()[0])
	if err != nil {
		return nil, err
	}
	got := newSums(s.names)
	return got.all, db.View(ctx, func(tx storage.Tx) error { return got.read(ctx, tx) })
}

// read adds the days of all metrics except Locus' own.
func (s *sums) read(ctx context.Context, tx counter.Store) error {
	after := counter.Metric("")
	for {
		metas, err := tx.ListMetrics(ctx, "", after, 1000)
		if err != nil || len(metas) == 0 {
			return err
		}
		after = metas[len(metas)-1].Name
		metas = slices.DeleteFunc(metas, func(m counter.Meta) bool { return strings.HasPrefix(string(m.Name), locus.OwnMetrics) })
		if err := sumsOf(ctx, tx, metas, s); err != nil {
			return err
		}
	}
}

// sumsOf adds up the days of metrics, from their first one on.
func sumsOf(ctx context.Context, tx counter.Store, metas []counter.Meta, got *sums) error {
	if len(metas) == 0 {
		return nil
	}
	first := slices.MinFunc(metas, func(a, b counter.Meta) int { return cmp.Compare(a.First, b.First) }).First
	for day := first; day < first+4; day++ {
		keys := make([]counter.BucketKey, len(metas))
		for i, m := range metas {
			keys[i] = counter.NewBucketKey(day, m.ID)
		}
		days, err := tx.Buckets(ctx, counter.Days, keys)
		if err != nil {
			return err
		}
		minutes := make([]int64, len(metas))
		for hour := range 24 {
			var of []int
			var hours []counter.BucketKey
			for i, m := range metas {
				if days[i] != nil && days[i][counter.DayHour(hour)] != 0 {
					of, hours = append(of, i), append(hours, counter.NewBucketKey(24*day+int64(hour), m.ID))
				}
			}
			buckets, err := tx.Buckets(ctx, counter.Hours, hours)
			if err != nil {
				return err
			}
			for n, i := range of {
				sum := total(buckets[n])
				if want := days[i][counter.DayHour(hour)]; sum != want {
					return fmt.Errorf("%s, hour %d: %d hits, its minutes have %d", metas[i].Name, hour, want, sum)
				}
				minutes[i] += sum
			}
		}
		for i, m := range metas {
			if days[i] == nil {
				continue
			}
			var hours, quarters int64
			for hour := range 24 {
				hours += days[i][counter.DayHour(hour)]
			}
			for quarter := range 96 {
				quarters += days[i][counter.DayQuarter(quarter)]
			}
			if quarters != minutes[i] {
				return fmt.Errorf("%s: the quarters of day %d have %d hits, its minutes %d", m.Name, day, quarters, minutes[i])
			}
			id := time.Unix(day*86400, 0).UTC().Format("20060102/") + string(m.Name)
			if err := got.add(id, days[i][counter.DayTotal], hours, minutes[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func total(values []int64) (sum int64) {
	for _, v := range values {
		sum += v
	}
	return sum
}
