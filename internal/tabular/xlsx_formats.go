// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// numberFormat is how numbers of a style are written.
type numberFormat struct {
	class formatClass
	width int // of padded
}

type formatClass int

const (
	asNumber formatClass = iota
	asDate
	asDateTime
	asTime
	asElapsed
	asPadded // with zeros up to a width, such as 00000 for post codes
)

// builtInFormats are the formats that have a number and no code.
var builtInFormats = map[int]formatClass{
	14: asDate, 15: asDate, 16: asDate, 17: asDate, 18: asTime, 19: asTime, 20: asTime, 21: asTime, 22: asDateTime,
	27: asDate, 28: asDate, 29: asDate, 30: asDate, 31: asDate, 32: asTime, 33: asTime, 34: asTime, 35: asTime, 36: asDate,
	45: asTime, 46: asElapsed, 47: asTime, 50: asDate, 51: asDate, 52: asDate, 53: asDate, 54: asDate, 55: asTime,
	56: asTime, 57: asDate, 58: asDate,
}

// readFormats reads the styles of cells.
func (w *Workbook) readFormats(part string) error {
	var styles struct {
		Codes []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			ID int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := w.decode(part, &styles); err != nil {
		return err
	}
	codes := map[int]numberFormat{}
	for id, class := range builtInFormats {
		codes[id] = numberFormat{class: class}
	}
	for _, c := range styles.Codes {
		codes[c.ID] = parseFormat(c.Code)
	}
	for _, c := range styles.Cells {
		w.formats = append(w.formats, codes[c.ID])
	}
	return nil
}

// parseFormat classifies the code of a number format by its first section, without texts in quotes and in brackets.
func parseFormat(code string) numberFormat {
	if code != "" && strings.Trim(code, "0") == "" && len(code) > 1 {
		return numberFormat{asPadded, len(code)}
	}
	var letters strings.Builder
	elapsed := false
	for i := 0; i < len(code) && code[i] != ';'; i++ {
		switch code[i] {
		case '\\', '_', '*':
			i++
		case '"', '[':
			end := strings.IndexByte(code[i+1:], map[byte]byte{'"': '"', '[': ']'}[code[i]])
			if end < 0 {
				end = len(code) - i - 1
			}
			inner := strings.ToLower(code[i+1 : i+1+end])
			elapsed = elapsed || code[i] == '[' && inner != "" && strings.Trim(inner, inner[:1]) == "" &&
				strings.Contains("hms", inner[:1])
			i += end + 1
		default:
			letters.WriteByte(code[i])
		}
	}
	text := strings.ToLower(letters.String())
	date, clock := strings.ContainsAny(text, "yd"), strings.ContainsAny(text, "hs")
	switch {
	case elapsed:
		return numberFormat{class: asElapsed}
	case strings.Contains(text, "general"):
	case date && clock:
		return numberFormat{class: asDateTime}
	case clock:
		return numberFormat{class: asTime}
	case date, strings.Contains(text, "m"):
		return numberFormat{class: asDate}
	}
	return numberFormat{}
}

// epoch is true if day 0 is 1904-01-01, false if day 1 is 1900-01-01.
type epoch bool

const (
	dayMillis = 86_400_000
	lastDay   = 2958466 // after 9999-12-31
)

// number writes the number of a cell by its format.
func (w *Workbook) number(text string, style int) (string, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", fmt.Errorf("%.40q is not a number", text)
	}
	var format numberFormat
	if style >= 0 && style < len(w.formats) {
		format = w.formats[style]
	}
	if format.class == asPadded && f >= 0 && f < 1e15 && f == math.Trunc(f) {
		return fmt.Sprintf("%0*d", format.width, int64(f)), nil
	}
	if format.class != asNumber && format.class != asPadded && f >= 0 && f < lastDay {
		return w.epoch.write(f, format.class), nil
	}
	text, _ = FormatFloat(f, 64)
	return text, nil
}

// write writes a number of days.
func (e epoch) write(days float64, class formatClass) string {
	millis := int64(math.Round(days * dayMillis))
	day, clock := millis/dayMillis, time.UnixMilli(millis%dayMillis).UTC()
	switch {
	case class == asElapsed:
		return fmt.Sprintf("%d:%s", millis/3_600_000, clock.Format("04:05.999"))
	case day == 0 && !bool(e), class == asTime && day == 0:
		if class == asDate && millis == 0 {
			return "0"
		}
		return clock.Format("15:04:05.999")
	}
	date := "1900-02-29" // the day 60, which 1900 did not have
	switch {
	case bool(e):
		date = time.Date(1904, 1, 1+int(day), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case day < 60:
		date = time.Date(1899, 12, 31+int(day), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case day > 60:
		date = time.Date(1899, 12, 30+int(day), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	if class == asDate && millis%dayMillis == 0 {
		return date
	}
	return date + "T" + clock.Format("15:04:05.999")
}
