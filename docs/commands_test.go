// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/porttest"
)

// A comment above every shell block says how this test treats it:
//
//	<!-- run -->               it is run, in one directory per page, after the blocks before it
//	<!-- serve -->             it is left running until the page ends
//	<!-- run: postgres -->     it is run with a PostgreSQL server, db1, after similar blocks
//	<!-- serve: postgres -->   and left running
//	<!-- run: mongodb -->      it is run with a MongoDB or a stand-in; likewise serve
//	<!-- run: nats -->         it is run with a NATS server; likewise serve
//	<!-- run: kafka -->        it is run with a broker of Kafka; likewise serve
//	<!-- not run: why -->      it is not run
//
// A block below it, marked <!-- prints -->, has lines that it must print, in this order; an ellipsis matches any text,
// and white space matches any other. The directory of a page has docs/examples as examples.
func TestCommands_DoWhatThePagesSay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the pages speak to a POSIX shell")
	}
	for _, p := range pages(t) {
		blocks := p.blocks(t)
		runs := 0
		for _, b := range blocks {
			switch {
			case b.info != "sh" || strings.HasPrefix(b.marker, "not run: "):
			case b.marker == "run"+onPostgres || b.marker == "serve"+onPostgres:
			case b.marker == "run"+onNATS || b.marker == "serve"+onNATS:
			case b.marker == "run"+onKafka || b.marker == "serve"+onKafka:
			case b.marker == "run"+onMongoDB || b.marker == "serve"+onMongoDB:
			case b.marker == "run" || b.marker == "serve":
				runs++
			default:
				t.Errorf("%s:%d: a block of shell needs a comment above it: run, serve, or not run: and why", p.path, b.line)
			}
		}
		if runs == 0 {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			if slices.ContainsFunc(blocks, func(b block) bool { return strings.Contains(b.text, "python3") }) {
				needs(t, "python3")
			}
			newShell(t).page(p.path, blocks, "")
		})
	}
}

// shell runs the blocks of one page.
type shell struct {
	t    *testing.T
	dir  string
	env  []string
	port string
	// own are the ports that a page uses beside it.
	own map[string]string

	// What replaces the databases of db1 and mongoDB.
	postgres func(name string) string
	mongodb  string
	nats     string
	kafka    string
}

// pretend makes this program the command of a name; see TestMain.
func (s *shell) pretend(name string) {
	s.t.Helper()
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	bin := s.t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
		s.t.Fatal(err)
	}
	for i, kv := range s.env {
		if strings.HasPrefix(kv, "PATH=") {
			s.env[i] = "PATH=" + bin + string(os.PathListSeparator) + strings.TrimPrefix(kv, "PATH=")
		}
	}
}

// needs skips a test without a program, or fails it in CI.
func needs(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no %s, and CI is set", tool)
		}
		t.Skipf("skipped: the page uses %s, which is not installed", tool)
	}
}

func newShell(t *testing.T) *shell {
	t.Helper()
	longtest.Needs(t, "the locus binary")
	needs(t, "sh")
	needs(t, "curl")
	bin, err := locus()
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, dir: t.TempDir(), port: porttest.Port(t), own: map[string]string{}}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "LOCUS_") && !strings.HasPrefix(kv, "HOME=") && !strings.HasPrefix(kv, "PATH=") {
			s.env = append(s.env, kv)
		}
	}
	if err := os.CopyFS(filepath.Join(s.dir, "examples"), os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	python, err := filepath.Abs(filepath.Join(root, "clients", "python")) // which a reader has installed
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+python, "HOME="+s.dir,
		"PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return s
}

// onPostgres is behind the marker of a block that needs a PostgreSQL server.
const onPostgres = ": postgres"

// onMongoDB is behind the marker of a block that needs MongoDB, and mongoDB is its URI there.
const (
	onMongoDB = ": mongodb"
	mongoDB   = "mongodb://db1/locus"
)

// page runs the blocks whose marker has this kind.
func (s *shell) page(path string, blocks []block, kind string) {
	s.t.Helper()
	var printed string
	ran := false
	for _, b := range blocks {
		switch {
		case b.info == "sh" && b.marker == "run"+kind:
			out, err := s.run(b.text)
			if err != nil {
				s.t.Fatalf("%s:%d: %v\n%s\nprinted:\n%s", path, b.line, err, b.text, out)
			}
			printed, ran = out, true
		case b.info == "sh" && b.marker == "serve"+kind:
			s.serve(path, b)
		case b.info == "sh":
			ran = false
		case b.marker == "prints" && ran:
			if line, ok := missing(printed, b.text); ok {
				s.t.Errorf("%s:%d: the command above did not print\n%s\nbut\n%s", path, b.line, line, printed)
			}
		}
	}
}

// patience is how long a block may take on a machine with much else to do. Durations stated on a page are checked by
// tests of the product.
const patience = 8 * time.Minute

