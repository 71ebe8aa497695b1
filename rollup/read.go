// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Group is one group of a rollup as a reader sees it.
type Group struct {
	// Group holds the values of the group's attributes.
	Group []string `json:"group"`
	// Total holds the measures of the whole group.
	Total Values `json:"total"`
	// By holds the measures of each dimension value, in the order of the values; "" is for entities or records
	// without one. It is empty if the rollup has no dimension.
	By []Slot `json:"by"`
	// Skipped is the number of values left out of the measures because they are not numbers or have too many
	// digits.
	Skipped int64 `json:"skipped,omitempty"`
}

// Slot is one value of the dimension.
type Slot struct {
	Value  string
	Values Values
}

// MarshalJSON writes the slot as its value and an object of measures. The value is null for entities or records
// without one.
func (s Slot) MarshalJSON() ([]byte, error) {
	text := struct {
		Value  *string `json:"value"`
		Values Values  `json:"values"`
	}{Values: s.Values}
	if s.Value != "" {
		text.Value = &s.Value
	}
	return json.Marshal(text)
}

// Part is one cell's share of some groups, input to Merge.
type Part struct {
	Standing *Standing
	groups   []read // in key order
	// more reports that groups follow the last one.
	more bool
	// plain reports that multiset measures were not read.
	plain bool
}

// read is a group of one cell.
type read struct {
	key   string
	group group
	kept  [][]map[string]int64 // values of multiset measures, by slot and measure; nil for none
}

// Query selects groups of a cell: the groups of Keys, or otherwise at most Limit groups after After in key order. A
// Limit of 0 means no limit.
type Query struct {
	Generation int64
	Keys       [][]string
	After      []string
	Limit      int
	// Plain omits measures that keep their values one by one (min, max, top, distinct), which need a read of
	// their own.
	Plain bool
}

// Read reads groups of one cell. also, if not nil, runs in the same snapshot, and its error is returned. The
// error is ErrGone if the cell does not have a complete generation, and ErrNoDocuments if this process cannot
// reach its groups.
func (db Database) Read(ctx context.Context, q Query, also func(Tx) error) (*Part, error) {
	var p *Part
	var s *Standing
	look := func(tx Tx) (err error) {
		p = nil
		if s, err = whole(ctx, tx, q.Generation); err == nil && !s.Definition.external() {
			p, err = readRows(ctx, tx, s, q)
		}
		if err == nil && also != nil {
			err = also(tx)
		}
		return err
	}
	for range attempts {
		if err := db.View(ctx, look); err != nil || p != nil {
			return p, err
		}
		p, err := db.readElsewhere(ctx, s, q)
		if !errors.Is(err, errMeanwhile) {
			return p, err
		}
	}
	return nil, fmt.Errorf("%w: rollup %s: %w", ErrGone, s.Definition.Name, errMeanwhile)
}

// Read reads groups of one cell in the snapshot of tx, like Database.Read. It does not read groups elsewhere,
// which are in no snapshot.
func Read(ctx context.Context, tx Tx, q Query) (*Part, error) {
	s, err := whole(ctx, tx, q.Generation)
	if err != nil {
		return nil, err
	}
	return readRows(ctx, tx, s, q)
}

// whole returns the state of a readable generation.
func whole(ctx context.Context, tx Tx, generation int64) (*Standing, error) {
	s, err := StandingOf(ctx, tx, generation)
	switch {
	case err != nil:
		return nil, err
	case s.State == Failed && s.Watermark == unbuilt:
		return nil, fmt.Errorf("%w: it could not be built: %s", ErrGone, s.Reason)
	case !s.readable():
		return nil, ErrGone
	}
	return s, nil
}

func readRows(ctx context.Context, tx Tx, s *Standing, q Query) (*Part, error) {
	if s.Definition.external() {
		return nil, fmt.Errorf("%w, but in no snapshot of the cell", ErrNoDocuments)
	}
	p := &Part{Standing: s, plain: q.Plain}
	rows, err := p.rows(ctx, tx, q)
	if err == nil {
		err = p.decode(rows)
	}
	if err != nil || q.Plain {
		return p, err
	}
	return p, keptValues(ctx, tx, s, p.groups)
}

