// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// slice is a part of a run, a row of the curve.
type slice struct {
	Backend   string
	Records   int64   // number of records at its end
	Seconds   float64 // duration
	PerSecond float64
	CPU       float64 // microseconds per record, of this program
	Others    float64 // processors that other programs used, including the servers of the cells
	P50, P99  float64 // of a call, in milliseconds
	Bytes     float64 // disk space per record, without logs that are not checkpointed yet
	RSS       float64 // of this program, in megabytes
	Compared  float64 // candidates per record
	Machine   float64 // rounds of the loop per second

	N       float64 // number of its records
	rounds  [3]float64
	batches float64
}

var columns = []string{"backend", "records", "seconds", "per_second", "cpu_us", "others", "p50_ms", "p99_ms", "bytes",
	"rss_mb", "compared", "machine"}

func (s *slice) figures() []*float64 {
	return []*float64{&s.Seconds, &s.PerSecond, &s.CPU, &s.Others, &s.P50, &s.P99, &s.Bytes, &s.RSS,
		&s.Compared, &s.Machine}
}

// add merges another slice into s. Figures are means weighted by the records.
func (s *slice) add(t slice) {
	mean := func(a *float64, b float64) { *a = (*a*s.N + b*t.N) / (s.N + t.N) }
	mean(&s.CPU, t.CPU)
	mean(&s.Compared, t.Compared)
	mean(&s.Machine, t.Machine)
	s.N += t.N
	s.Seconds += t.Seconds
	s.PerSecond, s.Bytes, s.RSS, s.Records = s.N/s.Seconds, t.Bytes, max(s.RSS, t.RSS), t.Records
	s.batches += t.batches
	for i := range s.rounds {
		s.rounds[i] += t.rounds[i]
	}
}

func (s *slice) print(name string, fastest float64) {
	share := func(round int) float64 { return 100 * s.rounds[round] / s.Seconds }
	fmt.Printf("| %9s | %9.0f | %6.1f | %6.1f | %13.0f | %5.0f | %6.0f | %9.0f | %13.0f | %8.1f | %12.0f | %6.0f | %9.0f |\n", name,
		s.PerSecond, s.P50, s.P99, s.CPU, share(0), share(1), share(2), s.N/max(s.batches, 1), s.Compared, s.Bytes, s.RSS, 100*s.Machine/fastest)
}

func backendOf(o options) string {
	if o.cellmap != "" {
		return "postgres"
	}
	return "sqlite"
}

// curve holds the measurements of runs of both backends.
type curve struct {
	backend string  // of this run
	others  []slice // of the other backend, from earlier runs
	slices  []slice
}

// readCurve reads the results of earlier runs. A run replaces those of its own backend.
func readCurve(o options) (*curve, error) {
	c := &curve{backend: backendOf(o)}
	if o.curve == "" {
		return c, nil
	}
	f, err := os.Open(o.curve + ".csv")
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	for line := 0; ; line++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		if line == 0 || row[0] == c.backend && o.records > 0 {
			continue
		}
		s := slice{Backend: row[0]}
		s.Records, err = strconv.ParseInt(row[1], 10, 64)
		for i, figure := range s.figures() {
			if err == nil {
				*figure, err = strconv.ParseFloat(row[2+i], 64)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of %s.csv: %w", line+1, o.curve, err)
		}
		c.others = append(c.others, s)
	}
}

// write writes the table and the picture, if requested.
func (c *curve) write(o options) error {
	if o.curve == "" {
		return nil
	}
	all := append(slices.Clip(c.others), c.slices...)
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(columns)
	for _, s := range all {
		row := []string{s.Backend, strconv.FormatInt(s.Records, 10)}
		for _, figure := range s.figures() {
			row = append(row, strconv.FormatFloat(*figure, 'f', 1, 64))
		}
		_ = w.Write(row)
	}
	w.Flush()
	if err := os.WriteFile(o.curve+".csv", []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(o.curve+".svg", []byte(picture(all)), 0o644)
}

// resident returns the resident memory of this program in megabytes, or 0 where the system does not report it.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var all, here float64
	_, _ = fmt.Sscan(string(text), &all, &here)
	return here * float64(os.Getpagesize()) / 1e6
}
