// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Limits of the memory that a file may make the library allocate, in bytes.
const (
	maxPage       = 256 << 20 // a page, unpacked
	maxFooter     = 64 << 20
	maxPageHeader = 1 << 20
)

// checkFooter checks the length of the footer, which the library allocates before it reads it.
func checkFooter(r io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(end[4:]) != "PAR1" {
		return errors.New("it does not end with one")
	}
	length := int64(uint32(end[0]) | uint32(end[1])<<8 | uint32(end[2])<<16 | uint32(end[3])<<24)
	if length > size-12 || length > maxFooter {
		return fmt.Errorf("its length of %d bytes cannot be right", length)
	}
	return nil
}

// checkPages reads the pages of a column in a row group: their headers, sizes and checksums, which the library believes
// or does not look at, and the number of their values.
// required reports that the column has no nulls, isNull that it has nothing else.
func checkPages(file *lz4File, size int64, column *format.ColumnMetaData, required, isNull bool) error {
	at := column.DataPageOffset
	if of := column.DictionaryPageOffset; of != 0 {
		at = of
	}
	end := at + column.TotalCompressedSize
	if at < 4 || column.TotalCompressedSize < 0 || end > size || end < at {
		return fmt.Errorf("its pages would be from byte %d to %d of %d", at, end, size)
	}
	values, nulls, dictionary := int64(0), int64(0), false
	paged := true                                          // whether the headers of all pages count the nulls
	counted := required || column.Statistics.NullCount > 0 // 0 may mean that the writer did not count
	var buf []byte
	for at < end {
		header, head, err := pageHeader(file.ReaderAt, at, end)
		if err != nil {
			return err
		}
		if column.Codec == format.Lz4Raw {
			if err := file.hideSize(head, at); err != nil {
				return fmt.Errorf("the page at byte %d: %w", at, err)
			}
		}
		at += int64(len(head))
		packed := int64(header.CompressedPageSize)
		if packed < 0 || packed > end-at || header.UncompressedPageSize < 0 || header.UncompressedPageSize > maxPage {
			return fmt.Errorf("a page of %d bytes, %d unpacked, cannot be right", packed, header.UncompressedPageSize)
		}
		n, isDictionary, err := valuesOf(header)
		if err != nil {
			return err
		}
		if !isDictionary && len(column.Encoding) > 0 && !slices.Contains(column.Encoding, encodingOf(header)) {
			return fmt.Errorf("a page has the encoding %v, which the footer does not list", encodingOf(header))
		}
		if isDictionary && (dictionary || values > 0) {
			return errors.New("there is a second dictionary")
		}
		dictionary, values = dictionary || isDictionary, values+n
		if header.Type == format.DataPageV2 {
			nulls += int64(header.DataPageHeaderV2.V.NumNulls)
		} else if !isDictionary {
			paged = false // only its levels tell
		}
		if buf, err = checkPage(file.ReaderAt, at, column.Codec, header, buf); err != nil {
			return fmt.Errorf("the page at byte %d: %w", at, err)
		}
		at += packed
	}
	if values != column.NumValues {
		return fmt.Errorf("its pages have %d values, the footer says %d", values, column.NumValues)
	}
	if stated := column.Statistics.NullCount; isNull && (paged && nulls != values || stated > 0 && stated != values) {
		return fmt.Errorf("its type has no values, and %d of %d are no nulls", values-max(nulls, stated), values)
	}
	if counted && paged && nulls != column.Statistics.NullCount {
		return fmt.Errorf("its pages have %d nulls, the footer says %d", nulls, column.Statistics.NullCount)
	}
	return nil
}

// pageHeader decodes the header of the page that begins at a byte, and returns its bytes.
func pageHeader(r io.ReaderAt, at, end int64) (*format.PageHeader, []byte, error) {
	protocol := new(thrift.CompactProtocol)
	for room := int64(512); ; room *= 8 {
		head := make([]byte, min(room, end-at))
		if _, err := r.ReadAt(head, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		header := new(format.PageHeader)
		from := protocol.NewReaderFromBytes(head)
		err := thrift.NewDecoder(from).Decode(header)
		if err == nil {
			return header, head[:from.BytesRead()], nil
		}
		if int64(len(head)) == end-at || room > maxPageHeader {
			return nil, nil, fmt.Errorf("the header of a page at byte %d: %w", at, noEOF(err))
		}
	}
}

// valuesOf returns how many values of rows a page has, and whether it is a dictionary, which has none.
func valuesOf(header *format.PageHeader) (n int64, dictionary bool, err error) {
	switch {
	case header.Type == format.DataPage && header.DataPageHeader.Valid:
		n = int64(header.DataPageHeader.V.NumValues)
	case header.Type == format.DataPageV2 && header.DataPageHeaderV2.Valid:
		v := header.DataPageHeaderV2.V
		if n = int64(v.NumValues); v.NumNulls < 0 || v.NumNulls > v.NumValues || v.NumRows > v.NumValues || v.RepetitionLevelsByteLength < 0 || v.DefinitionLevelsByteLength < 0 ||
			int64(v.RepetitionLevelsByteLength)+int64(v.DefinitionLevelsByteLength) > int64(header.CompressedPageSize) {
			return 0, false, errors.New("the header of a page contradicts itself")
		}
	case header.Type == format.DictionaryPage && header.DictionaryPageHeader.Valid:
		// A value takes at least a bit.
		if n := header.DictionaryPageHeader.V.NumValues; n < 0 || int64(n) > 8*int64(header.UncompressedPageSize) {
			return 0, true, fmt.Errorf("a dictionary of %d values cannot be right", n)
		}
		return 0, true, nil
	case header.Type == format.IndexPage:
		return 0, false, nil
	default:
		return 0, false, fmt.Errorf("a page of type %v lacks its header", header.Type)
	}
	if n < 0 {
		return 0, false, fmt.Errorf("a page of %d values cannot be right", n)
	}
	return n, false, nil
}

// encodingOf returns the encoding of the values of a page.
func encodingOf(header *format.PageHeader) format.Encoding {
	if header.Type == format.DataPageV2 {
		return header.DataPageHeaderV2.V.Encoding
	}
	return header.DataPageHeader.V.Encoding
}

// checkPage checks the bytes of a page: their checksum, if there is one, and their unpacked size. It returns buf, or a
// longer buffer in its place.
func checkPage(r io.ReaderAt, at int64, codec format.CompressionCodec, header *format.PageHeader,
	buf []byte) ([]byte, error) {
	page := slices.Grow(buf[:0], int(header.CompressedPageSize))[:header.CompressedPageSize]
	if _, err := io.ReadFull(io.NewSectionReader(r, at, int64(len(page))), page); err != nil {
		return nil, noEOF(err)
	}
	if sum := uint32(header.CRC); sum != 0 && sum != crc32.ChecksumIEEE(page) {
		return nil, errors.New("it does not have its checksum")
	}
	size, rest := int64(header.UncompressedPageSize), page
	if v := header.DataPageHeaderV2; header.Type == format.DataPageV2 {
		levels := int64(v.V.RepetitionLevelsByteLength) + int64(v.V.DefinitionLevelsByteLength) // never compressed
		if rest, size = page[levels:], size-levels; v.V.IsCompressed.Valid && !v.V.IsCompressed.V {
			return page, nil
		}
	}
	if size < 0 || len(rest) == 0 {
		return page, nil
	}
	return page, checkSize(codec, rest, size)
}
