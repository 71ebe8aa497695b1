// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxTexts is how many bytes of shared texts are kept in memory. If there are more, all are in a temporary file.
const maxTexts = 32 << 20

// sharedTexts are the texts that cells name by their number.
type sharedTexts struct {
	ends    []int64 // of each text
	memory  []byte
	file    *os.File
	removed bool
	buf     []byte
}

// readTexts reads the shared texts.
func (w *Workbook) readTexts() (err error) {
	if w.texts != nil || w.shared == "" || w.parts[strings.ToLower(w.shared)] == nil {
		return nil
	}
	in, err := w.part(w.shared)
	if err != nil {
		return err
	}
	defer in.Close()
	w.texts = &sharedTexts{}
	decoder := xml.NewDecoder(in)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return w.texts.flush(true)
		}
		if err != nil {
			return fmt.Errorf("the shared texts: %w", err)
		}
		in.left = maxElement
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "si" {
			text, err := textIn(decoder)
			if err != nil {
				return fmt.Errorf("the shared texts: %w", err)
			}
			if err := w.texts.add(text); err != nil {
				return err
			}
		}
	}
}

func (t *sharedTexts) add(text string) error {
	end := int64(len(text))
	if n := len(t.ends); n > 0 {
		end += t.ends[n-1]
	}
	t.ends, t.memory = append(t.ends, end), append(t.memory, text...)
	return t.flush(false)
}

// flush writes the texts in memory to the file; at the end only if there is a file.
func (t *sharedTexts) flush(end bool) (err error) {
	if len(t.memory) < maxTexts && (!end || t.file == nil) {
		return nil
	}
	if t.file == nil {
		if t.file, err = os.CreateTemp("", "locus-*"); err != nil {
			return fmt.Errorf("copy the shared texts: %w", err)
		}
		t.removed = os.Remove(t.file.Name()) == nil
	}
	_, err = t.file.Write(t.memory)
	t.memory = t.memory[:0]
	return err
}

// at returns a text by its number.
func (t *sharedTexts) at(number string) (string, error) {
	i, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || t == nil || i < 0 || i >= len(t.ends) {
		return "", fmt.Errorf("there is no shared text %.20q", number)
	}
	begin := int64(0)
	if i > 0 {
		begin = t.ends[i-1]
	}
	if t.file == nil {
		return string(t.memory[begin:t.ends[i]]), nil
	}
	t.buf = append(t.buf[:0], make([]byte, t.ends[i]-begin)...)
	if _, err := t.file.ReadAt(t.buf, begin); err != nil {
		return "", fmt.Errorf("read a shared text: %w", err)
	}
	return string(t.buf), nil
}

func (t *sharedTexts) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	if !t.removed {
		err = errors.Join(err, os.Remove(t.file.Name()))
	}
	return err
}

// textIn returns the text up to the end of an element whose start was read: the text of its <t>, without the
// pronunciation.
func textIn(decoder *xml.Decoder) (string, error) {
	var b strings.Builder
	text := false
	for depth := 1; depth > 0; {
		token, err := decoder.Token()
		if err != nil {
			return "", noEOF(err)
		}
		switch of := token.(type) {
		case xml.StartElement:
			if of.Name.Local == "rPh" {
				if err := decoder.Skip(); err != nil {
					return "", noEOF(err)
				}
				continue
			}
			text = of.Name.Local == "t"
			depth++
		case xml.EndElement:
			text = false
			depth--
		case xml.CharData:
			if text {
				b.Write(of)
			}
		}
	}
	return unescaped(b.String()), nil
}

// escape is how a character that XML cannot have is written.
var escape = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(code string) string {
		n, _ := strconv.ParseUint(code[2:6], 16, 32) // cannot fail: four hexadecimal digits
		if !utf8.ValidRune(rune(n)) {
			return code
		}
		return string(rune(n))
	})
}
