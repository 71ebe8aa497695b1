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

// changing are the flags of what changes the cells.
type changing struct{ yes, dryRun bool }

func (f *changing) flags(c *cobra.Command) {
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and stop there")
}

// access is what the command does to an installation that it opens.
func (f *changing) access() access { return unless(f.dryRun, writes) }

// unless is what a command does that does nothing in a dry run.
func unless(dryRun bool, to access) access {
	if dryRun {
		return reads
	}
	return to
}

// goesOn says of what was stopped how it is finished.
const goesOn = "run it again to go on: what is done stays done"

// change lets the other side do something to the cells and shows how far it is: the last line of each step, and
// others while a step takes long. Every step may be repeated, so whatever stops it the same command goes on. show
// reads a line of progress: the step that it belongs to, and the line for people. It leaves with errEnough.
func (a *app) change(ctx context.Context, cl *client, path string, body any, show func(json.RawMessage) (step, line string, err error)) (json.RawMessage, error) {
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
	if f.Exit == exitUnavailable { // of a conflict the message says what is in the way: the same again would be refused
		f.Hint = goesOn
	}
	return nil, &f
}

// steps reads the lines of progress for change.
func steps[P any](show func(p P) (step, line string, err error)) func(json.RawMessage) (step, line string, err error) {
	return func(raw json.RawMessage) (step, line string, err error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return "", "", fmt.Errorf("read how far it is: %w", err)
		}
		return show(p)
	}
}

// resultOf reads what change answers with.
func resultOf[R any](raw json.RawMessage) (result R, err error) {
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("read the result: %w", err)
	}
	return result, nil
}

// summary is the last line of a command that changed the cells.
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

// startsIn is how long a generation that was announced waits, by this machine's clock.
func startsIn(starts time.Time) string {
	left := time.Until(starts)
	if left <= 0 {
		return "starts now"
	}
	return "starts in " + term.Left(left)
}
