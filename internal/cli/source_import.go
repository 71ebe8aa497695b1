// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/sources"
)

// reportTime is how long the report of an import may take. The rows are durable without it.
const reportTime = 5 * time.Second

// report tells the installation, for each source of the file, how its import ended.
func (im *importer) report(ctx context.Context, failed error) {
	if im.flags.dryRun {
		return
	}
	stopped := ""
	switch {
	case errors.Is(failed, context.Canceled):
		stopped = "interrupted"
	case failed != nil:
		stopped = failed.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	for _, source := range slices.Sorted(maps.Keys(im.state.Sources)) {
		if len(records.CheckRef(entity.Ref{Source: source, Key: "any"})) > 0 {
			continue // no record can have this source, so all of its rows were refused
		}
		said := httpapi.ReportOf(filepath.Base(im.plan.File()), im.state.Sources[source], stopped)
		said.Cursor = im.cursor(failed)
		body, err := json.Marshal(said)
		if err == nil {
			_, err = im.client.do(ctx, http.MethodPut, sourcePath(source)+"/import", nil, body, nil)
		}
		if err != nil {
			if failed == nil {
				im.say("locus source list does not show this import into %s: %s", source, term.Escape(err.Error()))
			}
			return
		}
	}
}

// cursor returns where the next import with --since begins, nil for one that never had it. Only an import of all rows
// moves it.
func (im *importer) cursor(failed error) *sources.Cursor {
	next := im.state.Next
	if failed != nil || im.flags.limit > 0 {
		next = im.state.Since
	}
	if !im.plan.Database || im.plan.Since() == "" || next == "" {
		return nil
	}
	return &sources.Cursor{Column: im.plan.Since(), Value: next}
}

// lastImport returns the cells about the last import of a source.
func lastImport(i *sources.Import) []string {
	if i == nil {
		return []string{"", "", "", ""}
	}
	file := i.File
	if i.Stopped != "" {
		file += " (stopped)"
	}
	return []string{i.At.Format(time.RFC3339), file, fmt.Sprint(i.Rows), fmt.Sprint(i.Refused())}
}

// printImport prints what became of the rows of the last import, why it refused some, why it stopped, and where the
// next one begins.
func (a *app) printImport(i *sources.Import) error {
	if i == nil {
		return nil
	}
	if i.Stopped != "" {
		a.say("the last import stopped: %s", term.Escape(i.Stopped))
	}
	if i.Cursor != nil {
		a.say("the next import with --since %s begins at %s", term.Escape(i.Cursor.Column), term.Escape(i.Cursor.Value))
	}
	became := &term.Table{Header: []string{"outcome", "rows"}, Right: map[int]bool{1: true}}
	for _, outcome := range outcomes {
		if n := i.Outcomes[outcome.name]; n > 0 {
			became.Add(outcome.word, fmt.Sprint(n))
		}
	}
	if err := a.printTable(became); err != nil {
		return err
	}
	if len(i.Refusals) == 0 {
		return nil
	}
	t := &term.Table{Header: []string{"refused because", "rows", "first at"}, Right: map[int]bool{1: true, 2: true}}
	for _, r := range i.Refusals {
		t.Add(r.Cause, fmt.Sprint(r.Rows), fmt.Sprint(r.First))
	}
	return a.printTable(t)
}
