// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/source/sourcetest"
)

// begun is the time of the first message.
var begun = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// decode makes an operation of a message: its value is the name of the record of its key; "" deletes, "bad" is refused.
func decode(m source.Message) (op source.Op, ok bool, err error) {
	if string(m.Value) == "bad" {
		return op, false, errors.New("it is bad")
	}
	op = source.Op{Ref: entity.Ref{Source: "s", Key: string(m.Key)}, Observed: m.Time, Delete: len(m.Value) == 0}
	if !op.Delete {
		op.Attributes = entity.Attributes{"name": {string(m.Value)}}
	}
	return op, true, nil
}

var errKilled = errors.New("killed")

// world is an installation whose processes are killed between steps, with the invariants that must be true of it.
type world struct {
	*sourcetest.Installation
	t      *rapid.T
	broker *sourcetest.Broker
	want   map[string]string          // the expected content, by key
	dead   map[source.At]bool         // messages that are refused
	sent   map[int32][]source.Message // by partition
	kill   string                     // the step before which the process is killed
	during func()                     // runs between a write and its save
}

func (w *world) Apply(ctx context.Context, ops []source.Op) ([]error, error) {
	if w.kill == "before the write" {
		return nil, errKilled
	}
	refused, err := w.Installation.Apply(ctx, ops)
	if w.kill == "within the write" {
		return nil, errKilled
	}
	return refused, err
}

func (w *world) Save(ctx context.Context, token int64, p *source.Progress, add []source.Letter, remove []source.At) ([]source.Letter, error) {
	if during := w.during; during != nil {
		w.during = nil
		during()
	}
	if w.kill == "before the save" {
		return nil, errKilled
	}
	again, err := w.Installation.Save(ctx, token, p, add, remove)
	w.check()
	if w.kill == "after the save" {
		return nil, errKilled
	}
	return again, err
}

// check finds a message before the stored position that is neither stored, nor replaced, nor a dead letter.
func (w *world) check() {
	for partition, next := range w.Progress.Position.Next {
		for _, m := range w.sent[partition][:next] {
			if w.dead[source.At{Partition: partition, Offset: m.Offset}] {
				found := false
				for _, l := range w.Letters {
					found = found || l.Partition == partition && l.Offset == m.Offset
				}
				if !found {
					w.t.Fatalf("message %d:%d was refused, and is no dead letter", partition, m.Offset)
				}
				continue
			}
			rec, stored := w.Records[entity.Ref{Source: "s", Key: string(m.Key)}]
			if len(m.Value) > 0 && (!stored || rec.Observed.Before(m.Time)) && !w.deletedSince(m) {
				w.t.Fatalf("the position is %d:%d, and message %d is not durable: %v", partition, next, m.Offset, rec)
			}
		}
	}
}

func (w *world) deletedSince(m source.Message) bool {
	for _, later := range w.sent[m.Partition][m.Offset+1:] {
		if string(later.Key) == string(m.Key) && len(later.Value) == 0 {
			return true
		}
	}
	return false
}

func (w *world) publish(key int, value string, at time.Time) {
	partition := int32(key % 3)
	m := source.Message{Partition: partition, Key: fmt.Append(nil, "k", key), Value: []byte(value), Time: at}
	m.Offset = w.broker.Publish(partition, at, string(m.Key), value)
	w.sent[partition] = append(w.sent[partition], m)
	switch value {
	case "bad":
		w.dead[source.At{Partition: partition, Offset: m.Offset}] = true
	case "":
		delete(w.want, string(m.Key))
	default:
		w.want[string(m.Key)] = value
	}
}

// Processes are killed between any two steps, two of them believe that they own the source, and the installation is
// restored from backups. The position never passes a message that is not durable, and in the end the records are as the
// messages describe.
func TestP01_StreamsLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			Installation: sourcetest.NewInstallation(), t: t, broker: sourcetest.NewBroker(),
			want: map[string]string{}, dead: map[source.At]bool{}, sent: map[int32][]source.Message{},
		}
		opts := &source.Options{
			Name: "s", Open: w.broker.Open, Decode: decode, Target: w, Store: w, Now: time.Now,
			Batch: rapid.IntRange(1, 5).Draw(t, "batch"), Poll: time.Nanosecond,
		}
		now := begun
		var owners [2]*source.Work
		tokens := [2]int64{}
		ctx := t.Context()
		step := func(i int) {
			if owners[i] == nil {
				w.Token++
				tokens[i] = w.Token
				var err error
				owners[i], err = source.NewWork(ctx, opts, w.Token, func() bool { return tokens[i] != w.Token })
				if err != nil {
					t.Fatal(err)
				}
			}
			switch err := owners[i].Step(ctx); {
			case errors.Is(err, errKilled), errors.Is(err, lease.ErrLost):
				owners[i] = nil
			case err != nil:
				t.Fatal(err)
			}
			w.kill, w.during = "", nil
		}
		var backup *sourcetest.Installation
		kills := []string{"", "", "before the write", "within the write", "before the save", "after the save"}
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "ms")) * time.Millisecond)
				value := rapid.SampledFrom([]string{"", "bad", "a", "b", "c", "d"}).Draw(t, "value")
				w.publish(rapid.IntRange(0, 5).Draw(t, "key"), value, now)
			},
			"step": func(t *rapid.T) {
				w.kill = rapid.SampledFrom(kills).Draw(t, "kill")
				step(rapid.IntRange(0, 1).Draw(t, "owner"))
			},
			"takeover": func(t *rapid.T) { // while the other has written and not saved
				i := rapid.IntRange(0, 1).Draw(t, "owner")
				w.during = func() { owners[1-i] = nil; step(1 - i); step(1 - i) }
				step(i)
			},
			"backup": func(*rapid.T) { backup = w.Backup() },
			"restore": func(*rapid.T) {
				if backup != nil {
					token := w.Token
					*w.Installation = *backup.Backup()
					w.Token, owners = token+1, [2]*source.Work{}
				}
			},
		})
		owners = [2]*source.Work{}
		for range 200 {
			step(0)
		}
		got := map[string]string{}
		for ref, op := range w.Records {
			got[ref.Key] = op.Attributes["name"][0]
		}
		if fmt.Sprint(got) != fmt.Sprint(w.want) {
			t.Fatalf("records %v, want %v", got, w.want)
		}
		if len(w.Letters) != len(w.dead) {
			t.Fatalf("%d dead letters, want %d", len(w.Letters), len(w.dead))
		}
	})
}
