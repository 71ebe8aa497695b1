// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// lookAge is the minimum time for which an answer is cached.
	lookAge = time.Second
	// lookShare times the duration of a query is how long its answer is cached. So the stores spend at most about a
	// tenth of their time on one question, for any number of viewers.
	lookShare = 10
	// lookKeep is for how long an answer that has expired can still be asked for.
	lookKeep = time.Minute
	// maxLooks is how many answers are cached.
	maxLooks = 256
)

// looks caches answers for pages, so that any number of viewers costs at most one query a second, and fewer for slow
// queries.
type looks struct {
	mu   sync.Mutex
	seen map[string]*looked
}

// looked is the cached answer to one question. done is closed once it is there; it is used until good.
type looked struct {
	done  chan struct{}
	good  time.Time
	value any
	err   error
}

func newLooks() *looks { return &looks{seen: map[string]*looked{}} }

// recently returns the cached answer for key, or calls ask. Concurrent callers share one call.
func recently[T any](ctx context.Context, l *looks, key string, ask func(context.Context) (T, error)) (T, error) {
	return recentlyOrLate(ctx, l, key, 0, ask)
}

// recentlyOrLate is recently with an answer that may have expired for as long as late, at most lookKeep.
func recentlyOrLate[T any](ctx context.Context, l *looks, key string, late time.Duration,
	ask func(context.Context) (T, error)) (T, error) {
	now, mine := time.Now(), false
	l.mu.Lock()
	entry := l.seen[key]
	if entry == nil || entry.over(now.Add(-late)) {
		l.forget(now)
		entry, mine = &looked{done: make(chan struct{})}, true
		l.seen[key] = entry
	}
	l.mu.Unlock()
	if mine {
		defer close(entry.done) // also after a panic, so that no caller waits for ever
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

// over reports whether an answer has expired. One that is still being made has not.
func (l *looked) over(now time.Time) bool {
	select {
	case <-l.done:
		return now.After(l.good)
	default:
		return false
	}
}

// drop removes the answers from the cache whose keys begin like this.
func (l *looks) drop(prefix string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.seen {
		if strings.HasPrefix(key, prefix) {
			delete(l.seen, key)
		}
	}
}

// amend changes the cached answers whose keys have the prefix. An answer that is still being computed may have been
// read before the change: it goes to the requests that wait for it and is not cached.
func amend[T any](l *looks, prefix string, change func(key string, value T) T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, entry := range l.seen {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		select {
		case <-entry.done:
			if value, ok := entry.value.(T); ok && entry.err == nil {
				l.seen[key] = &looked{done: entry.done, good: entry.good, value: change(key, value)}
				continue
			}
		default:
		}
		delete(l.seen, key)
	}
}

// forget makes room for another answer. l.mu is held.
func (l *looks) forget(now time.Time) {
	for key, entry := range l.seen {
		if entry.over(now.Add(-lookKeep)) {
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