// decode decodes the rows of groups.
func (p *Part) decode(rows []Row) (err error) {
	d := &p.Standing.Definition
	dec := newDecoder(d.width())
	p.groups = make([]read, len(rows))
	for i, r := range rows {
		g := &p.groups[i]
		g.key = string(r.Key[len(rowGroup):])
		if g.group, err = dec.group(r.Body); err != nil {
			return fmt.Errorf("rollup %s: group %q: %w", d.Name, shown(g.key), err)
		}
	}
	return nil
}

// rows reads the rows of groups.
func (p *Part) rows(ctx context.Context, tx Tx, q Query) ([]Row, error) {
	var rows []Row
	if q.Keys != nil {
		keys := make([][]byte, len(q.Keys))
		for i, k := range q.Keys {
			keys[i] = []byte(rowGroup + groupKey(shortened(k)))
		}
		bodies, err := tx.Rows(ctx, q.Generation, keys)
		for i, body := range bodies {
			if body != nil {
				rows = append(rows, Row{Key: keys[i], Body: body})
			}
		}
		slices.SortFunc(rows, func(a, b Row) int { return bytes.Compare(a.Key, b.Key) })
		return slices.CompactFunc(rows, func(a, b Row) bool { return bytes.Equal(a.Key, b.Key) }), err
	}
	r := Range{Prefix: []byte(rowGroup)}
	if q.After != nil {
		r.After = []byte(rowGroup + groupKey(shortened(q.After)))
	}
	for {
		r.Limit = scanned
		if q.Limit > 0 {
			r.Limit = min(r.Limit, q.Limit+1-len(rows))
		}
		pages, err := tx.ScanRows(ctx, q.Generation, []Range{r})
		if err != nil {
			return nil, err
		}
		rows = append(rows, pages[0]...)
		if p.more = q.Limit > 0 && len(rows) > q.Limit; p.more {
			return rows[:q.Limit], nil
		}
		if len(pages[0]) < r.Limit {
			return rows, nil
		}
		r.After = rows[len(rows)-1].Key
	}
}

// shortened returns values as they appear in keys.
func shortened(values []string) []string {
	short := make([]string, len(values))
	for i, v := range values {
		short[i] = shorten(v)
	}
	return short
}

// keptValues reads the values of multiset measures: as many as the measure needs, all different ones for
// Distinct.
func keptValues(ctx context.Context, tx Tx, s *Standing, groups []read) error {
	d := &s.Definition
	if !slices.ContainsFunc(d.Measures, func(m Measure) bool { return m.Func.multiset() }) {
		return nil
	}
	var ranges []Range
	var places []*map[string]int64
	for k := range groups {
		g := &groups[k]
		g.kept = make([][]map[string]int64, len(g.group))
		for n, of := range g.group {
			g.kept[n] = make([]map[string]int64, len(d.Measures))
			for i, m := range d.Measures {
				if m.Func.multiset() {
					limit := map[Func]int{Min: 1, Max: 1, Top: m.K, Distinct: math.MaxInt32}[m.Func]
					ranges = append(ranges, Range{Prefix: []byte(valuePrefix(g.key, of.value, i)), Limit: limit, Last: m.Func != Min})
					places = append(places, &g.kept[n][i])
				}
			}
		}
	}
	answers, err := tx.ScanRows(ctx, s.Number, ranges)
	if err != nil {
		return err
	}
	for i, rows := range answers {
		values := make(map[string]int64, len(rows))
		for _, r := range rows {
			if values[string(r.Key[len(ranges[i].Prefix):])], err = decodeCount(r.Body); err != nil {
				return fmt.Errorf("rollup %s: value %q: %w", d.Name, r.Key, err)
			}
		}
		*places[i] = values
	}
	return nil
}
