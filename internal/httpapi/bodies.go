// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// firstBytes is the memory reserved for a body before its first byte arrives.
const firstBytes = 4 << 10

// bodies limits the memory of all request bodies that are being read, queued or processed. Memory is reserved as a body
// arrives, so a slow sender takes little. If there is not enough memory for another body, a slow one is aborted: of the
// client that takes the most memory, the one that began first.
type bodies struct {
	refused func()

	mu      sync.Mutex
	room    int     // bytes left
	reading []*body // in order of arrival
}

// body is a body that is being read.
type body struct {
	client string
	taken  int    // bytes
	stop   func() // aborts the reading; nil once called
}

var errSlowBody = fault(CodeOverloaded, "", "the body arrived too slowly and was dropped: send the request again")

// read reads the whole body of a request of a client. The memory is reserved until free is called, which is never nil.
func (b *bodies) read(w http.ResponseWriter, r *http.Request, client string) (data []byte, free func(), err error) {
	control := http.NewResponseController(w)
	one := &body{client: client, stop: func() { _ = control.SetReadDeadline(time.Unix(1, 0)) }}
	b.mu.Lock()
	b.reading = append(b.reading, one)
	b.mu.Unlock()
	free = func() { b.end(one, true) }
	from := http.MaxBytesReader(w, r.Body, maxBody)
	most := maxBody + 1
	if r.ContentLength >= 0 {
		most = int(r.ContentLength) + 1
	}
	for {
		if len(data) == cap(data) {
			larger := min(max(2*cap(data), firstBytes), most)
			if err := b.take(one, larger-cap(data)); err != nil {
				return nil, free, err
			}
			data = append(make([]byte, 0, larger), data...)
		}
		n, err := from.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == nil && len(data) < most {
			continue
		}
		switch stopped := b.end(one, false); {
		case stopped:
			return nil, free, errSlowBody
		case err == nil || errors.Is(err, io.EOF):
			return data, free, nil
		}
		return nil, free, bodyFault(err)
	}
}

// take reserves more bytes for a body, aborting other bodies if necessary.
func (b *bodies) take(one *body, bytes int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for one.stop != nil && b.room < bytes {
		victim := b.victim(one)
		if victim == nil {
			b.refused()
			return standard(CodeOverloaded)
		}
		b.refused()
		victim.stop()
		victim.stop = nil
		b.room += victim.taken // its reader releases the memory within moments
		victim.taken = 0
	}
	if one.stop == nil {
		return errSlowBody
	}
	b.room -= bytes
	one.taken += bytes
	return nil
}

// victim returns the body to abort.
func (b *bodies) victim(except *body) (found *body) {
	taken := map[string]int{}
	for _, one := range b.reading {
		taken[one.client] += one.taken
	}
	for _, one := range b.reading {
		if one != except && one.taken > 0 && (found == nil || taken[one.client] > taken[found.client]) {
			found = one
		}
	}
	return found
}

// end ends the reading of a body, and reports whether it was aborted.
func (b *bodies) end(one *body, free bool) (stopped bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.reading {
		if b.reading[i] == one {
			b.reading = append(b.reading[:i], b.reading[i+1:]...)
			break
		}
	}
	if free {
		b.room += one.taken
		one.taken = 0
	}
	return one.stop == nil
}
