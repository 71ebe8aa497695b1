// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/backup"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/storage"
)

func (a *app) restoreCommand() *cobra.Command {
	cells, mark := 0, ""
	c := &cobra.Command{
		Use:   "restore FILE | --map URL --mark NAME",
		Short: "Restore a backup or a dump (- is standard input), or finish a recovery of PostgreSQL servers to a mark",
		Long: "A backup is restored as a data directory. Each file is checked against the hash in the backup. Each cell skips the puids\n" +
			"that it may have allocated after the backup, so the directory can be served at once. It appears when it is complete.\n\n" +
			"A dump is restored as a new data directory, or with --map as a new installation in PostgreSQL, with any number of cells.\n" +
			"Entity ids, former ids, decisions, kinds, rollups and counters are those of the dump; puids are new. Sinks and streams\n" +
			"are paused. The entities are computed again from the records and compared with the hash in the dump; if they differ,\n" +
			"because the version of the matcher is another one, the exit code is 1. An interrupted restore leaves an installation that\n" +
			"cannot be opened: delete it and restore again.\n\n" +
			"--mark finishes a recovery: other tools have recovered the PostgreSQL servers to a mark of locus backup mark. If a cell\n" +
			"is not at the mark, the command names it and changes nothing. --map OLD=NEW is for servers that were recovered to another\n" +
			"address; see locus cell restored.",
		Example: "  locus restore places.backup --data ./places\n" +
			"  locus restore --map postgres://db1/locus,postgres://db2/locus --mark monday",
		Args: func(c *cobra.Command, args []string) error {
			if mark != "" {
				return arguments()(c, args)
			}
			return arguments("FILE")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if cells < 0 {
				return usage("leave it out", "--cells cannot be below 0")
			}
			if mark != "" {
				return a.restoreMark(c, mark)
			}
			if newer.MatchString(a.cellMap) {
				return usage("leave OLD= out", "--map OLD=NEW goes with --mark")
			}
			w, err := a.locate(c)
			if err != nil {
				return err
			}
			if w.mongodb != "" {
				return usage("restore without --mongodb", "counters of a dump are restored into the cells")
			}
			return a.restore(c.Context(), w, args[0], cells)
		},
	}
	a.installation(c)
	c.Flags().Lookup("data").Usage = "data directory to create"
	_ = c.Flags().MarkHidden("mongodb")
	c.Flags().Lookup("map").Value = &pairsFlag{mapFlag{urls: &a.cellMap}}
	c.Flags().StringVar(&mark, "mark", "", "mark of locus backup mark that the servers of --map were recovered to")
	c.Flags().IntVar(&cells, "cells", 0, "number of cells; 0 means 16")
	return c
}

func (a *app) restore(ctx context.Context, w where, name string, cells int) (err error) {
	file, done, err := a.readBackup(name, "restoring")
	if err != nil {
		return err
	}
	defer done()
	if backup.Is(file) {
		return a.restoreBackup(ctx, w, file, cells)
	}
	if !w.shared {
		if _, missing := os.Stat(w.place); errors.Is(missing, fs.ErrNotExist) {
			defer func() {
				if err != nil && !errors.Is(err, errDiffers) {
					_ = os.RemoveAll(w.place) // useless, and an obstacle to the next attempt
				}
			}()
		}
	}
	restored, err := locus.Restore(ctx, w.place, file, &locus.Options{
		Storage: storage.Options{Cells: cells, Notice: w.notice, UnsafeDurability: w.unsafe},
		Logger:  a.logger(slog.LevelError),
	})
	done()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(restored)
	if err != nil {
		return err
	}
	if err := a.summary(raw, "%s: %s, %s, %s, %s", term.Escape(w.String()), counted(restored.Records, "record", "records"),
		counted(restored.Entities, "entity", "entities"),
		counted(restored.Decisions-restored.Dropped, "decision", "decisions"),
		counted(restored.Metrics, "metric", "metrics")); err != nil {
		return err
	}
	if restored.Unsettled != "" {
		a.say("%s when the dump was taken: entities cannot be compared", restored.Unsettled)
	}
	if restored.Sinks > 0 {
		a.say("%s paused, since the former installation may still deliver: locus sink adopt NAME takes a target over",
			counted(restored.Sinks, "sink is", "sinks are"))
	}
	if restored.Sources > 0 {
		a.say("%s paused: locus source resume NAME goes on where the dump was taken",
			counted(restored.Sources, "stream of a source is", "streams of sources are"))
	}
	if restored.Differs() {
		return errDiffers
	}
	return nil
}

// readBackup opens a file of locus backup or locus dump, "-" for standard input. Until done is called, it shows, as
// doing, how much of the file has been read.
func (a *app) readBackup(name, doing string) (file *bufio.Reader, done func(), err error) {
	in, size := io.Reader(os.Stdin), int64(0)
	shut := func() {}
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, &failure{Code: "not_found", Message: fmt.Sprintf("read the file: %v", err),
				Hint: "locus backup -o FILE and locus dump -o FILE write one", Exit: exitNotFound, Err: err}
		}
		shut = func() { _ = f.Close() }
		if info, err := f.Stat(); err == nil {
			size = info.Size()
		}
		in = f
	}
	progress := term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	return bufio.NewReaderSize(&metered{r: in, tell: func(n int64) {
		progress.Update(func() string {
			if size == 0 {
				return fmt.Sprintf("%s: %s bytes read", doing, term.Count(n))
			}
			return fmt.Sprintf("%s: %d%% read", doing, 100*n/size)
		})
	}}, 64<<10), sync.OnceFunc(func() { progress.Close(); shut() }), nil
}

// errDiffers ends a restore that is complete.
var errDiffers = &failure{
	Code: "differs", Exit: exitFailed, Message: "everything is restored, but the entities differ from those of the dump",
	Hint: "to keep the entities, restore with the release of Locus that wrote the dump",
}

// metered calls tell with the number of bytes read.
type metered struct {
	r    io.Reader
	n    int64
	tell func(int64)
}

// Read implements io.Reader.
func (m *metered) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.n += int64(n)
	m.tell(m.n)
	return n, err
}
