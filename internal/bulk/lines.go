// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads physical lines with their ends and keeps track of the position. A line longer than MaxRow is truncated
// and the rest skipped, so memory is bounded. Lines can be held and read a second time.
type lines struct {
	r   *bufio.Reader
	buf []byte
	err error // why the input ended
	place

	encoding Encoding // AutoEncoding while all lines were ASCII
	text     []byte   // the line as UTF-8, if it had to be converted
	bad      int      // offset of the first byte of the line that is invalid in the encoding, -1 if there is none
	part     bool     // the input is the beginning of a file: a row at its end may be longer

	holding bool
	from    place  // start of the held lines
	held    []byte // lines read ahead
	at      int    // bytes of held that were read again
	end     place  // end of the held lines
	cut     bool   // the last held line was truncated
}

// place is a position in the input.
type place struct {
	number int64 // of the last line read, from 1
	offset int64 // of its first byte
	next   int64 // of the byte after it
}

// hold keeps the lines read from now on, until letGo or back. A truncated line is the last one held.
func (l *lines) hold() {
	l.holding, l.from, l.held, l.at = true, l.place, l.held[l.at:], 0
}

// letGo drops the held lines that were read.
func (l *lines) letGo() { l.holding = false }

// back returns to the position of hold.
func (l *lines) back() { l.holding, l.place, l.at = false, l.from, 0 }

// read returns the next line, valid until the next call, and whether it was truncated. At the end it returns io.EOF. A
// last line without a line end counts as a line, but not one before any other error.
func (l *lines) read() (line []byte, cut bool, err error) {
	if l.at < len(l.held) {
		return l.readHeld()
	}
	if l.err != nil {
		return nil, false, l.err
	}
	if line, cut, l.err = l.readOn(); l.err != nil {
		return nil, false, l.err
	}
	if l.holding {
		l.held, l.end, l.cut = append(l.held, line...), l.place, cut
		l.at = len(l.held)
	}
	return l.decode(line, cut), cut, nil
}

func (l *lines) readHeld() (line []byte, cut bool, err error) {
	line = l.held[l.at:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i+1]
	}
	l.at += len(line)
	if l.at == len(l.held) {
		l.place, cut = l.end, l.cut
	} else {
		l.place = place{number: l.number + 1, offset: l.next, next: l.next + int64(len(line))}
	}
	return l.decode(line, cut), cut, nil
}

// ahead returns the bytes that are buffered but not read yet.
func (l *lines) ahead() []byte {
	text, _ := l.r.Peek(l.r.Buffered())
	return text
}

// readOn reads a new line from the input.
func (l *lines) readOn() (line []byte, cut bool, err error) {
	l.buf = l.buf[:0]
	l.offset = l.next
	for {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		if err == nil && len(l.buf) == 0 {
			l.number++
			return part, len(trimEnd(part)) > MaxRow, nil // the buffer is shorter than a row may be
		}
		if room := MaxRow + 2 - len(l.buf); len(part) > room { // plus two for the line end
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

// ended reports whether a line has a line end. Only the last line of a file may lack it.
func ended(line []byte) bool { return bytes.HasSuffix(line, []byte{'\n'}) }

// trimEnd removes LF or CR LF.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}
