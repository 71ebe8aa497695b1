// SPDX-License-Identifier: Apache-2.0

package nats_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/nats"
	"github.com/locus-db/locus/sink/sinktest"
)

func TestChanges_Conformance(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	sinktest.RunChanges(t, func(t *testing.T) sinktest.ChangeTarget {
		name := strings.NewReplacer("/", "_").Replace(t.Name())
		u, err := url.Parse("nats://" + s.Addr().String() + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		target, err := nats.Open(t.Context(), u, nats.Options{Name: "trail", Secret: secret.New("tea"), History: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = target.Close() })
		return sinktest.ChangeTarget{ChangeSink: target, All: func(ctx context.Context) (map[cell.ID][]sink.Change, error) {
			stream, err := js.Stream(ctx, name)
			if err != nil {
				return nil, err
			}
			all := map[cell.ID][]sink.Change{} // nothing is repeated in a stream
			for n := uint64(1); n <= stream.CachedInfo().State.LastSeq; n++ {
				m, err := stream.GetMsg(ctx, n)
				if err != nil {
					return nil, err
				}
				var c sink.Change
				if err := json.Unmarshal(m.Data, &c); err != nil {
					return nil, err
				}
				all[c.Cell] = append(all[c.Cell], c)
			}
			return all, nil
		}}
	})
}

// A stream that keeps the last message of each subject would lose changes.
func TestChanges_NeedAHistory(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ONE", Subjects: []string{"ONE.*"}, MaxMsgsPerSubject: 1}); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse("nats://" + s.Addr().String() + "/ONE")
	if _, err := nats.Open(t.Context(), u, nats.Options{Name: "trail", Secret: secret.New("tea"), History: true}); err == nil || !strings.Contains(err.Error(), "one message of each subject") {
		t.Errorf("%v", err)
	}
}
