// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/locus-db/locus/cell"
)

// Options of a simulation.
type Options struct {
	// Cells are the cell counts of the generations, oldest first; Doubling returns a usual plan. Each is a multiple
	// of the one before.
	Cells []uint64
	// Records is the total number of records.
	Records int64
	// Fill is the average number of records per cell of a generation when the next one is added. By default all
	// generations are equally full in the end.
	Fill int64
	// Time is how long the records take to arrive. Defaults to ten years.
	Time time.Duration
	// Growth is the factor by which arrivals grow per year. Defaults to 2; 1 is a steady stream.
	Growth float64
	// Servers is the number of servers that route. Defaults to 12.
	Servers int
	// Lag is how long it takes until all of them know a new generation. Defaults to a minute.
	Lag time.Duration
	// Mentions is how often the key of a new record comes again within about Lag: by other feeds, corrections,
	// repeated calls. Defaults to 2.
	Mentions float64
	// RecordBytes is the size of a record on disk. Defaults to 1,500.
	RecordBytes int64
	// Seed of all random numbers.
	Seed uint64
}

// Doubling returns the plan that doubles the cells until there are at least as many as to.
func Doubling(from, to uint64) ([]uint64, error) {
	if from == 0 {
		return nil, errors.New("simulate: begin with at least one cell")
	}
	cells := []uint64{from}
	for from < to && from < 1<<32 {
		from *= 2
		cells = append(cells, from)
	}
	if from != to {
		return nil, fmt.Errorf("simulate: doubling %d cells never gives %d, but %d: take that or another number to begin with", cells[0], to, from)
	}
	return cells, nil
}

func (o Options) withDefaults() (Options, error) {
	if len(o.Cells) == 0 || o.Records < 1 {
		return o, errors.New("simulate: needs a generation of cells and at least one record")
	}
	if err := possible(o.Cells); err != nil {
		return o, err
	}
	if o.Fill == 0 {
		all := uint64(0)
		for _, c := range o.Cells {
			all += c
		}
		o.Fill = max(1, o.Records/int64(all))
	}
	if o.Time == 0 {
		o.Time = 10 * year
	}
	if o.Growth == 0 {
		o.Growth = 2
	}
	if o.Servers == 0 {
		o.Servers = 12
	}
	if o.Lag == 0 {
		o.Lag = time.Minute
	}
	if o.Mentions == 0 {
		o.Mentions = 2
	}
	if o.RecordBytes == 0 {
		o.RecordBytes = 1500
	}
	if o.Fill < 0 || o.Time < 0 || o.Growth < 0 || o.Servers < 0 || o.Lag < 0 || o.Mentions < 0 || o.RecordBytes < 0 {
		return o, errors.New("simulate: no option can be negative")
	}
	if math.IsInf(math.Pow(o.Growth, o.years()), 1) {
		return o, fmt.Errorf("simulate: arrivals that grow by a factor of %g a year for %.0f years exceed all numbers",
			o.Growth, o.years())
	}
	return o, nil
}

// years returns Time in years.
func (o Options) years() float64 { return o.Time.Hours() / year.Hours() }

// possible checks that the cell map accepts the whole plan, however much of it the records will need.
func possible(cells []uint64) error {
	spec := cell.Spec{ID: "planned"}
	for g, n := range cells {
		spec.Generations = append(spec.Generations, cell.Generation{Cells: n, Starts: time.UnixMilli(int64(g))})
	}
	_, err := cell.NewMap(spec)
	return err
}

const year = 365 * 24 * time.Hour
