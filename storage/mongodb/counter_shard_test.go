// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/storage/mongodb"
)

// sharded opens a database behind a simulated mongos whose shards can be taken down.
func sharded(t *testing.T, timeout time.Duration) (*mongotest.Proxy, *mongodb.Documents) {
	t.Helper()
	proxy := mongotest.NewProxy(t, mongotest.URI(t))
	proxy.Mongos()
	return proxy, documentsWithin(t, proxy.URI(), timeout)
}

// metricsOf returns n metrics with a common prefix.
func metricsOf(prefix string, n int) (metrics []counter.Metric) {
	for i := range n {
		metrics = append(metrics, counter.Metric(fmt.Sprint(prefix, i)))
	}
	return metrics
}

// TestP02_AShardThatIsDown takes down the shard with the days of some metrics while batches with and without a key
// count these and others. The others are counted, without delay from the second batch on; the former are refused by
// name and nothing is written for them. When the shard is back all are counted, and a partly refused batch counts
// completely.
func TestP02_AShardThatIsDown(t *testing.T) {
	t.Parallel()
	proxy, d := sharded(t, 50*time.Second) // the timeout for a shard is a tenth of this
	r, ctx := recorder(t, d), context.Background()
	healthy, ill := metricsOf("healthy ", 6), metricsOf("ill ", 3)
	all := slices.Concat(healthy, ill)
	if results, err := r.Add(ctx, hits(all...)); err != nil || slices.ContainsFunc(results, func(err error) bool { return err != nil }) {
		t.Fatal(results, err)
	}
	illIDs := idsOf(t, d, ill)
	up := proxy.Down(func(collection, id string) bool {
		return collection == "counter_day" && slices.ContainsFunc(illIDs, func(ill string) bool { return strings.HasSuffix(id, ill) })
	}, 1)
	send := func(key counter.Key) {
		t.Helper()
		answer, err := r.AddBatch(ctx, counter.Batch{Hits: hits(all...), Key: key})
		if err != nil || answer.Replayed {
			t.Fatalf("%v, replayed %v: hits of it were refused", err, answer.Replayed)
		}
		for i, err := range answer.Results {
			switch refused := i >= len(healthy); {
			case !refused && err != nil:
				t.Errorf("%s, whose shard is up: %v", all[i], err)
			case refused && (!errors.Is(err, cell.ErrUnavailable) || errors.Is(err, counter.ErrCommitUnknown) || !strings.Contains(err.Error(), string(all[i]))):
				t.Errorf("%s, whose shard is down: %v, want that it is unavailable, with its name", all[i], err)
			}
		}
	}
	send("")
	asked := proxy.Asked()
	for i := range 5 {
		send(counter.Key(fmt.Sprint("key-", i%3))) // two of them are sent again
	}
	if more := proxy.Asked() - asked; asked != 1 || more > 0 {
		t.Errorf("the first batch asked for days of the shard that is down %d times, and later ones %d times: want 1 and 0", asked, more)
	}
	if n := proxy.Kept("insert") + proxy.Kept("update"); n > 0 {
		t.Errorf("%d writes were sent to a shard that is down", n)
	}
	for _, m := range healthy {
		if n := total(t, r, m); n != 5 {
			t.Errorf("%s: %d, want 5", m, n)
		}
	}

	up()
	deadline := time.Now().Add(8 * time.Minute)
	for r.Hit(ctx, "ill 0") != nil || r.Hit(ctx, "ill 1") != nil || r.Hit(ctx, "ill 2") != nil {
		if time.Now().After(deadline) {
			t.Fatal("the shard is up, and its metrics are refused still")
		}
		time.Sleep(10 * time.Millisecond)
	}
	before := total(t, r, "ill 0")
	answer, err := r.AddBatch(ctx, counter.Batch{Hits: hits(all...), Key: "key-0"})
	if err != nil || slices.ContainsFunc(answer.Results, func(err error) bool { return err != nil }) {
		t.Errorf("a batch that was refused in part, sent again: %v, %v", answer.Results, err)
	}
	if n, old := total(t, r, "ill 0")-before, total(t, r, "healthy 0"); n != 1 || old != 5 {
		t.Errorf("of the batch %d hits counted that were refused before, want 1; of what was counted before there are %d, want 5", n, old)
	}
}

