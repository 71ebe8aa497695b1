// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/buildinfo"
)

// logTail is how much of the end of a log is in a bundle, in bytes.
const logTail = 1 << 20

// bundled are the documents of a server that are in a bundle, after sift.
var bundled = []string{"/version", "/readyz", "/v1/status", "/v1/cells", "/v1/servers", "/v1/rollups", "/v1/sinks",
	"/v1/sources", "/v1/kinds", "/v1/backup/mark", "/v1/upgrade"}

// bundle is the content of the bug report of locus doctor: the findings and the states of the programs. It contains no
// value of a record, no key, no person and no secret: texts are kept only in fields that are known to contain words of
// Locus or names of parts.
type bundle struct {
	names []string
	files map[string][]byte
}

func (b *bundle) add(name string, content []byte) {
	if b.files == nil {
		b.files = map[string][]byte{}
	}
	b.names = append(b.names, name)
	b.files[name] = content
}

// addJSON adds a document without changes.
func (b *bundle) addJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	b.add(name, append(text, '\n'))
	return nil
}

// ask adds an installation's own reports. It notes the ones that cannot be read.
func (b *bundle) ask(ctx context.Context, cl *client) error {
	failed := map[string]string{}
	for _, path := range bundled {
		var got any
		name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(path, "/v1"), "/"), "/", "-") + ".json"
		if _, err := cl.get(ctx, path, nil, &got); err != nil {
			failed[path] = scrub(explainFailure(ctx, err).Message)
			continue
		}
		if err := b.addJSON(name, sift("", got)); err != nil {
			return err
		}
	}
	response, err := cl.send(ctx, cl.http, question{method: http.MethodGet, path: "/metrics"})
	if err == nil {
		var text []byte
		text, err = io.ReadAll(io.LimitReader(response.Body, maxMetrics))
		err = errors.Join(err, response.Body.Close())
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", response.StatusCode)
		}
		if err == nil {
			b.add("metrics.txt", text)
		}
	}
	if err != nil {
		failed["/metrics"] = scrub(err.Error())
	}
	if len(failed) > 0 {
		return b.addJSON("unread.json", failed)
	}
	return nil
}

// maxMetrics limits how much of /metrics is read.
const maxMetrics = 16 << 20

// addFindings adds the findings of locus doctor.
func (b *bundle) addFindings(all []finding) error {
	var text bytes.Buffer
	for _, f := range all {
		line, err := json.Marshal(map[string]string{"level": string(f.Level), "what": f.What, "says": f.shared()})
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	b.add("doctor.jsonl", text.Bytes())
	return b.addJSON("build.json", map[string]any{
		"version": version(), "build": buildinfo.Read(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		"cpus": runtime.NumCPU(), "at": time.Now().UTC(),
	})
}

// addConfig adds the settings of a configuration file. For settings that name files it only tells that they are set,
// for roles only their number.
func (b *bundle) addConfig(path string) error {
	values, err := readConfig(path)
	if err != nil {
		b.add("configuration.txt", []byte("it cannot be read; locus config check says why\n"))
		return nil //nolint:nilerr // it is part of the finding that the configuration is wrong
	}
	var text strings.Builder
	for _, v := range values.values {
		switch v.form {
		case file, secretFile: // whose names may be of people
			fmt.Fprintf(&text, "%s: (a file)\n", v.path)
		case grants:
			fmt.Fprintf(&text, "%s: (%d)\n", v.path, len(v.texts))
		default:
			shown := slices.Clone(v.texts)
			for i, t := range shown {
				if strings.Contains(t, "://") {
					shown[i] = cell.Redact(t)
				}
			}
			fmt.Fprintf(&text, "%s: %s\n", v.path, strings.Join(shown, " "))
		}
	}
	b.add("configuration.txt", []byte(text.String()))
	return nil
}

// addLog adds the end of a log, line by line through siftLine.
func (b *bundle) addLog(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return usage("name a file that has the server's log, such as that of journalctl -u locus > locus.log",
			"read the log: %v", err)
	}
	defer f.Close()
	cut := false
	if info, err := f.Stat(); err == nil && info.Size() > logTail {
		if _, err := f.Seek(-logTail, io.SeekEnd); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		cut = true
	}
	text, err := io.ReadAll(io.LimitReader(f, logTail))
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if cut {
		lines = lines[1:] // it may begin in the middle of a line
	}
	for i, line := range lines {
		lines[i] = siftLine(line)
	}
	b.add("log.txt", []byte(strings.Join(lines, "\n")+"\n"))
	return nil
}

// write writes the bundle to a new file, which only its owner can read.
func (b *bundle) write(path string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &failure{Code: "invalid", Message: fmt.Sprintf("cannot create the bundle: %v", err),
			Hint: "name a file that does not exist", Exit: exitInvalid, Err: err}
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	z := gzip.NewWriter(f)
	t := tar.NewWriter(z)
	for _, name := range b.names {
		content := b.files[name]
		if err := t.WriteHeader(&tar.Header{Name: "locus-doctor/" + name, Mode: 0o600, Size: int64(len(content)), ModTime: time.Now()}); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// pack writes the bundle of an examination.
func (a *app) pack(c *cobra.Command, x *examination, path, log string) error {
	b := &bundle{}
	if err := b.addFindings(x.all); err != nil {
		return err
	}
	if a.config != "" {
		if err := b.addConfig(a.config); err != nil {
			return err
		}
	}
	if log != "" {
		if err := b.addLog(log); err != nil {
			return err
		}
	}
	if cl, err := a.connect(c, looks); err == nil { // if it fails, that is a finding
		err = b.ask(c.Context(), cl)
		cl.close()
		if err != nil {
			return err
		}
	}
	return b.write(path)
}
