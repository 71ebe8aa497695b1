// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/buildinfo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

const (
	// behind is the lag of a follower from which doctor warns.
	behind = 10 * time.Minute
	// ending is how long before its end a token is named.
	ending = 14 * 24 * time.Hour
	// backupOld is how old the last backup may be.
	backupOld = 36 * time.Hour
	// redoMany is how many records may wait to be resolved before it is reported.
	redoMany = 10_000
	// uncounted is how many records a kind may have without its own term frequencies before it is reported.
	uncounted = 10_000
	// roomUsed is the share of a cell's puids after which it is named, in percent.
	roomUsed = 80
)

// serverVersion compares the server with this command.
func serverVersion(ctx context.Context, cl *client, x *examination) error {
	var v httpapi.Version
	if _, err := cl.get(ctx, "/version", nil, &v); err != nil {
		return err
	}
	if v.Version != version() && v.Version != buildinfo.Devel {
		x.warn("version", "upgrade the older of the two", "the server is Locus %s", v.Version)
	}
	return nil
}

// cellsOf looks at the cells.
func cellsOf(ctx context.Context, cl *client, x *examination) error {
	var s cells.Status
	if _, err := cl.get(ctx, "/v1/status", nil, &s); err != nil {
		return err
	}
	var full []cell.ID
	for _, c := range s.Cells {
		x.largest = max(x.largest, c.Bytes)
		if c.PUIDRoom > 0 && c.PUIDs > c.PUIDRoom/100*roomUsed {
			full = append(full, c.Cell)
		}
	}
	switch {
	case len(s.Down) > 0:
		x.fail("cells", "check their databases and the network to them", "%s of %d are unavailable: %s",
			term.Count(int64(len(s.Down))), len(s.Cells), someCells(s.Down))
	case !s.Ready:
		x.fail("cells", "try again in a moment; the server's log has the reason", "not ready: %s", s.Reason)
	case s.Reason != "":
		x.fail("cells", "look for a program that holds a lock, or a disk that is full or mounted read-only", "%s", s.Reason)
	default:
		x.ok("cells", "%s, all answer; %s, %s", plural(len(s.Cells), "cell"), counted(s.Counts.Records, "record", "records"), counted(s.Counts.Entities, "entity", "entities"))
	}
	if left := time.Until(s.Until); x.served && !s.Until.IsZero() && left < mapLeft {
		x.fail("map", "look in the servers' logs for errors of the cell that holds it", "the cell map ended at %s and is not extended: new records are refused", s.Until.Local().Format(time.DateTime))
	}
	if len(full) > 0 {
		x.warn("puids", "locus cell grow adds cells", "more than %d %% are used in %s", roomUsed, someCells(full))
	}
	if s.Upgrade == "needed" {
		x.fail("matcher", "locus upgrade plan, then locus upgrade run",
			"the entities were made by an older matcher: nothing is written")
	}
	if s.Redo > redoMany {
		x.warn("redo", "see whether the number falls; an unavailable cell delays it", "%s records are not resolved yet",
			term.Count(int64(s.Redo)))
	}
	return nil
}

// countsOf names kinds whose names were counted when there were far fewer records, or never.
func countsOf(ctx context.Context, cl *client, x *examination) error {
	var kinds httpapi.KindList
	var tables httpapi.TermsList
	var sources httpapi.SourceList
	for path, to := range map[string]any{"/v1/kinds": &kinds, "/v1/term-frequencies": &tables, "/v1/sources": &sources} {
		if _, err := cl.get(ctx, path, nil, to); err != nil {
			return err
		}
	}
	counted, live := map[string]int{}, recordsOf(&sources)
	for _, t := range tables.Terms {
		counted[t.Hash] = t.Records
	}
	for _, k := range kinds.Kinds {
		if have := live[k.Kind]; have >= uncounted && int64(counted[k.Terms])*10 <= have {
			x.warn("terms", "locus terms build --kind "+k.Kind+", then locus terms diff: it changes nothing yet",
				"the weights of %s know the names of %s of %s records", k.Kind, term.Count(int64(counted[k.Terms])), term.Count(have))
		}
	}
	return nil
}

// recordsOf returns the number of records of each kind.
func recordsOf(sources *httpapi.SourceList) map[string]int64 {
	of := map[string]int64{}
	for _, s := range sources.Sources {
		for _, k := range s.Kinds {
			of[k.Kind] += k.Records
		}
	}
	return of
}