// TestP02_AShardWithDedupRecordsIsDown takes down documents that all batches need, or one batch, or one metric. Hits
// that do not need them are counted; the others are refused, and count once when the documents are back.
func TestP02_AShardWithDedupRecordsIsDown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		down    func(collection, id string) bool
		refused func(key counter.Key, m counter.Metric) bool
	}{
		"the summary of a batch": {
			func(collection, id string) bool { return collection == "counter_batch" && id == "kill" },
			func(key counter.Key, _ counter.Metric) bool { return key == "ill" },
		},
		"the dedup horizon": {
			func(collection, id string) bool { return collection == "counter_state" && id == "floor" },
			func(key counter.Key, _ counter.Metric) bool { return key != "" },
		},
		"the number of a metric": {
			func(collection, id string) bool { return collection == "metric_name" && id == "ill" },
			func(_ counter.Key, m counter.Metric) bool { return m == "ill" },
		},
		"a metric": {
			func(collection, id string) bool { return collection == "metric" && id == "0000000001" },
			func(_ counter.Key, m counter.Metric) bool { return m == "ill" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, d := sharded(t, 2*time.Minute)
			r, ctx := recorder(t, d), t.Context()
			for _, m := range []counter.Metric{"ill", "healthy"} {
				if err := r.Hit(ctx, m); err != nil {
					t.Fatal(err)
				}
			}
			up := proxy.Down(tc.down, 0)
			r = recorder(t, d) // has not read the metrics yet
			batches := []counter.Batch{{}, {Key: "ill"}, {Key: "fine"}}
			counted := map[counter.Metric]int64{"ill": 1, "healthy": 1}
			for i := range batches {
				b := &batches[i]
				b.Hits = hits("ill", "healthy")
				answer, err := r.AddBatch(ctx, *b)
				if err != nil || answer.Replayed {
					t.Fatal(answer, err)
				}
				for j, err := range answer.Results {
					m := b.Hits[j].Metric
					if refused := tc.refused(b.Key, m); refused != errors.Is(err, cell.ErrUnavailable) || refused != (err != nil) {
						t.Errorf("key %q, %s: %v; want that it is refused: %v", b.Key, m, err, refused)
					}
					if err == nil {
						counted[m]++
					}
				}
			}
			up()
			r = recorder(t, documents(t, proxy.URI())) // has not noticed yet that documents were away
			for m, want := range counted {
				if n := total(t, r, m); n != want {
					t.Errorf("%s: %d, want %d", m, n, want)
				}
			}
			for range 2 {
				for _, b := range batches[1:] {
					answer, err := r.AddBatch(ctx, b)
					if err != nil || slices.ContainsFunc(answer.Results, func(err error) bool { return err != nil }) {
						t.Fatalf("sent again: %v, %v", answer.Results, err)
					}
				}
			}
			want := int64(4)
			if tc.refused("", "ill") { // of the batch without a key, which is not sent again
				want = 3
			}
			if ill, healthy := total(t, r, "ill"), total(t, r, "healthy"); ill != want || healthy != 4 {
				t.Errorf("%d and %d in the end, want %d and 4", ill, healthy, want)
			}
		})
	}
}

// idsOf returns the suffixes of the _ids of the days of metrics.
func idsOf(t *testing.T, d *mongodb.Documents, metrics []counter.Metric) (ids []string) {
	t.Helper()
	for i, at := range d.Metrics().Places(context.Background(), metrics, false, false) {
		if at.Err != nil || at.ID == 0 {
			t.Fatalf("%s: %v", metrics[i], at.Err)
		}
		ids = append(ids, fmt.Sprintf("/%010x", int64(at.ID)))
	}
	return ids
}
