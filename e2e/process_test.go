// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// patience is how long a test waits for a process or a browser on a slow machine: half of the time for all tests, so
// that the other tests can still report. Without a limit (-timeout=0) it is an hour.
var patience = time.Hour

// folder is where the binary is built; it is removed after the tests.
var folder string

func TestMain(m *testing.M) {
	flag.Parse()
	if limit, is := flag.Lookup("test.timeout").Value.(flag.Getter).Get().(time.Duration); is && limit > 0 {
		patience = limit / 2
	}
	longtest.Together(4)
	m.Run() // the exit code is kept by m
	endBrowser()
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
}

// binary is the real binary, built once. Without the tables of a debugger it is linked a third faster.
var binary = sync.OnceValues(func() (string, error) {
	var err error
	if folder, err = os.MkdirTemp("", "locus-e2e-"); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "locus")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "github.com/locus-db/locus/cmd/locus").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build locus: %w\n%s", err, out)
	}
	return path, nil
})

func built(t testing.TB) string {
	t.Helper()
	longtest.Needs(t, "the locus binary")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// clean returns the environment of the process without Locus variables.
func clean() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LOCUS_") {
			env = append(env, v)
		}
	}
	return env
}

// command returns the binary run in a folder, without the Locus variables of the caller's environment.
func command(ctx context.Context, t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(ctx, built(t), args...)
	c.Dir, c.Env = dir, clean()
	return c
}

// server is `locus serve` as a process.
type server struct {
	t      testing.TB
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
	ended  chan struct{} // closed when the process has ended; then err is set
	err    error
}

// serve starts a server on a data directory and waits until it answers.
func serve(t testing.TB, dir, addr string, args ...string) *server {
	t.Helper()
	return serveWith(t, addr, append([]string{"--data", dir}, args...)...)
}

// serveWith starts a server with the given flags and waits until it answers.
func serveWith(t testing.TB, addr string, args ...string) *server {
	t.Helper()
	return serveTo(t, nil, addr, args...)
}

// serveTo is serveWith with a file for the log, which can be read while the server runs; nil for none.
func serveTo(t testing.TB, log *os.File, addr string, args ...string) *server {
	t.Helper()
	s := &server{t: t, stderr: &bytes.Buffer{}, ended: make(chan struct{})}
	s.cmd = exec.Command(built(t), append([]string{"serve", "--addr", addr, "--json"}, args...)...)
	s.cmd.Env = clean()
	s.cmd.Stderr = s.stderr
	if log != nil {
		s.cmd.Stderr = log
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	out := bufio.NewReader(stdout)
	line, err := out.ReadBytes('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		s.err = s.cmd.Wait()
		close(s.ended)
	}()
	var ready struct{ URL string }
	if err != nil || json.Unmarshal(line, &ready) != nil {
		<-s.ended
		t.Fatalf("the server does not start: %v %q\n%s", s.err, line, s.stderr)
	}
	s.url = ready.URL
	return s
}

// kill kills the process and waits until it has ended.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may already have ended
	<-s.ended
}

// said returns the messages of a process that has ended.
func (s *server) said() string {
	if s == nil {
		return ""
	}
	<-s.ended
	return s.stderr.String()
}

// stop sends a signal and waits for the process to end.
func (s *server) stop(signal os.Signal) error {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.ended:
		return s.err
	case <-time.After(patience):
		s.t.Fatalf("the server does not end within %v of %v", patience, signal)
		return nil
	}
}

// exitCode returns the exit code of a failed program.
func exitCode(err error) int {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	return -1
}

// eventually polls ask until it returns true, for ten times the limit on a quiet machine. why describes what is
// missing. It polls less often the longer it waits, because the answers of servers cost more than the test.
func eventually(t *testing.T, limit time.Duration, what string, ask func() (done bool, why string)) {
	t.Helper()
	limit *= 10
	pause := 10 * time.Millisecond
	for deadline := time.Now().Add(limit); ; pause = min(pause*5/4, 150*time.Millisecond) {
		done, why := ask()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %v: %s", what, limit, why)
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		case <-time.After(pause):
		}
	}
}

// client has a limit for each request, because a process that is paused accepts connections and never replies.
var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}

// get sends a GET request and decodes the answer.
func get(base, path string, query url.Values, out any) error {
	response, err := client.Get(base + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	return decode(response, out)
}

func post(base string, records []httpapi.RecordInput) (*httpapi.PutResponse, error) {
	answer := &httpapi.PutResponse{}
	return answer, put(context.Background(), base, httpapi.PutRequest{Records: records}, answer)
}

func put(ctx context.Context, base string, batch httpapi.PutRequest, answer *httpapi.PutResponse) error {
	_, err := postJSON(ctx, base+"/v1/records", nil, batch, answer)
	return err
}

// postJSON posts a document, decodes the answer, and returns its headers.
func postJSON(ctx context.Context, address string, headers http.Header, document, answer any) (http.Header, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, headers)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	return response.Header, decode(response, answer)
}

func decode(response *http.Response, out any) error {
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		problem := &httpapi.Problem{}
		if err := json.NewDecoder(response.Body).Decode(problem); err != nil {
			return err
		}
		return problem
	}
	return json.NewDecoder(response.Body).Decode(out)
}

// allRecords and allEntities read every page.
func allRecords(base string) (map[entity.Ref]httpapi.Record, error) {
	records := map[entity.Ref]httpapi.Record{}
	for query := (url.Values{"limit": {"1000"}}); ; {
		var page httpapi.RecordList
		if err := get(base, "/v1/records", query, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			ref := entity.Ref{Source: r.Source, Key: r.Key}
			if _, twice := records[ref]; twice {
				return nil, fmt.Errorf("record %v is listed twice", ref)
			}
			records[ref] = r
		}
		if page.Cursor == "" {
			return records, nil
		}
		query.Set("cursor", page.Cursor)
	}
}

func allEntities(base string) (entities []httpapi.Entity, err error) {
	for query := (url.Values{"limit": {"1000"}}); ; {
		var page httpapi.EntityList
		if err := get(base, "/v1/entities", query, &page); err != nil {
			return nil, err
		}
		entities = append(entities, page.Entities...)
		if page.Cursor == "" {
			return entities, nil
		}
		query.Set("cursor", page.Cursor)
	}
}
