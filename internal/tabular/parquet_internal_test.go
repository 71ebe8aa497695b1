// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// A page that unpacks to more than its header says is refused before the library unpacks it.
func TestCheckSize(t *testing.T) {
	t.Parallel()
	text := make([]byte, 1<<20)
	for codec, of := range map[format.CompressionCodec]compress.Codec{
		format.Zstd: &zstd.Codec{}, format.Gzip: &gzip.Codec{}, format.Brotli: &brotli.Codec{}, format.Lz4Raw: &lz4.Codec{},
	} {
		page, err := of.Encode(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkSize(codec, page, int64(len(text))); err != nil {
			t.Errorf("%v: %v", codec, err)
		}
		if err := checkSize(codec, page, int64(len(text))-1); err == nil {
			t.Errorf("%v: a page that unpacks to more was accepted", codec)
		}
	}
	if err := checkSize(format.Snappy, snappy.Encode(nil, text), int64(len(text))); err != nil {
		t.Error(err)
	}
	if err := checkSize(format.Snappy, binary.AppendUvarint(nil, 1<<32-1), 1000); err == nil {
		t.Error("a page of snappy that says 4 GiB was accepted")
	}
	if err := checkSize(format.LZO, nil, 0); err == nil {
		t.Error("LZO was accepted")
	}
}
