// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Beginnings of files that have to be read from their end, and so cannot be streams.
var (
	magicParquet   = []byte("PAR1")
	magicEncrypted = []byte("PARE")
	magicOLE       = []byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}
)

// containerOf returns the format of a file that has to be read from its end, Auto for any other file.
func containerOf(name string, head []byte) (Format, error) {
	switch {
	case bytes.HasPrefix(head, magicParquet):
		return Parquet, nil
	case bytes.HasPrefix(head, magicZip), bytes.HasPrefix(head, magicOLE):
		return XLSX, nil
	case bytes.HasPrefix(head, magicEncrypted):
		return Auto, &FileError{Name: name, Reason: "is an encrypted Parquet file", Hint: "decrypt it first"}
	}
	return Auto, nil
}

// seekable sets at and length: of the file itself, or of a private temporary copy of a stream or a decompressed file.
func (r *Reader) seekable() error {
	if r.at != nil {
		return nil
	}
	if r.file != nil && !r.stream && !r.compressed {
		info, err := r.file.Stat()
		if err != nil {
			return &FileError{Name: r.Name, Reason: "cannot be opened", Err: unpath(err)}
		}
		r.at, r.length = r.file, info.Size()
		return nil
	}
	copied, err := os.CreateTemp("", "locus-*") // readable by its owner alone
	if err != nil {
		return fmt.Errorf("copy a stream: %w", err)
	}
	removed := os.Remove(copied.Name()) == nil // where open files can be removed, no end of the process leaves it behind
	r.close = append(r.close, func() error {
		err := copied.Close()
		if !removed {
			if gone := os.Remove(copied.Name()); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
		return err
	})
	if r.length, err = io.Copy(copied, r.in); err != nil {
		return &FileError{Name: r.Name, Reason: "it cannot be copied to a temporary file", Hint: "it is read from its end, and therefore from a file", Err: err}
	}
	r.at = copied
	return nil
}
