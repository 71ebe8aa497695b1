// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/cli"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// elsewhere lists the entries of surfaces F and L that cannot be tried here, with the reason. They are printed as
// skipped.
var elsewhere = map[string]string{
	"F16": "killed by TestP01_KilledImport",
	"F18": "10 GB take too long; that memory is bounded is held beside the readers",
	"F30": "interrupted by TestInterruptedImport",
	"F31": "tried by TestExport_RecordsComeBackByteForByte",
	"L03": "there is no configuration file", "L04": "there is no configuration file",
	"L30": "there is no configuration file",
	"L06": "tried by TestPortInUse",
	"L08": "tried by TestFullDisk of storage/sqlite", "L23": "tried by TestFullDisk of storage/sqlite",
	"L09": "needs a clock of its own; the generator is driven with one beside its code",
	"L10": "needs a clock of its own; the generator is driven with one beside its code",
	"L11": "tried by TestSignals", "L22": "tried by TestSignals",
	"L13": "tried by TestTwoServersOneDirectory",
	"L14": "tried beside the backends",
	"L15": "tried by TestPreflight of storage/postgres",
	"L16": "tried by TestPool_KeepsItsBudget of storage/postgres",
	"L17": "TestP06_P08_LiveGrowth kills its servers",
	"L18": "tried by TestP07_RestoredBackup",
	"L19": "tried by TestPreflight_Standby of storage/postgres",
	"L24": "formats before the first release are refused, beside the backends",
	"L25": "tried by TestPreflight_Encoding of storage/postgres",
	"L26": "tried by TestPooler_Modes of storage/postgres",
	"L27": "tried by TestParse of storage/mongodb",
	"L28": "needs a network file system",
	"L32": "there is no backup command",
}

// bad returns the entries of a surface, and the exit codes they allow.
func bad(t *testing.T, surface string) (entries []badInput, exits map[string][]int) {
	t.Helper()
	entries = slices.DeleteFunc(loadBadInputs(t), func(e badInput) bool { return e.Surface != surface })
	data, err := os.ReadFile(badInputsPath())
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Entries []struct {
			ID     string
			Expect struct{ Exit []int }
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	exits = map[string][]int{}
	for _, e := range list.Entries {
		exits[e.ID] = e.Expect.Exit
	}
	return entries, exits
}

func badInputsPath() string {
	dir := filepath.Join("..", "..", "shared", "data")
	if sets := os.Getenv("LOCUS_DATA_SETS"); sets != "" {
		dir = sets
	}
	return filepath.Join(dir, "..", "bad-inputs", "inputs.json")
}

// file is the expected result for a file: the number of accepted and rejected rows, and a text on the terminal or in
// the file of rejected rows.
type file struct {
	in, out int
	says    string
}

var files = map[string]file{
	"F01": {0, 0, "has no rows"},
	"F02": {in: 1}, "F05": {in: 1}, "F06": {in: 2}, "F20": {in: 1}, "F23": {in: 2}, "F24": {in: 2},
	"F22": {0, 0, "has no rows"},
	"F03": {in: 1, says: "Windows-1252"},
	"F04": {0, 1, `"line":2,`},
	"F07": {1, 1, `"line":2,`},
	"F08": {0, 1, "1048576 bytes"},
	"F09": {0, 0, "10000 columns"},
	"F10": {1, 2, `"line":3,`},
	"F11": {0, 0, "twice"},
	"F12": {0, 0, "did you mean name?"},
	"F13": {in: 1},
	"F14": {999, 1, `"line":500,`},
	"F17": {0, 0, "there is no column"},
	"F19": {0, 1, "one object a line"},
	"F21": {in: 1, says: "UTF-16"},
	"F27": {0, 0, "zip archive"},
	"F28": {0, 1, "duplicate_key"},
	"F29": {in: 2},
}

// recognised are files that the list wants refused and that are read by now: in another encoding, or with a quote
// inside a text, which is that text.
var recognised = []string{"F03", "F21", "F29"}

// allowed returns the exit codes for a file. The list is older than the code 1 of an import that stored no row.
func allowed(id string, listed []int, want file) []int {
	switch {
	case slices.Contains(recognised, id):
		return []int{0}
	case want.in == 0 && want.out > 0:
		return []int{1}
	}
	return listed
}

// TestBadFiles imports the shared list of bad files.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	entries, exits := bad(t, "F")
	for _, e := range entries {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			if reason, skipped := elsewhere[e.ID]; skipped {
				t.Skipf("%s: %s", e.Name, reason)
			}
			dir := t.TempDir()
			if e.Payload == nil {
				steps := map[string]func(*testing.T, string) int{"F15": twice, "F25": symlink, "F26": directory}
				if got := steps[e.ID](t, dir); !slices.Contains(exits[e.ID], got) {
					t.Errorf("%s: exit code %d, want one of %v", e.Name, got, exits[e.ID])
				}
				return
			}
			name, content := payload(t, &e)
			var stdin io.Reader
			if e.ID == "F17" { // a stream: it is rejected without unpacking
				name, stdin = "-", content
			} else {
				write(t, filepath.Join(dir, name), content)
			}
			code, out := ingest(t, dir, stdin, name)
			if want := allowed(e.ID, exits[e.ID], files[e.ID]); !slices.Contains(want, code) {
				t.Errorf("exit code %d, want one of %v", code, want)
			}
			rejects, _ := os.ReadFile(filepath.Join(dir, name+".rejected.jsonl"))
			want := files[e.ID]
			if got := bytes.Count(rejects, []byte("\n")); got != want.out {
				t.Errorf("%d rows refused, want %d:\n%s", got, want.out, rejects)
			}
			if says := out + string(rejects); !strings.Contains(says, want.says) || strings.Contains(says, "goroutine ") {
				t.Errorf("it does not say %q:\n%.2000s", want.says, says)
			}
			if _, after := ingest(t, dir, strings.NewReader("source,key,name\nafter,1,good\n"), "-"); !strings.Contains(after, "\t1\t") {
				t.Errorf("a good import afterwards: %s", after)
			}
			if got := stored(t, dir) - 1; got != want.in {
				t.Errorf("%d rows are in, want %d", got, want.in)
			}
		})
	}
}

