// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// maxDefinition is larger than any valid definition; longer input is rejected.
const maxDefinition = 1 << 20

// definition reads a file, or the standard input. The hint is shown if the file is missing.
func (a *app) definition(path, hint string) (name string, text []byte, err error) {
	from := a.stdin
	if name = path; path == "-" {
		name = "stdin"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return "", nil, &failure{Code: "not_found", Message: fmt.Sprintf("read the definition: %v", err),
				Hint: "give the path of a file, or - for the standard input; " + hint, Exit: exitNotFound, Err: err}
		}
		defer file.Close()
		from = file
	}
	if text, err = io.ReadAll(io.LimitReader(from, maxDefinition)); err != nil {
		return "", nil, fmt.Errorf("read the definition %s: %w", name, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "", nil, usage(hint, "%s contains no definition", name)
	}
	return name, text, nil
}

// putDefinition sends the definition of a sink or a stream. It prints whether the definition existed, and each problem
// if there are several.
func (a *app) putDefinition(c *cobra.Command, path string, request, out any, there string) (json.RawMessage, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	cl, err := a.connect(c, writes)
	if err != nil {
		return nil, err
	}
	defer cl.close()
	raw, status, err := cl.exchange(c.Context(),
		question{method: http.MethodPut, path: path, body: body, media: "application/json"}, out)
	if p, ok := errors.AsType[*httpapi.Problem](err); ok && len(p.Errors) > 1 {
		for _, one := range p.Errors {
			a.say("%s: %s", strings.TrimPrefix(one.Pointer, "/"), term.Escape(one.Detail))
		}
	}
	if err == nil && status == http.StatusOK {
		a.say("%s", there)
	}
	return raw, err
}

func (a *app) wrongDefinition(file string, text []byte, problems []locus.Problem) error {
	lines := strings.Split(string(text), "\n")
	for _, p := range problems {
		if _, err := fmt.Sscanf(p.Detail, "line %d:", &p.Line); err == nil {
			_, p.Detail, _ = strings.Cut(p.Detail, ": ") // drops the prefix of the YAML parser
		}
		if p.Line == 0 {
			p.Line = lineOf(lines, p.Names())
		}
		if a.json {
			if err := a.printWrong(file, p); err != nil {
				return err
			}
			continue
		}
		at := file
		if p.Line > 0 {
			at = fmt.Sprintf("%s:%d", file, p.Line)
		}
		a.say("%s: %s: %s", a.talk.Paint("1", term.Escape(at)), term.Escape(p.Field()), term.Escape(p.Detail))
		if p.Line > 0 && p.Line <= len(lines) {
			a.say("%s", caret(p.Line, lines[p.Line-1], p.Names()))
		}
	}
	return &failure{
		Code: "invalid", Message: fmt.Sprintf("%s: %s in the definition", file, plural(len(problems), "problem")),
		Exit: exitInvalid,
		Hint: "correct it and repeat the command; nothing was changed",
	}
}

// printWrong prints a problem as JSON to the standard error, as for all errors.
func (a *app) printWrong(file string, p locus.Problem) error {
	talk := *a
	talk.stdout = a.stderr
	return talk.printJSON(struct {
		Type string `json:"type"`
		File string `json:"file"`
		locus.Problem
	}{"problem", file, p})
}

// lineOf finds the line of a field in a text whose parser did not report it: each word of the path is searched from the
// line of the previous one, as far as they are found. 0 means not found.
func lineOf(lines, names []string) int {
	at := 0
	for _, word := range names {
		key := regexp.MustCompile(`(?:^|[\s{,"'])` + regexp.QuoteMeta(word) + `["']?\s*:`)
		i := slices.IndexFunc(lines[max(at-1, 0):], key.MatchString)
		if i < 0 {
			break
		}
		at = max(at-1, 0) + i + 1
	}
	return at
}

// caret returns a line with a mark below the named field, or below the start of the line.
func caret(n int, line string, names []string) string {
	line = strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", " ")
	at := len(line) - len(strings.TrimLeft(line, " "))
	for _, name := range slices.Backward(names) {
		if i := strings.Index(line, name); i >= 0 {
			at = i
			break
		}
	}
	const wide = 100 // a line of JSON may be very long
	if at > wide {
		line, at = "..."+line[at-wide/2:], wide/2+3
	}
	number := fmt.Sprintf("%5d | ", n)
	shown, before := term.Clip(line, wide), term.Escape(line[:min(at, len(line))])
	return number + shown + "\n" + strings.Repeat(" ", len(number)-2) + "| " + strings.Repeat(" ",
		utf8.RuneCountInString(before)) + "^"
}
