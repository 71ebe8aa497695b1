// SPDX-License-Identifier: Apache-2.0

package rolluptest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/rollup"
)

// shelf is the model with at most one bug that a backend could have.
type shelf struct {
	rollup.Store
	bug string
	// remembered are the generations that the transaction has read.
	remembered []rollup.Generation
	others     *others
}

// others returns to every second reader the result of the previous one.
type others struct {
	n           int
	generations []rollup.Generation
	rollups     []rollup.Rollup
}

func (s *shelf) Rollups(ctx context.Context) ([]rollup.Rollup, error) {
	all, err := s.Store.Rollups(ctx)
	switch s.bug {
	case "names in the order of people":
		people := strings.NewReplacer("-", "", "_", "")
		slices.SortStableFunc(all, func(a, b rollup.Rollup) int { return cmp.Compare(people.Replace(a.Name), people.Replace(b.Name)) })
	case "readers of rollups do not wait":
		if s.others.n++; s.others.n%2 == 0 {
			return s.others.rollups, nil
		}
		s.others.rollups = all
	}
	return all, err
}

func (s *shelf) PutRollup(ctx context.Context, r rollup.Rollup) error {
	switch s.bug {
	case "dropped rollups go":
		if r.Dropped() {
			return nil
		}
	case "the next version is forgotten":
		r.Next = nil
	case "numbers of 53 bits":
		r.Last = int64(float64(r.Last>>10)) << 10
	case "conditions are forgotten":
		if r.Serving != nil {
			v := *r.Serving
			v.Definition.Where = nil
			r.Serving = &v
		}
	}
	return s.Store.PutRollup(ctx, r)
}

func (s *shelf) Generations(ctx context.Context) ([]rollup.Generation, error) {
	all, err := s.Store.Generations(ctx)
	switch s.bug {
	case "numbers in the order of text":
		slices.SortFunc(all, func(a, b rollup.Generation) int { return cmp.Compare(fmt.Sprint(a.Number), fmt.Sprint(b.Number)) })
	case "generations are remembered":
		if s.remembered == nil {
			s.remembered = all
		}
		return s.remembered, err
	case "readers do not wait":
		if s.others.n++; s.others.n%2 == 0 {
			return s.others.generations, nil
		}
		s.others.generations = all
	}
	return all, err
}

func (s *shelf) PutGeneration(ctx context.Context, g rollup.Generation) error {
	switch s.bug {
	case "seconds only":
		g.At = g.At.Truncate(time.Second)
	case "no reason":
		g.Reason = ""
	case "no watermark below zero":
		g.Watermark = max(g.Watermark, 0)
	case "documents have no home":
		g.StoreID = ""
	}
	return s.Store.PutGeneration(ctx, g)
}

func (s *shelf) DeleteGeneration(ctx context.Context, number int64) error {
	switch s.bug {
	case "deleting twice fails":
		all, err := s.Store.Generations(ctx)
		if !slices.ContainsFunc(all, func(g rollup.Generation) bool { return g.Number == number }) {
			return errors.Join(err, errors.New("no row"))
		}
	case "rows go with their generation":
		if _, err := s.Store.DropRows(ctx, number, 1<<20); err != nil {
			return err
		}
	}
	return s.Store.DeleteGeneration(ctx, number)
}

func (s *shelf) number(generation int64) int64 {
	if s.bug == "generations are one" {
		return 0
	}
	return generation
}

// key returns the key as the bug changes it.
func (s *shelf) key(key []byte) []byte {
	switch s.bug {
	case "keys end at zero":
		key, _, _ = bytes.Cut(key, []byte{0})
	case "keys are text":
		key = bytes.ToValidUTF8(key, []byte("?"))
	case "keys fold":
		key = bytes.ToLower(key)
	case "long keys are cut":
		key = key[:min(len(key), 255)]
	}
	return key
}

