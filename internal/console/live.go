// SPDX-License-Identifier: Apache-2.0

package console

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
)

// Live holds the slot values of the operations page for one Snapshot.
type Live struct {
	// Page identifies the structure of the page. If it changes, the page must be reloaded.
	Page string `json:"page"`
	// Empty reports whether there are no records yet.
	Empty bool `json:"empty"`
	// Minute is the minute of the pictures, as a number. "" in an event means unchanged.
	Minute string `json:"minute,omitempty"`
	// Text by slot; Path is the outline of a shape by slot.
	Text map[string]string `json:"text,omitempty"`
	Path map[string]string `json:"path,omitempty"`
	// Joins are the latest matches, the newest first. Nil in an event means no new ones.
	Joins []join `json:"joins,omitempty"`
}

// join is a row of the latest matches.
type join struct {
	Time   string `json:"time"` // RFC 3339
	Record string `json:"record"`
	Name   string `json:"name"`
	Entity string `json:"entity"`
}

// Clock returns the time of day in UTC, "" in the template for new rows.
func (j join) Clock() string {
	at, err := time.Parse(time.RFC3339, j.Time)
	if err != nil {
		return ""
	}
	return clock(at) + " UTC"
}

// Live computes the slot values.
func (c *Console) Live(s Snapshot) Live {
	counts := s.Status.Counts
	curve, peak := s.History.Draw()
	l := Live{
		Page:  fmt.Sprintf("%s/%d/%d", c.version, s.Map.Generations(), s.Status.Generation),
		Empty: counts.Records == 0 && s.Status.Reason == "",
		Text: map[string]string{
			"time":     stamp(s.Time).Datetime(),
			"records":  summed(s.Status, counts.Records),
			"entities": summed(s.Status, counts.Entities),
			"merges":   summed(s.Status, counts.Merges),
			"each":     each(s.Status, counts),
			"splits":   atLeast(s.Status) + counted(counts.Splits, "split"),
			"peak":     rate(peak),
			"redo":     redo(s.Status),
			"problem":  problem(s.Status),
			"review":   waiting(s.Review, s.ReviewMore),
		},
		Path:  map[string]string{"rate": curve},
		Joins: joins(s.Joins),
	}
	l.addCells(s.Status, s.Map)
	l.addOwn(s)
	return l
}

// atLeast returns the prefix of a sum that lacks unreachable cells.
func atLeast(s *cells.Status) string {
	if len(s.Down) > 0 {
		return "\u2265 "
	}
	return ""
}

// summed formats a sum over the reachable cells.
func summed(s *cells.Status, n int64) string { return atLeast(s) + count(n) }

// each describes the mean number of records of an entity, or how many cells are unreachable.
func each(s *cells.Status, c entity.Counts) string {
	if n := len(s.Down); n > 0 {
		return fmt.Sprintf("%d of %d cells are unavailable", n, len(s.Cells))
	}
	if c.Entities == 0 {
		return "no records yet"
	}
	return strconv.FormatFloat(float64(c.Records)/float64(c.Entities), 'f', 2, 64) + " records each"
}

// redo describes the pending resolution work; "" if there is none.
func redo(s *cells.Status) string {
	if s.Redo == 0 {
		return ""
	}
	return atLeast(s) + counted(int64(s.Redo), "record") + " not resolved yet"
}

// problem returns why the service is not ready, or which parts are unreachable; "" if all is well.
func problem(s *cells.Status) string {
	switch {
	case s.Ready && s.Reason == "":
		return ""
	case s.Ready:
		return "missing: " + s.Reason
	case s.Reason == "":
		return "not ready"
	default:
		return "not ready: " + s.Reason
	}
}

func joins(recent []changes.Match) []join {
	all := make([]join, len(recent))
	for i, d := range recent {
		all[i] = join{stamp(d.Time).Datetime(), d.Record.String(), d.Name, d.Entity.String()}
	}
	return all
}

// addCells fills the slots of the ring and its table: "g0-3.records" and so on. Numbers of an unreachable cell are
// unknown, not zero.
func (l *Live) addCells(s *cells.Status, m *cell.Map) {
	groups := censusOf(s).groups(m, s.Generation)
	all := total(groups).Sum.Counts.Records
	for _, g := range groups {
		c, name := g.Sum, g.First.String()
		l.Path[name] = band(g.Arc, fill(c.Counts.Records, all, g.Arc.Share()))
		for slot, text := range map[string]string{
			"records":  count(c.Counts.Records),
			"entities": count(c.Counts.Entities),
			"share":    percent(float64(c.Counts.Records), float64(all)),
			"puids":    percent(float64(c.PUIDs), float64(c.PUIDRoom)),
			"bytes":    size(c.Bytes),
			"redo":     count(int64(c.Redo)),
		} {
			if !g.whole() {
				text = "?"
			}
			l.Text[name+"."+slot] = text
		}
	}
}

// since removes values that are unchanged. An event without changes is still sent: it shows the page that the stream is
// alive.
func (l Live) since(old Live) Live {
	l.Text, l.Path = changed(l.Text, old.Text), changed(l.Path, old.Path)
	if l.Minute == old.Minute {
		l.Minute = ""
	}
	if slices.Equal(l.Joins, old.Joins) {
		l.Joins = nil
	}
	return l
}

func changed(now, old map[string]string) map[string]string {
	diff := map[string]string{}
	for slot, v := range now {
		if was, ok := old[slot]; !ok || was != v {
			diff[slot] = v
		}
	}
	return diff
}

// WriteEvent writes the server-sent event that updates a page from an earlier state; the zero Live is the state of a
// page without values.
func (l Live) WriteEvent(w io.Writer, old Live) error {
	data, err := json.Marshal(l.since(old)) // one line: JSON escapes line breaks
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// WriteEnd writes the event that tells a page that the server is stopping.
func WriteEnd(w io.Writer) error {
	if _, err := io.WriteString(w, "event: end\ndata: {}\n\n"); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}
