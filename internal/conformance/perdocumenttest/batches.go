// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

func dayBatches(t tester, c Cell, of ...perdocument.DayBatch) []counter.DedupRecord {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s perdocument.Store) ([]counter.DedupRecord, error) {
		return s.DayBatches(ctx, of)
	})
}

// memoryOf returns a day's record of a batch, which differs with n.
func memoryOf(of perdocument.DayBatch, n int64) perdocument.DayMemory {
	return perdocument.DayMemory{DayBatch: of, DedupRecord: dedup(n)}
}

// dedup returns a record that differs in every field with n.
func dedup(n int64) counter.DedupRecord {
	of := counter.DedupRecord{Newest: n, Results: []byte{byte(n), 0, 0xff, '\\', '"'}}
	for i := range of.Print {
		of.Print[i] = byte(n + int64(i)*16)
	}
	return of
}

// daysRememberBatches uses batches that differ in one part each: the day, the metric, the key, the producer.
func daysRememberBatches(t tester, c Cell) {
	at := theDay(1)
	of := []perdocument.DayBatch{
		{Day: at, Key: "a"},
		{Day: theDay(2), Key: "a"},
		{Day: counter.NewBucketKey(day+1, 1), Key: "a"},
		{Day: at, Key: "A"},
		{Day: at, Key: "$a.b\\\x01é"},
		{Day: at, Producer: counter.Producer{'a'}},
		{Day: at, Producer: counter.Producer{}},
		{Day: at, Producer: counter.Producer{15: 0xff}},
		{Day: at, Key: counter.Key(strings.Repeat("k", counter.MaxKey))},
	}
	for again := range int64(2) {
		var put []perdocument.DayMemory
		var want []counter.DedupRecord
		for i, b := range of {
			m := memoryOf(b, again*1_700_000_000_000+int64(i))
			m.Seq = uint64(i)
			put, want = append(put, m), append(want, m.DedupRecord)
		}
		put[1].Results, want[1].Results = nil, nil
		put[2].Newest, want[2].Newest = -1, -1
		put[5].Seq, want[5].Seq = math.MaxUint64, math.MaxUint64
		put[6].Results, want[6].Results = []byte(strings.Repeat("\x00\xff", 70)), []byte(strings.Repeat("\x00\xff", 70))
		slices.Reverse(put)
		update(t, c, func(ctx context.Context, s perdocument.Store) error {
			err := errors.Join(addTallies(ctx, s, 1, 2), s.PutDayBatches(ctx, put))
			got, err2 := s.DayBatches(ctx, of)
			if diff := differ(got, want); diff != "" {
				return errors.New("what days remember, read by the transaction that wrote it (-want +got):\n" + diff)
			}
			return errors.Join(err, err2)
		})
		same(t, "what days remember", dayBatches(t, c, of...), want)
		some := []perdocument.DayBatch{of[5], {Day: at, Key: "nothing"}, of[0],
			{Day: counter.NewBucketKey(day+9, 1), Key: "a"}, of[5]}
		same(t, "what days remember, some twice and some nothing", dayBatches(t, c, some...),
			[]counter.DedupRecord{want[5], {}, want[0], {}, want[5]})
	}
	same(t, "what is remembered of the batch as a whole", batches(t, c, "a"), make([]counter.DedupRecord, 1))
	same(t, "the days", []int64{total(t, c, 1), total(t, c, 2)}, []int64{2, 2})
	update(t, c, compact)
	if dayBatches(t, c, of[0])[0].Print == [16]byte{} {
		t.Fatalf("a day that was packed has forgotten a batch")
	}
}

