// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) dumpCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "dump -o FILE",
		Short: "Write the whole installation to a file that locus restore reads",
		Long: "The dump contains kinds, rollup definitions, sinks, streams, records with their ids and versions, the ids of deleted\n" +
			"records, decisions, and counters; everything else is computed from these. It is JSON lines, compressed with zstd. It shows\n" +
			"the installation as of its beginning; writes continue. The file appears under its name once it is complete.\n\n" +
			"It can be restored into any number of cells of any kind of database. Entities keep their ids; puids change.",
		Example: "  locus dump -o places.dump\n" +
			"  locus dump --url http://127.0.0.1:7070 -o - | ssh backup 'cat > places.dump'",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" || isStdout(out) && a.out.Terminal {
				return usage("locus dump -o places.dump", "name the file to write with -o, or - for a pipe")
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			return a.dump(c.Context(), cl, out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write; - is standard output")
	return a.connection(c)
}

func (a *app) dump(ctx context.Context, cl *client, out string) error {
	var end struct {
		Records   int64  `json:"records"`
		Entities  int64  `json:"entities"`
		Decisions int64  `json:"decisions"`
		Metrics   int64  `json:"metrics"`
		Unsettled string `json:"unsettled"`
	}
	var totals string
	n, err := a.download(ctx, cl, "/v1/dump", out, "dump", func(response *http.Response) error {
		totals = response.Header.Get(httpapi.TotalsHeader)
		if err := json.Unmarshal([]byte(totals), &end); err != nil {
			return foreign(response, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if end.Unsettled != "" {
		a.say("%s: the dump has no hash of the entities, because of concurrent writers; stop them, or use --url",
			end.Unsettled)
	}
	line := fmt.Sprintf("%s: %s, %s, %s, %s, %s bytes", term.Escape(out), counted(end.Records, "record", "records"), counted(end.Entities, "entity", "entities"),
		counted(end.Decisions, "decision", "decisions"), counted(end.Metrics, "metric", "metrics"), term.Count(n))
	if isStdout(out) && a.json {
		a.say("%s", totals)
		return nil
	}
	return a.summary(json.RawMessage(totals), "%s", line)
}
