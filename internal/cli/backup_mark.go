// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/backup"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/storage"
)

func (a *app) backupMark() *cobra.Command {
	var at string
	c := &cobra.Command{
		Use:   "mark [NAME]",
		Short: "Mark a recovery point on all PostgreSQL servers, or note a backup made by other tools",
		Long: "On PostgreSQL, creates a restore point called NAME on every server while writes to all cells are stopped, so that all\n" +
			"servers can be recovered to the same moment with recovery_target_name and archived logs. If the role may not create\n" +
			"restore points, writes stop for two seconds, and the command prints a recovery_target_time for that server. After the\n" +
			"recovery, locus restore --map URL --mark NAME checks that every server is at that point, and finishes.\n\n" +
			"With --at, without a NAME, or with cells in files, only notes that there is a backup: servers report its age as\n" +
			"locus_backup_age_seconds, and locus doctor warns about an old one. Run this after each backup by other tools, such as\n" +
			"pgBackRest, WAL-G or snapshots. Backups by locus backup through a server are noted without it.",
		Example: "  locus backup mark monday --map postgres://db1/locus\n" +
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
			if !a.json {
				for _, p := range last.Points {
					a.say("%s", pointText(p))
				}
			}
			if len(last.Points) > 0 {
				return a.summary(answer, "marked %s; once all are recovered to it: locus restore --map URL --mark %s",
					term.Escape(last.Name), term.Escape(last.Name))
			}
			return a.summary(answer, "the last backup is of %s", last.At)
		}),
	}
	c.Flags().StringVar(&at, "at", "", "time of the backup, as RFC 3339; by default now")
	return a.connection(c)
}

// pointText returns the recovery setting of a server.
func pointText(p httpapi.BackupPoint) string {
	if p.Name != "" {
		return fmt.Sprintf("%s: recovery_target_name = '%s'", term.Escape(p.Server), term.Escape(p.Name))
	}
	return fmt.Sprintf("%s: recovery_target_time = '%s', because the server creates no restore point: %s",
		term.Escape(p.Server), p.At, term.Escape(p.Refused))
}

// restoreMark makes servers that were recovered to a mark safe to serve.
func (a *app) restoreMark(c *cobra.Command, mark string) error {
	pairs, err := a.readdressed(c)
	if err != nil {
		return err
	}
	w, err := a.locate(c)
	switch {
	case err != nil:
		return err
	case w.mongodb != "":
		return usage("locus cell restored --mongodb OLD=NEW, instead of this command",
			"a copy of MongoDB is assigned to the installation by another command")
	case !w.shared:
		return usage("locus restore FILE --data DIR", "--mark is for servers that are in --map")
	}
	if err := a.restored(c, w, restoring{pairs: pairs, mark: mark}, &changing{yes: true}); err != nil {
		return err
	}
	a.nameTokens(c.Context(), w)
	return nil
}

// atMark checks that the cells are at a mark, before anything is written to them. If moved is not nil, they are at
// other URLs than in the map.
func (r *restoring) atMark(c *cobra.Command, m *cell.Map, moved []cell.Readdressed) error {
	if r.mark == "" {
		return nil
	}
	urls := map[cell.ID]string{}
	for _, id := range m.Cells() {
		urls[id] = m.URL(id)
	}
	for _, to := range moved {
		urls[to.Cell] = to.To
	}
	err := backup.AtMark(c.Context(), urls, r.mark)
	if errors.Is(err, storage.ErrRefused) || errors.Is(err, cell.ErrUnavailable) {
		return fmt.Errorf("%w: every server has to be there", err)
	}
	return err
}
