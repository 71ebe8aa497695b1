// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/kafka"
	"github.com/locus-db/locus/sink/sinktest"
)

func openChanges(t *testing.T, brokers []string, topic string) (*kafka.ChangeSink, error) {
	t.Helper()
	u, err := url.Parse("kafka://" + brokers[0] + "/" + topic)
	if err != nil {
		t.Fatal(err)
	}
	s, err := kafka.OpenChanges(t.Context(), u, secret.Text{})
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func TestChanges_Conformance(t *testing.T) {
	t.Parallel()
	sinktest.RunChanges(t, func(t *testing.T) sinktest.ChangeTarget {
		topic := "trail"
		brokers := cluster(t, kfake.SeedTopics(3, topic))
		s, err := openChanges(t, brokers, topic)
		if err != nil {
			t.Fatal(err)
		}
		return sinktest.ChangeTarget{ChangeSink: s, All: func(ctx context.Context) (map[cell.ID][]sink.Change, error) {
			all := map[cell.ID][]sink.Change{}
			to, _ := url.Parse("kafka://" + brokers[0] + "/" + topic)
			err := s.Each(ctx, to, func(r *kgo.Record) error {
				var c sink.Change
				if err := json.Unmarshal(r.Value, &c); err != nil {
					return err
				}
				if string(r.Key) != c.Cell.String() || len(r.Headers) != 1 {
					return errors.New("the key is not that of the cell")
				}
				all[c.Cell] = append(all[c.Cell], c)
				return nil
			})
			for id, of := range all {
				kept, bad := sinktest.Once(of)
				all[id], err = kept, errors.Join(err, bad)
			}
			return all, err
		}}
	})
}

// A missing topic is not created, because the time for which it should keep the trail is unknown; a compacted topic is
// refused.
func TestChanges_TopicsOfOthers(t *testing.T) {
	t.Parallel()
	brokers := cluster(t)
	if _, err := openChanges(t, brokers, "missing"); err == nil || errors.Is(err, sink.ErrStop) {
		t.Errorf("missing: %v", err)
	}
	must(t, brokers, "compacted")
	if _, err := openChanges(t, brokers, "compacted"); !errors.Is(err, sink.ErrStop) || !strings.Contains(err.Error(), "cleanup.policy=compact") {
		t.Errorf("compacted: %v", err)
	}
}
