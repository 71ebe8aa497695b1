// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/changelog"
)

// Difference is a stored row that differs from its recomputation.
type Difference struct {
	// Group holds the values of the group's attributes.
	Group []string `json:"group"`
	// Stored and Recomputed describe the row's content, "" for none.
	Stored     string `json:"stored"`
	Recomputed string `json:"recomputed"`
}

// Verification is the result of comparing a generation with its recomputation in one cell.
type Verification struct {
	Watermark changelog.Seq `json:"watermark,string"`
	// Reason is why the generation does not advance, "" if it follows.
	Reason string `json:"reason,omitempty"`
	// Things is the number of entities or records counted, Pending the changes subtracted, Rows the rows
	// compared.
	Things  int `json:"things"`
	Pending int `json:"pending"`
	Rows    int `json:"rows"`
	// Differs is the number of differing rows, Differences the first of them.
	Differs     int          `json:"differs"`
	Differences []Difference `json:"differences,omitempty"`
}

// maxDifferences limits Differences.
const maxDifferences = 100

// Verify compares a generation of a cell with its recomputation, in one snapshot, while writers and followers
// continue: all entities or records of the cell, less the changes after the watermark, must give the stored rows.
// The error is ErrGone if the cell does not have a complete generation.
func Verify(ctx context.Context, tx Tx, generation int64, progress func(counted int)) (*Verification, error) {
	s, err := whole(ctx, tx, generation)
	if err != nil {
		return nil, err
	}
	v := &Verification{Watermark: s.Watermark, Reason: s.Reason}
	want, err := v.recompute(ctx, tx, &s.Definition, progress)
	if err != nil {
		return nil, err
	}
	stored := func(after []byte) ([]Row, error) {
		pages, err := tx.ScanRows(ctx, s.Number, []Range{{After: after, Limit: scanned}})
		if err != nil {
			return nil, err
		}
		return pages[0], nil
	}
	return v, v.compare(&s.Definition, stored, want)
}

