// SPDX-License-Identifier: Apache-2.0

package countertest_test

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/counter"
)

func (s *shelf) DedupHorizon(ctx context.Context) (int64, error) {
	horizon, err := s.Store.DedupHorizon(ctx)
	switch s.bug {
	case "raising does not wait":
		if s.others.second() { // every second read
			horizon++
		}
	case "the dedup horizon falls":
		horizon = s.others.horizon
	case "writes are seen later":
		if s.horizon == nil {
			s.horizon = &horizon
		}
		horizon = *s.horizon
	}
	return horizon, err
}

func (s *shelf) RaiseDedupHorizon(ctx context.Context, horizon int64) error {
	if s.bug == "floors of 53 bits" {
		horizon = int64(float64(horizon))
	}
	s.others.horizon = horizon
	return s.Store.RaiseDedupHorizon(ctx, horizon)
}

func (s *shelf) key(key counter.Key) counter.Key {
	switch s.bug {
	case "keys fold":
		return counter.Key(strings.ToLower(string(key)))
	case "keys of 127 bytes":
		return key[:min(len(key), 127)]
	case "blanks are cut":
		return counter.Key(strings.TrimSpace(string(key)))
	}
	return key
}

func (s *shelf) kept(of counter.DedupRecord) counter.DedupRecord {
	switch s.bug {
	case "prints of 8 bytes":
		clear(of.Print[8:])
	case "results are text":
		of.Results = []byte(strings.ToValidUTF8(string(of.Results), "?"))
	case "results are forgotten":
		of.Results = nil
	case "times are not negative":
		of.Newest = max(of.Newest, 0)
	case "numbers of 63 bits":
		of.Seq &= math.MaxInt64
	}
	return of
}

func (s *shelf) found(all []counter.DedupRecord) []counter.DedupRecord {
	switch s.bug {
	case "what is not remembered is left out":
		return slices.DeleteFunc(all, func(of counter.DedupRecord) bool { return of.Newest == 0 })
	case "batches in the order of keys":
		if len(all) == 5 {
			slices.Reverse(all)
		}
	case "readers of batches do not wait", "readers of producers do not wait":
		if s.others.second() && len(s.others.answer) == len(all) {
			return slices.Clone(s.others.answer)
		}
		s.others.answer = slices.Clone(all)
	}
	return all
}

func (s *shelf) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	keys = slices.Clone(keys)
	for i, key := range keys {
		keys[i] = s.key(key)
	}
	all, err := s.Store.Batches(ctx, keys)
	return s.found(all), err
}

func (s *shelf) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	batches = slices.Clone(batches)
	for i, b := range batches {
		there, err := s.Store.Batches(ctx, []counter.Key{b.Key})
		if err != nil {
			return err
		}
		if s.bug == "batches are written once" && there[0].Print != [16]byte{} {
			b.DedupRecord = there[0]
		}
		batches[i] = counter.KeyedBatch{Key: s.key(b.Key), DedupRecord: s.kept(b.DedupRecord)}
	}
	return s.Store.PutBatches(ctx, batches)
}

func (s *shelf) Producers(ctx context.Context, ids []counter.Producer) ([]counter.DedupRecord, error) {
	ids = slices.Clone(ids)
	for i := range ids {
		ids[i] = s.producer(ids[i])
	}
	all, err := s.Store.Producers(ctx, ids)
	return s.found(all), err
}

func (s *shelf) producer(id counter.Producer) counter.Producer {
	if i := slices.Index(id[:], 0); s.bug == "producers end at zero" && i >= 0 {
		clear(id[i:])
	}
	return id
}

func (s *shelf) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	batches = slices.Clone(batches)
	for i, b := range batches {
		batches[i] = counter.ProducedBatch{Producer: s.producer(b.Producer), DedupRecord: s.kept(b.DedupRecord)}
	}
	return s.Store.PutProducers(ctx, batches)
}

func (s *shelf) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	return s.drop(ctx, s.Store.DropBatches, below, limit)
}

func (s *shelf) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	if s.bug == "producers stay" {
		return 0, nil
	}
	return s.drop(ctx, s.Store.DropProducers, below, limit)
}

func (s *shelf) drop(ctx context.Context, drop func(context.Context, int64, int) (int, error), below int64, limit int) (int, error) {
	switch s.bug {
	case "dropping includes the time":
		below = min(below, math.MaxInt64-1) + 1
	case "dropping ignores the limit":
		n, err := drop(ctx, below, math.MaxInt)
		return min(n, limit), err
	case "dropping tells the limit":
		if _, err := drop(ctx, below, limit); err != nil {
			return 0, err
		}
		return limit, nil
	}
	return drop(ctx, below, limit)
}
