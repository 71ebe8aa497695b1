// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"io"
	"sync/atomic"
)

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n atomic.Int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// ratio stops the decompression of a file that expands too much.
type ratio struct {
	r     io.Reader
	name  string
	taken *counter
	out   int64
}

// Read implements io.Reader.
func (r *ratio) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.out += int64(n); r.out > MaxRatio*r.taken.n.Load()+MaxRow {
		return 0, &FileError{
			Name: r.name, Reason: fmt.Sprintf("it unpacks to more than %d times its size", MaxRatio),
			Hint: "if it is meant to, unpack it first",
		}
	}
	return n, err
}
