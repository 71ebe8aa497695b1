// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/internal/porttest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// long reports whether the live tests may take long: LOCUS_LIVE=long.
func long() bool { return os.Getenv("LOCUS_LIVE") == "long" }

// scaled returns a number for normal runs, or one for long runs.
func scaled(short, night int) int {
	if long() {
		return night
	}
	return short
}

// fleet is an installation served by several processes, with databases on several servers.
type fleet struct {
	t     *testing.T
	name  string // of the databases
	pg    []*pgtest.Server
	dead  []bool   // killed servers
	place []string // flags that locate the installation
	nodes []*node
}

// node is a process that always restarts at the same address.
type node struct {
	fleet *fleet
	index int
	addr  string
	flags []string

	mu   sync.Mutex
	proc *server
}

// newFleet starts PostgreSQL servers, and processes that share the cells of a new installation. Generations are
// announced two seconds before they start, unless the flags say otherwise.
func newFleet(t *testing.T, servers, processes, cells int, flags ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, name: "locus"}
	var urls []string
	f.dead = make([]bool, servers)
	for i := range servers {
		s := pgtest.Start(t, &pgtest.Options{MaxConnections: 400, InMemory: true})
		t.Cleanup(func() { f.crash(i) }) // faster than a clean shutdown
		f.pg = append(f.pg, s)
		urls = append(urls, s.URL(f.name))
	}
	f.place = []string{"--map", strings.Join(urls, ",")}
	f.start(processes, append([]string{"--cells", fmt.Sprint(cells), "--notice", "2s"}, flags...)...)
	return f
}

// newDirectory starts a process on a data directory.
func newDirectory(t *testing.T, cells int, flags ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, place: []string{"--data", t.TempDir()}}
	f.start(1, append([]string{"--cells", fmt.Sprint(cells), "--notice", "2s"}, flags...)...)
	return f
}

// start starts the processes, the first one before the others because it creates the installation.
func (f *fleet) start(processes int, flags ...string) {
	f.t.Helper()
	for i := range processes {
		f.nodes = append(f.nodes, &node{fleet: f, index: i, addr: "127.0.0.1:" + porttest.Port(f.t), flags: flags})
	}
	f.nodes[0].start()
	for _, n := range f.nodes[1:] {
		n.start()
	}
}

// crash kills a database server if it is running; revive starts it again.
func (f *fleet) crash(server int) {
	f.t.Helper()
	if !f.dead[server] {
		f.dead[server] = true
		f.pg[server].Kill(f.t)
	}
}

func (f *fleet) revive(server int) {
	f.t.Helper()
	f.pg[server].Restart(f.t)
	f.dead[server] = false
}

// template returns the URL template for cells on one of the servers.
func (f *fleet) template(server int) string {
	return strings.Replace(f.pg[server].URL(f.name+"_gG_iI"), "_gG_iI", "_g{g}_{i}", 1)
}

// on returns the index of the server of a cell.
func (f *fleet) on(m *cell.Map, id cell.ID) int {
	f.t.Helper()
	url := m.URL(id)
	for i, s := range f.pg {
		if _, query, _ := strings.Cut(s.URL("x"), "?"); strings.HasSuffix(url, query) {
			return i
		}
	}
	f.t.Fatalf("cell %v is at %s, which is none of the servers", id, url)
	return 0
}

// database returns the name of a cell's database.
func database(m *cell.Map, id cell.ID) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(m.URL(id), "postgres:///"), "?")
	return name
}

// start starts or restarts the process.
func (n *node) start() {
	n.fleet.t.Helper()
	var s *server
	n.fleet.t.Cleanup(func() { // runs after the process has ended
		if text := s.said(); n.fleet.t.Failed() && text != "" {
			for line := range strings.Lines(text) {
				if strings.Contains(line, `msg="request failed"`) { // the reason of an internal error
					n.fleet.t.Logf("process %d has said: %s", n.index, line)
				}
			}
			n.fleet.t.Logf("process %d has said in the end:\n%s", n.index, text[max(0, len(text)-6000):])
		}
	})
	s = serveWith(n.fleet.t, n.addr, slices.Concat(n.fleet.place, n.flags)...)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.proc = s
}

func (n *node) server() *server {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proc
}

func (n *node) url() string { return "http://" + n.addr }

// pause suspends the process; resume continues it.
func (n *node) pause()  { n.signal(syscall.SIGSTOP) }
func (n *node) resume() { n.signal(syscall.SIGCONT) }

