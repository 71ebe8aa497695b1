// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Format is the file format.
type Format string

// Formats. Auto uses the file extension, or else the first character.
const (
	Auto  Format = ""
	CSV   Format = "csv"
	JSONL Format = "jsonl" // one JSON object on each line
	JSON  Format = "json"  // a JSON array, objects one after another on any lines, or a document with a list in it
	// Parquet is recognised by its first bytes.
	Parquet Format = "parquet"
	// SQL is a table or a query of a database. It is chosen by the URL and cannot be named as a format.
	SQL Format = "sql"
	// XLSX is recognised by its first bytes too.
	XLSX Format = "xlsx"
)

// Formats are the formats that can be named.
var Formats = []Format{CSV, JSONL, JSON, Parquet, XLSX}

// Stdin is the file name of the standard input.
const Stdin = "-"

// rowReader reads rows as Reader.Next does.
type rowReader interface{ Next() (*Row, error) }

// Reader reads the rows of one file. It is not safe for concurrent use.
type Reader struct {
	rows   rowReader
	footer *footer // of CSV and XLSX, nil where none is left out

	// Name is the name of the file as given, Format its format.
	Name   string
	Format Format
	// Size is the size of the file in bytes, compressed if it is, -1 if unknown.
	Size int64

	inner      string // name without the ending of the compression
	compressed bool
	container  Format   // Auto if it is text
	file       *os.File // nil for the standard input
	in         *bufio.Reader
	at         io.ReaderAt // see seekable
	length     int64
	high       string // see High
	lines      *lines
	stream     bool // not a regular file
	taken      *counter
	close      []func() error
}

// Next returns the next row, a *RowError for a rejected row, a *FileError if the rest cannot be read, and io.EOF at the
// end.
func (r *Reader) Next() (*Row, error) {
	var rows rowReader = r.footer
	if r.footer == nil {
		rows = r.rows
	}
	row, err := rows.Next()
	if errors.Is(err, io.EOF) && r.shortened() {
		return nil, &FileError{Name: r.Name, Reason: "it became shorter while it was read", Hint: "run the command again once the file is complete"}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		var refused *RowError
		var broken *FileError
		if !errors.As(err, &refused) && !errors.As(err, &broken) {
			return nil, &FileError{Name: r.Name, Reason: "it cannot be read to its end", Err: err, Hint: "the rows before stay; see whether the file is complete"}
		}
	}
	return row, err
}

// shortened reports whether the file has become shorter since it was opened, because another program is rewriting it.
// Then the end of the file is not the end of the rows. A file that grows is read to its current end.
func (r *Reader) shortened() bool {
	if r.file == nil || r.stream {
		return false
	}
	info, err := r.file.Stat()
	return err == nil && info.Size() < r.Size
}

// Empty counts rows that consist of delimiters only, as spreadsheets write empty rows to CSV. Line is the first one's.
type Empty struct{ Rows, Line int64 }

func (e *Empty) add(line int64) {
	if e.Rows++; e.Rows == 1 {
		e.Line = line
	}
}

// Empty returns the rows left out so far because they have no value. Blank lines are not rows.
func (r *Reader) Empty() Empty {
	if rows, text := r.rows.(*csvRows); text {
		return rows.scan.empty
	}
	return Empty{}
}

// Taken returns the number of bytes read from the file, compressed if it is; together with Size it shows the progress.
// It is safe to call from another goroutine.
func (r *Reader) Taken() int64 { return r.taken.n.Load() }

// Close closes the file.
func (r *Reader) Close() error {
	var errs []error
	for _, v := range slices.Backward(r.close) {
		errs = append(errs, v())
	}
	r.close = nil
	return errors.Join(errs...)
}

// All iterates over the rows. An error that is not a *RowError ends the iteration; the end of the file is not reported.
func (r *Reader) All() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			_, refused := errors.AsType[*RowError](err)
			if !yield(row, err) || err != nil && !refused {
				return
			}
		}
	}
}

// Encoding returns the encoding of the text read so far: AutoEncoding while all of it is ASCII.
func (r *Reader) Encoding() Encoding {
	if r.lines == nil {
		return AutoEncoding
	}
	return r.lines.encoding
}