// payload returns the file of an entry, with a suitable name. The entries describe records without attributes; records
// of the built-in kind need a name.
func payload(t *testing.T, e *badInput) (name string, content io.Reader) {
	t.Helper()
	number := func(i int) int { return int(e.Payload.Args[i].(float64)) }
	good := func(key int) string { return fmt.Sprintf(`{"source":"x","key":"%d","name":"a"}`, key) }
	switch e.Payload.Gen {
	case "gzip_zeros":
		return "zeros.gz", gzipZeros(int64(number(0)))
	case "csv_columns":
		row := list(number(0), func(i int) string { return fmt.Sprint("c", i) }, ",")
		return "f.csv", strings.NewReader(row + "\n" + row + "\n")
	case "csv_field":
		return "f.csv", io.MultiReader(strings.NewReader("source,key,name\nx,1,\""),
			io.LimitReader(letters{}, int64(number(0))), strings.NewReader("\"\n"))
	case "jsonl_line":
		return "f.jsonl", strings.NewReader(good(1) + strings.Repeat(" ", number(0)-len(good(1))) + "\n")
	case "jsonl_bad_line":
		return "f.jsonl", strings.NewReader(list(number(1), func(i int) string {
			if i+1 == number(0) {
				return good(i)[:len(good(i))/2]
			}
			return good(i)
		}, "\n") + "\n")
	case "zip_slip":
		return "f.zip", strings.NewReader("PK\x03\x04\x14\x00\x00\x00\x00\x00../../escaped.csv")
	}
	text := e.bytes(t)
	if first, _, _ := bytes.Cut(text, []byte("\n")); bytes.Contains(first, []byte("source,key")) || utf8.Valid(text) && len(text) == 0 {
		return "f.csv", bytes.NewReader(text)
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) {
		return "f.csv", bytes.NewReader(text)
	}
	named := strings.NewReplacer(`"key":"1"}`, `"key":"1","name":"a"}`, `"key":"2"}`,
		`"key":"2","name":"a"}`).Replace(string(text))
	return "f.jsonl", strings.NewReader(named)
}

