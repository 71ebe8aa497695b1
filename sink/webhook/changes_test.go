// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

func TestChanges_Conformance(t *testing.T) {
	t.Parallel()
	verify, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	sinktest.RunChanges(t, func(t *testing.T) sinktest.ChangeTarget {
		r := &sinktest.Recorder{}
		s := open(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			if err := errors.Join(err, verify.Verify(body, req.Header)); err != nil {
				t.Error(err)
			}
			var c sink.Change
			if err := json.Unmarshal(body, &c); err != nil {
				t.Error(err)
			}
			if want := fmt.Sprintf("hook.%v.%d", c.Cell, c.Seq); req.Header.Get("webhook-id") != want {
				t.Errorf("the id is %q, want %q", req.Header.Get("webhook-id"), want)
			}
			_, _ = r.DeliverChanges(context.Background(), []sink.Change{c})
		}))
		return sinktest.ChangeTarget{ChangeSink: s, All: r.All}
	})
}

// A receiver that rejects a change pauses the sink, because a trail has no gaps.
func TestChanges_RejectedPauses(t *testing.T) {
	t.Parallel()
	n := 0
	s := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 2 {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
	}))
	delivered, err := s.DeliverChanges(t.Context(),
		[]sink.Change{sinktest.ChangeOf(cell.ID{}, 1), sinktest.ChangeOf(cell.ID{}, 2), sinktest.ChangeOf(cell.ID{}, 3)})
	if delivered != 1 || !errors.Is(err, sink.ErrStop) || !strings.Contains(err.Error(), "422") || n != 2 {
		t.Errorf("%d delivered, %d asked, %v", delivered, n, err)
	}
}
