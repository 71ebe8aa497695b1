// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/resolve"
)

// The values of --load.
const (
	loadAuto   = "auto"
	loadAlways = "always"
	loadNever  = "never"
)

// loadFrom is the number of bytes of files from which an import is loaded: some fifty thousand rows. Below it there is
// little to save.
const loadFrom = 16 << 20

// opens returns how an import opens an installation: held, if it may come to a load.
func (o *ingesting) opens(streams, loads opening) opening {
	if o.load == loadNever || o.load == loadAuto && o.snapshot {
		return streams
	}
	return loads
}

// loading decides whether to resolve the rows in one load after all are stored. It prints and reports that; otherwise
// it ends the holding of resolution.
func (a *app) loading(ctx context.Context, cl *client, o *ingesting, plans []*bulk.Plan) (bool, error) {
	switch {
	case cl == nil || o.dryRun:
		return false, nil
	case cl.opened == nil && o.load == loadAlways:
		return false, usage("--data DIR while no server has it open",
			"--load always needs exclusive access to the installation, and a server has it open")
	case cl.opened == nil:
		return false, nil
	}
	first, err := cl.opened.FirstLoad(ctx)
	if err != nil {
		return false, err
	}
	// the puts of others would wait for the load
	if o.load == loadAuto && (sizeOf(plans) < loadFrom || !first && !cl.alone) {
		cl.opened.Release()
		return false, nil
	}
	if cl.loading = "load"; first {
		cl.loading = "first load"
	}
	a.say("%s: rows are stored first and then resolved at once; until then they are in no entity, and count as new",
		cl.loading)
	return true, nil
}

// sizeOf returns the number of bytes of the files of an import.
func sizeOf(plans []*bulk.Plan) (size int64) {
	for _, p := range plans {
		if info, err := os.Stat(p.Name); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}

// loadSteps are the names of the steps of a load in the progress line.
var loadSteps = map[resolve.LoadStep]string{
	resolve.LoadRead: "records read", resolve.LoadPost: "blocking keys written", resolve.LoadCompare: "records compared",
	resolve.LoadLink: "edges written", resolve.LoadWrite: "records resolved", resolve.LoadAssign: "records assigned",
	resolve.LoadClear: "records done",
}

// load resolves the stored rows.
func (a *app) load(ctx context.Context, cl *client) error {
	progress := term.NewProgress(a.stderr, a.talk.Terminal && !a.json, time.Now)
	defer progress.Close()
	begin, records := time.Now(), 0
	err := cl.opened.Load(ctx, func(p resolve.LoadProgress) {
		switch {
		case p.Step == resolve.LoadWrite:
			records = p.Done
		case p.Step == resolve.LoadRead && p.Done == p.Of:
			a.collectRarely(p.Of)
		}
		progress.Update(func() string {
			if a.json {
				text, _ := json.Marshal(map[string]any{"type": "load", "step": p.Step, "done": p.Done, "of": p.Of})
				return string(text)
			}
			return fmt.Sprintf("%s: %s of %s %s", cl.loading, term.Short(float64(p.Done)), term.Short(float64(p.Of)),
				loadSteps[p.Step])
		})
	})
	switch {
	case err == nil:
		progress.Print(fmt.Sprintf("%s: %s resolved at once in %.1f s", cl.loading,
			counted(int64(records), "record", "records"), time.Since(begin).Seconds()))
		return nil
	case errors.Is(err, resolve.ErrLoad):
		progress.Print(fmt.Sprintf("%v; they are resolved one after another", err))
		return nil
	case ctx.Err() != nil:
		return &failure{
			Code: "interrupted", Exit: exitInterrupted, Err: err,
			Message: "interrupted: all rows are durable, but not all are resolved",
			Hint:    "repeat the command to resolve them at once; any other command that writes resolves them one after another",
		}
	}
	return fmt.Errorf("resolve the stored rows; repeat the command to try again: %w", err)
}

// garbageLimit is the size of memory near which garbage is collected as often as ever: so many bytes, or recordLimit
// bytes for each record of a load.
const garbageLimit, recordLimit = 1 << 30, 128

// collectRarely makes the process collect garbage less often, which saves a fifth of the processor time, unless the
// environment sets the frequency. records is the number of records of a load. It returns a function that restores the
// former setting.
func (a *app) collectRarely(records int) (end func()) {
	if a.env["GOGC"] != "" {
		return func() {}
	}
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(max(garbageLimit, recordLimit*int64(records)))
	return func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }
}
