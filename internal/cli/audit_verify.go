// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/httpapi"
)

// maxAuditLine limits the bytes of a line of an exported log.
const maxAuditLine = 1 << 20

func (a *app) auditVerify() *cobra.Command {
	var kept string
	var part bool
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify that the log, or an exported file, is what was written",
		Long: "Each entry contains the hash of the previous one, so changed, removed and replaced entries are detected. To detect a\n" +
			"truncated log, pass --heads: the report of an earlier verification, which --json writes, or a copy of the log. The\n" +
			"exit status is 3 if something is wrong.",
		Example: "  locus audit verify --heads heads.json\n" +
			"  locus audit verify --part /var/log/locus/audit.log",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			heads, err := keptHeads(kept)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				report, err := verifyFile(args[0], part, heads)
				if err != nil {
					return err
				}
				return a.auditReport(report)
			}
			return a.connected(func(c *cobra.Command, cl *client, _ []string) error {
				body, err := json.Marshal(httpapi.VerifyAuditRequest{Heads: heads})
				if err != nil {
					return err
				}
				var report audit.Report
				if _, err := cl.do(c.Context(), http.MethodPost, "/v1/audit/verify", nil, body, &report); err != nil {
					return err
				}
				return a.auditReport(&report)
			})(c, args)
		},
	}
	c.Flags().StringVar(&kept, "heads", "",
		"report of an earlier verification, or a copy of the log; the log must contain its newest entries")
	c.Flags().BoolVar(&part, "part", false,
		"FILE contains the entries of some processes only, such as a file of --audit-file")
	return a.connection(c)
}

// keptHeads reads the heads of an earlier report, or of a copy of the log; there are none without a file.
func keptHeads(path string) ([]audit.Head, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("locus audit verify --json > heads.json writes one", "--heads: %v", err)
	}
	var report audit.Report
	if json.Unmarshal(text, &report) == nil && len(report.Heads) > 0 {
		return report.Heads, nil
	}
	newest := map[int64]audit.Row{}
	if err := eachAuditRow(path, func(r audit.Row) { newest[r.Chain] = r }); err != nil {
		return nil, err
	}
	heads := make([]audit.Head, 0, len(newest))
	for _, r := range newest {
		heads = append(heads, r.Head())
	}
	return heads, nil
}

// verifyFile verifies a copy of the log, or of a part of it.
func verifyFile(path string, part bool, heads []audit.Head) (*audit.Report, error) {
	verify := audit.Verify
	if part {
		verify = audit.VerifyPart
	}
	return verify(heads, func(see func(audit.Row)) error { return eachAuditRow(path, see) })
}

// eachAuditRow reads a copy of the log line by line.
func eachAuditRow(path string, see func(audit.Row)) error {
	file, err := os.Open(path)
	if err != nil {
		return usage("locus audit export -o audit.jsonl writes one", "%v", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxAuditLine)
	for n := 1; lines.Scan(); n++ {
		row, err := audit.ParseRow(lines.Text())
		if err != nil {
			return usage("give a file of locus audit export or locus serve --audit-file", "%s, line %d: %v", path, n, err)
		}
		see(row)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func (a *app) auditReport(r *audit.Report) error {
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		for _, p := range r.Problems {
			a.say("entry %d of chain %s: %s", p.Seq, p.Chain, p.What)
		}
		a.say("%s in %s, %s unended", counted(int64(r.Entries), "entry", "entries"),
			counted(int64(r.Chains), "chain", "chains"), counted(int64(r.Unended), "action", "actions"))
	}
	if len(r.Problems) > 0 {
		return &failure{Code: "damaged",
			Message: fmt.Sprintf("the audit log was changed: %s", plural(len(r.Problems), "problem")),
			Hint:    "compare with a copy: locus serve --audit-file keeps one", Exit: exitPartly}
	}
	if !a.json {
		a.say("nothing was changed or removed")
	}
	return nil
}
