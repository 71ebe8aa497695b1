// SPDX-License-Identifier: Apache-2.0

package cell

import "sync"

// remembered is how many puids of keys a directory keeps in memory, at most twice that:
// 32 bytes each.
const remembered = 1 << 15

// facts are what a directory may keep, because it stays true whatever happens: that a
// cell is sealed, and the puid of a key. That an open cell lacks a key is none.
type facts struct {
	mu     sync.RWMutex
	closed map[ID]bool
	// silent are cells that gave no answer when they were last asked.
	silent map[ID]bool
	// young and old are puids: when young is full it takes the place of old, so what is
	// asked for again and again stays.
	young, old map[Key]int64
}

// sealed keeps that a cell is sealed or retired.
func (f *facts) sealed(c ID) {
	if f.isSealed(c) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed == nil {
		f.closed = map[ID]bool{}
	}
	f.closed[c] = true
}

func (f *facts) isSealed(c ID) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.closed[c]
}

// answered keeps whether a cell answered when it was last asked. It is no fact, but a
// reason not to wait for a cell that may not be needed.
func (f *facts) answered(c ID, did bool) {
	f.mu.RLock()
	same := f.silent[c] == !did
	f.mu.RUnlock()
	if same {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent == nil {
		f.silent = map[ID]bool{}
	}
	if did {
		delete(f.silent, c)
	} else {
		f.silent[c] = true
	}
}

// mayReadAhead reports whether what a cell answers now holds later, and it will answer.
func (f *facts) mayReadAhead(c ID) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.closed[c] && !f.silent[c]
}

// puid returns the puid that a key was found to have, Nothing if none is kept.
func (f *facts) puid(k Key) int64 {
	f.mu.RLock()
	puid, isYoung := f.young[k]
	if !isYoung {
		puid = f.old[k]
	}
	f.mu.RUnlock()
	if !isYoung && puid != Nothing {
		f.found(k, puid)
	}
	return puid
}

// found keeps the puid of a key.
func (f *facts) found(k Key, puid int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.young) >= remembered || f.young == nil {
		f.young, f.old = make(map[Key]int64), f.young
	}
	f.young[k] = puid
}

// forget lets go of the puid of a key.
func (f *facts) forget(k Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.young, k)
	delete(f.old, k)
}
