// SPDX-License-Identifier: Apache-2.0

package perdocument_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/perdocumenttest"
	"github.com/locus-db/locus/internal/perdocument"
)

// one is a database with one cell and one metric.
type one struct{ perdocument.Database }

func (one) List() []string                 { return []string{"one"} }
func (o one) Cell(string) counter.Database { return o.Counters() }

func (one) Places(_ context.Context, metrics []counter.Metric, _, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	for i := range metrics {
		places[i] = counter.Place{Cell: "one", ID: 1}
	}
	return places
}

// A batch is sent twice, because the reply to one of its two days was lost. Both days count it once.
func ExampleDatabase_Counters() {
	lost := false
	db := perdocumenttest.NewMemory(func(s perdocumenttest.Step) perdocumenttest.Fault {
		if s.Of == perdocumenttest.DayDocument && s.Write && !lost {
			lost = true
			return perdocumenttest.LostReply
		}
		return perdocumenttest.NoFault
	})
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r, err := counter.New(one{db}, &counter.Options{Now: func() time.Time { return now }})
	if err != nil {
		panic(err)
	}
	b := counter.Batch{Key: "order-17", Hits: []counter.Hit{
		{Metric: "sales", At: now.Add(-24 * time.Hour), N: 3},
		{Metric: "sales", At: now, N: 4},
	}}
	for range 2 {
		answer, err := r.AddBatch(context.Background(), b)
		if err != nil {
			panic(err)
		}
		for _, err := range answer.Results {
			fmt.Println(err == nil, errors.Is(err, counter.ErrCommitUnknown))
		}
	}
	s, err := r.Series(context.Background(), counter.Query{Metrics: []counter.Metric{"sales"}, Step: counter.ByDay, From: now.Add(-36 * time.Hour), To: now.Add(12 * time.Hour)})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Lines[0].Values)
	if err := r.Close(); err != nil {
		panic(err)
	}
	// Output:
	// false true
	// true false
	// true false
	// true false
	// [3 4]
}
