// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// watched records how a test ends.
type watched struct {
	testing.TB
	end      string
	errors   []string
	cleanups []func()
}

func (w *watched) Helper()                           {}
func (w *watched) Cleanup(do func())                 { w.cleanups = append(w.cleanups, do) }
func (w *watched) Error(args ...any)                 { w.errors = append(w.errors, fmt.Sprint(args...)) }
func (w *watched) Skipf(format string, args ...any)  { w.stop("skipped: "+format, args) }
func (w *watched) Fatalf(format string, args ...any) { w.stop("failed: "+format, args) }

func (w *watched) stop(format string, args []any) {
	w.end = fmt.Sprintf(format, args...)
	panic(w)
}

// ended runs do in a watched test, and returns how it ended.
func ended(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	w := &watched{TB: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != w {
				panic(r)
			}
		}()
		do(w)
	}()
	return w.end
}

// Only a missing network skips a test, and not under CI=1.
func TestRefuse_SkipsOfflineOnly(t *testing.T) {
	offline := fmt.Errorf("build: %w", errOffline)
	for _, tc := range []struct {
		ci   string
		err  error
		want string
	}{
		{"", offline, "skipped: no MongoDB: build: its modules cannot be downloaded\nlet the go command"},
		{"1", offline, "failed: no MongoDB: build: its modules"},
		{"", errors.New("no server"), "failed: no MongoDB: no server"},
		{"1", errors.New("no server"), "failed: no MongoDB: no server"},
	} {
		t.Setenv("CI", tc.ci)
		if got := ended(t, func(t testing.TB) { refuse(t, tc.err) }); !strings.HasPrefix(got, tc.want) {
			t.Errorf("CI=%s, %v: %q, want %q", tc.ci, tc.err, got, tc.want)
		}
	}
}

// LOCUS_TEST=mongodb without a server does not start a stand-in, and a named server that does not exist is not
// replaced.
func TestFind_FailsWithoutTheServerThatIsAskedFor(t *testing.T) {
	t.Setenv("LOCUS_TEST", "mongodb")
	t.Setenv("LOCUS_TEST_MONGODB_URI", "")
	if _, err := find(); err == nil || !strings.Contains(err.Error(), "LOCUS_TEST_MONGODB_URI names none") {
		t.Errorf("LOCUS_TEST=mongodb alone: %v", err)
	}
	t.Setenv("LOCUS_TEST_MONGODB_URI", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=1")
	if s, err := find(); err == nil {
		t.Errorf("a server that is not there: %+v", s)
	}
}

func TestRealOnly_SaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	server := On(t)
	got := ended(t, func(t testing.TB) { RealOnly(t, "races of upserts") })
	want := "skipped: left out on " + server.Text + ": races of upserts"
	if server.Real {
		want = ""
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if server.Durable && !server.Real {
		t.Error("a stand-in is said to keep what it acknowledges")
	}
}

func TestNamed_ChangesTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"mongodb://h":                                  "mongodb://h/db",
		"mongodb://h/":                                 "mongodb://h/db",
		"mongodb://h/x?replicaSet=r":                   "mongodb://h/db?replicaSet=r",
		"mongodb://[::1]:1,[::2]:2/?tls=true":          "mongodb://[::1]:1,[::2]:2/db?tls=true",
		"mongodb+srv://u:p%2F@h":                       "mongodb+srv://u:p%2F@h/db?authSource=admin",
		"mongodb://u:p@h/users":                        "mongodb://u:p@h/db?authSource=users",
		"mongodb://u:p@h/users?authSource=a":           "mongodb://u:p@h/db?authSource=a",
		"mongodb://u@h/?authMechanism=MONGODB-X509":    "mongodb://u@h/db?authMechanism=MONGODB-X509",
		"mongodb://u:p@h/?authMechanism=SCRAM-SHA-256": "mongodb://u:p@h/db?authMechanism=SCRAM-SHA-256&authSource=admin",
	} {
		if got, err := named(uri, "db"); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", uri, got, err, want)
		}
	}
	if _, err := named("postgres://u:secret@h", "db"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("another database's URI: %v", err)
	}
}

func TestThrough_LeadsToOneServer(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"mongodb://h/db": "mongodb://p:1/db?directConnection=true",
		"mongodb://u:p@a:1,b:2/db?replicaSet=r&tls=true&tlsCAFile=f&authSource=a": "mongodb://u:p@p:1/db?authSource=a&directConnection=true",
		"mongodb+srv://h/db?srvServiceName=x&compressors=zstd&retryWrites=true":   "mongodb://p:1/db?directConnection=true&retryWrites=true",
	} {
		if got, err := through(uri, "p:1"); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", uri, got, err, want)
		}
	}
}

// A planned fault that did not occur makes a test fail, unless none is required.
func TestFaults_TellWhatIsLeft(t *testing.T) {
	t.Parallel()
	p := &Proxy{}
	p.Fault(Fault{Command: "update", Collection: "x", Kind: LostReply, Times: 2})
	p.Fault(Fault{Command: "insert", Collection: "x", Kind: LostReply, Times: -1})
	_, release := p.Hold("delete", "x")
	release()
	p.faults.find(command{name: "update", collection: "x"})
	got := strings.Join(p.faults.left(), "\n")
	for _, want := range []string{"1 more of update on x should have gone wrong", "no delete on x came to be held"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	if n := len(p.faults.left()); n != 2 {
		t.Errorf("%d sentences: %q", n, got)
	}
}