func write(t *testing.T, path string, content io.Reader) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// ingest runs an import into the data of a folder, with one cell, as a process.
func ingest(t *testing.T, dir string, stdin io.Reader, args ...string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	data := filepath.Join(dir, "locus-data")
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) {
		if err := createData(data, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	c := command(ctx, t, dir, append([]string{"ingest"}, args...)...)
	var both bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = stdin, &both, &both
	c.WaitDelay = time.Second // an endless standard input would keep the command waiting
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) && !errors.Is(err, exec.ErrWaitDelay) && !errors.Is(err, syscall.EPIPE) &&
		!errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), both.String()
}

// stored counts the records of a folder.
func stored(t *testing.T, dir string) int {
	t.Helper()
	var out, talk bytes.Buffer
	code := cli.Run(t.Context(), []string{"record", "list", "--all", "--limit", "1000", "--json", "--data", filepath.Join(dir, "locus-data")},
		strings.NewReader(""), &out, &talk, map[string]string{})
	if code != 0 {
		t.Fatalf("list records: %s", talk.String())
	}
	return strings.Count(out.String(), `"type":"result"`)
}

func twice(t *testing.T, dir string) int {
	writeCSV(t, filepath.Join(dir, "f.csv"), 3, 300)
	if code, out := ingest(t, dir, nil, "f.csv"); code != 0 {
		t.Fatalf("the first time: %d %s", code, out)
	}
	code, out := ingest(t, dir, nil, "f.csv")
	if !strings.Contains(out, "f.csv\t300\t0\t0\t0\t300\t0\t0\t0\t") {
		t.Errorf("the second time something changed:\n%s", out)
	}
	return code
}

func symlink(t *testing.T, dir string) int {
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	code, out := ingest(t, dir, nil, "link.csv")
	if !strings.Contains(out, "link") || strings.Contains(out, "root:") {
		t.Errorf("it says:\n%s", out)
	}
	return code
}

func directory(t *testing.T, dir string) int {
	code, out := ingest(t, dir, nil, dir)
	if !strings.Contains(out, "is a directory") {
		t.Errorf("it says:\n%s", out)
	}
	return code
}

// Ctrl-C ends an import with exit code 130 and a hint to continue; continuing completes it.
func TestInterruptedImport(t *testing.T) {
	t.Parallel()
	dir, code, out := "", 0, ""
	for range 20 { // on a busy machine it may end before the interrupt arrives
		dir = t.TempDir()
		if code, out = interruptImport(t, dir); code != 0 {
			break
		}
	}
	if code != 130 || !strings.Contains(out, "repeat the command to continue") {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	code, again := ingest(t, dir, nil, "--batch", "20", "f.csv")
	if code != 0 || !strings.Contains(again, "continuing after row") || !strings.Contains(again, "f.csv\t1500\t") {
		t.Errorf("going on: %d\n%s", code, again)
	}
	if got := stored(t, dir); got != 1500 {
		t.Errorf("%d records of 1500", got)
	}
}

// interruptImport imports 1,500 rows and interrupts the process once it has stored its first position.
func interruptImport(t *testing.T, dir string) (code int, said string) {
	t.Helper()
	writeCSV(t, filepath.Join(dir, "f.csv"), 9, 1500)
	c := command(context.Background(), t, dir, "ingest", "--batch", "20", "f.csv")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	state := bulk.StateName(filepath.Join(dir, "f.csv"))
	for waiting := true; waiting; {
		select {
		case <-ended:
			waiting = false
		case <-time.After(2 * time.Millisecond):
			// a state without rows says that an import has begun
			text, err := os.ReadFile(state)
			waiting = err != nil || strings.Contains(string(text), `"rows":0,`)
		}
	}
	_ = c.Process.Signal(os.Interrupt) // it may have ended
	<-ended
	return c.ProcessState.ExitCode(), out.String()
}

// TestBadOperation tries the entries about the command line itself.
func TestBadOperation(t *testing.T) {
	t.Parallel()
	entries, exits := bad(t, "L")
	for _, e := range entries {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			if reason, skipped := elsewhere[e.ID]; skipped {
				t.Skipf("%s: %s", e.Name, reason)
			}
			dir := t.TempDir()
			var code int
			switch e.ID {
			case "L01", "L05":
				args := strings.Fields(strings.ReplaceAll(*e.Payload.Text, "--listen", "--addr"))
				var out string
				code, out = process(t, dir, args...)
				if !strings.Contains(out, "try:") || e.ID == "L05" && !strings.Contains(out, "--insecure-listen") {
					t.Errorf("it says:\n%s", out)
				}
			case "L02", "L21": // a password is never printed, and not accepted where the process list shows it
				secret := map[string]string{"L02": "s3cr%3tPw", "L21": "s3cretPw"}[e.ID]
				var out string
				code, out = process(t, dir, "serve", "--addr", "127.0.0.1:0", "--map", "postgres://bob:"+secret+"@127.0.0.1:1/db")
				if code != 2 || strings.Contains(out, "s3cr") || e.ID == "L21" && !strings.Contains(out, "PGPASSWORD") {
					t.Errorf("exit code %d, it says:\n%s", code, out)
				}
				return
			case "L07":
				blocked := filepath.Join(dir, "file")
				write(t, blocked, strings.NewReader(""))
				var out string
				code, out = process(t, dir, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(blocked, "data"))
				if strings.Contains(out, "goroutine ") {
					t.Errorf("it says:\n%s", out)
				}
			case "L12":
				code = closedPipe(t, dir)
			case "L20":
				code = fewFiles(t, dir)
			case "L29":
				writeCSV(t, filepath.Join(dir, "f.csv"), 3, 2000)
				c := command(t.Context(), t, dir, "ingest", "f.csv")
				c.Env = append(c.Env, "GOMEMLIMIT=64MiB")
				_ = c.Run()
				code = c.ProcessState.ExitCode()
			case "L31":
				onlyJSON(t, dir)
				return
			default:
				t.Fatalf("the test has no steps for %s", e.Name)
			}
			if !slices.Contains(exits[e.ID], code) {
				t.Errorf("%s: exit code %d, want one of %v", e.Name, code, exits[e.ID])
			}
		})
	}
}

