// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/records"
)

// Limits of failed credentials: a burst, then one each second for an address, and a number each second in all. Beyond
// that the response is 429. Valid credentials are not counted, so guessing does not slow down other clients at the same
// address.
const (
	failuresAtOnce = 10
	failuresInAll  = 100
	sweepEvery     = 10 * time.Second
)

// moved is the unit that a rate counts.
type moved uint8

const (
	requests moved = iota
	recordsMoved
	hitsAdded
)

func (m moved) String() string { return [...]string{"requests", "records", "hits"}[m] }

// spending is a rate of a principal.
type spending struct {
	who string
	of  moved
}

// limited is a fault with the time after which there is room.
type limited struct {
	*Fault
	wait time.Duration
}

func (l *limited) Unwrap() error { return l.Fault }

// budget takes n from the rate of a principal in this second. Without tokens there is no limit.
func (s *Server) budget(who *access.Principal, of moved, n int) error {
	if !who.Named() {
		return nil
	}
	rates := who.Rates.WithDefaults()
	most, burst := rates.Requests, rates.Requests
	switch of {
	case recordsMoved:
		most, burst = rates.Records, max(rates.Records, records.MaxBatch)
	case hitsAdded:
		most, burst = rates.Hits, max(rates.Hits, counter.MaxBatch)
	case requests:
	}
	if wait := s.spent.take(spending{who.Name, of}, most, burst, n, time.Now()); wait > 0 {
		f := fault(CodeRateLimited, "", "%.64q has %d %s a second at this server: try again after the seconds of Retry-After, or create the token with locus token create --rate %s=N", who.Name, most, of, of)
		return &limited{f, wait}
	}
	return nil
}

// failed counts a refused credential in a header; a request without a header is not counted. The error is the same as
// that of guessed.
func (s *Server) failed(r *http.Request) error {
	if len(r.Header["Authorization"]) == 0 {
		return nil
	}
	return s.guessed(r)
}

// guessed counts a refused credential, and returns an error if there are too many.
func (s *Server) guessed(r *http.Request) error {
	if wait := s.failures.take(s.addressOf(r), 1, failuresAtOnce, 1, time.Now()); wait > 0 {
		s.opts.Metrics.Refused("credentials")
		return &limited{fault(CodeRateLimited, "", "too many credentials were not valid: try again after the seconds of Retry-After"), wait}
	}
	return nil
}

// wrongLogin is guessed for a login, which no permission has refused before: it is counted in the audit log too.
func (s *Server) wrongLogin(r *http.Request) error {
	s.svc.Audit().Refused(string(CodeUnauthenticated))
	return s.guessed(r)
}

// mayGuess returns an error if so many credentials of an address failed that the next one would be refused.
func (s *Server) mayGuess(r *http.Request) error {
	if wait := s.failures.full(s.addressOf(r), time.Now()); wait > 0 {
		s.opts.Metrics.Refused("credentials")
		return &limited{fault(CodeRateLimited, "", "too many credentials were not valid: try again after the seconds of Retry-After"), wait}
	}
	return nil
}

// buckets are token buckets. Full ones are forgotten, so there are only as many as were used lately.
type buckets[K comparable] struct {
	inAll *rate.Limiter // of all together, nil for no limit

	mu    sync.Mutex
	of    map[K]*rate.Limiter
	swept time.Time
}

func newBuckets[K comparable](inAll int) *buckets[K] {
	b := &buckets[K]{of: map[K]*rate.Limiter{}}
	if inAll > 0 {
		b.inAll = rate.NewLimiter(rate.Limit(inAll), inAll)
	}
	return b
}

// take takes n tokens from the bucket of a key, which fills by perSecond up to burst. If there are not enough, it takes
// nothing and returns the time until there are. A refused new key leaves no trace.
func (b *buckets[K]) take(key K, perSecond, burst, n int, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.swept) >= sweepEvery {
		b.swept = now
		for key, l := range b.of {
			if l.TokensAt(now) >= float64(l.Burst()) {
				delete(b.of, key)
			}
		}
	}
	l := b.of[key]
	switch {
	case l == nil:
		l = rate.NewLimiter(rate.Limit(perSecond), burst)
	case l.Limit() != rate.Limit(perSecond): // the token was replaced by one with other rates
		l.SetLimitAt(now, rate.Limit(perSecond))
		l.SetBurstAt(now, burst)
	}
	if wait := reserve(l, n, now); wait > 0 {
		return wait
	}
	if b.inAll != nil {
		if wait := reserve(b.inAll, n, now); wait > 0 {
			return wait
		}
	}
	b.of[key] = l
	return 0
}

// full returns the time until one token can be taken for a key, 0 for at once. It takes nothing.
func (b *buckets[K]) full(key K, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.of[key]; l != nil && l.TokensAt(now) < 1 {
		return time.Second
	}
	return 0
}

func reserve(l *rate.Limiter, n int, now time.Time) time.Duration {
	r := l.ReserveN(now, n)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
