// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxSheetColumns is how many columns a sheet has at most.
const maxSheetColumns = 16384

// Grid reads the rows of a sheet that have a value, in order.
type Grid struct {
	book    *Workbook
	name    string
	in      *bounded
	decoder *xml.Decoder
	size    int64 // of the part
	number  int64
	row     []string
	err     error
}

// Grid opens a sheet. The error is an *Error.
func (w *Workbook) Grid(name string) (*Grid, error) {
	for _, s := range w.sheets {
		if s.name != name {
			continue
		}
		err := w.readTexts()
		if err != nil {
			return nil, damagedWorkbook(err)
		}
		g := &Grid{book: w, name: name}
		if g.in, err = w.part(s.part); err != nil {
			return nil, damagedWorkbook(err)
		}
		g.decoder, g.size = xml.NewDecoder(g.in), int64(w.parts[strings.ToLower(s.part)].UncompressedSize64)
		return g, nil
	}
	return nil, &Error{Reason: fmt.Sprintf("there is no sheet %.60q", name)}
}

// Close closes the sheet, not the workbook.
func (g *Grid) Close() error { return g.in.Close() }

// Next returns the next row that has a value: its number, and the texts of its columns up to the last that is not
// empty. They are valid until the next call. At the end the error is io.EOF, and else an *Error.
func (g *Grid) Next() (int64, []string, error) {
	for g.err == nil {
		if g.err = g.next(); g.err == nil && len(g.row) > 0 {
			return g.number, g.row, nil
		}
	}
	if !errors.Is(g.err, io.EOF) {
		if _, known := errors.AsType[*Error](g.err); !known {
			g.err = &Error{Reason: fmt.Sprintf("sheet %.60q is damaged after row %d", g.name, g.number),
				Hint: "the rows before stay; open and save the file with a spreadsheet program", Err: g.err}
		}
	}
	return 0, nil, g.err
}

// Done returns the share of the sheet that was read.
func (g *Grid) Done() float64 {
	if g.size <= 0 {
		return -1
	}
	return min(float64(g.decoder.InputOffset())/float64(g.size), 1)
}

// next reads to the end of the next row.
func (g *Grid) next() error {
	for {
		token, err := g.decoder.Token()
		if err != nil {
			if errors.Is(err, io.EOF) && g.decoder.InputOffset() == 0 {
				return io.ErrUnexpectedEOF
			}
			return err // io.EOF after the last element: the document is complete, and its checksum was right
		}
		g.in.left = maxElement
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "row" {
			continue
		}
		number := g.number + 1
		if text := attribute(start, "r"); text != "" {
			if number, err = strconv.ParseInt(text, 10, 64); err != nil || number <= g.number {
				return fmt.Errorf("a row has the number %.20q", text)
			}
		}
		if err := g.cells(); err != nil {
			return err
		}
		g.number = number
		return nil
	}
}

// cells reads the cells of a row.
func (g *Grid) cells() error {
	g.row = g.row[:0]
	for column := 0; ; {
		token, err := g.decoder.Token()
		if err != nil {
			return noEOF(err)
		}
		switch of := token.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if of.Name.Local != "c" {
				if err := g.decoder.Skip(); err != nil {
					return noEOF(err)
				}
				continue
			}
			if at := attribute(of, "r"); at != "" {
				if column = columnOf(at); column < 0 {
					return fmt.Errorf("a cell has the place %.20q", at)
				}
			}
			text, err := g.cell(of)
			if err != nil {
				return err
			}
			if text != "" {
				if column >= maxSheetColumns {
					return fmt.Errorf("a row has more than %d columns", maxSheetColumns)
				}
				for len(g.row) <= column {
					g.row = append(g.row, "")
				}
				g.row[column] = text
			}
			column++
		}
	}
}

// cell returns the text of a cell whose start element was read. A formula has the value that it had when the file was
// saved; a cell whose value is an error has none.
func (g *Grid) cell(start xml.StartElement) (string, error) {
	value, inline := "", ""
	for done := false; !done; {
		token, err := g.decoder.Token()
		if err != nil {
			return "", noEOF(err)
		}
		switch of := token.(type) {
		case xml.EndElement:
			done = true
		case xml.StartElement:
			switch of.Name.Local {
			case "v":
				err = g.decoder.DecodeElement(&value, &of)
			case "is":
				inline, err = textIn(g.decoder)
			default:
				err = g.decoder.Skip()
			}
			if err != nil {
				return "", noEOF(err)
			}
		}
	}
	switch kind := attribute(start, "t"); {
	case kind == "inlineStr":
		return inline, nil
	case kind == "e", value == "":
		return "", nil
	case kind == "s":
		return g.book.texts.at(value)
	case kind == "str":
		return unescaped(value), nil
	case kind == "b":
		return strconv.FormatBool(strings.TrimSpace(value) == "1" || value == "true"), nil
	case kind == "d":
		return isoDate(value), nil
	}
	style, _ := strconv.Atoi(attribute(start, "s"))
	return g.book.number(strings.TrimSpace(value), style)
}

// isoDate returns a date that the file has as text, without a time of midnight.
func isoDate(text string) string {
	if at, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(text, "Z")); err == nil && at.Equal(at.Truncate(24*time.Hour)) {
		return at.Format(time.DateOnly)
	}
	return text
}

func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// columnOf returns the column of a place such as AB12, from 0, or -1.
func columnOf(place string) int {
	column := 0
	for i := range len(place) {
		c := place[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			if i == 0 {
				return -1
			}
			break
		}
		if column = 26*column + int(c-'A') + 1; column > maxSheetColumns {
			return -1
		}
	}
	return column - 1
}
