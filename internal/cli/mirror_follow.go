// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/mirror"
)

// mirrorBeat is the interval of progress updates.
const mirrorBeat = 200 * time.Millisecond

// follow mirrors until it is interrupted, or with --once until the mirror is complete.
func (m *mirroring) follow(ctx context.Context) error {
	progress := term.NewProgress(m.stderr, m.talk.Terminal && !m.json, nil)
	defer progress.Close()
	var status cells.Status // the number of ids is unknown, but close to the number of records
	if _, err := m.source.get(ctx, "/v1/status", nil, &status); err != nil {
		return err
	}
	if !m.json {
		progress.Print(fmt.Sprintf("mirroring into %s; Ctrl-C ends it", term.Escape(m.place)))
	}
	troubled := map[cell.ID]bool{}
	copying := mirror.New(m.source, m.target, &mirror.Options{Once: m.once, Again: mirrorAgain, Events: mirror.Events{
		Refill: func(id cell.ID, why error) {
			progress.Print(fmt.Sprintf("the log of cell %s no longer contains the mirror's position, so all cells are filled again: %s", id, term.Escape(why.Error())))
		},
		Trouble: func(id cell.ID, err error) {
			if err != nil && len(troubled) == 0 {
				progress.Print(fmt.Sprintf("cell %s: %s; trying again", id, term.Escape(err.Error())))
			}
			if troubled[id] = err != nil; err == nil {
				if delete(troubled, id); len(troubled) == 0 {
					progress.Print("it goes on")
				}
			}
		},
	}})
	done := make(chan error, 1)
	go func() { done <- copying.Run(ctx) }()
	told := mirrorLine{total: status.Counts.Records, begun: time.Now()}
	beat := time.NewTicker(mirrorBeat)
	defer beat.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			return m.ended(ctx, progress, copying.Standings())
		case <-beat.C:
			if line := told.line(copying.Standings()); line != told.last {
				progress.Update(func() string { told.last = line; return m.progressLine(line, copying.Standings()) })
			}
		}
	}
}

// mirrorAgain reports whether an operation may succeed if repeated, on either side.
func mirrorAgain(err error) bool {
	return repeatable(err) || errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrCommitUnknown)
}

// progressLine returns a line of progress, as JSON with --json.
func (m *mirroring) progressLine(line string, standings []mirror.Standing) string {
	if !m.json {
		return line
	}
	sum := summed(standings)
	return fmt.Sprintf(`{"type":"progress","cells":%d,"filled":%d,"ids":%d,"behind":%d,"lag_ms":%d,"settling":%d}`,
		sum.cells, sum.filled, sum.ids, sum.behind, sum.lag.Milliseconds(), sum.settling)
}

// ended prints the final state, and how to continue.
func (m *mirroring) ended(ctx context.Context, progress *term.Progress, standings []mirror.Standing) error {
	progress.Close()
	sum := summed(standings)
	if ctx.Err() != nil && m.once {
		return &failure{Code: "interrupted", Message: "interrupted", Hint: "repeat the command to continue",
			Exit: exitInterrupted}
	}
	if m.json {
		return m.printJSON(map[string]any{
			"type": "summary", "cells": sum.cells, "filled": sum.filled, "ids": sum.ids, "behind": sum.behind,
			"settling": sum.settling,
		})
	}
	if ctx.Err() != nil {
		m.say("ended; repeat the command to continue")
		return nil //nolint:nilerr // that somebody ended it is no error
	}
	m.say("everything is mirrored: %s ids in %s", term.Count(sum.ids), plural(sum.cells, "cell"))
	return nil
}

// mirrorSum is the progress summed over cells.
type mirrorSum struct {
	cells, filled, settling int
	ids, behind             int64
	lag                     time.Duration
}

func summed(standings []mirror.Standing) (sum mirrorSum) {
	now := time.Now()
	for i := range standings {
		s := &standings[i]
		sum.cells++
		sum.ids += s.Count
		sum.settling += s.Settling
		if s.Filled {
			sum.filled++
			sum.behind += s.Behind()
			sum.lag = max(sum.lag, s.Lag(now))
		}
	}
	return sum
}

// mirrorLine formats lines of progress.
type mirrorLine struct {
	total int64 // estimate
	begun time.Time
	ids   int64 // at the start
	known bool
	last  string
}

func (l *mirrorLine) line(standings []mirror.Standing) string {
	sum := summed(standings)
	if !l.known {
		l.ids, l.known = sum.ids, sum.ids > 0
	}
	if sum.filled < sum.cells || sum.cells == 0 {
		rate := float64(sum.ids-l.ids) / max(time.Since(l.begun).Seconds(), 0.001)
		return fmt.Sprintf("filling: %s of about %s ids, %s/s, %d of %d cells done", term.Count(sum.ids), term.Count(max(l.total, sum.ids)),
			term.Count(int64(rate)), sum.filled, sum.cells)
	}
	line := fmt.Sprintf("following %s: up to date", plural(sum.cells, "cell"))
	if sum.behind > 0 {
		line = fmt.Sprintf("following %s: %s behind, %s", plural(sum.cells, "cell"), plural(int(sum.behind), "change"),
			sum.lag.Round(100*time.Millisecond))
	}
	if sum.settling > 0 {
		line += fmt.Sprintf("; %s being resolved", plural(sum.settling, "id"))
	}
	return line
}