func (n *node) signal(s os.Signal) {
	n.fleet.t.Helper()
	if err := n.server().cmd.Process.Signal(s); err != nil {
		n.fleet.t.Fatal(err)
	}
}

func (n *node) kill() { n.server().kill() }

// drain stops the process as an operator does.
func (n *node) drain() {
	n.fleet.t.Helper()
	if err := n.server().stop(syscall.SIGTERM); err != nil {
		n.fleet.t.Fatalf("process %d: %v\n%s", n.index, err, n.server().stderr)
	}
}

// get sends a GET request to the process.
func (n *node) get(path string, out any, query ...string) error {
	values := map[string][]string{}
	for i := 0; i+1 < len(query); i += 2 {
		values[query[i]] = []string{query[i+1]}
	}
	return get(n.url(), path, values, out)
}

// cellMap returns the newest map that the process has.
func (n *node) cellMap() *cell.Map {
	n.fleet.t.Helper()
	var raw json.RawMessage
	if err := n.get("/v1/map", &raw); err != nil {
		n.fleet.t.Fatalf("process %d: %v", n.index, err)
	}
	m, err := cell.ParseMap(raw)
	if err != nil {
		n.fleet.t.Fatal(err)
	}
	return m
}

// run runs `locus cell` against the process and returns its summary, or its error. Lines of progress are passed to
// progress as they arrive.
func (n *node) run(progress func(step string), args ...string) (map[string]any, error) {
	return runCell(n.fleet.t, progress, append(args, "--url", n.url())...)
}

// runCell runs `locus cell`.
func runCell(t *testing.T, progress func(step string), args ...string) (summary map[string]any, err error) {
	t.Helper()
	c := command(t.Context(), t, "", append(append([]string{"cell"}, args...), "--json", "--yes")...)
	var out bytes.Buffer
	c.Stdout = &out
	talk, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	var said strings.Builder
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		var line struct{ Type, Step string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Step != "" && progress != nil {
			progress(line.Step)
		}
	}
	if err := c.Wait(); err != nil {
		return nil, fmt.Errorf("locus cell %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	for line := range strings.Lines(out.String()) {
		summary = map[string]any{}
		if err := json.Unmarshal([]byte(line), &summary); err != nil {
			return nil, fmt.Errorf("locus cell %s: %w: %s", strings.Join(args, " "), err, line)
		}
	}
	return summary, nil
}

// grow adds a generation through the process and waits for the end.
func (n *node) grow(cells int, progress func(step string), flags ...string) {
	n.fleet.t.Helper()
	if _, err := n.run(progress, append([]string{"grow", "--to", fmt.Sprint(cells), "--wait"}, flags...)...); err != nil {
		n.fleet.t.Fatal(err)
	}
}

// whole waits until every process reaches every cell.
func (f *fleet) whole() {
	f.t.Helper()
	for _, n := range f.nodes {
		eventually(f.t, time.Duration(scaled(1, 4))*time.Minute, fmt.Sprintf("all cells answer process %d", n.index), func() (bool, string) {
			var list httpapi.CellList
			if err := n.get("/v1/cells", &list); err != nil {
				return false, err.Error()
			}
			for _, c := range list.Cells {
				if !c.Answers || !c.Writes {
					return false, fmt.Sprintf("cell %v does not, or takes no writes", c.Cell)
				}
			}
			return true, ""
		})
	}
}

// drained waits until the redo log is empty.
func (f *fleet) drained() {
	f.t.Helper()
	eventually(f.t, 2*time.Minute, "nothing is left to be redone", func() (bool, string) {
		var s cells.Status
		if err := f.nodes[0].get("/v1/status", &s); err != nil {
			return false, err.Error()
		}
		return s.Redo == 0 && s.Reason == "", fmt.Sprintf("%d records are, %s", s.Redo, s.Reason)
	})
}

// witness opens the installation in the test's process, to read rows directly.
func (f *fleet) witness() *storage.Cells {
	f.t.Helper()
	cells, err := storage.Open(f.t.Context(), f.place[1], &storage.Options{MustExist: true})
	if err != nil {
		f.t.Fatalf("open the cells: %v", err)
	}
	f.t.Cleanup(func() {
		if err := cells.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return cells
}

// look reads in a cell opened by witness.
func look(t *testing.T, cells *storage.Cells, id cell.ID, fn func(storage.Tx) error) {
	t.Helper()
	c, err := cells.Cell(id)
	if err == nil {
		err = c.View(t.Context(), fn)
	}
	if err != nil {
		t.Fatalf("cell %v: %v", id, err)
	}
}
