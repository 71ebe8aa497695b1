// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
)

func TestState(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.csv")
	write := func(text string) string {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		print, err := bulk.Fingerprint(name)
		if err != nil {
			t.Fatal(err)
		}
		return print
	}
	print := write(sample)
	if s, err := bulk.LoadState(name, print, "job"); s != nil || err != nil {
		t.Fatalf("before the first: %v, %v", s, err)
	}
	want := &bulk.State{Format: 1, File: print, Job: "job", Rows: 7, Rejects: 12, Source: "x", Key: "1", Counts: map[string]int64{"created": 6}}
	if err := want.Save(name); err != nil {
		t.Fatal(err)
	}
	got, err := bulk.LoadState(name, print, "job")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-saved +loaded:\n%s", diff)
	}

	if s, _ := bulk.LoadState(name, print, "other"); s != nil {
		t.Error("another job goes on from the state of this one")
	}
	if s, _ := bulk.LoadState(name, write("changed,key,name\n"), "job"); s != nil {
		t.Error("a changed file goes on from the state of the old one")
	}
	print = write(sample)
	if err := os.Chtimes(name, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	touched, err := bulk.Fingerprint(name)
	if err != nil || touched == print {
		t.Errorf("the fingerprint does not see the time: %q, %q, %v", touched, print, err)
	}

	if err := os.WriteFile(bulk.StateName(name), []byte("{cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := bulk.LoadState(name, print, "job"); s != nil || err != nil {
		t.Errorf("a broken state: %v, %v", s, err)
	}
	for range 2 {
		if err := bulk.RemoveState(name); err != nil {
			t.Error(err)
		}
	}

	// An unreadable state is not ignored: it may belong to a half-finished import.
	if err := os.Mkdir(bulk.StateName(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := bulk.LoadState(name, print, "job"); s != nil || err == nil {
		t.Errorf("a state that cannot be read: %v, %v", s, err)
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.csv.rejected.jsonl")
	open := func(size int64) *bulk.Rejects {
		r, err := bulk.NewRejects(name, size)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	write := func(r *bulk.Rejects, line int64) {
		if err := r.Write(bulk.Reject{Line: line, Code: "invalid", Pointer: "/name", Reason: "no", Row: []byte(`{"key":"1"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	r := open(0)
	if _, err := os.Stat(name); err == nil {
		t.Error("the file is there before the first refusal")
	}
	write(r, 2)
	durable := r.Size()
	write(r, 3)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	r = open(durable)
	write(r, 4)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"line":2,"code":"invalid","pointer":"/name","reason":"no","row":{"key":"1"}}
{"line":4,"code":"invalid","pointer":"/name","reason":"no","row":{"key":"1"}}
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("after going on (-want +got):\n%s", diff)
	}

	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	r = open(1000)
	write(r, 5)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || text[0] != '{' {
		t.Errorf("after the file was taken away: %v %q", err, text)
	}

	if err := open(0).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("a new import keeps the refusals of the old one")
	}
	if text, err := os.ReadFile(name + ".old"); err != nil || text[0] != '{' {
		t.Errorf("the refusals of the old one are lost: %v %q", err, text)
	}
}
