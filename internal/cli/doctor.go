// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// level is the severity of a finding.
type level string

const (
	levelOK      level = "ok"
	levelWarning level = "warning" // works, and will not for long, or may not on a bad day
	levelError   level = "error"
)

// finding is one line of locus doctor.
type finding struct {
	Level level  `json:"level"`
	What  string `json:"what"`
	Says  string `json:"says"`
	Try   string `json:"try,omitempty"`
	// bare is the text for a bundle, if Says contains a name of a person or a text of another program.
	bare string
}

// shared returns the text for a bundle.
func (f *finding) shared() string {
	if f.bare != "" {
		return f.bare
	}
	return f.Says
}

// examination collects findings.
type examination struct {
	all     []finding
	largest int64 // size of the largest cell, 0 if unknown
	served  bool  // a running server answers
}

func (x *examination) ok(what, format string, args ...any) {
	x.all = append(x.all, finding{levelOK, what, fmt.Sprintf(format, args...), "", ""})
}

func (x *examination) warn(what, try, format string, args ...any) {
	x.all = append(x.all, finding{levelWarning, what, fmt.Sprintf(format, args...), try, ""})
}

func (x *examination) fail(what, try, format string, args ...any) {
	x.all = append(x.all, finding{levelError, what, fmt.Sprintf(format, args...), try, ""})
}

// bare replaces the text of the last finding in a bundle.
func (x *examination) bare(format string, args ...any) {
	x.all[len(x.all)-1].bare = fmt.Sprintf(format, args...)
}

// count returns the number of findings of a level.
func (x *examination) count(l level) (n int) {
	for _, f := range x.all {
		if f.Level == l {
			n++
		}
	}
	return n
}

func (a *app) doctorCommand() *cobra.Command {
	var bundle, log string
	c := a.connection(&cobra.Command{
		Use:   "doctor",
		Short: "Diagnose the machine and the installation, and suggest fixes",
		Long: "With --data, checks the disk, the file system and the limits of this machine. With --data, --map or --url, checks the\n" +
			"connection, cells, PostgreSQL servers, rollups, sinks, streams and tokens of the installation. Changes nothing. A token\n" +
			"needs the permissions read and operate; checks that it may not make are skipped.\n\n" +
			"--bundle writes the results to a file for a bug report, with versions, the settings of --config, states, metrics, and the\n" +
			"end of --log. It leaves out secrets, and texts that may be of a record, a person or a target; it contains the names of\n" +
			"kinds, sources, sinks, rollups and hosts. Look at the file before you send it.\n" +
			"\n" +
			"The exit code is 1 if something is broken, 3 if there are only warnings, 0 otherwise.",
		Example: "  locus doctor --json | jq 'select(.level != \"ok\")'\n" +
			"  locus doctor --config /etc/locus/locus.yaml --log locus.log --bundle report.tar.gz",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if log != "" && bundle == "" {
				return usage("--bundle report.tar.gz", "--log is for a bundle: --bundle is missing")
			}
			w, err := a.locate(c)
			if err != nil {
				return err
			}
			x := &examination{}
			x.ok("version", "locus %s", version())
			a.examineInstallation(c, x)
			if w.server == "" && !w.shared && !flagged(c, "url") {
				x.machine(w.place)
			}
			if bundle != "" {
				if err := a.pack(c, x, bundle, log); err != nil {
					return err
				}
				a.say("wrote %s; look at it before you send it", term.Escape(bundle))
			}
			return a.printExamination(x)
		},
	})
	c.Flags().StringVar(&bundle, "bundle", "", "new file for a bug report, in tar.gz format")
	c.Flags().StringVar(&log, "log", "", "log file of the server; its end goes into the bundle")
	return c
}

// examineInstallation examines the state that the server reports.
func (a *app) examineInstallation(c *cobra.Command, x *examination) {
	cl, err := a.connect(c, reads)
	if err != nil {
		f := explainFailure(c.Context(), err)
		x.fail("installation", f.Hint, "cannot be opened: %s", f.Message)
		x.bare("cannot be opened: %s", scrub(f.Message))
		return
	}
	defer cl.close()
	for i, look := range []func(context.Context, *client, *examination) error{connectionOf, serverVersion, cellsOf, serversOf, countsOf, rollupsOf, sinksOf, streamsOf, tokensOf, backupOf} {
		if err := look(c.Context(), cl, x); err != nil && !forbidden(err) {
			f := explainFailure(c.Context(), err)
			x.fail("installation", f.Hint, "%s", f.Message)
			x.bare("%s", scrub(f.Message))
			if i == 0 {
				break // it does not answer at all
			}
		}
	}
}

// printExamination prints the findings, and returns the failure that sets the exit code.
func (a *app) printExamination(x *examination) error {
	for _, f := range x.all {
		if a.json {
			if err := a.printJSON(f); err != nil {
				return err
			}
			continue
		}
		color := map[level]string{levelOK: "32", levelWarning: "33", levelError: "31"}[f.Level]
		if _, err := fmt.Fprintf(a.stdout, "%s  %-12s %s\n", a.out.Paint(color, fmt.Sprintf("%-7s", f.Level)), f.What, term.Escape(f.Says)); err != nil {
			return err
		}
		if f.Try != "" {
			if _, err := fmt.Fprintf(a.stdout, "         try:         %s\n", term.Escape(f.Try)); err != nil {
				return err
			}
		}
	}
	broken, doubtful := x.count(levelError), x.count(levelWarning)
	switch {
	case broken > 0:
		return &failure{Code: "failed", Exit: exitFailed,
			Message: fmt.Sprintf("%s, %s", plural(broken, "error"), plural(doubtful, "warning"))}
	case doubtful > 0:
		return &failure{Code: "warnings", Exit: exitPartly, Message: plural(doubtful, "warning")}
	}
	return nil
}

// forbidden reports whether the server refused because of missing permissions.
func forbidden(err error) bool {
	p, ok := errors.AsType[*httpapi.Problem](err)
	return ok && p.Code == httpapi.CodeForbidden
}
