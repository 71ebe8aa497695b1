// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/term"
)

// changing holds the flags of commands that change the cells.
type changing struct{ yes, dryRun bool }

func (f *changing) flags(c *cobra.Command) {
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask for confirmation")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and stop")
}

// access returns the access that the command needs.
func (f *changing) access() opening { return unless(f.dryRun, writes) }

// unless returns the access of a command, or reads in a dry run.
func unless(dryRun bool, to opening) opening {
	if dryRun {
		return reads
	}
	return to
}

// goesOn is the hint after an interruption.
const goesOn = "run it again to continue; finished steps are not repeated"

// change starts an operation on the cells and shows its progress: the last line of each step, and others while a step
// takes long. Every step is idempotent, so repeat the command to continue after any interruption. show parses a line of
// progress into its step and a text. It stops with errEnough.
func (a *app) change(ctx context.Context, cl *client, path string, body any,
	show func(json.RawMessage) (step, line string, err error)) (json.RawMessage, error) {
	progress := term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	defer progress.Close()
	step, last := "", ""
	stay := func() {
		if last != "" {
			progress.Print(last)
		}
	}
	result, err := cl.stream(ctx, path, body, func(raw json.RawMessage) error {
		next, line, err := show(raw)
		if a.json {
			line = string(raw)
		} else {
			line = term.Escape(line)
		}
		if next != step {
			stay()
			step = next
		}
		last = line
		progress.Update(func() string { return line })
		return err
	})
	if !errors.Is(err, errEnough) {
		stay()
	}
	switch {
	case err == nil || errors.Is(err, errEnough):
		return result, err
	case ctx.Err() != nil:
		return nil, &failure{Code: "interrupted", Message: "interrupted", Hint: goesOn, Exit: exitInterrupted, Err: err}
	}
	f := *explainFailure(ctx, err)
	if f.Exit == exitUnavailable { // after a conflict the same command would fail again
		f.Hint = goesOn
	}
	return nil, &f
}

// steps adapts show to raw lines of progress.
func steps[P any](show func(p P) (step, line string, err error)) func(json.RawMessage) (step, line string, err error) {
	return func(raw json.RawMessage) (step, line string, err error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return "", "", fmt.Errorf("read the progress: %w", err)
		}
		return show(p)
	}
}

// resultOf decodes the result of change.
func resultOf[R any](raw json.RawMessage) (result R, err error) {
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("read the result: %w", err)
	}
	return result, nil
}

// summary prints the last line of a command that changed the cells.
func (a *app) summary(raw json.RawMessage, format string, args ...any) error {
	if !a.json {
		a.say(format, args...)
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	delete(fields, "type")
	body, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return a.printRaw(typed("summary", body))
}

// startsIn returns how long until an announced generation starts, by this machine's clock.
func startsIn(starts time.Time) string {
	left := time.Until(starts)
	if left <= 0 {
		return "starts now"
	}
	return "starts in " + term.Left(left)
}