// openInput opens a file by name, its copy if there is one, or the given standard input for "-". A link that leads out
// of the file's folder is rejected: an import folder that others can write to must not give access to the rest of the
// machine. The error is a *FileError. An empty file is not an error.
func openInput(name, copied string, stdin io.Reader, encoding Encoding) (*Reader, error) {
	r := &Reader{Name: name, Size: -1, stream: true, taken: &counter{r: stdin}}
	if file, ok := stdin.(fs.File); ok {
		info, err := file.Stat()
		r.stream = err != nil || !info.Mode().IsRegular()
	}
	if copied != "" {
		name = copied
	}
	if name != Stdin {
		if err := r.openFile(name); err != nil {
			return nil, err
		}
	}
	err := r.decompress()
	if err == nil && r.container == Auto {
		r.lines, err = r.decodeText(r.in, encoding)
	}
	if err != nil {
		return nil, errors.Join(r.broken(err), r.Close())
	}
	return r, nil
}

func (r *Reader) openFile(name string) error {
	if scheme, _, isURL := strings.Cut(name, "://"); isURL && !strings.ContainsAny(scheme, `/\`) {
		return &FileError{
			Name: name, Reason: "is a URL, and only those of databases are opened: postgres:, mysql: and sqlite:",
			Hint: "curl -sfL URL | locus ingest --source NAME -",
		}
	}
	file, err := openIn(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		if info, statErr := os.Lstat(name); statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &FileError{Name: name, Reason: "is a link that leads out of its folder", Hint: "name the file itself", Err: unpath(err)}
		}
		return &FileError{Name: name, Reason: "cannot be opened", Err: unpath(err)}
	}
	r.file, r.close, r.stream = file, append(r.close, file.Close), true
	info, err := file.Stat()
	switch {
	case err != nil:
		return &FileError{Name: name, Reason: "cannot be opened", Err: unpath(err)}
	case info.IsDir():
		return &FileError{Name: name, Reason: "is a directory", Hint: "name its files: " + filepath.Join(name, "*.csv")}
	case info.Mode().IsRegular():
		r.Size, r.stream = info.Size(), false
	}
	r.taken.r = file
	return nil
}

// Beside returns the name from which names of files next to an input are derived: the file's own name, or a name in the
// current directory for standard input and other open descriptors, such as /dev/fd/63 of the shell's <(command).
func Beside(name string) string {
	switch dir, base := filepath.Split(name); {
	case name == Stdin, name == "/dev/stdin":
		return "stdin"
	case dir == "/dev/fd/", dir == "/proc/self/fd/":
		return "fd" + base
	}
	return name
}

// openIn opens a file in a folder. A descriptor that the process already has open is a link, but it may be opened
// because the caller passed it.
func openIn(dir, name string) (*os.File, error) {
	if path := filepath.Join(dir, name); Beside(path) != path {
		return os.Open(path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(name)
}

// unpath removes the path that a file system error repeats.
func unpath(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// sample is how many bytes of a file are examined before it is read.
const sample = 256 << 10

// decodeText returns the lines of a file by its encoding.
func (r *Reader) decodeText(in *bufio.Reader, want Encoding) (*lines, error) {
	head, err := in.Peek(sample)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, err
	}
	of, mark := sniffEncoding(head)
	if want != AutoEncoding && want != of {
		if of = want; mark == 3 { // a mark of UTF-8 is never text
			mark = 0
		}
	}
	if _, err := in.Discard(mark); err != nil {
		return nil, err
	}
	if of != UTF16LE && of != UTF16BE && bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
		in = bufio.NewReaderSize(&oldLineEnds{in}, sample)
	}
	l := &lines{r: in, encoding: of, bad: -1}
	l.next = int64(mark)
	l.divide()
	return l, nil
}

// oldLineEnds reads a text whose lines end in CR alone, as old programs for the Mac and a format of Excel write them.
type oldLineEnds struct{ r io.Reader }

// Read implements io.Reader.
func (o *oldLineEnds) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// divide decodes the text before it is divided into lines if its encoding takes that.
func (l *lines) divide() {
	if code := multibyte[l.encoding]; code != nil {
		l.r = bufio.NewReaderSize(code.NewDecoder().Reader(l.r), sample)
	}
}

// broken adds the name of the file to an error of the readers.
func (r *Reader) broken(err error) error {
	if known, ok := errors.AsType[*FileError](err); ok {
		return known
	}
	return &FileError{Name: r.Name, Reason: "cannot be read", Err: err}
}
