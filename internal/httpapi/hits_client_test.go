// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/client"
	"github.com/locus-db/locus/counter"
)

// The client and the server, over a connection that loses every third answer: every acknowledged hit counts exactly
// once, and nothing else counts.
func TestP02_LostAnswersOfTheServer(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var requests atomic.Int64
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		f.server.ServeHTTP(rec, r)
		if requests.Add(1)%3 == 1 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(rec.Code)
		_, _ = rec.Body.WriteTo(w)
	}))
	defer way.Close()
	c, err := client.New(way.URL, &client.Options{Rand: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	const callers, rounds = 8, 6
	var work sync.WaitGroup
	for i := range callers {
		work.Go(func() {
			for range rounds {
				results, err := c.Add(t.Context(), []counter.Hit{{Metric: "all", N: 1}, {Metric: counter.Metric(fmt.Sprint("caller ", i)), N: 2}, {Metric: "locus.hits", N: 1}})
				if err != nil || results[0] != nil || results[1] != nil {
					t.Errorf("%v, %v", results, err)
				}
				var refused *client.Error
				if !errors.As(results[2], &refused) || refused.Code != "invalid" || refused.Pointer == "" {
					t.Errorf("%v", results[2])
				}
			}
		})
	}
	work.Wait()
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if all := f.today("all"); *all.Total != callers*rounds {
		t.Errorf("%d were counted", *all.Total)
	}
	for i := range callers {
		if one := f.today(fmt.Sprint("caller+", i)); *one.Total != 2*rounds {
			t.Errorf("caller %d: %d were counted", i, *one.Total)
		}
	}
	if requests.Load() < 6 {
		t.Errorf("%d requests", requests.Load())
	}
}
