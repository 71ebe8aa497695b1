// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// asking are the commands that only read, with arguments for the installation of TestP06_AskingChangesNothing, whose
// entity is ID and whose file of records is FILE.
var asking = [][]string{
	{"status"},
	{"check"},
	{"entity", "get", "crm:1"},
	{"entity", "list"},
	{"entity", "why", "ID"},
	{"entity", "history", "crm:1"},
	{"entity", "relations", "crm:1"},
	{"entity", "what-if", "crm:1", "--delete", "crm:2"},
	{"entity", "why-not", "crm:1", "crm:2"},
	{"entity", "how", "crm:1"},
	{"record", "get", "crm:1"},
	{"record", "list"},
	{"record", "erase", "crm:2", "--dry-run"},
	{"source", "list"},
	{"source", "show", "crm"},
	{"source", "delete", "crm", "--dry-run"},
	{"source", "dead", "list", "orders"},
	{"route", "crm:1"},
	{"ingest", "--source", "more", "--key", "id", "--dry-run", "FILE"},
	{"ingest", "--source", "crm", "--key", "id", "--snapshot", "--dry-run", "FILE"},
	{"match", "--source", "more", "--key", "id", "FILE"},
	{"change", "tail", "--all"},
	{"decision", "list"},
	{"decision", "export"},
	{"review", "list"},
	{"review", "team"},
	{"review", "list", "--order", "teaches"},
	{"review", "list", "--order", "chance"},
	{"quality"},
	{"kind", "list"},
	{"kind", "show", "place"},
	{"kind", "learn", "--decisions", "--anyway"},
	{"kind", "diff", "KIND"},
	{"kind", "migrate", "KIND", "--dry-run"},
	{"upgrade", "plan"},
	{"upgrade", "run", "--dry-run"},
	{"terms", "list"},
	{"terms", "diff", "PACK"},
	{"terms", "migrate", "PACK", "--dry-run"},
	{"metric", "list"},
	{"metric", "top"},
	{"metric", "series", "visits"},
	{"metric", "plot", "visits"},
	{"backup", "-o", "-"},
	{"doctor"},
	{"config", "check"},
	{"config", "print"},
	{"dump", "-o", "-"},
	{"export", "records"},
	{"export", "entities", "--format", "jsonl"},
	{"rollup", "list"},
	{"rollup", "status", "records_by_source"},
	{"rollup", "get", "records_by_source"},
	{"rollup", "explain", "records_by_source", "crm"},
	{"rollup", "verify", "records_by_source"},
	{"rollup", "drop", "records_by_source", "--dry-run"},
	{"sink", "list"},
	{"sink", "show", "hook"},
	{"sink", "dead", "list", "hook"},
	{"token", "list"},
	{"audit", "list"},
	{"audit", "export", "-o", "-"},
	{"audit", "verify"},
	{"session", "list"},
	{"access", "list"},
	{"subject", "export", "crm:1"},
	{"whoami"},
	{"cell", "list"},
	{"cell", "show", "g0-1"},
	{"cell", "map"},
	{"cell", "plan", "--to", "8"},
	{"cell", "grow", "--to", "8", "--dry-run"},
	{"cell", "compact", "--dry-run"},
	{"cell", "move", "g0-1", "--to", "sqlite:/elsewhere/g0-1.db", "--dry-run"},
	{"__complete", "metric", "series", "v"},
	{"__complete", "source", "show", "c"},
}

// changingCommands are commands that change something, that open no installation, or that need more than one.
var changingCommands = []string{
	"locus serve", "locus mcp", "locus vacuum", "locus retain", "locus mirror mongodb", "locus metric hit",
	"locus entity merge",
	"locus entity unmerge", "locus entity pin", "locus decision withdraw", "locus decision import", "locus decision bulk",
	"locus decision undo", "locus review answer", "locus review assign", "locus judge", "locus kind create",
	"locus terms build", "locus rollup define", "locus rollup rebuild", "locus sink create", "locus sink pause",
	"locus source create", "locus source pause", "locus source resume", "locus source drop", "locus source dead retry",
	"locus source dead drop",
	"locus sink resume", "locus sink adopt", "locus sink verify", "locus sink delete", "locus sink dead retry",
	"locus sink dead drop", "locus token create", "locus token rotate", "locus token revoke", "locus session end",
	"locus access block", "locus access unblock", "locus cell restored", "locus restore", "locus demo",
	"locus backup mark",
}

