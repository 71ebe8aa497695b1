// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads physical lines with their end and knows where they are. Of a line that is longer
// than MaxRow the beginning is kept and the rest read past, so memory stays bounded.
type lines struct {
	r      *bufio.Reader
	buf    []byte
	number int64 // of the last line read, from 1
	offset int64 // of its first byte
	next   int64 // of the byte after it
}

// read answers with the next line, valid until the next call, and whether it was cut. At the end
// it answers io.EOF; a last line without an end is a line.
func (l *lines) read() (line []byte, cut bool, err error) {
	l.buf = l.buf[:0]
	l.offset = l.next
	for {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		if room := MaxRow + 2 - len(l.buf); len(part) > room { // two more for the line's end
			part, cut = part[:room], true
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			l.number++
			return l.buf, cut || len(trimEnd(l.buf)) > MaxRow, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && l.next > l.offset:
			l.number++
			return l.buf, cut || len(l.buf) > MaxRow, nil
		default:
			return nil, false, err
		}
	}
}

// trimEnd takes LF or CR LF off the end of a line.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}
