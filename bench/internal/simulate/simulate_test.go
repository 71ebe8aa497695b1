// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/bench/internal/simulate"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/term"
)

func run(t *testing.T, opts simulate.Options) *simulate.Report {
	t.Helper()
	r, err := simulate.Run(opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func doubling(t *testing.T, from, to uint64) []uint64 {
	t.Helper()
	cells, err := simulate.Doubling(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// The output of the command.
func TestReport(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/reports", func(t *testing.T, d *datadriven.TestData) string {
		opts := simulate.Options{Seed: 1}
		for _, arg := range d.CmdArgs {
			var err error
			for _, v := range arg.Vals {
				switch arg.Key {
				case "cells":
					var n uint64
					_, err = fmt.Sscan(v, &n)
					opts.Cells = append(opts.Cells, n)
				case "records":
					_, err = fmt.Sscan(v, &opts.Records)
				case "fill":
					_, err = fmt.Sscan(v, &opts.Fill)
				case "growth":
					_, err = fmt.Sscan(v, &opts.Growth)
				case "lag":
					opts.Lag, err = time.ParseDuration(v)
				default:
					t.Fatalf("unknown option %s", arg.Key)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if d.Cmd == "double" {
			opts.Cells = doubling(t, opts.Cells[0], opts.Cells[1])
		}
		r, err := simulate.Run(opts)
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		for _, table := range []*term.Table{r.Table(), r.Beside()} {
			if err := table.Write(&b, term.Style{Terminal: true}); err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
		}
		return b.String() + strings.Join(r.Notes(), "\n")
	})
}

// The same seed gives the same report, another seed gives another one, and the whole report can be written as JSON.
func TestRun_OneSeedOneReport(t *testing.T) {
	t.Parallel()
	opts := simulate.Options{Cells: []uint64{16, 48, 240}, Records: 1e9, Seed: 7}
	a, b := run(t, opts), run(t, opts)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	opts.Seed = 8
	if cmp.Equal(a.Generations, run(t, opts).Generations) {
		t.Error("another seed drew the same")
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back simulate.Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, &back); diff != "" {
		t.Errorf("read back from JSON:\n%s", diff)
	}
}

// The walks agree with exact values: 1 visit for a known key in the newest cell and so on down (T7), all
// generations for an absent one, and with filters one extra visit in 256.
func TestRun_ProbesAreWhatArithmeticSays(t *testing.T) {
	t.Parallel()
	r := run(t, simulate.Options{Cells: doubling(t, 16, 16384), Records: 4e9})
	records := 0.0
	for _, g := range r.Generations {
		records += float64(g.Records)
		known, filters := 0.0, 0.0
		for _, home := range r.Generations[:g.Generation+1] {
			share, hops := float64(home.Records)/records, float64(g.Generation-home.Generation)
			known += share * (hops + 1)
			filters += share * (1 + min(hops, 1) + max(hops-1, 0)/256)
		}
		for name, figure := range map[string][2]float64{
			"absent":          {g.Absent, float64(g.Generation + 1)},
			"known":           {g.Known, known},
			"absent, filters": {g.AbsentFilters, 1 + float64(g.Generation)/256},
			"known, filters":  {g.KnownFilters, filters},
		} {
			if math.Abs(figure[0]-figure[1]) > 0.01 {
				t.Errorf("generation %d, %s: %.4f, want about %.4f", g.Generation, name, figure[0], figure[1])
			}
		}
	}
}

// Every record is in a generation, and days and cells increase.
func TestRun_AllRecordsArrive(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, opts := range []simulate.Options{
		{Cells: doubling(t, 16, 16384), Records: 4e9},
		{Cells: []uint64{16, 48, 240}, Records: 1e6, Growth: 1},
		{Cells: []uint64{1, 1, 1}, Records: 2, Growth: 0.5},
		{Cells: doubling(t, 16, 1024), Records: 1e8, Fill: 1e6},
		{Cells: []uint64{3, 3e6}, Records: 1, Time: time.Hour},
		{Cells: doubling(t, 16, 1<<27), Records: 1e17, Growth: 10, Time: math.MaxInt64},
	} {
		r := run(t, opts)
		sum, day := int64(0), -1.0
		for _, g := range r.Generations {
			if g.Records < 1 || g.Day <= day || g.Emptiest > 1 || g.Fullest < 1 {
				t.Errorf("%+v: %+v after day %v", opts, g, day)
			}
			sum, day = sum+g.Records, g.Day
		}
		if sum != opts.Records || r.Generations[0].Day != 0 {
			t.Errorf("%+v: %d records arrived, the first on day %v", opts, sum, r.Generations[0].Day)
		}
		if r.Routed.Wrong != 0 {
			t.Errorf("%+v: %+v", opts, r.Routed)
		}
	}
}

// The remaining room is what the cell map allows.
func TestRun_RoomIsTheMaps(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, cells := range [][]uint64{{16}, {16, 48, 240}, {1, 10, 100}, {1 << 31}, {1 << 30, 1 << 31}} {
		r := run(t, simulate.Options{Cells: cells, Records: 4e9})
		var spec cell.Spec
		for i, n := range cells[:len(r.Generations)] {
			spec.Generations = append(spec.Generations, cell.Generation{Cells: n, Starts: time.UnixMilli(int64(i + 1))})
		}
		doublings := -1
		for err := error(nil); err == nil; doublings++ {
			n := len(spec.Generations)
			spec.Generations = append(spec.Generations, cell.Generation{
				Cells: 2 * spec.Generations[n-1].Cells, Starts: time.UnixMilli(int64(n + 1)),
			})
			_, err = cell.NewMap(spec)
		}
		if r.Room.Doublings != doublings {
			t.Errorf("%v: room for %d doublings, the map allows %d", cells, r.Room.Doublings, doublings)
		}
	}
}

// If servers learn at once, or keys come once, the literal scheme gives one puid each too.
func TestRun_LiteralSchemeNeedsARace(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	opts := simulate.Options{Cells: doubling(t, 16, 256), Records: 1e9, Lag: time.Hour}
	if r := run(t, opts); r.Literal.Duplicates < r.Literal.Window/100 {
		t.Errorf("%+v: the race that it is there to show is missing", r.Literal)
	}
	opts.Mentions = 1e-9
	if r := run(t, opts); r.Literal.Duplicates != 0 {
		t.Errorf("keys that come once: %+v", r.Literal)
	}
	opts.Mentions, opts.Servers = 2, 1
	if r := run(t, opts); r.Literal.Duplicates != 0 {
		t.Errorf("one server: %+v", r.Literal)
	}
}

func TestRun_Refuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts simulate.Options
		want error
	}{
		"no multiple":    {simulate.Options{Cells: []uint64{16, 40}, Records: 1e9}, cell.ErrMap},
		"no cells":       {simulate.Options{Cells: []uint64{0}, Records: 1e9}, cell.ErrMap},
		"too many cells": {simulate.Options{Cells: []uint64{1 << 31, 1 << 31, 1 << 31}, Records: 1e12}, cell.ErrMap},
		"a cell is full": {simulate.Options{Cells: []uint64{16}, Records: 1e12}, cell.ErrNoRoom},
		"no generation":  {simulate.Options{Records: 1e9}, nil},
		"no record":      {simulate.Options{Cells: []uint64{16}}, nil},
		"no such growth": {simulate.Options{Cells: []uint64{16}, Records: 1, Growth: 1e100}, nil},
		"negative":       {simulate.Options{Cells: []uint64{16}, Records: 1, Lag: -1}, nil},
	} {
		if _, err := simulate.Run(test.opts); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestDoubling(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]uint64{3, 6, 12}, doubling(t, 3, 12)); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range [][2]uint64{{0, 16}, {16, 40}, {16, 8}, {3, math.MaxUint64}} {
		if cells, err := simulate.Doubling(wrong[0], wrong[1]); err == nil {
			t.Errorf("%v: %v", wrong, cells)
		}
	}
}
