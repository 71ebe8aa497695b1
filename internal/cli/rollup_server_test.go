// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/cli"
)

// watched is a stream that reports when a word was written.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	word string
	seen chan struct{}
}

func watch(word string) *watched { return &watched{word: word, seen: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if w.word != "" && bytes.Contains(w.text.Bytes(), []byte(w.word)) {
		w.word = ""
		close(w.seen)
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// served starts a server and returns the variables that locate it.
func served(t *testing.T) map[string]string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, done := watch("\n"), make(chan int)
	go func() {
		done <- cli.Run(ctx, []string{"demo", "--no-load", "--cells", "2", "--addr", "127.0.0.1:0", "--json"},
			strings.NewReader(""), out, io.Discard, nil)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("the server ended with %d", code)
		}
	})
	<-out.seen
	var ready struct{ URL string }
	if err := json.Unmarshal([]byte(out.String()), &ready); err != nil || ready.URL == "" {
		t.Fatalf("the server says %q, %v", out.String(), err)
	}
	return map[string]string{"LOCUS_URL": ready.URL}
}

// Changes arrive as they are made, and following resumes after the last printed line. A rollup read with the watermark
// of a write includes the write.
func TestRollup_OfAServer(t *testing.T) {
	t.Parallel()
	env := served(t)
	if got := must(t, env, "rollup", "define", bySource, "--wait"); !strings.Contains(got.err, "generation 1 serves") {
		t.Errorf("define --wait: %s", got.err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, talk, ended := watch("matched"), watch("following from "), make(chan int)
	go func() {
		ended <- cli.Run(ctx, []string{"change", "tail", "--follow"}, strings.NewReader(""), out, talk, env)
	}()
	<-talk.seen
	wrote := must(t, env, "ingest", "--source", "crm", "--key", "id", "--json", write(t, "shops.csv", shops))
	var summary struct{ Watermark string }
	if err := json.Unmarshal([]byte(wrote.stdout), &summary); err != nil || !strings.HasPrefix(summary.Watermark, "g0-0:") {
		t.Fatalf("ingest says %s, %v", wrote.stdout, err)
	}
	if got := must(t, env, "rollup", "get", "records_by_source", "crm", "--min-watermark", summary.Watermark); got.stdout != "source\tcreated\ttotal\ncrm\t4\t4\n" {
		t.Errorf("what was written is not counted:\n%s", got.stdout)
	}
	must(t, env, "ingest", "--source", "web", "--key", "id", write(t, "again.csv", again))
	<-out.seen
	stop()
	code := <-ended
	_, after, ok := strings.Cut(talk.String(), "locus change tail --follow --after ")
	if code != 130 || !ok {
		t.Fatalf("an interrupt: exit code %d\n%s", code, talk.String())
	}
	got := must(t, env, "change", "tail", "--all", "--after", strings.TrimSuffix(strings.TrimSpace(after), " continues"))
	for line := range strings.Lines(got.stdout) {
		if !strings.HasPrefix(line, "cell\t") && strings.Contains(out.String(), line) {
			t.Errorf("it comes again: %s", line)
		}
	}
	var all bytes.Buffer
	for line := range strings.Lines(out.String() + got.stdout) {
		if !strings.HasPrefix(line, "cell\t") {
			all.WriteString(line)
		}
	}
	if n := strings.Count(all.String(), "\tput\t"); n != 5 {
		t.Errorf("%d of 5 records came:\n%s", n, all.String())
	}
	must(t, env, "rollup", "verify")
}
