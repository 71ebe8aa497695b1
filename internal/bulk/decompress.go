// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

var (
	magicGzip = []byte{0x1f, 0x8b}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
	magicZip  = []byte("PK\x03\x04")
)

// decompress builds the readers from the file to its text. Compression is detected by the first bytes, not by the name.
func (r *Reader) decompress() error {
	in := bufio.NewReaderSize(r.taken, sample)
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return &FileError{Name: r.Name, Reason: "cannot be read", Err: unpath(err)}
	}
	inner := r.Name
	switch {
	case bytes.HasPrefix(head, magicGzip):
		unzip, err := gzip.NewReader(in)
		if err != nil {
			return &FileError{Name: r.Name, Reason: "is not gzip, though it begins like it", Err: err}
		}
		in = bufio.NewReaderSize(&ratio{r: unzip, name: r.Name, taken: r.taken}, sample)
		inner = strings.TrimSuffix(inner, ".gz")
	case bytes.HasPrefix(head, magicZstd):
		unpack, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return &FileError{Name: r.Name, Reason: "is not zstd, though it begins like it", Err: err}
		}
		r.close = append(r.close, func() error { unpack.Close(); return nil })
		in = bufio.NewReaderSize(&ratio{r: unpack, name: r.Name, taken: r.taken}, sample)
		inner = strings.TrimSuffix(inner, ".zst")
	}
	r.compressed = bytes.HasPrefix(head, magicGzip) || bytes.HasPrefix(head, magicZstd)
	r.in, r.inner = in, inner
	if bytes.HasPrefix(head, magicZip) {
		if err := r.unzip(); err != nil {
			return err
		}
	}
	in = r.in
	begin, err := in.Peek(foreignBegin)
	if err != nil && len(begin) == 0 {
		return nil // the reading of the text reports it
	}
	if err := refuseForeign(r.Name, begin); err != nil {
		return err
	}
	r.container, err = containerOf(r.Name, begin)
	return err
}

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