// Verify is the function Verify for groups anywhere. Groups elsewhere are read before the snapshot and advanced to its
// position by the log, as a reader does.
func (db Database) Verify(ctx context.Context, generation int64,
	progress func(counted int)) (v *Verification, err error) {
	for range attempts {
		var s *Standing
		if err := db.View(ctx, func(tx Tx) error {
			if s, err = whole(ctx, tx, generation); err == nil && !s.Definition.external() {
				v, err = Verify(ctx, tx, generation, progress)
			}
			return err
		}); err != nil || !s.Definition.external() {
			return v, err
		}
		if v, err = db.verifyElsewhere(ctx, s, progress); !errors.Is(err, errMeanwhile) {
			return v, err
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrGone, errMeanwhile)
}

// verifyElsewhere compares groups elsewhere with a recomputation; s was the first read of the cell.
func (db Database) verifyElsewhere(ctx context.Context, s *Standing, progress func(int)) (*Verification, error) {
	from, err := db.elsewhere(&s.Generation)
	if err != nil {
		return nil, err
	}
	docs, _, err := from.Scan(ctx, &s.Generation, nil, 0)
	if err != nil {
		return nil, err
	}
	var v *Verification
	err = db.View(ctx, func(tx Tx) error {
		t, err := tailOf(ctx, tx, s)
		if err != nil {
			return err
		}
		v = &Verification{Watermark: t.to, Reason: t.standing.Reason}
		want, err := v.recompute(ctx, tx, &s.Definition, progress)
		if err != nil {
			return err
		}
		rows, err := t.rows(insert(slices.Clone(docs), t.Keys()))
		if err != nil {
			return err
		}
		return v.compare(&s.Definition, func(after []byte) ([]Row, error) {
			if after != nil {
				return nil, nil
			}
			return rows, nil
		}, want)
	})
	return v, err
}

// recompute counts the data of the cell, without the changes after the watermark.
func (v *Verification) recompute(ctx context.Context, tx Tx, d *Definition, progress func(int)) ([]Row, error) {
	dl := newDelta(d)
	if err := dl.recount(ctx, tx, func(n int) {
		if v.Things = n; progress != nil {
			progress(n)
		}
	}); err != nil {
		return nil, err
	}
	for after := v.Watermark; ; {
		changes, err := tx.Changes(ctx, after, listed)
		switch {
		case errors.Is(err, changelog.ErrTrimmed) && v.Reason != "":
			return nil, fmt.Errorf("%w: rollup %s is stalled at %d, and the log is not kept that far back: define it differently, or rebuild it: %s", ErrLimit, d.Name, v.Watermark, v.Reason)
		case err != nil:
			return nil, fmt.Errorf("take back the changes after %d: %w", after, err)
		}
		for _, c := range changes {
			c.Was, c.Is = c.Is, c.Was
			dl.change(&c)
			after = c.Seq
		}
		if v.Pending += len(changes); len(changes) < listed {
			break
		}
	}
	keys := dl.keys()
	want, _, err := dl.apply(keys, make([][]byte, len(keys)))
	return want, err
}

// compare merges the stored rows, read in pages until one is empty, with the recomputed ones.
func (v *Verification) compare(d *Definition, stored func(after []byte) ([]Row, error), want []Row) error {
	for after := []byte(nil); ; {
		page, err := stored(after)
		if err != nil {
			return err
		}
		for _, row := range page {
			after = row.Key
			v.Rows++
			for len(want) > 0 && bytes.Compare(want[0].Key, row.Key) < 0 {
				v.differ(d, want[0].Key, nil, want[0].Body)
				want = want[1:]
			}
			var body []byte
			if len(want) > 0 && bytes.Equal(want[0].Key, row.Key) {
				body, want = want[0].Body, want[1:]
			}
			if !bytes.Equal(body, row.Body) {
				v.differ(d, row.Key, row.Body, body)
			}
		}
		if len(page) == 0 {
			break
		}
	}
	for _, row := range want {
		v.differ(d, row.Key, nil, row.Body)
	}
	return nil
}

func (v *Verification) differ(d *Definition, key, stored, recomputed []byte) {
	if v.Differs++; len(v.Differences) >= maxDifferences {
		return
	}
	parts := strings.SplitN(string(key[1:]), separator, len(d.Group)+2)
	group := parts[:min(len(d.Group), len(parts))]
	v.Differences = append(v.Differences, Difference{
		Group: group, Stored: describe(d, key, stored), Recomputed: describe(d, key, recomputed),
	})
}

func describe(d *Definition, key, body []byte) string {
	if body == nil {
		return ""
	}
	if string(key[:1]) == rowValue {
		n, err := decodeCount(body)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%d times %s", n, describeValue(d, key))
	}
	g, err := decodeGroup(body, d.width())
	if err != nil {
		return err.Error()
	}
	var parts []string
	for _, s := range g {
		parts = append(parts, fmt.Sprintf("%s %v", s.value, d.numbersOf(s.slot)))
	}
	return strings.TrimSpace(strings.Join(parts, ", "))
}

// numbersOf formats the numbers of a slot, each sum as one number.
func (d *Definition) numbersOf(s slot) []string {
	numbers := []string{strconv.FormatInt(s[slotCount], 10), strconv.FormatInt(s[slotSkipped], 10)}
	at := slotNumbers
	for _, m := range d.Measures {
		if m.Func == Sum || m.Func == Avg {
			numbers = append(numbers, s.sum(at).format(m.Scale))
		}
		if m.Func == Avg {
			numbers = append(numbers, strconv.FormatInt(s[at+2], 10))
		}
		at += m.numbers()
	}
	return numbers
}

// describeValue formats the value that a row counts: see valueKey.
func describeValue(d *Definition, key []byte) string {
	parts := strings.SplitN(string(key), separator, len(d.Group)+2)
	last := parts[len(parts)-1]
	if len(parts) != len(d.Group)+2 || last == "" || int(last[0]) >= len(d.Measures) {
		return fmt.Sprintf("%q", key)
	}
	m, value := d.Measures[last[0]], last[1:]
	if n, ok := readOrdered([]byte(value)); ok && m.Func.numeric() {
		value = formatNumber(n, m.Scale)
	}
	return fmt.Sprintf("%q of %s under %q", value, m.Name, parts[len(d.Group)])
}

// Verified records when a generation was found equal to its recomputation, in an update of the cell.
func Verified(ctx context.Context, tx Tx, generation int64, at time.Time) error {
	all, err := tx.Generations(ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.Number == generation {
			g.Verified = at.UTC().Truncate(time.Millisecond)
			return tx.PutGeneration(ctx, g)
		}
	}
	return nil
}
