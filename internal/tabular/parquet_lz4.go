// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"cmp"
	"errors"
	"io"
	"slices"
)

// lz4File is a Parquet file as the library has to see it to unpack the pages of LZ4_RAW. If a page takes as many bytes
// unpacked as its header says, the library loses what LZ4 unpacked into a buffer of its own, and returns other bytes
// (https://github.com/parquet-go/parquet-go/issues/608, in v0.32.0). Therefore the headers say that such pages take
// no bytes unpacked. checkPages has checked the true sizes before.
type lz4File struct {
	io.ReaderAt
	sizes []patch // in the order of at
}

// patch replaces the bytes of a file from at on.
type patch struct {
	at    int64
	bytes []byte
}

// hideSize makes the header at byte at say that its page takes no bytes unpacked.
func (f *lz4File) hideSize(header []byte, at int64) error {
	// The first two fields are the type of the page and the size, numbers of 32 bits in the compact protocol of Thrift:
	// a byte each for the field, then the number.
	const field, before = 0x15, 3
	if len(header) <= before || header[0] != field || header[2] != field {
		return errors.New("the fields of its header are in another order than the format has them")
	}
	end := slices.IndexFunc(header[before:], func(b byte) bool { return b < 0x80 })
	if end < 0 {
		return io.ErrUnexpectedEOF
	}
	zero := slices.Repeat([]byte{0x80}, end+1) // 0 in as many bytes as the size
	zero[end] = 0
	i := f.from(at + before)
	f.sizes = slices.Insert(f.sizes, i, patch{at + before, zero})
	return nil
}

// ReadAt implements io.ReaderAt.
func (f *lz4File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, off)
	for i := f.from(off); i < len(f.sizes) && f.sizes[i].at < off+int64(n); i++ {
		from := f.sizes[i].at - off
		copy(p[max(from, 0):n], f.sizes[i].bytes[max(-from, 0):])
	}
	return n, err
}

// from returns the number of the first patch that does not end before byte off.
func (f *lz4File) from(off int64) int {
	i, _ := slices.BinarySearchFunc(f.sizes, off, func(s patch, off int64) int {
		return cmp.Compare(s.at+int64(len(s.bytes)), off+1)
	})
	return i
}
