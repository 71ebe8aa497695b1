// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Limits of a workbook.
const (
	maxUnpacked = 2 << 30 // bytes of its parts
	maxRatio    = 200     // unpacked bytes per packed byte
)

// ErrNoWorkbook means that a zip archive is no workbook.
var ErrNoWorkbook = errors.New("tabular: no workbook")

// Workbook is an XLSX file. Its parts are read as streams; only the formats, and a part of the texts that cells share,
// are kept in memory.
type Workbook struct {
	parts   map[string]*zip.File // by name, in lower case
	sheets  []sheet
	epoch   epoch
	formats []numberFormat // by the style of a cell
	texts   *sharedTexts
	shared  string // name of the part with the shared texts, "" if there is none
}

type sheet struct {
	name, part string
	hidden     bool
}

// OpenWorkbook opens an XLSX file. The error is an *Error, or ErrNoWorkbook if it is another zip archive.
func OpenWorkbook(r io.ReaderAt, size int64) (*Workbook, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &Error{Reason: "it is a zip archive, as workbooks are, and the list of its parts cannot be read",
			Hint: "see whether the file is complete", Err: err}
	}
	w := &Workbook{parts: map[string]*zip.File{}}
	unpacked := uint64(0)
	for _, f := range archive.File {
		name := strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
		w.parts[name] = f
		// The reader of a part stops at its size in this list.
		if unpacked += min(f.UncompressedSize64, maxUnpacked+1); unpacked > maxUnpacked {
			return nil, &Error{Reason: "it unpacks to more than 2 GiB", Hint: "save the sheet as CSV"}
		}
	}
	if unpacked > maxRatio*uint64(size)+1<<20 {
		return nil, &Error{Reason: fmt.Sprintf("it unpacks to more than %d times its size", maxRatio),
			Hint: "if it is meant to, save the sheet as CSV"}
	}
	switch {
	case w.parts["xl/workbook.bin"] != nil:
		return nil, &Error{Reason: "it is a binary workbook (.xlsb)", Hint: "save it as .xlsx or as CSV"}
	case w.parts["content.xml"] != nil && w.parts["mimetype"] != nil:
		return nil, &Error{Reason: "it is an OpenDocument file", Hint: "save it as .xlsx or as CSV"}
	case w.parts["xl/workbook.xml"] == nil:
		return nil, ErrNoWorkbook
	}
	if err := w.read(); err != nil {
		return nil, damagedWorkbook(err)
	}
	return w, nil
}

func damagedWorkbook(err error) error {
	return &Error{Reason: "the workbook is damaged",
		Hint: "open and save it with a spreadsheet program, or save it as CSV", Err: noEOF(err)}
}

// Sheets returns the names of the sheets in their order, hidden ones last.
func (w *Workbook) Sheets() (names []string) {
	for _, hidden := range []bool{false, true} {
		for _, s := range w.sheets {
			if s.hidden == hidden {
				names = append(names, s.name)
			}
		}
	}
	return names
}

// Hidden reports whether a sheet is hidden.
func (w *Workbook) Hidden(name string) bool {
	for _, s := range w.sheets {
		if s.name == name {
			return s.hidden
		}
	}
	return false
}

// Close removes the copies.
func (w *Workbook) Close() error {
	if w.texts == nil {
		return nil
	}
	return w.texts.close()
}

// relationship is a link from the workbook to one of its parts.
type relationship struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
}

// read reads the list of sheets and the formats.
func (w *Workbook) read() error {
	var links struct {
		List []relationship `xml:"Relationship"`
	}
	if err := w.decode("xl/_rels/workbook.xml.rels", &links); err != nil {
		return err
	}
	byID := map[string]relationship{}
	styles := ""
	for _, l := range links.List {
		if l.Target = path.Clean(l.Target); strings.HasPrefix(l.Target, "/") {
			l.Target = l.Target[1:]
		} else {
			l.Target = path.Join("xl", l.Target)
		}
		switch byID[l.ID] = l; path.Base(l.Type) {
		case "sharedStrings":
			w.shared = l.Target
		case "styles":
			styles = l.Target
		}
	}
	var book struct {
		Properties struct {
			Date1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name  string     `xml:"name,attr"`
			State string     `xml:"state,attr"`
			Attr  []xml.Attr `xml:",any,attr"` // the id has a namespace, of which there are two
		} `xml:"sheets>sheet"`
	}
	if err := w.decode("xl/workbook.xml", &book); err != nil {
		return err
	}
	w.epoch = epoch(book.Properties.Date1904 == "1" || book.Properties.Date1904 == "true")
	for _, s := range book.Sheets {
		for _, a := range s.Attr {
			if l := byID[a.Value]; a.Name.Local == "id" && path.Base(l.Type) == "worksheet" {
				w.sheets = append(w.sheets, sheet{s.Name, l.Target, s.State != "" && s.State != "visible"})
			}
		}
	}
	if styles == "" {
		return nil
	}
	return w.readFormats(styles)
}

// maxElement is how many bytes a row, or a shared text, takes at most, with the names of its elements.
const maxElement = 64 << 20

// bounded is a part whose elements are bounded: its reader sets left before each.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a row or a text takes more than %d bytes", maxElement)
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	return n, err
}

// part opens a part of the archive.
func (w *Workbook) part(name string) (*bounded, error) {
	f := w.parts[strings.ToLower(name)]
	if f == nil {
		return nil, fmt.Errorf("it lacks the part %.80q", name)
	}
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("part %.80q: %w", name, err)
	}
	return &bounded{in, maxElement}, nil
}

// decode decodes a small part.
func (w *Workbook) decode(name string, into any) error {
	in, err := w.part(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if f := w.parts[strings.ToLower(name)]; f.UncompressedSize64 > 64<<20 {
		return fmt.Errorf("part %.80q has %d bytes", name, f.UncompressedSize64)
	}
	if err := xml.NewDecoder(in).Decode(into); err != nil {
		return fmt.Errorf("part %.80q: %w", name, err)
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // its checksum
		return fmt.Errorf("part %.80q: %w", name, err)
	}
	return nil
}
