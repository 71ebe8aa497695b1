// SPDX-License-Identifier: Apache-2.0

package cell

import "sync"

// remembered is how many puids of keys a directory caches, at most twice that: 32 bytes each.
const remembered = 1 << 15

// hintCache caches facts that are permanent: that a cell is sealed, and the puid of a key. It does not cache that an
// open cell lacks a key.
type hintCache struct {
	mu     sync.RWMutex
	closed map[ID]bool
	// silent are cells that did not answer the last request.
	silent map[ID]bool
	// young and old are two generations of cached puids: when young is full it replaces old, so frequently used keys
	// stay.
	young, old map[Key]int64
}

// sealed records that a cell is sealed or retired.
func (f *hintCache) sealed(c ID) {
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

func (f *hintCache) isSealed(c ID) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.closed[c]
}

// answered records whether a cell answered the last request. This is not a permanent fact, but a reason not to wait for
// a cell that may not be needed.
func (f *hintCache) answered(c ID, did bool) {
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

// mayReadAhead reports whether the cell is sealed, so that its reply stays valid, and likely to answer.
func (f *hintCache) mayReadAhead(c ID) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.closed[c] && !f.silent[c]
}

// puid returns the cached puid of a key, or Nothing.
func (f *hintCache) puid(k Key) int64 {
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

// found caches the puid of a key.
func (f *hintCache) found(k Key, puid int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.young) >= remembered || f.young == nil {
		f.young, f.old = make(map[Key]int64), f.young
	}
	f.young[k] = puid
}

func (f *hintCache) forget(k Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.young, k)
	delete(f.old, k)
}
