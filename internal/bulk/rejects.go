// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
)

// Reject is a line of the file of rejected rows.
type Reject struct {
	Line int64 `json:"line"`
	// Lines is how many lines of the file the row occupies, if more than one.
	Lines   int64  `json:"lines,omitempty"`
	Code    string `json:"code"`
	Pointer string `json:"pointer"`
	Reason  string `json:"reason"`
	// Row is the row: an object that can be read again after correction, or the text of a row that could not be parsed.
	Row json.RawMessage `json:"row"`
	// Text is the row as written, if it was damaged: Row then has the fields that could be parsed.
	Text string `json:"text,omitempty"`
	// Source is the source of the row, "" if it cannot be read.
	Source string `json:"-"`
	// Cause is the reason without the values of the row; refusals are counted by it.
	Cause string `json:"-"`
}

// Reject returns the row as a line of the file of rejected rows. Its cause is the one of the row, or else its field, or
// else the beginning of the reason.
func (e *RowError) Reject() Reject {
	r := Reject{Line: e.Line, Code: e.Code, Pointer: e.Pointer, Reason: e.Reason, Row: e.Row, Text: e.Text,
		Cause: e.Cause, Source: e.Source}
	if e.Lines > 1 {
		r.Lines = e.Lines
	}
	if r.Cause != "" {
		return r
	}
	if field, _, _ := strings.Cut(strings.TrimPrefix(r.Pointer, "/"), "/"); field != "" {
		r.Cause = field + " " + strings.ReplaceAll(r.Code, "_", " ")
		return r
	}
	r.Cause, _, _ = strings.Cut(r.Reason, ":")
	for len(r.Cause) > mostCause {
		_, size := utf8.DecodeLastRuneInString(r.Cause)
		r.Cause = r.Cause[:len(r.Cause)-size]
	}
	return r
}

// mostCause is the length of a cause taken from a reason, in bytes.
const mostCause = 80

// Rejects writes the file of rejected rows. The file is created with the first rejected row.
type Rejects struct {
	name string
	file *os.File
	size int64
}

// NewRejects continues a file that an interrupted import left, keeping its first size bytes; 0 starts a new file. For a
// new file, an existing one is renamed to end in .old, because a user may already be correcting it.
func NewRejects(name string, size int64) (*Rejects, error) {
	r := &Rejects{name: name, size: size}
	if size == 0 {
		if err := os.Rename(name, name+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("set the refused rows of an earlier import aside: %w", err)
		}
		return r, nil
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	end, err := r.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("go on with the file of refused rows: %w", err)
	}
	// The file may have been shortened or removed since; continue with the rest.
	r.size = min(size, end)
	if err := r.file.Truncate(r.size); err != nil {
		return nil, fmt.Errorf("go on with the file of refused rows: %w", err)
	}
	if _, err := r.file.Seek(r.size, io.SeekStart); err != nil {
		return nil, fmt.Errorf("go on with the file of refused rows: %w", err)
	}
	return r, nil
}

func (r *Rejects) open() (err error) {
	if r.file, err = os.OpenFile(r.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("write the file of refused rows: %w", err)
	}
	return nil
}

// Size returns the number of bytes written.
func (r *Rejects) Size() int64 { return r.size }

// Write adds a line.
func (r *Rejects) Write(reject Reject) error {
	if r.file == nil {
		if err := r.open(); err != nil {
			return err
		}
	}
	line, err := json.Marshal(reject)
	if err != nil {
		return fmt.Errorf("write the file of refused rows: %w", err)
	}
	n, err := r.file.Write(append(line, '\n'))
	r.size += int64(n)
	if err != nil {
		return fmt.Errorf("write the file of refused rows: %w", err)
	}
	return nil
}

// Close closes the file.
func (r *Rejects) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
