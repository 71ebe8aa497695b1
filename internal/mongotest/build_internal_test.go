// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Different sources give different programs, and the same source gives the same one.
func TestProgramPath_IsOfTheSource(t *testing.T) {
	t.Parallel()
	source, err := sourceDir()
	if err != nil {
		t.Fatal(err)
	}
	path, err := programPath(source)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{path: "the source"}
	for _, changed := range []string{"", "go.mod", "go.sum", "main.go"} {
		dir := t.TempDir()
		for _, name := range []string{"go.mod", "go.sum", "main.go"} {
			text, err := os.ReadFile(filepath.Join(source, name))
			if err != nil {
				t.Fatal(err)
			}
			if name == changed {
				text = append(text, '\n')
			}
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := programPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		if changed == "" {
			if got != path {
				t.Errorf("the same source: %s, want %s", got, path)
			}
		} else if seen[got] != "" {
			t.Errorf("another %s: %s, as of %s", changed, got, seen[got])
		}
		seen[got] = "another " + changed
	}
}

// Network errors of the go command are distinguished from compile errors.
func TestCompile_TellsWhyItFails(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const sum = "example.com/none v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n" +
		"example.com/none v1.0.0/go.mod h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-race") // not meant for the stand-in
	for name, tc := range map[string]struct {
		mod, sum, source string
		offline, fails   bool
	}{
		"a program":  {"module x\n", "", "package main\n\nfunc main() {}\n", false, false},
		"no program": {"module x\n", "", "package main\n\nfunc main() { none }\n", false, true},
		"a module out of reach": {"module x\n\nrequire example.com/none v1.0.0\n", sum,
			"package main\n\nimport _ \"example.com/none\"\n\nfunc main() {}\n", true, true},
	} {
		write("go.mod", tc.mod)
		write("go.sum", tc.sum)
		write("main.go", tc.source)
		path := filepath.Join(dir, "program")
		err := compile(dir, path)
		if got := err != nil && strings.Contains(err.Error(), errOffline.Error()); got != tc.offline || (err != nil) != tc.fails {
			t.Errorf("%s: %v", name, err)
		}
		if exists(path) == tc.fails {
			t.Errorf("%s: is there a program: %v", name, exists(path))
		}
		_ = os.Remove(path)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "program*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Only one process at a time has the lock.
func TestLock_ExcludesOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	take := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err == nil {
			err = lock(f)
		}
		if err != nil {
			t.Error(err)
		}
		return f
	}
	inside, most := make(chan int, 1), 0
	inside <- 0
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 100 {
				f := take()
				n := <-inside + 1
				most = max(most, n) // safe because of the lock
				inside <- n
				inside <- <-inside - 1
				_ = f.Close()
			}
		}()
	}
	for range 4 {
		<-done
	}
	if most != 1 {
		t.Errorf("%d had the lock at once", most)
	}
}

// child is the environment variable that makes this program start a stand-in, print its address, and exit abruptly.
const child = "LOCUS_MONGOTEST_CHILD"

func TestStandIn_EndsWithWhoStartedIt(t *testing.T) {
	if os.Getenv(child) != "" {
		s, err := startStandIn()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(os.Stderr, "ADDRESS", s.proxy.target.address)
		_ = os.Stderr.Sync()
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Kill()
		select {}
	}
	t.Parallel()
	On(t) // builds it
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestStandIn_EndsWithWhoStartedIt$")
	cmd.Env = append(os.Environ(), child+"=1", "LOCUS_TEST_MONGODB_URI=", "LOCUS_TEST=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if found, ok := strings.CutPrefix(lines.Text(), "ADDRESS "); ok {
			address = found
		}
	}
	_ = cmd.Wait() // it was killed
	if address == "" {
		t.Fatal("no stand-in was started")
	}
	for deadline := time.Now().Add(8 * time.Minute); ; {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("the stand-in goes on")
		}
	}
}
