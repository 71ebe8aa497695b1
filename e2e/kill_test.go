// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/porttest"
)

// rounds returns how often a process is killed.
func rounds(t *testing.T) int {
	n := longtest.Times(4, 8)
	if text := os.Getenv("LOCUS_KILL_ROUNDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// load is the records that one worker has sent, and which of them were acknowledged. Workers share no key.
type load struct {
	mu           sync.Mutex
	sent, stored map[entity.Ref]int // revision; 0 is the first
}

func input(g *demo.Generator, i int64, revision int) httpapi.RecordInput {
	r := g.Record(i)
	if revision > 0 {
		r = g.Update(i, revision)
	}
	return httpapi.RecordInput{Source: r.Source, Key: r.Key, Attributes: r.Attributes}
}

// A server killed repeatedly under load keeps every acknowledged record (P1), and every record is in exactly one entity
// (P9): the same entities as in an undisturbed run.
func TestP01_TestP09_KilledServer(t *testing.T) {
	t.Parallel()
	const workers, size = 3, 40
	kills := rounds(t)
	dir, addr := t.TempDir(), "127.0.0.1:"+porttest.Port(t)
	total := int64(kills * 8 * size)
	g := demo.New(11, total)
	index := make(map[entity.Ref]int64, total)
	for i := range total {
		r := g.Record(i)
		index[entity.Ref{Source: r.Source, Key: r.Key}] = i
	}

	book := &load{sent: map[entity.Ref]int{}, stored: map[entity.Ref]int{}}
	var acknowledged atomic.Int64 // batches
	tick := make(chan struct{}, 1)
	var current atomic.Pointer[server]
	current.Store(serve(t, dir, addr))

	// Each worker puts its share of the records, each tenth also in a second revision, and sends a batch again until it
	// is acknowledged.
	var finished sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for w := range int64(workers) {
		finished.Go(func() {
			for start := w * size; start < total; start += workers * size {
				for revision := range 2 {
					var batch []httpapi.RecordInput
					for i := start; i < min(start+size, total); i++ {
						if revision == 0 || i%10 == 0 {
							batch = append(batch, input(g, i, revision))
						}
					}
					book.note(book.sent, batch, revision)
					for ctx.Err() == nil {
						if answer, err := post(current.Load().url, batch); err == nil && accepted(t, answer) {
							break
						}
						select {
						case <-ctx.Done():
						case <-time.After(20 * time.Millisecond):
						}
					}
					if ctx.Err() != nil {
						return
					}
					book.note(book.stored, batch, revision)
					acknowledged.Add(1)
					select {
					case tick <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { finished.Wait(); close(done) }()

	random := rand.New(rand.NewPCG(11, 11))
	killed := 0
	for ; killed < kills; killed++ {
		// Kill some batches later, in the middle of the next ones.
		for goal := acknowledged.Load() + 1 + random.Int64N(12); acknowledged.Load() < goal; {
			select {
			case <-tick:
				continue
			case <-done:
			case <-time.After(patience):
				t.Fatalf("nothing is acknowledged for %v", patience)
			}
			break
		}
		current.Load().kill()
		s := serve(t, dir, addr)
		current.Store(s)
		book.check(t, s.url, g, index)
		if t.Failed() {
			cancel()
			<-done
			t.Fatalf("after kill %d", killed+1)
		}
	}
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the load does not end")
	}
	s := current.Load()
	book.check(t, s.url, g, index)
	got := partition(t, s.url)
	t.Logf("%d kills, %d batches, %d records, %d entities", killed, acknowledged.Load(), len(book.stored), len(got))

	calm := serve(t, t.TempDir(), "127.0.0.1:0")
	for start := int64(0); start < total; start += 500 {
		var batch []httpapi.RecordInput
		for i := start; i < min(start+500, total); i++ {
			revision := 0
			if i%10 == 0 {
				revision = 1
			}
			batch = append(batch, input(g, i, revision))
		}
		if answer, err := post(calm.url, batch); err != nil || !accepted(t, answer) {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(partition(t, calm.url), got); diff != "" {
		t.Errorf("entities (-undisturbed +killed):\n%.4000s", diff)
	}
}

// accepted reports whether every record was accepted; a permanent rejection is a bug of the test.
func accepted(t *testing.T, answer *httpapi.PutResponse) bool {
	for _, r := range answer.Results {
		if r.Error == nil {
			continue
		}
		if r.Error.Code == httpapi.CodeInvalid {
			t.Errorf("%s:%s is refused: %s", r.Source, r.Key, r.Error.Detail)
		}
		return false
	}
	return true
}

func (l *load) note(where map[entity.Ref]int, batch []httpapi.RecordInput, revision int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range batch {
		where[entity.Ref{Source: r.Source, Key: r.Key}] = revision
	}
}

// check compares the stored records with the acknowledged ones: each is stored in the acknowledged revision or in one
// sent later.
func (l *load) check(t *testing.T, base string, g *demo.Generator, index map[entity.Ref]int64) {
	t.Helper()
	l.mu.Lock()
	stored := maps.Clone(l.stored)
	l.mu.Unlock()
	records, err := allRecords(base)
	if err != nil {
		t.Error(err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for ref, revision := range stored {
		r, ok := records[ref]
		if !ok {
			t.Errorf("record %v was acknowledged and is lost", ref)
			continue
		}
		fine := false
		for sent := revision; sent <= l.sent[ref]; sent++ {
			fine = fine || cmp.Equal(input(g, index[ref], sent).Attributes, r.Attributes)
		}
		if !fine {
			t.Errorf("record %v: acknowledged in revision %d, stored is %v", ref, revision, r.Attributes)
		}
	}
	for ref := range records {
		if _, sent := l.sent[ref]; !sent {
			t.Errorf("record %v was never sent", ref)
		}
	}
}

// partition returns the entities as sorted lists of keys, once the redo log is empty. It checks the memberships against
// the records.
func partition(t *testing.T, base string) []string {
	t.Helper()
	eventually(t, time.Minute, "nothing is left to be redone", func() (bool, string) {
		var status cells.Status
		if err := get(base, "/v1/status", nil, &status); err != nil {
			t.Fatal(err)
		}
		return status.Redo == 0, fmt.Sprintf("%d records are still to be redone", status.Redo)
	})
	records, err := allRecords(base)
	if err != nil {
		t.Fatal(err)
	}
	entities, err := allEntities(base)
	if err != nil {
		t.Fatal(err)
	}
	var lists []string
	in := map[entity.Ref]string{}
	for _, e := range entities {
		var keys []string
		for _, m := range e.Members {
			if other, twice := in[m.Ref]; twice {
				t.Errorf("record %v is in %s and in %s", m.Ref, other, e.ID)
			}
			in[m.Ref] = e.ID.String()
			keys = append(keys, m.String())
			if r, ok := records[m.Ref]; !ok || r.Entity != e.ID || r.PUID != m.PUID || r.Version != m.Version {
				t.Errorf("entity %s has member %+v, the record says %+v", e.ID, m, r)
			}
		}
		slices.Sort(keys)
		lists = append(lists, strings.Join(keys, " "))
	}
	for ref := range records {
		if _, ok := in[ref]; !ok {
			t.Errorf("record %v is in no entity", ref)
		}
	}
	slices.Sort(lists)
	return lists
}

// writeCSV writes demo records to a file.
func writeCSV(t *testing.T, path string, seed uint64, n int64) {
	t.Helper()
	columns := []string{"name", "address", "city", "postcode"}
	var b strings.Builder
	b.WriteString("source,key," + strings.Join(columns, ",") + "\n")
	for r := range demo.New(seed, n).All() {
		b.WriteString(r.Source + "," + r.Key)
		for _, column := range columns {
			fmt.Fprintf(&b, ",%q", strings.ReplaceAll(strings.Join(r.Attributes[column], " "), `"`, ""))
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An import that is killed repeatedly continues where it was, with the result of an undisturbed one, in every format.
func TestP01_KilledImport(t *testing.T) {
	t.Parallel()
	kills := rounds(t)
	dir := t.TempDir()
	name := func(ext string) string { return filepath.Join(dir, "places."+ext) }
	writeCSV(t, name("csv"), 5, int64(kills*150))
	if out, err := run(t, "ingest", "--data", filepath.Join(dir, "calm"), name("csv")); err != nil {
		t.Fatalf("the undisturbed import: %v\n%s", err, out)
	}
	for _, ext := range []string{"jsonl", "parquet"} {
		if out, err := run(t, "export", "records", "--data", filepath.Join(dir, "calm"), "-o", name(ext)); err != nil {
			t.Fatal(err, out)
		}
	}
	text, err := os.ReadFile(name("jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	array := `{"data": [` + strings.Join(strings.Split(strings.TrimSpace(string(text)), "\n"), ", ") + "]}"
	if err := os.WriteFile(name("json"), []byte(array), 0o600); err != nil {
		t.Fatal(err)
	}
	writeXLSX(t, name("csv"), name("xlsx"))
	calm := serve(t, filepath.Join(dir, "calm"), "127.0.0.1:0")
	want := partition(t, calm.url)
	calm.kill()
	formats := []string{"csv", "parquet", "jsonl", "json", "xlsx"} // the first two continue at an offset and at a row
	for _, ext := range formats[:longtest.Part(len(formats))] {
		t.Run(ext, func(t *testing.T) {
			t.Parallel()
			got := killedImport(t, name(ext), filepath.Join(dir, "data-"+ext), kills)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entities (-undisturbed +killed):\n%.4000s", diff)
			}
		})
	}
}

// writeXLSX writes a table of CSV as a workbook.
func writeXLSX(t *testing.T, from, to string) {
	t.Helper()
	file, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	book := excelize.NewFile()
	defer book.Close()
	for i, row := range rows {
		if err := book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SaveAs(to); err != nil {
		t.Fatal(err)
	}
}

// killedImport imports a file, is killed and begins again, and returns the entities in the end.
func killedImport(t *testing.T, file, data string, kills int) []string {
	t.Helper()
	args := []string{"ingest", "--data", data, "--batch", "25", "--yes", file}
	resumed := 0
	for range kills {
		before, _ := os.ReadFile(bulk.StateName(file))
		if killedRun(t, "", args, func() bool {
			now, _ := os.ReadFile(bulk.StateName(file))
			return len(now) > 0 && string(now) != string(before)
		}) {
			resumed++
		}
	}
	out, err := run(t, args...)
	if err != nil {
		t.Fatalf("the last import: %v\n%s", err, out)
	}
	if resumed == 0 {
		t.Error("no import ever went on from another one's state")
	}
	if _, err := os.Stat(bulk.StateName(file)); err == nil {
		t.Error("the state of a finished import is still there")
	}
	got := partition(t, serve(t, data, "127.0.0.1:0").url)
	t.Logf("%d kills, %d resumed, %d entities", kills, resumed, len(got))
	return got
}

// killedRun begins an import in a directory, kills it as soon as moved returns true, and reports whether it continued
// from the state of a previous one.
func killedRun(t *testing.T, dir string, args []string, moved func() bool) (resumed bool) {
	t.Helper()
	var stderr strings.Builder
	c := exec.Command(built(t), args...)
	c.Dir, c.Env, c.Stderr = dir, clean(), &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-time.After(5 * time.Millisecond):
			over = moved()
		}
	}
	_ = c.Process.Kill()
	<-ended
	return strings.Contains(stderr.String(), "continuing after row")
}

// run runs the binary to its end.
func run(t testing.TB, args ...string) (string, error) {
	t.Helper()
	out, err := command(context.Background(), t, "", args...).CombinedOutput()
	return string(out), err
}

// An import rides out a server that is killed and comes back.
func TestP01_ImportOutlivesTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, data, addr := filepath.Join(dir, "places.csv"), filepath.Join(dir, "data"), "127.0.0.1:"+porttest.Port(t)
	const n = 1500
	writeCSV(t, file, 6, n)
	s := serve(t, data, addr)
	c := exec.Command(built(t), "ingest", "--url", s.url, "--batch", "50", file)
	var out strings.Builder
	c.Env, c.Stdout, c.Stderr = clean(), &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for range 3 {
		before, _ := os.ReadFile(bulk.StateName(file))
		for moved := false; !moved; {
			select {
			case err := <-ended:
				ended <- err
				moved = true
			case <-time.After(5 * time.Millisecond):
				now, _ := os.ReadFile(bulk.StateName(file))
				moved = len(now) > 0 && string(now) != string(before)
			}
		}
		s.kill()
		s = serve(t, data, addr)
	}
	if err := <-ended; err != nil {
		t.Fatalf("the import: %v\n%s", err, out.String())
	}
	records, err := allRecords(s.url)
	if err != nil || len(records) != n {
		t.Errorf("%d records of %d: %v", len(records), n, err)
	}
	partition(t, s.url)
}

// Two servers on one directory: the second refuses to start, names the process of the first, and suggests --url.
// Commands with --data talk to the first.
func TestTwoServersOneDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := serve(t, dir, "127.0.0.1:0")
	out, err := run(t, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	if exitCode(err) != 1 {
		t.Errorf("serve: %v\n%s", err, out)
	}
	for _, want := range []string{"in use", strconv.Itoa(first.cmd.Process.Pid), "--url http://127.0.0.1:7070"} {
		if !strings.Contains(out, want) {
			t.Errorf("serve does not say %q:\n%s", want, out)
		}
	}
	if out, err := run(t, "status", "--data", dir); err != nil || !strings.Contains(out, "0 records") {
		t.Errorf("status beside the server: %v\n%s", err, out)
	}
	if _, err := post(first.url, []httpapi.RecordInput{{Source: "x", Key: "1", Attributes: httpapi.Attributes{"name": {"a"}}}}); err != nil {
		t.Errorf("the first server is harmed: %v", err)
	}
}

// SIGTERM drains with a line for each step and exit code 0, a second SIGTERM ends at once, and SIGHUP has no effect
// without a file of settings.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := post(s.url, []httpapi.RecordInput{{Source: "x", Key: "1", Attributes: httpapi.Attributes{"name": {"a"}}}}); err != nil {
		t.Fatalf("after SIGHUP: %v", err)
	}
	if err := s.stop(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, s.stderr)
	}
	if n := strings.Count(s.stderr.String(), "stopping: "); n < 3 {
		t.Errorf("%d steps are told:\n%s", n, s.stderr)
	}

	// A request whose body does not come keeps the next one busy, until the second signal.
	impatient := serve(t, t.TempDir(), "127.0.0.1:0")
	at := strings.TrimPrefix(impatient.url, "http://")
	slow, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /v1/records HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", at)
	if line, err := bufio.NewReader(slow).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	if err := impatient.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "no new work", func() (bool, string) {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			return true, ""
		}
		return conn.Close() != nil, "it accepts connections"
	})
	if err := impatient.stop(syscall.SIGINT); exitCode(err) != 130 {
		t.Errorf("after two SIGINT: %v\n%s", err, impatient.stderr)
	}
}

// At SIGHUP a process reads its file again: the log level changes, the log names settings that need a restart, and a
// file with a mistake changes nothing. The process serves all the while.
func TestHangup_ReadsTheSettingsAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "locus.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(t.TempDir(), "log")
	to, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	data := filepath.Join(t.TempDir(), "data")
	write("data: " + data + "\nlog: {level: warn}\n")
	s := serveTo(t, to, "127.0.0.1:0", "--config", file)
	reload := func(text, says string, times int) {
		t.Helper()
		write(text)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		eventually(t, 20*time.Second, says, func() (bool, string) {
			said, err := os.ReadFile(log)
			return err == nil && strings.Count(string(said), says) == times, string(said)
		})
		if _, err := post(s.url, []httpapi.RecordInput{{Source: "x", Key: "1", Attributes: httpapi.Attributes{"name": {"a"}}}}); err != nil {
			t.Errorf("after SIGHUP: %v", err)
		}
	}
	reload("data: "+data+"\nlog: {level: info}\n", `msg="changed setting applied" setting=log.level`, 1)
	reload("data: "+data+"\nlog: {level: info}\nkeep: {changes: 48h}\n",
		`msg="changed setting requires a restart" setting=keep.changes`, 1)
	reload("data: "+data+"\nlog: {levle: error}\n", `msg="configuration reload failed"`, 1)
	reload("data: "+data+"\nlog: {level: debug}\n", `msg="changed setting applied" setting=log.level`, 2)
	if err := s.stop(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// A port that is taken is named before anything starts.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	first := serve(t, t.TempDir(), "127.0.0.1:0")
	data := filepath.Join(t.TempDir(), "data")
	addr := strings.TrimPrefix(first.url, "http://")
	out, err := run(t, "serve", "--data", data, "--addr", addr)
	if exitCode(err) != 1 || !strings.Contains(out, addr) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a data directory was made")
	}
}

// Ctrl-C ends the demo with exit code 0 at any time, and leaves nothing behind.
func TestDemo_CtrlC(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--records", "5000", "--speed", "500"}, {"--records", "20", "--speed", "0"}, {"--no-load"}} {
		tmp := t.TempDir()
		c := exec.Command(built(t), append([]string{"demo", "--cells", "2", "--addr", "127.0.0.1:0"}, args...)...)
		c.Env = append(clean(), "TMPDIR="+tmp)
		talk, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wait := "stop           Ctrl-C"
		if slices.Contains(args, "20") {
			wait = "live           "
		}
		var said strings.Builder
		lines := bufio.NewScanner(talk)
		for lines.Scan() {
			said.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), wait) {
				if err := c.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, said.String())
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("%v: %v is left behind, %v", args, left, err)
		}
	}
}