// run waits for a block and returns its stdout and stderr.
func (s *shell) run(text string) (string, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := s.command(ctx, text)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// serve starts a block and waits until the server answers.
func (s *shell) serve(path string, b block) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	cmd := s.command(ctx, "exec "+b.text)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("%s:%d: %v", path, b.line, err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	s.t.Cleanup(func() {
		cancel() // sends SIGTERM; see command
		if err := <-exited; err != nil && !errors.Is(err, context.Canceled) {
			s.t.Errorf("%s:%d: the server ended with %v:\n%s", path, b.line, err, out.String())
		}
	})
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	deadline := time.After(patience)
	for {
		select {
		case err := <-exited:
			exited <- err
			s.t.Fatalf("%s:%d: the server ended at once: %v\n%s", path, b.line, err, out.String())
		case <-deadline:
			s.t.Fatalf("%s:%d: the server does not answer", path, b.line)
		case <-poll.C:
			if ready("http://127.0.0.1:" + s.port + "/readyz") {
				return
			}
		}
	}
}

func ready(url string) bool {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// postgresDB is a database of PostgreSQL in the pages. postgresTable is one with a parameter, in quotes.
var (
	postgresDB    = regexp.MustCompile(`postgres://db1/\w+`)
	postgresTable = regexp.MustCompile(`'postgres://db1/\w+\?`)
	// ownPort is a port of a server that a page starts itself.
	ownPort = regexp.MustCompile(`\b707[1-9]\b`)
)

// command is a shell for a block. Only the addresses of servers differ from the pages: ports are free ones, databases
// those of the tests. No setting of Locus is in the environment.
func (s *shell) command(ctx context.Context, text string) *exec.Cmd {
	text = ownPort.ReplaceAllStringFunc(text, func(port string) string {
		if s.own[port] == "" {
			s.own[port] = porttest.Port(s.t)
		}
		return s.own[port]
	})
	database, _, _ := strings.Cut(s.mongodb, "?") // the URL of a sink has parameters of its own
	text = strings.ReplaceAll(text, "'"+mongoDB+"?", "'"+database+"?")
	text = strings.NewReplacer("7070", s.port, mongoDB, "'"+s.mongodb+"'", natsServer, s.nats, kafkaBroker, s.kafka).Replace(text)
	text = postgresTable.ReplaceAllStringFunc(text, func(url string) string {
		return "'" + s.postgres(path.Base(strings.TrimSuffix(url, "?"))) + "&"
	})
	text = postgresDB.ReplaceAllStringFunc(text, func(url string) string { return "'" + s.postgres(path.Base(url)) + "'" })
	for _, kv := range s.env {
		if strings.HasPrefix(kv, "LOCUS_") {
			s.t.Errorf("the test sets %s, and a reader of the page does not", kv)
		}
	}
	cmd := exec.CommandContext(ctx, "sh", "-euc", text)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	return cmd
}

// missing returns the first line of want that is not in got after the previous ones.
func missing(got, want string) (string, bool) {
	rest := strings.Join(strings.Fields(got), " ")
	for line := range strings.Lines(want) {
		parts := strings.Split(strings.Join(strings.Fields(line), " "), "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(strings.TrimSpace(part))
		}
		at := regexp.MustCompile(strings.Join(parts, `.*?`)).FindStringIndex(rest)
		if at == nil {
			return strings.TrimSpace(line), true
		}
		rest = rest[at[1]:]
	}
	return "", false
}

// bins is where TestMain lets locus build.
var bins string

// locus builds the command once for all pages.
var locus = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(bins, "locus")
	cmd := exec.Command("go", "build", "-ldflags=-w", "-o", bin, "./cmd/locus")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build locus: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	pretended := map[string]func([]string) error{"nats": natsCommand, "kcat": kcatCommand}
	if run := pretended[filepath.Base(os.Args[0])]; run != nil {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	longtest.Together(4)
	var err error
	if bins, err = os.MkdirTemp("", "locus-docs-"); err != nil {
		panic(err)
	}
	code := withServers(m).Run()
	os.RemoveAll(bins)
	os.Exit(code)
}

func TestMissing_FindsTheFirstLineThatIsNotThere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ got, want, line string }{
		"all there":      {"a\tb  c\nd e\n", "a b c\nd e\n", ""},
		"ellipsis":       {"id 20be0ffc created\n", "id … created\n", ""},
		"order":          {"b\na\n", "a\nb\n", "b"},
		"not there":      {"a\n", "x\n", "x"},
		"no patterns":    {"a.c\n", "abc\n", "abc"},
		"twice, is once": {"a\n", "a\na\n", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if line, _ := missing(tc.got, tc.want); line != tc.line {
				t.Errorf("missing line %q, want %q", line, tc.line)
			}
		})
	}
}