func process(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := command(ctx, t, dir, args...)
	out, err := c.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// closedPipe lists into a pipe whose reader is closed.
func closedPipe(t *testing.T, dir string) int {
	writeCSV(t, filepath.Join(dir, "f.csv"), 3, 500)
	if code, out := ingest(t, dir, nil, "f.csv"); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	c := command(t.Context(), t, dir, "entity", "list", "--all")
	var talk bytes.Buffer
	c.Stdout, c.Stderr = w, &talk
	_ = c.Run()
	if strings.Contains(talk.String(), "goroutine ") {
		t.Errorf("it says:\n%s", talk.String())
	}
	return c.ProcessState.ExitCode()
}

// fewFiles imports with few file descriptors.
func fewFiles(t *testing.T, dir string) int {
	if runtime.GOOS != "linux" {
		t.Skip("ulimit is tried on Linux only")
	}
	writeCSV(t, filepath.Join(dir, "f.csv"), 3, 500)
	inner := command(t.Context(), t, dir)
	c := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 64; exec "$0" ingest f.csv`, inner.Path)
	c.Dir, c.Env = inner.Dir, inner.Env
	out, _ := c.CombinedOutput()
	if strings.Contains(string(out), "goroutine ") {
		t.Errorf("it says:\n%s", out)
	}
	return c.ProcessState.ExitCode()
}

// onlyJSON runs good and bad commands with --json: each line of the standard output is JSON, and so is the last line of
// the standard error of a failure.
func onlyJSON(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "f.csv"), strings.NewReader("source,key,name\nx,1,a\nx,2\nx,3,b\n"))
	for _, args := range [][]string{
		{"ingest", "f.csv"},
		{"status"},
		{"entity", "list"},
		{"entity", "get", "x:1"},
		{"entity", "why", "x:1"},
		{"entity", "why-not", "x:1", "x:3"},
		{"record", "get", "x:1"},
		{"record", "list", "--limit", "1"},
		{"route", "x:1"},
		{"route", "x:9"},
		{"id"},
		{"id", "nonsense"},
		{"version"},
		{"record", "erase", "x:1", "--yes"},
		{"entity", "get", "x:1"},
		{"serve", "--frce"},
		{"nonsense"},
	} {
		var out, talk bytes.Buffer
		c := command(t.Context(), t, dir, append(args, "--json")...)
		c.Stdout, c.Stderr = &out, &talk
		_ = c.Run()
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%v writes %q", args, line)
			}
		}
		if c.ProcessState.ExitCode() == 0 {
			continue
		}
		lines := strings.Split(strings.TrimSpace(talk.String()), "\n")
		var last struct {
			Type    string
			Outcome string
			Exit    int
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Type != "exit_error" || last.Exit != c.ProcessState.ExitCode() || last.Outcome == "" {
			t.Errorf("%v ends with %d and says %q", args, c.ProcessState.ExitCode(), talk.String())
		}
	}
}

// The command line and the import judge ids and strings as HTTP does. In the gate, a string is imported in one format,
// the next in the other.
func TestBadInputs_OnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "127.0.0.1:0", "--cells", "1")
	ids, _ := bad(t, "I")
	for _, e := range ids {
		if e.Payload == nil || e.As == "json" {
			continue
		}
		text := string(e.bytes(t))
		if strings.Contains(text, "\x00") || strings.HasPrefix(text, "urn:") {
			continue // no argument can hold a NUL, and urn:uuid is a good SOURCE:KEY
		}
		code := inProcess(t, "entity", "get", "--url", s.url, "--", text)
		var want []int
		for _, status := range e.Expect.Status {
			want = append(want, map[int]int{200: 0, 404: 4, 410: 5, 422: 2, 400: 2}[status])
		}
		if !slices.Contains(want, code) {
			t.Errorf("%s %s: exit code %d, want one of %v", e.ID, e.Name, code, want)
		}
	}
	texts, _ := bad(t, "S")
	for i, e := range texts {
		raw := string(e.bytes(t))
		for j, format := range []string{"csv", "jsonl"} {
			if e.As != "string" {
				continue // a JSON escape, tried on HTTP and beside the reader
			}
			if !longtest.On() && i%2 != j {
				continue
			}
			key := e.ID + format
			one := filepath.Join(t.TempDir(), "one."+format)
			write(t, one, strings.NewReader(oneRow(format, "s", key, "a", raw)))
			code := inProcess(t, "ingest", "--url", s.url, "--encoding", "utf-8", one)
			checkVerdict(t, &e, format+" text", e.Expect.Text, code, func() bool {
				var r httpapi.Record
				if err := get(s.url, httpapi.RecordPath("s", key), url.Values{}, &r); err != nil {
					return false
				}
				return slices.Equal(r.Attributes["description"], []string{raw}) == (e.Expect.Text != "absent")
			})
			write(t, one, strings.NewReader(oneRow(format, "k", raw, "a", "")))
			code = inProcess(t, "ingest", "--url", s.url, "--encoding", "utf-8", one)
			checkVerdict(t, &e, format+" key", e.Expect.Identifier, code, func() bool {
				var r httpapi.Record
				return get(s.url, httpapi.RecordPath("k", raw), url.Values{}, &r) == nil && r.Key == raw
			})
		}
	}
}

// checkVerdict compares the exit code of an import with a verdict of the list.
func checkVerdict(t *testing.T, e *badInput, field, verdict string, code int, kept func() bool) {
	t.Helper()
	ok := false
	switch verdict {
	case "kept", "absent":
		ok = code == 0 && kept()
	case "refused":
		ok = code == 1 // the only row
	case "limit", "either":
		ok = code == 1 || code == 0 && kept()
	case "":
		return
	}
	if !ok {
		t.Errorf("%s %s as %s: exit code %d, the verdict is %s", e.ID, e.Name, field, code, verdict)
	}
}

// oneRow returns a file with one record.
func oneRow(format, source, key, name, description string) string {
	if format == "csv" {
		quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
		return "source,key,name,description\n" + source + "," + quote(key) + "," + name + "," + quote(description) + "\n"
	}
	quote := func(s string) string {
		var b strings.Builder
		b.WriteByte('"')
		for i := 0; i < len(s); i++ { // keeps bytes that are not UTF-8
			switch c := s[i]; {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < 0x20:
				fmt.Fprintf(&b, `\u%04x`, c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteByte('"')
		return b.String()
	}
	return `{"source":` + quote(source) + `,"key":` + quote(key) + `,"name":` + quote(name) + `,"description":` + quote(description) + "}\n"
}

// inProcess runs a command in this process and returns its exit code.
func inProcess(t *testing.T, args ...string) int {
	t.Helper()
	return cli.Run(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard, map[string]string{})
}