func (s *shelf) Rows(ctx context.Context, generation int64, keys [][]byte) ([][]byte, error) {
	if s.bug == "empty batches fail" && len(keys) == 0 {
		return nil, errors.New("no keys")
	}
	keys = slices.Clone(keys)
	for i, key := range keys {
		keys[i] = s.key(key)
	}
	if s.bug == "rows in the order of keys" {
		slices.SortFunc(keys, bytes.Compare)
	}
	bodies, err := s.Store.Rows(ctx, s.number(generation), keys)
	found := map[string]bool{}
	for i, body := range bodies {
		switch s.bug {
		case "missing rows are empty":
			if body == nil {
				bodies[i] = []byte{}
			}
		case "a row is found once":
			if found[string(keys[i])] {
				bodies[i] = nil
			}
		case "long batches are cut":
			if i >= 999 {
				bodies[i] = nil
			}
		}
		found[string(keys[i])] = true
	}
	if s.bug == "missing rows are left out" {
		bodies = slices.DeleteFunc(bodies, func(b []byte) bool { return b == nil })
	}
	return bodies, err
}

func (s *shelf) ScanRows(ctx context.Context, generation int64, ranges []rollup.Range) ([][]rollup.Row, error) {
	answers := make([][]rollup.Row, len(ranges))
	for i, r := range ranges {
		if s.bug == "bytes are signed" {
			all, err := s.Store.ScanRows(ctx, s.number(generation), []rollup.Range{{Prefix: r.Prefix, Limit: 1 << 20}})
			if err != nil {
				return nil, err
			}
			answers[i] = signed(all[0], r)
			continue
		}
		switch s.bug {
		case "after is included":
			if len(r.After) > 0 {
				r.After = r.After[:len(r.After)-1] // After may be the key of the next row
			}
		case "after is ignored by the last":
			if r.Last {
				r.After = nil
			}
		case "prefixes are ignored":
			r.Prefix = nil
		case "prefixes end at 0xff":
			if bytes.HasSuffix(r.Prefix, []byte{0xff}) {
				continue
			}
		case "limits are not kept":
			r.Limit++
		case "long answers are cut":
			r.Limit = min(r.Limit, 2000)
		}
		rows, err := s.Store.ScanRows(ctx, s.number(generation), []rollup.Range{r})
		if err != nil {
			return nil, err
		}
		if answers[i] = rows[0]; s.bug == "the last ones in order" && r.Last {
			slices.Reverse(answers[i])
		}
	}
	switch s.bug {
	case "ranges in any order":
		slices.Reverse(answers)
	case "ranges without rows are left out":
		answers = slices.DeleteFunc(answers, func(rows []rollup.Row) bool { return len(rows) == 0 })
	}
	return answers, nil
}

// signed returns the rows of a range in the order of signed bytes.
func signed(rows []rollup.Row, r rollup.Range) []rollup.Row {
	order := func(a, b []byte) int {
		return slices.CompareFunc(a, b, func(x, y byte) int { return cmp.Compare(int8(x), int8(y)) })
	}
	slices.SortFunc(rows, func(a, b rollup.Row) int { return order(a.Key, b.Key) })
	rows = slices.DeleteFunc(rows, func(row rollup.Row) bool { return r.After != nil && order(row.Key, r.After) <= 0 })
	if r.Last {
		slices.Reverse(rows)
	}
	return rows[:min(r.Limit, len(rows))]
}

func (s *shelf) PutRows(ctx context.Context, generation int64, rows []rollup.Row) error {
	if s.bug == "the context is not asked" {
		ctx = context.Background()
	}
	rows = slices.Clone(rows)
	for i, r := range rows {
		if rows[i].Key = s.key(r.Key); s.bug == "bodies of 64 KiB" {
			rows[i].Body = r.Body[:min(len(r.Body), 1<<16)]
		}
	}
	rows = slices.DeleteFunc(rows, func(r rollup.Row) bool {
		there, _ := s.Store.Rows(ctx, s.number(generation), [][]byte{r.Key})
		return s.bug == "written once" && r.Body != nil && there[0] != nil || s.bug == "nothing is deleted" && r.Body == nil
	})
	return s.Store.PutRows(ctx, s.number(generation), rows)
}

func (s *shelf) DropRows(ctx context.Context, generation int64, limit int) (int, error) {
	dropped, err := s.Store.DropRows(ctx, s.number(generation), limit)
	switch {
	case s.bug == "dropping ignores the limit" && err == nil:
		_, err = s.Store.DropRows(ctx, s.number(generation), 1<<20)
	case s.bug == "dropping tells the limit":
		dropped = limit
	}
	return dropped, err
}
