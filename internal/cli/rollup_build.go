// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/rollups"
)

// buildPoll is the interval of polling a build.
const buildPoll = 50 * time.Millisecond

func (a *app) rollupRebuild() *cobra.Command {
	var wait bool
	c := &cobra.Command{
		Use:   "rebuild NAME",
		Short: "Rebuild a rollup beside the serving generation, which it then replaces",
		Long:  "Rollups stay correct without a rebuild. Use it for a rollup that was stalled, once the cause is fixed.",
		Example: "  locus rollup rebuild places_by_category\n" +
			"  locus rollup rebuild places_by_category --wait",
		Args:              arguments("NAME"),
		ValidArgsFunction: a.names(rollupNames, 1),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			var of httpapi.Rollup
			raw, err := cl.do(c.Context(), http.MethodPost, rollupPath(args[0])+"/rebuild", nil, nil, &of)
			if err != nil {
				return err
			}
			return a.built(c.Context(), cl, &of, raw, "rebuilding", wait)
		}),
	}
	c.Flags().BoolVar(&wait, "wait", false, "wait until the new generation serves")
	return a.connection(c)
}

// built prints the result of a definition, after the build if wait is set. In a data directory no other process builds,
// so it always waits.
func (a *app) built(ctx context.Context, cl *client, of *httpapi.Rollup, raw json.RawMessage, outcome string,
	wait bool) error {
	if (wait || cl.alone) && of.Building != 0 {
		var err error
		if of, raw, err = a.await(ctx, cl, of); err != nil {
			return err
		}
	}
	if a.json {
		return a.summary(typed("result", raw), "")
	}
	if of.Building != 0 {
		a.say("%s: rollup %s, generation %d is being built: locus rollup status %s, or --wait", outcome, of.Name,
			of.Building, of.Name)
		return nil
	}
	if outcome == "rebuilding" {
		outcome = "rebuilt"
	}
	if of.State == rollups.Partial { // some cells did not report their groups
		a.say("%s: rollup %s, generation %d serves", outcome, of.Name, of.Generation)
		return nil
	}
	a.say("%s: rollup %s, generation %d serves %s", outcome, of.Name, of.Generation, counted(of.Groups, "group", "groups"))
	return nil
}

// await waits until the new generation is active.
func (a *app) await(ctx context.Context, cl *client, of *httpapi.Rollup) (*httpapi.Rollup, json.RawMessage, error) {
	progress := term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	defer progress.Close()
	target := of.Building
	again := time.NewTicker(buildPoll)
	defer again.Stop()
	for {
		now := &httpapi.Rollup{}
		raw, err := cl.get(ctx, rollupPath(of.Name), nil, now)
		switch {
		case err != nil && ctx.Err() == nil && !repeatable(err):
			return nil, nil, err
		case err == nil && now.Generation >= target:
			return now, raw, nil
		case err == nil && now.Building < target:
			return nil, nil, &failure{Code: "conflict",
				Message: fmt.Sprintf("rollup %s was dropped and defined again concurrently", of.Name), Exit: exitConflict}
		case err == nil && now.Trouble != "":
			return nil, nil, unbuildable(now)
		case err == nil && now.Generation == 0:
			if err := unwell(now); err != nil {
				return nil, nil, err
			}
		}
		progress.Update(func() string { return a.buildLine(now, raw) })
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, nil, &failure{
				Code: "interrupted", Message: "interrupted", Exit: exitInterrupted,
				Hint: "the build continues on the servers: locus rollup status " + of.Name,
			}
		}
	}
}

func (a *app) buildLine(of *httpapi.Rollup, raw json.RawMessage) string {
	switch {
	case a.json && raw != nil:
		return string(typed("progress", raw))
	case a.json:
		return `{"type":"progress"}`
	case of.State != rollups.Building:
		return fmt.Sprintf("building generation %d beside %d, which serves: %d of %d cells", of.Building, of.Generation,
			of.Built, len(of.Cells))
	}
	return fmt.Sprintf("building generation %d: %d of %d cells, %s", of.Building, of.Built, len(of.Cells),
		counted(of.Groups, "group", "groups"))
}

// unbuildable returns why a generation cannot be built; the active one continues.
func unbuildable(of *httpapi.Rollup) error {
	f := &failure{
		Code: "failed", Message: fmt.Sprintf("generation %d of rollup %s cannot be built: %s", of.Building, of.Name,
			of.Trouble), Exit: exitFailed,
		Hint: "define it otherwise",
	}
	if of.Generation != 0 {
		f.Hint = fmt.Sprintf("generation %d keeps serving; define the rollup differently", of.Generation)
	}
	return f
}
