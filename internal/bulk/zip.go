// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// unzip replaces the input with the only file of a zip archive. Workbooks and incomplete archives stay as they are.
func (r *Reader) unzip() error {
	if err := r.seekable(); err != nil {
		return err
	}
	r.in = bufio.NewReaderSize(io.NewSectionReader(r.at, 0, r.length), sample)
	archive, err := zip.NewReader(&countedAt{r.at, r.taken}, r.length)
	if err != nil {
		return nil //nolint:nilerr // the reading of a workbook says what is wrong
	}
	var files []*zip.File
	for _, f := range archive.File {
		switch dir, base := path.Split(f.Name); {
		case f.Name == "[Content_Types].xml", f.Name == "mimetype": // a workbook, or another document
			return nil
		case base == "", strings.HasPrefix(base, "."), strings.HasPrefix(dir, "__MACOSX/"):
		default:
			files = append(files, f)
		}
	}
	switch len(files) {
	case 0:
		return nil
	case 1:
		return r.unpack(files[0])
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	slices.Sort(names)
	return &FileError{
		Name: r.Name, Reason: fmt.Sprintf("is a zip archive of %d files: %s", len(names), listed(names)),
		Hint: "unpack it and name the files in it, or pass one of them as it is: <(unzip -p " + r.Name + " NAME)",
	}
}

// unpack sets the reader to a file of an archive.
func (r *Reader) unpack(f *zip.File) error {
	if f.Flags&1 != 0 {
		return &FileError{Name: r.Name, Reason: "is a zip archive with a password", Hint: "unpack it and name the file in it"}
	}
	if !filepath.IsLocal(f.Name) {
		return &FileError{Name: r.Name, Reason: "is a zip archive with a name that leads out of it", Hint: "unpack it where that does no harm"}
	}
	text, err := f.Open()
	if err != nil {
		return &FileError{Name: r.Name, Reason: "cannot be unpacked", Err: err, Hint: "unpack it and name the file in it"}
	}
	r.close = append(r.close, text.Close)
	r.in, r.inner, r.compressed = bufio.NewReaderSize(&ratio{r: text, name: r.Name, taken: r.taken}, sample), f.Name, true
	r.at, r.length = nil, 0
	return nil
}

// countedAt counts the bytes that are read anywhere.
type countedAt struct {
	io.ReaderAt
	taken *counter
}

// ReadAt implements io.ReaderAt.
func (c *countedAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.taken.n.Add(int64(n))
	return n, err
}