// rollupsOf names rollups that are broken or late.
func rollupsOf(ctx context.Context, cl *client, x *examination) error {
	var list httpapi.RollupList
	if _, err := cl.get(ctx, "/v1/rollups", nil, &list); err != nil {
		return err
	}
	before := len(x.all)
	for _, r := range list.Rollups {
		lag := time.Duration(r.LagMS) * time.Millisecond
		switch {
		case r.State == "failed" || r.Trouble != "":
			x.fail("rollup", "locus rollup show "+r.Name+", then locus rollup rebuild "+r.Name, "%s has failed: %s",
				r.Name, r.Trouble)
			x.bare("%s has failed: %s", r.Name, scrub(r.Trouble))
		case lag > behind:
			x.warn("rollup", "a rollup follows while a server runs", "%s is %s behind", r.Name, lag.Round(time.Second))
		}
	}
	if len(x.all) == before && len(list.Rollups) > 0 {
		x.ok("rollups", "%s, current", plural(len(list.Rollups), "rollup"))
	}
	return nil
}

// sinksOf names sinks that do not deliver.
func sinksOf(ctx context.Context, cl *client, x *examination) error {
	var list httpapi.SinkList
	if _, err := cl.get(ctx, "/v1/sinks", nil, &list); err != nil {
		return err
	}
	for _, s := range list.Sinks {
		switch {
		case s.State == "failing" || s.State == "paused" && s.Reason != "":
			x.fail("sink", "locus sink show "+s.Name, "%s is %s: %s", s.Name, s.State, s.Reason)
			x.bare("%s is %s", s.Name, s.State)
		case s.Dead > 0:
			x.warn("sink", "locus sink dead "+s.Name, "%s has %s that its target rejected", s.Name,
				counted(int64(s.Dead), "event", "events"))
		case s.State == "waiting":
			x.warn("sink", "a sink delivers while a server runs", "no process delivers to %s", s.Name)
		default:
			x.ok("sink", "%s is %s", s.Name, s.State)
		}
	}
	return nil
}

// streamsOf names sources whose stream is not read.
func streamsOf(ctx context.Context, cl *client, x *examination) error {
	var list httpapi.SourceList
	if _, err := cl.get(ctx, "/v1/sources", nil, &list); err != nil {
		return err
	}
	for _, s := range list.Sources {
		switch of := s.Stream; {
		case of == nil:
		case of.State == "failing" || of.State == "paused" && of.Reason != "":
			x.fail("source", "locus source show "+s.Source, "%s is %s: %s", s.Source, of.State, of.Reason)
			x.bare("%s is %s", s.Source, of.State)
		case of.Dead > 0:
			x.warn("source", "locus source dead "+s.Source, "%s has %s that cannot become records", s.Source,
				counted(int64(of.Dead), "message", "messages"))
		default:
			x.ok("source", "%s is %s", s.Source, of.State)
		}
	}
	return nil
}

// backupOf names the last backup.
func backupOf(ctx context.Context, cl *client, x *examination) error {
	var last httpapi.BackupMark
	if _, err := cl.get(ctx, "/v1/backup/mark", nil, &last); err != nil {
		if _, older := gone(err); older { // than this route
			return nil
		}
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, last.At)
	switch {
	case last.At == "" || err != nil:
		x.ok("backup", "none is known; note backups of other tools with locus backup mark")
	case time.Since(at) > backupOld:
		x.warn("backup", "find out why no newer one was made or noted", "the last one is of %s",
			at.Local().Format(time.DateTime))
	default:
		x.ok("backup", "the last one is of %s", at.Local().Format(time.DateTime))
	}
	return nil
}

// tokensOf names tokens that expire soon, and tokens that never do.
func tokensOf(ctx context.Context, cl *client, x *examination) error {
	var list httpapi.TokenList
	if _, err := cl.get(ctx, "/v1/tokens", nil, &list); err != nil {
		return err
	}
	for _, t := range list.Tokens {
		if t.Expires.IsZero() {
			x.ok("token", "%s (%s) never ends", t.Name, t.ID)
			x.bare("%s never ends", t.ID)
		}
		if left := time.Until(t.Expires); !t.Expires.IsZero() && left > 0 && left < ending {
			x.warn("token", "locus token rotate "+t.Name, "%s (%s) ends at %s", t.Name, t.ID,
				t.Expires.Local().Format(time.DateTime))
			x.bare("%s ends at %s", t.ID, t.Expires.UTC().Format(time.RFC3339))
		}
	}
	return nil
}
