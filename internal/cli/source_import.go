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
		body, err := json.Marshal(httpapi.ReportOf(filepath.Base(im.plan.File()), im.state.Sources[source], stopped))
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

// printRefusals prints why the last import refused rows, and why it stopped.
func (a *app) printRefusals(i *sources.Import) error {
	if i == nil {
		return nil
	}
	if i.Stopped != "" {
		a.say("the last import stopped: %s", term.Escape(i.Stopped))
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
