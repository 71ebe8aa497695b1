// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/term"
)

// app is one run of the command line.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            map[string]string
	out, talk      term.Style // styles of stdout and stderr

	json      bool          // --json
	url       string        // --url
	tokenFile string        // --token-file
	data      string        // --data
	cellMap   string        // --map of a shared installation
	notice    time.Duration // --notice
	mongodb   string        // --mongodb
	unsafe    bool          // --unsafe-durability
	config    string        // --config

	logLevel, logFormat string         // --log-level, --log-format of a server
	level               *slog.LevelVar // of the logger; a server changes it at SIGHUP
	traced              bool           // events of the log have the ids of traces
}

// style returns the style for a stream. NO_COLOR and TERM=dumb turn colour off.
func style(stream io.Writer, env map[string]string) term.Style {
	terminal := isTerminal(stream)
	return term.Style{Terminal: terminal, Color: terminal && env["NO_COLOR"] == "" && env["TERM"] != "dumb"}
}

// serial writes one text at a time: log lines and messages come from several goroutines.
type serial struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (s *serial) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(p)
}

// say writes a line to the standard error.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.stderr, format+"\n", args...) }

// printJSON prints one value on one line.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err := a.stdout.Write(b.Bytes())
	return err
}

// printRaw prints JSON from the server on one line.
func (a *app) printRaw(raw []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	b.WriteByte('\n')
	_, err := a.stdout.Write(b.Bytes())
	return err
}

// typed adds the field type to a JSON object, which distinguishes the lines of a stream.
func typed(kind string, raw json.RawMessage) json.RawMessage {
	head := fmt.Sprintf(`{"type":%q`, kind)
	if body := bytes.TrimSpace(raw); len(body) > 2 {
		return append(append([]byte(head), ','), body[1:]...)
	}
	return json.RawMessage(head + "}")
}

// printTable prints a table to the standard output.
func (a *app) printTable(t *term.Table) error { return t.Write(a.stdout, a.out) }
