// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) backupCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "backup -o FILE",
		Short: "Copy a data directory, while a server writes to it, to a file that locus restore reads",
		Long: "All cells are copied as they are at one moment, while writes go on: they wait for some milliseconds at the\n" +
			"beginning. Puids, entity ids, decisions, rollups, counters and logs are in the file, which is a tar compressed with\n" +
			"zstd. It appears under its name once it is complete. While it is written the write-ahead logs of the cells cannot\n" +
			"shrink, so there has to be room for what is written in that time.\n" +
			"\n" +
			"Cells of PostgreSQL are backed up by the tools of PostgreSQL; locus dump copies an installation of any kind.",
		Example: "  locus backup --data /var/lib/locus -o places.backup\n" +
			"  locus backup --url http://127.0.0.1:7070 -o - | ssh backup 'cat > places.backup'",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" || out == "-" && a.out.Terminal {
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
			if out == "-" {
				a.say("%s bytes", term.Count(n))
				return nil
			}
			raw, err := json.Marshal(map[string]any{"file": out, "bytes": n})
			if err != nil {
				return err
			}
			return a.summary(raw, "%s: %s bytes; locus restore makes a directory of it", term.Escape(out), term.Count(n))
		},
	}
	c.AddCommand(a.backupMark())
	c.Flags().StringVarP(&out, "output", "o", "", "file to write; - is standard output")
	return a.connection(c)
}

func (a *app) backupMark() *cobra.Command {
	var at string
	c := &cobra.Command{
		Use:   "mark [NAME]",
		Short: "Note a backup that other tools have made, so that its age is known",
		Long: "Servers report the age of the last backup as locus_backup_age_seconds, and locus doctor names an old one. Backups by locus\n" +
			"backup through a server are noted on their own. Run this after each backup by other tools: pgBackRest, WAL-G, snapshots.",
		Example: "  locus backup mark pgbackrest --map postgres://db1/locus\n" +
			"  locus backup mark snap-0042 --at 2026-11-28T03:00:00Z --url https://locus.example.org",
		Args: cobra.MaximumNArgs(1),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			body := map[string]string{}
			if len(args) == 1 {
				body["name"] = args[0]
			}
			if at != "" {
				body["at"] = at
			}
			raw, err := json.Marshal(body)
			if err != nil {
				return err
			}
			var last httpapi.BackupMark
			answer, err := cl.do(c.Context(), http.MethodPost, "/v1/backup/mark", nil, raw, &last)
			if err != nil {
				return err
			}
			return a.summary(answer, "the last backup is of %s", last.At)
		}),
	}
	c.Flags().StringVar(&at, "at", "", "the moment that the backup is of, as RFC 3339; by default now")
	return a.connection(c)
}

// restoreBackup makes a data directory from a backup.
func (a *app) restoreBackup(ctx context.Context, w where, in io.Reader, cells int) error {
	switch {
	case w.shared:
		return usage("restore it with --data DIR; a file of locus dump can be restored into PostgreSQL", "this is a backup of a data directory")
	case cells != 0:
		return usage("leave it out; a file of locus dump can be restored into any number of cells", "--cells: a backup has the cells of its directory")
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
	if err != nil || len(list.Tokens) > 0 { // what was restored is not lost because its tokens cannot be read now
		a.say("tokens that were revoked since the backup are valid again: locus token list names those it has, locus token revoke --all ends every one")
	}
}
