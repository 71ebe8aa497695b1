// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/backup"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) backupCommand() *cobra.Command {
	var out, verify string
	c := &cobra.Command{
		Use:   "backup -o FILE | --verify FILE",
		Short: "Back up a data directory to a file, while a server writes to it",
		Long: "Copies all cells as of one moment. Writes wait for some milliseconds at the beginning and then continue. The file is a\n" +
			"tar compressed with zstd; it contains puids, entity ids, decisions, rollups, counters and logs, and appears under its\n" +
			"name once it is complete. The write-ahead logs of the cells cannot shrink during a backup, so leave room on the disk for\n" +
			"the writes of that time.\n\n" +
			"--verify checks such a file without a server: it compares the hash of each cell's file, opens a copy in the directory\n" +
			"for temporary files (TMPDIR), reads all of it, and counts records and entities.\n\n" +
			"Back up cells in PostgreSQL with the tools of PostgreSQL; locus dump copies an installation of any kind.",
		Example: "  locus backup --url http://127.0.0.1:7070 -o - | ssh backup 'cat > places.backup'\n" +
			"  locus backup --verify places.backup",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case verify != "" && out != "":
				return usage("locus backup -o FILE, then locus backup --verify FILE", "--verify reads a backup, and -o makes one")
			case verify != "":
				return a.verifyBackup(c.Context(), verify)
			case out == "" || isStdout(out) && a.out.Terminal:
				return usage("locus backup -o places.backup", "name the file to write with -o, or - for a pipe")
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			n, err := a.download(c.Context(), cl, "/v1/backup", out, "backup", nil)
			if err != nil {
				return err
			}
			if isStdout(out) {
				a.say("%s bytes", term.Count(n))
				return nil
			}
			raw, err := json.Marshal(map[string]any{"file": out, "bytes": n})
			if err != nil {
				return err
			}
			return a.summary(raw, "%s: %s bytes; locus restore restores it", term.Escape(out), term.Count(n))
		},
	}
	c.AddCommand(a.backupMark())
	c.Flags().StringVarP(&out, "output", "o", "", "file to write; - is standard output")
	c.Flags().StringVar(&verify, "verify", "",
		"check this backup as locus restore does, without restoring it; - is standard input")
	return a.connection(c)
}

// verifyBackup checks a file of locus backup.
func (a *app) verifyBackup(ctx context.Context, name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return usage("locus check --data "+name+" checks a directory", "%s is a directory, not a file of locus backup", name)
	}
	in, done, err := a.readBackup(name, "verifying")
	if err != nil {
		return err
	}
	defer done()
	if !backup.Is(in) {
		return usage("locus backup -o FILE writes one", "%s is not a backup", name)
	}
	b, err := locus.VerifyBackup(ctx, in)
	done()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return a.summary(raw, "%s: complete, as of %s: %s, %s, %s, %s bytes; every file matches its hash and can be opened", term.Escape(name), b.At.Local().Format(time.DateTime),
		plural(len(b.Files), "cell"), counted(b.Records(), "record", "records"), counted(b.Entities(), "entity", "entities"), term.Count(b.Bytes))
}

// restoreBackup makes a data directory from a backup.
func (a *app) restoreBackup(ctx context.Context, w where, in io.Reader, cells int) error {
	switch {
	case w.shared:
		return usage("restore it with --data DIR; a file of locus dump can be restored into PostgreSQL",
			"this is a backup of a data directory")
	case cells != 0:
		return usage("leave it out; a dump of locus dump can be restored into any number of cells",
			"--cells: a backup is restored with the number of cells that it has")
	}
	b, err := locus.RestoreBackup(ctx, w.place, in)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := a.summary(raw, "%s: %s, %s bytes, as they were at %s; it may be served", term.Escape(w.String()), plural(len(b.Files), "cell"), term.Count(b.Bytes),
		b.At.Local().Format(time.DateTime)); err != nil {
		return err
	}
	a.nameTokens(ctx, w)
	return nil
}

// nameTokens warns of the tokens of a restored installation.
func (a *app) nameTokens(ctx context.Context, w where) {
	var list httpapi.TokenList
	cl, err := a.openClient(ctx, w, looks)
	if err == nil {
		_, err = cl.get(ctx, "/v1/tokens", nil, &list)
		cl.close()
	}
	if err != nil || len(list.Tokens) > 0 { // restored data is not lost because its tokens cannot be read now
		a.say("tokens that were revoked after the backup are valid again: locus token list lists them, locus token revoke --all revokes all")
	}
}