// daysCountOnce sends one batch 32 times.
func daysCountOnce(t tester, c Cell) {
	of := perdocument.DayBatch{Day: theDay(1), Key: "k"}
	update(t, c, count)
	disturbed(t, c, func(ctx context.Context, s perdocument.Store) error {
		there, err := s.DayBatches(ctx, []perdocument.DayBatch{of})
		if err != nil || there[0].Print != [16]byte{} {
			return err
		}
		return errors.Join(addTallies(ctx, s, 1), s.PutDayBatches(ctx, []perdocument.DayMemory{memoryOf(of, 1)}))
	})
	same(t, "a day in which one batch was counted that was sent 32 times, and a hit before", total(t, c, 1), 2)
}

// aDayForgetsWhatIsSummarised stores a day's record of a batch, then its summary, and then the record of another
// batch in the day.
func aDayForgetsWhatIsSummarised(t tester, c Cell) {
	full := dedup(100)
	full.Seq, full.Results = 5, []byte{0b0110, 1}
	with := func(change func(*counter.DedupRecord)) *counter.DedupRecord {
		r := full
		r.Results = slices.Clone(full.Results)
		change(&r)
		return &r
	}
	for i, test := range []struct {
		what    string
		summary *counter.DedupRecord
		forgets bool
	}{
		{"that nothing says", nil, false},
		{"of which fewer hits are said", with(func(r *counter.DedupRecord) { r.Results[0] = 0b0100 }), false},
		{"of which other hits are said", with(func(r *counter.DedupRecord) { r.Results[1] = 2 }), false},
		{"of which a lower number is said", with(func(r *counter.DedupRecord) { r.Seq-- }), false},
		{"of which an earlier time is said", with(func(r *counter.DedupRecord) { r.Newest-- }), false},
		{"whose number is said, with an earlier time", with(func(r *counter.DedupRecord) { r.Seq++; r.Newest-- }), false},
		{"whose producer's name is used for another one", with(func(r *counter.DedupRecord) { r.Print[0]++ }), false},
		{"that is said as it is", with(func(*counter.DedupRecord) {}), true},
		{"of which more hits are said", with(func(r *counter.DedupRecord) { r.Results[0] = 0b1111; r.Newest++ }), true},
		{"of which all hits are said", with(func(r *counter.DedupRecord) { r.Results = nil }), true},
		{"of which a higher number is said", with(func(r *counter.DedupRecord) { r.Seq++; r.Print[0]++; r.Results[0] = 0 }), true},
	} {
		at, producer := theDay(counter.ID(i+1)), counter.Producer{1, byte(i)}
		of := perdocument.DayBatch{Day: at, Producer: producer}
		about := func(b perdocument.DayBatch, r counter.DedupRecord) func(context.Context, perdocument.Store) error {
			return func(ctx context.Context, s perdocument.Store) error {
				if _, err := s.DayBatches(ctx, []perdocument.DayBatch{b}); err != nil {
					return err
				}
				_, err := s.Batches(ctx, []counter.Key{"another"})
				return errors.Join(err, s.PutDayBatches(ctx, []perdocument.DayMemory{{DayBatch: b, DedupRecord: r}}))
			}
		}
		update(t, c, about(of, full))
		if test.summary != nil {
			update(t, c, func(ctx context.Context, s perdocument.Store) error {
				return s.PutProducers(ctx, []counter.ProducedBatch{{Producer: producer, DedupRecord: *test.summary}})
			})
		}
		same(t, "what a day remembers of a batch before anybody writes to it, "+test.what, dayBatches(t, c, of)[0], full)
		update(t, c, func(ctx context.Context, s perdocument.Store) error { return addTallies(ctx, s, counter.ID(i+1)) })
		update(t, c, about(perdocument.DayBatch{Day: at, Key: "another"}, dedup(7)))
		want := full
		if test.forgets {
			want = counter.DedupRecord{}
		}
		same(t, "what a day remembers of a batch "+test.what, dayBatches(t, c, of)[0], want)
		same(t, "what it remembers of another one",
			dayBatches(t, c, perdocument.DayBatch{Day: at, Key: "another"})[0], dedup(7))
	}
}
