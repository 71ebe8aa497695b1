// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"sync"
	"time"
)

const (
	// lookAge is how old an answer may be that a page shows again, for somebody else.
	lookAge = time.Second
	// lookShare is how much longer than it took to make it an answer is shown: however many look, the stores
	// spend no more than this part of their time on the question.
	lookShare = 10
	// maxLooks is how many answers are remembered.
	maxLooks = 256
)

// looks remembers what pages asked the stores, so that those who watch a page cost no more than one question
// a second, and less of what takes long.
type looks struct {
	mu   sync.Mutex
	seen map[string]*looked
}

// looked is the answer to one question. done is closed once it is there; good says until when it is shown.
type looked struct {
	done  chan struct{}
	good  time.Time
	value any
	err   error
}

func newLooks() *looks { return &looks{seen: map[string]*looked{}} }

// recently answers as ask did a moment ago, or asks. Who comes meanwhile waits for the same answer.
func recently[T any](ctx context.Context, l *looks, key string, ask func(context.Context) (T, error)) (T, error) {
	now, mine := time.Now(), false
	l.mu.Lock()
	entry := l.seen[key]
	if entry == nil || entry.over(now) {
		l.forget(now)
		entry, mine = &looked{done: make(chan struct{})}, true
		l.seen[key] = entry
	}
	l.mu.Unlock()
	if mine {
		defer close(entry.done) // also if it panics: nobody waits for ever
		entry.good = now.Add(patience)
		entry.err = context.Canceled
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		entry.value, entry.err = ask(asking)
		ended := time.Now()
		entry.good = ended.Add(max(lookAge, lookShare*ended.Sub(now)))
	} else {
		select {
		case <-entry.done:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
	value, _ := entry.value.(T)
	return value, entry.err
}

// over tells whether an answer is too old to be shown. One that is still waited for is not.
func (l *looked) over(now time.Time) bool {
	select {
	case <-l.done:
		return now.After(l.good)
	default:
		return false
	}
}

// drop has the next who asks a question ask the stores.
func (l *looks) drop(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, key)
}

// forget makes room for another answer. l.mu is held.
func (l *looks) forget(now time.Time) {
	for key, entry := range l.seen {
		if entry.over(now) {
			delete(l.seen, key)
		}
	}
	for key := range l.seen {
		if len(l.seen) < maxLooks {
			break
		}
		delete(l.seen, key)
	}
}