// TestP06_AskingListsAllCommands checks that every command that opens an installation is in one of the two lists.
func TestP06_AskingListsAllCommands(t *testing.T) {
	t.Parallel()
	root := (&app{}).root()
	looked := map[string]bool{}
	for _, args := range asking {
		if c, _, err := root.Find(args); err == nil {
			looked[c.CommandPath()] = true
		}
	}
	walk(root, func(c *cobra.Command) {
		path := c.CommandPath()
		if c.Runnable() && c.Flags().Lookup("map") != nil && c.Flags().Lookup("data") != nil && !looked[path] &&
			!slices.Contains(changingCommands, path) {
			t.Errorf("%s is neither asked nor known to change something", path)
		}
	})
}

// mapAndHeads returns the data that a read must not change: the map and the heads of all cells.
func mapAndHeads(t *testing.T, place string) (text string, m *cell.Map) {
	t.Helper()
	cells, err := storage.Open(t.Context(), place, &storage.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cells.Close()
	var b strings.Builder
	for _, id := range cells.Map().Cells() {
		c, err := cells.Cell(id)
		if err == nil {
			err = c.View(t.Context(), func(tx storage.Tx) error {
				head, err := tx.Head(t.Context())
				if err != nil {
					return err
				}
				epoch, copied, err := tx.CellMap(t.Context())
				fmt.Fprintf(&b, "%v: %+v, map %d %s\n", id, head, epoch, copied)
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), cells.Map()
}

// TestP06_AskingChangesNothing runs every read-only command on an installation whose map has expired: the map and the
// heads do not change. A following put extends the map and succeeds.
func TestP06_AskingChangesNothing(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, place := range map[string]func(*testing.T) (string, string){
		"sqlite":   func(t *testing.T) (string, string) { return "LOCUS_DATA", filepath.Join(t.TempDir(), "data") },
		"postgres": func(t *testing.T) (string, string) { return "LOCUS_MAP", pgtest.Shared(t).URL("asking") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" {
				longtest.Gate(t, "the same with SQLite")
			}
			variable, at := place(t)
			env := map[string]string{variable: at, "LOCUS_NOTICE": "1s"}
			try := func(args ...string) string {
				t.Helper()
				var out, talk bytes.Buffer
				if code := Run(t.Context(), args, strings.NewReader(""), &out, &talk, env); code != 0 && !(args[0] == "doctor" && code == exitPartly) { // it warns of the sink
					t.Errorf("locus %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), talk.String())
				}
				return out.String()
			}
			file := func(name, text string) string {
				path := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			records := file("places.csv",
				"id,name,phones\n1,Golden Bakery,+1 212 555 0101\n2,Moe's Pizza,+1 212 555 0102\n3,Golden Bakery,+1 212 555 0101\n")
			cells, err := storage.Open(t.Context(), at, &storage.Options{Cells: 2, Notice: time.Second})
			if err == nil {
				err = cells.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			try("ingest", "--source", "crm", "--key", "id", records)
			try("cell", "grow", "--to", "4", "--yes", "--wait")
			try("sink", "create", "hook", "--to", "https://crm.example/locus")
			try("source", "create", "orders", "--from", "nats://127.0.0.1:1/ORDERS")
			try("rollup", "define", "--wait", "../../docs/examples/records_by_source.yaml")
			try("metric", "hit", "visits", "3")
			_, terms, _ := strings.Cut(try("terms", "build", "--kind", "place", "--json"), `"hash":"`)
			terms, _, _ = strings.Cut(terms, `"`)
			entity, _, _ := strings.Cut(strings.TrimPrefix(try("entity", "get", "crm:1", "--json"), `{"id":"`), `"`)
			words := strings.NewReplacer("FILE", records, "ID", entity, "PACK", terms, "KIND",
				file("place.yaml", try("kind", "show", "place")))

			before, m := mapAndHeads(t, at)
			select {
			case <-time.After(time.Until(m.Until())):
			case <-t.Context().Done():
			}
			for group := range slices.Chunk(asking, longtest.Stride(6)) { // a look costs as much as a command
				for _, args := range group {
					if args[0] == "backup" && isShared(at) {
						continue // of files only
					}
					args = slices.Clone(args)
					for i, arg := range args {
						if arg == strings.ToUpper(arg) {
							args[i] = words.Replace(arg)
						}
					}
					try(args...)
				}
				if after, _ := mapAndHeads(t, at); after != before {
					t.Fatalf("one of %q changes what it looks at:\n%s\nbefore:\n%s", group, after, before)
				}
			}

			try("ingest", "--source", "late", "--key", "id", records)
			try("record", "get", "late:1")
			if _, after := mapAndHeads(t, at); !after.Until().After(m.Until()) || after.Epoch() <= m.Epoch() {
				t.Errorf("a put is to move the map on: until %v, epoch %d; before until %v, epoch %d", after.Until(), after.Epoch(),
					m.Until(), m.Epoch())
			}
		})
	}
}
