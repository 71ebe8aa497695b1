// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// checkSize unpacks as much of a page as is needed to verify that it has at most size bytes unpacked, because the
// library allocates without a limit.
func checkSize(codec format.CompressionCodec, page []byte, size int64) error {
	n := int64(len(page))
	switch codec {
	case format.Uncompressed:
	case format.Snappy:
		length, err := snappy.DecodedLen(page)
		if err != nil {
			return err
		}
		n = int64(length)
	case format.Lz4Raw:
		if _, err := lz4.UncompressBlock(page, make([]byte, size)); err != nil {
			return err
		}
		return nil
	default:
		unpacked, err := unpacker(codec, page)
		if err != nil {
			return err
		}
		if n, err = io.Copy(io.Discard, io.LimitReader(unpacked, size+1)); err != nil {
			return err
		}
	}
	if n > size {
		return fmt.Errorf("a page unpacks to more than the %d bytes that its header says", size)
	}
	return nil
}

func unpacker(codec format.CompressionCodec, page []byte) (io.Reader, error) {
	switch codec {
	case format.Gzip:
		return gzip.NewReader(bytes.NewReader(page))
	case format.Brotli:
		return brotli.NewReader(bytes.NewReader(page)), nil
	case format.Zstd:
		d, err := zstd.NewReader(bytes.NewReader(page), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("the compression %v is not read", codec)
}
