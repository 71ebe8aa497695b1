// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/client"
	"github.com/locus-db/locus/counter"
)

func connect(t *testing.T, s *server, opts client.Options) *client.Client {
	t.Helper()
	opts.HTTP = &http.Client{Transport: s}
	c, err := client.New("http://locus.example", &opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func shut(t *testing.T, c *client.Client) {
	t.Helper()
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Hit(t.Context(), "late"); !errors.Is(err, counter.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
}

// Whatever is lost on the way, an acknowledged hit counts once, a refused one never, and an commit_unknown one at
// most once.
func TestP02_ClientCountsOnce(t *testing.T) {
	t.Parallel()
	fates := []string{"", "", "", "lost before", "lost after", "overloaded", "draining", "proxy", "commit_unknown", "cut",
		"no connection"}
	for seed := range uint64(9) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, seed))
			s := newServer()
			down := map[string]bool{"m3": seed%4 == 0} // a cell that is down intermittently
			s.fate = func(int) string { return fates[r.IntN(len(fates))] }
			s.refuse = func(m string) string {
				switch {
				case m == "m5":
					return "too_old"
				case down[m] || m == "m3" && r.IntN(2) == 0:
					return "unavailable"
				}
				return ""
			}
			c := connect(t, s, client.Options{Patience: time.Duration(seed%3) * 200 * time.Millisecond})
			var mu sync.Mutex
			least, most := map[string]int64{}, map[string]int64{}
			var work sync.WaitGroup
			for range 16 {
				work.Go(func() {
					for i := range 20 {
						hits := []counter.Hit{{Metric: counter.Metric(fmt.Sprint("m", i%6)), N: 2}, {Metric: "both", N: 1}}
						results, err := c.Add(t.Context(), hits)
						if err != nil {
							t.Error(err)
							continue
						}
						mu.Lock()
						for j, err := range results {
							switch {
							case err == nil:
								least[string(hits[j].Metric)] += hits[j].N
								most[string(hits[j].Metric)] += hits[j].N
							case errors.Is(err, counter.ErrCommitUnknown):
								most[string(hits[j].Metric)] += hits[j].N
							}
						}
						mu.Unlock()
					}
				})
			}
			work.Wait()
			shut(t, c)
			for m, got := range s.counts {
				if got < least[m] || got > most[m] {
					t.Errorf("seed %d: %s was counted %d times, acknowledged %d, perhaps %d", seed, m, got, least[m], most[m])
				}
			}
			if s.counts["m5"] != 0 || least["both"] == 0 && seed%3 == 2 {
				t.Errorf("seed %d: %v, %v", seed, s.counts, least)
			}
		})
	}
}

// While one batch is in flight the next one gathers; a single caller does not wait.
func TestClient_CallersShareRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		c := connect(t, s, client.Options{})
		begin := time.Now()
		if err := c.Hit(t.Context(), "alone"); err != nil || time.Since(begin) != s.took {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		var work sync.WaitGroup
		for range 1500 {
			work.Go(func() {
				if err := c.Hit(t.Context(), "m"); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		shut(t, c)
		if s.requests > 5 || s.counts["m"] != 1500 {
			t.Errorf("%d requests of %v hits, %d counted", s.requests, s.hits, s.counts["m"])
		}
	})
}

// A large call is split into several batches within the size limit; names count with their length in JSON.
func TestClient_LargeCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		c := connect(t, s, client.Options{})
		hits := make([]counter.Hit, 1300)
		for i := range hits {
			hits[i] = counter.Hit{Metric: counter.Metric(strings.Repeat("<", counter.MaxMetric)), N: 1}
		}
		hits[7] = counter.Hit{Metric: "gauge", Kind: counter.Gauge, N: -5}
		hits[8].Metric += "<"
		hits[9].Metric = "\xff"
		results, err := c.Add(t.Context(), hits)
		for i, err := range results {
			if invalid := errors.As(err, new(*counter.InvalidError)); invalid != (i == 8 || i == 9) || !invalid && err != nil {
				t.Errorf("hit %d: %v", i, err)
			}
		}
		if err != nil || s.counts["gauge"] != -5 || s.counts[string(hits[0].Metric)] != 1297 {
			t.Errorf("%v, %v", err, s.hits)
		}
		shut(t, c)
	})
}

// A caller that gives up takes back its unsent hits; sent ones are commit_unknown, and count nevertheless.
func TestClient_WhoGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.took = time.Second
		c := connect(t, s, client.Options{Waiting: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var work sync.WaitGroup
		work.Go(func() {
			results, err := c.Add(ctx, []counter.Hit{{Metric: "sent", N: 1}})
			if err != nil || !errors.Is(results[0], counter.ErrCommitUnknown) {
				t.Errorf("%v, %v", results, err)
			}
		})
		synctest.Wait()
		for _, m := range []counter.Metric{"queued", "no room"} {
			work.Go(func() {
				if _, err := c.Add(ctx, []counter.Hit{{Metric: m, N: 1}}); !errors.Is(err, counter.ErrOverloaded) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", m, err)
				}
			})
		}
		work.Wait()
		shut(t, c)
		if len(s.counts) != 1 || s.counts["sent"] != 1 {
			t.Errorf("%v", s.counts)
		}
	})
}

// If the server is unreachable nothing is counted, and clients report this after their patience; if it does not
// reply, hits are commit_unknown. Close does not wait forever.
func TestClient_ServerIsGone(t *testing.T) {
	t.Parallel()
	for fate, unsure := range map[string]bool{"no connection": false, "lost before": true, "overloaded": false, "proxy": true} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.fate = func(int) string { return fate }
			c := connect(t, s, client.Options{Patience: time.Minute, Rand: func() float64 { return 0.5 }})
			begin := time.Now()
			err := c.Hit(t.Context(), "m")
			if took := time.Since(begin); err == nil || errors.Is(err, counter.ErrCommitUnknown) != unsure || took < 50*time.Second || took > time.Minute || s.requests < 20 || s.requests > 60 {
				t.Errorf("%s: %v after %v and %d requests", fate, err, took, s.requests)
			}
			go func() { _ = c.Hit(t.Context(), "m") }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
}

// The answer to a counted hit is lost, and then the disk is full: the server does not look whether it was counted.
func TestP02_LostAnswerAndFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.fate = func(request int) string { return []string{"lost after", "full"}[min(request, 2)-1] }
		c := connect(t, s, client.Options{Patience: time.Minute})
		if err := c.Hit(t.Context(), "m"); s.counts["m"] != 1 || !errors.Is(err, counter.ErrCommitUnknown) || !errors.Is(err, counter.ErrQuota) {
			t.Errorf("counted %d times, %v, want ErrCommitUnknown with the reason", s.counts["m"], err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestClient_RefusesAtOnce(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:7070", "ftp://x", "http://", "http://%zz"} {
		if _, err := client.New(url, nil); err == nil {
			t.Errorf("%q was taken", url)
		}
	}
	if _, err := client.New("http://x", &client.Options{Waiting: -1}); err == nil {
		t.Error("a negative option was taken")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.fate = func(int) string { return "redirect" }
		c := connect(t, s, client.Options{})
		var e *client.Error
		if err := c.Hit(t.Context(), "m"); !errors.As(err, &e) || e.Status != 307 || s.requests != 1 {
			t.Errorf("%v after %d requests", err, s.requests)
		}
		shut(t, c)
	})
}
