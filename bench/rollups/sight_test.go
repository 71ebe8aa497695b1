// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// sights is the log as a follower's readers saw it: the document of each position, and the position that answers had
// reached, with the time.
type sights struct {
	mu   sync.Mutex
	last int64   // position
	log  []entry // in log order
	seen []sight // in the order of position and time
}

type entry struct {
	place int64
	pet   int32
}

// sight is an answer that includes everything up to a position.
type sight struct {
	upTo int64
	at   time.Time // when it arrived
}

// read records entries of the log that a follower has read, possibly again.
func (s *sights) read(entries []entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if e.place > s.last {
			s.last = e.place
			s.log = append(s.log, e)
		}
	}
}

// answered records an answer.
func (s *sights) answered(upTo int64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.seen); n == 0 || s.seen[n-1].upTo < upTo {
		s.seen = append(s.seen, sight{upTo, at})
	}
}

// begin discards the records from before a load.
func (s *sights) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.seen = nil, nil
}

// delay is an update with the times of its commit and visibility, since the beginning of the load.
type delay struct{ commit, visible time.Duration }

// late returns how long the update was not visible: 0 if it was visible before its client got the reply.
func (d delay) late() time.Duration { return max(d.visible-d.commit, 0) }

// delays finds for each commit when it became visible: the n-th change of a document in the log is its n-th commit,
// because only one client writes a document.
func (s *sights) delays(w *written, documents int) ([]delay, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	commits := make([][]time.Duration, documents)
	for _, client := range w.commits {
		for _, c := range client {
			commits[c.pet] = append(commits[c.pet], c.at)
		}
	}
	all := make([]delay, 0, len(s.log))
	next := 0
	for _, e := range s.log {
		for next < len(s.seen) && s.seen[next].upTo < e.place {
			next++
		}
		if next == len(s.seen) || len(commits[e.pet]) == 0 {
			return nil, fmt.Errorf("entry %d of document %d was never visible, or never committed", e.place, e.pet)
		}
		all = append(all, delay{commits[e.pet][0], s.seen[next].at.Sub(w.began)})
		commits[e.pet] = commits[e.pet][1:]
	}
	if len(all) != w.updates() {
		return nil, fmt.Errorf("%d updates were committed, %d are in the log", w.updates(), len(all))
	}
	return all, nil
}

// refreshes are the times of the refreshes of a view.
type refreshes []struct{ began, ended time.Time }

// delays finds for each commit the first refresh that began after it.
func (r refreshes) delays(w *written) ([]delay, error) {
	all := make([]delay, 0, w.updates())
	for _, client := range w.commits {
		next := 0
		for _, c := range client {
			for next < len(r) && r[next].began.Sub(w.began) < c.at {
				next++
			}
			if next == len(r) {
				return nil, fmt.Errorf("a commit after %v came after the last refresh", c.at)
			}
			all = append(all, delay{c.at, r[next].ended.Sub(w.began)})
		}
	}
	return all, nil
}

// tick is the interval between the points of a line.
const tick = 100 * time.Millisecond

// staleness returns, for each tenth of a second, the greatest age of an update before it became visible, or at the
// end of the interval if it was not visible by then.
func staleness(delays []delay, d time.Duration) (points [][2]float64) {
	slices.SortFunc(delays, func(a, b delay) int { return cmp.Compare(a.commit, b.commit) })
	ages := make([]time.Duration, d/tick+1)
	for _, d := range delays {
		if i := int(d.visible / tick); i < len(ages) {
			ages[i] = max(ages[i], d.late())
		}
	}
	oldest := 0
	for i := range ages {
		end := time.Duration(i+1) * tick
		for oldest < len(delays) && delays[oldest].visible <= end {
			oldest++
		}
		if oldest < len(delays) && delays[oldest].commit <= end {
			ages[i] = max(ages[i], end-delays[oldest].commit)
		}
		points = append(points, [2]float64{end.Seconds(), float64(ages[i]) / float64(time.Millisecond)})
	}
	return points
}
