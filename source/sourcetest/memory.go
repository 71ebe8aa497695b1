// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/source"
)

// Broker is a broker in memory with one stream. It is safe for concurrent use.
type Broker struct {
	mu         sync.Mutex
	log        int
	partitions map[int32][]source.Message
	trimmed    map[int32]int64
	arrived    chan struct{} // closed when a message arrives
}

// NewBroker returns an empty broker.
func NewBroker() *Broker {
	return &Broker{log: 1, partitions: map[int32][]source.Message{}, trimmed: map[int32]int64{},
		arrived: make(chan struct{})}
}

// Publish appends a message to a partition, and returns its offset.
func (b *Broker) Publish(partition int32, at time.Time, key, value string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	offset := int64(len(b.partitions[partition]))
	b.partitions[partition] = append(b.partitions[partition], source.Message{
		Partition: partition, Offset: offset, Key: []byte(key), Value: []byte(value), Time: at,
	})
	close(b.arrived)
	b.arrived = make(chan struct{})
	return offset
}

// Trim drops the messages of a partition before an offset.
func (b *Broker) Trim(partition int32, before int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trimmed[partition] = max(b.trimmed[partition], before)
}

// Open begins to read.
func (b *Broker) Open(_ context.Context, at source.Position) (source.Stream, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	log := fmt.Sprint("log ", b.log)
	if at.Log != "" && at.Log != log {
		return nil, fmt.Errorf("%w: another log", source.ErrGap)
	}
	next := map[int32]int64{}
	for p, messages := range b.partitions {
		n, begun := at.Next[p]
		if begun && (n < b.trimmed[p] || n > int64(len(messages))) {
			return nil, fmt.Errorf("%w: partition %d has %d to %d, and %d was next", source.ErrGap, p, b.trimmed[p],
				len(messages), n)
		}
		next[p] = max(n, b.trimmed[p])
	}
	return &stream{broker: b, began: source.Position{Log: log, Next: next}, next: maps.Clone(next)}, nil
}

type stream struct {
	broker *Broker
	began  source.Position
	next   map[int32]int64
}

func (s *stream) Position() source.Position { return s.began.Clone() }

func (s *stream) Fetch(ctx context.Context, limit int) (batch []source.Message, err error) {
	for {
		s.broker.mu.Lock()
		arrived := s.broker.arrived
		for _, p := range slices.Sorted(maps.Keys(s.broker.partitions)) {
			from := s.broker.partitions[p][s.next[p]:]
			from = from[:min(len(from), limit-len(batch))]
			batch = append(batch, from...)
			s.next[p] += int64(len(from))
		}
		s.broker.mu.Unlock()
		if len(batch) > 0 {
			return batch, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *stream) Read(_ context.Context, partition int32, offset int64) (m source.Message, err error) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	messages := s.broker.partitions[partition]
	if offset < s.broker.trimmed[partition] || offset >= int64(len(messages)) {
		return m, source.ErrGone
	}
	return messages[offset], nil
}

func (s *stream) Ends(context.Context) (map[int32]int64, error) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	ends := map[int32]int64{}
	for p, messages := range s.broker.partitions {
		ends[p] = int64(len(messages))
	}
	return ends, nil
}

func (s *stream) Mark(context.Context, source.Position) error { return nil }
func (s *stream) Close() error                                { return nil }

// Installation is a source.Store and a source.Target in memory: records, the progress of one source, and the token of
// its owner. It is not safe for concurrent use.
type Installation struct {
	Records  map[entity.Ref]source.Op
	Progress source.Progress
	Letters  []source.Letter
	// Token is the token of the owner.
	Token int64
	// Refuse, if set, returns why an operation is refused.
	Refuse func(source.Op) error
}

// NewInstallation returns an empty installation.
func NewInstallation() *Installation { return &Installation{Records: map[entity.Ref]source.Op{}} }

// Backup returns a copy.
func (i *Installation) Backup() *Installation {
	b := *i
	b.Records, b.Letters, b.Progress.Position = maps.Clone(i.Records), slices.Clone(i.Letters), i.Progress.Position.Clone()
	return &b
}

// Load returns the progress.
func (i *Installation) Load(context.Context) (source.Progress, error) {
	p := i.Progress
	p.Position = p.Position.Clone()
	return p, nil
}

// Save replaces the progress.
func (i *Installation) Save(_ context.Context, token int64, p *source.Progress, add []source.Letter,
	remove []source.At) (again []source.Letter, err error) {
	if token != i.Token {
		return nil, lease.ErrLost
	}
	i.Letters = slices.DeleteFunc(i.Letters, func(l source.Letter) bool { return slices.Contains(remove, l.At) })
	for _, l := range add {
		i.Letters = slices.DeleteFunc(i.Letters, func(old source.Letter) bool { return old.At == l.At })
		i.Letters = append(i.Letters, l)
	}
	for _, l := range i.Letters {
		if l.Again {
			again = append(again, l)
		}
	}
	p.Dead = len(i.Letters)
	i.Progress = *p
	i.Progress.Position = p.Position.Clone()
	return again, nil
}

// Apply writes records.
func (i *Installation) Apply(_ context.Context, ops []source.Op) ([]error, error) {
	refused := make([]error, len(ops))
	for n, op := range ops {
		if i.Refuse != nil {
			if refused[n] = i.Refuse(op); refused[n] != nil {
				continue
			}
		}
		old, stored := i.Records[op.Ref]
		switch {
		case stored && old.Observed.After(op.Observed):
		case op.Delete:
			delete(i.Records, op.Ref)
		default:
			i.Records[op.Ref] = op
		}
	}
	return refused, nil
}
