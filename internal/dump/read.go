// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus/internal/problem"
)

// ErrFile means that a file is no dump, is damaged, or was cut off.
var ErrFile = problem.Class(problem.ErrInvalid, "dump: not a readable dump")

// maxLine limits the bytes of a line. A term-frequency table is the longest.
const maxLine = 256 << 20

// Reader reads a dump.
type Reader struct {
	Header Header

	z    *zstd.Decoder
	in   *bufio.Reader
	line int    // number of the last line read
	text []byte // of the last line read
	kind string // its type
}

// NewReader reads the header of a dump. Close the reader.
func NewReader(r io.Reader) (*Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	d := &Reader{z: z, in: bufio.NewReaderSize(z, 1<<20)}
	if err := d.header(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Reader) header() error {
	if err := d.next(); err != nil {
		return err
	}
	if d.kind != typeHeader {
		return d.errorf("the first line of a dump has the type %q", typeHeader)
	}
	if err := json.Unmarshal(d.text, &d.Header); err != nil {
		return d.errorf("%v", err)
	}
	if d.Header.Format < 1 || d.Header.Format > Format {
		return d.errorf("format %d: this Locus reads 1 to %d; use the release that wrote it, or a later one",
			d.Header.Format, Format)
	}
	if len(d.Header.Salt) != 16 {
		return d.errorf("the salt has %d bytes, not 16", len(d.Header.Salt))
	}
	return nil
}

// Close ends reading.
func (d *Reader) Close() { d.z.Close() }

// errorf returns an error about the last line read.
func (d *Reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrFile, d.line, fmt.Sprintf(format, args...))
}

// next reads a line. The end of the file is an error, because a dump ends with a last line of its own type.
func (d *Reader) next() error {
	d.line++
	d.text = d.text[:0]
	for {
		part, err := d.in.ReadSlice('\n')
		d.text = append(d.text, part...)
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull) && len(d.text) < maxLine:
			continue
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return d.errorf("the file ends before the dump does: it was cut off")
		default:
			return d.errorf("%v", err)
		}
		break
	}
	var of struct {
		Type string `json:"type"`
	}
	// The type comes first, and the values of a line may be long.
	if rest, ok := bytes.CutPrefix(d.text, []byte(`{"type":"`)); ok {
		if end := bytes.IndexByte(rest, '"'); end > 0 {
			d.kind = string(rest[:end])
			return nil
		}
	}
	if err := json.Unmarshal(d.text, &of); err != nil {
		return d.errorf("%v", err)
	}
	d.kind = of.Type
	return nil
}

// decode decodes the last line read. Unknown members are an error: a format that has more has a higher number.
func (d *Reader) decode(to any) error {
	j := json.NewDecoder(bytes.NewReader(d.text))
	j.DisallowUnknownFields()
	if err := j.Decode(to); err != nil {
		return d.errorf("%v", err)
	}
	return nil
}
