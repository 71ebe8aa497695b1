// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
)

// Home is the content of the first page at one moment.
type Home struct {
	Time   time.Time
	Status *cells.Status
	// Own holds the self-metrics of today by minute; nil if they cannot be read.
	Own *counter.Series
	// Review is how many pairs are in the review queue; ReviewMore reports that there are more than that.
	Review     int
	ReviewMore bool
	// Survey is the result for a bounded sample of the data; nil if it cannot be read.
	Survey *Survey
}

// Home writes the first page: the new data and its results, the work for people, and possible problems.
func (c *Console) Home(w io.Writer, h Home) error {
	counts := h.Status.Counts
	p := homePage{
		Page: c.version, As: stamp(h.Time), Problem: problem(h.Status), Kind: kindsOf(h.Status),
		Empty:   counts.Records == 0 && h.Status.Reason == "",
		Records: summed(h.Status, counts.Records), Entities: summed(h.Status, counts.Entities), Each: each(h.Status, counts),
		Review: waiting(h.Review, h.ReviewMore), Waiting: h.Review > 0, Redo: redo(h.Status),
		Came: picturesOf(Received, DayView, h.Time, h.Time, Half, "Records received by minute, today and yesterday"),
	}
	p.Pairs = count(int64(h.Review))
	if h.ReviewMore {
		p.Pairs += "+"
	}
	for _, o := range outcomes {
		last, today := ownOf(h.Own, o.Metric)
		p.Today = append(p.Today, outcomeLine{o.Name, orDash(last), orDash(today), metricLink(o.Metric, "")})
	}
	p.Drawn = lineOf(h.Own, Received) != nil
	if s := h.Survey; s != nil {
		p.survey(s)
	}
	return c.render(w, "home", "", p)
}

// outcomes are the outcomes of the records of today, in the order of the page.
var outcomes = []struct {
	Metric counter.Metric
	Name   string
}{
	{Received, "Received"}, {locus.OwnMetrics + "created", "New entities"},
	{locus.OwnMetrics + "matched", "Matched an entity"},
	{locus.OwnMetrics + "merges", "Entities merged"}, {locus.OwnMetrics + "splits", "Entities split"},
	{locus.OwnMetrics + "refused", "Refused"},
}

type homePage struct {
	Page                    string // changes with the version: an open page must be reloaded
	As                      stamp
	Problem, Kind           string
	Empty                   bool
	Records, Entities, Each string
	Pairs, Review           string
	Waiting                 bool // there are pairs to review
	Redo                    string
	Today                   []outcomeLine
	Drawn                   bool // there is a picture of the records received
	Came                    pictures

	Surveyed         bool
	At, Since        stamp
	Sample           string // the sample of entities, in words
	Log              string // the sample of changes, in words
	Sources          []sourceLine
	Worse            []worseLine
	Largest, Weakest []wrongLine
	Shared           []sharedLine
}

// outcomeLine is a row of the outcomes of today.
type outcomeLine struct{ Name, Last, Today, Link string }

// sourceLine is a row of the latest changes by source.
type sourceLine struct{ Source, New, Matched, Alone, Updated, Review string }

// wrongLine is an entity that looks wrong.
type wrongLine struct {
	Entity, Name, Records string
	Weight                string // of the weakest join
	A, B                  string // its records
	Command               string
}

// sharedLine is a value that identifies, shared by many names.
type sharedLine struct {
	Attribute, Value, Names, Link string
	Some                          []string // some of the names
	Entities                      string
}

// worseLine is a source of whose newer records fewer match.
type worseLine struct{ Source, Before, After, Records string }

// maxWrong is the number of rows in each table of suspicious entities.
const maxWrong = 8

func (p *homePage) survey(s *Survey) {
	p.Surveyed, p.At, p.Since = true, stamp(s.At), stamp(s.Since)
	if p.Sample = count(int64(s.Entities)) + " sampled entities"; s.Entities == 1 {
		p.Sample = "1 sampled entity"
	}
	p.Log = counted(int64(s.Changes), "change")
	for _, l := range s.Sources {
		p.Sources = append(p.Sources, sourceLine{l.Source, count(int64(l.New)), count(int64(l.Matched)),
			count(int64(l.New - l.Matched)), count(int64(l.Updated)), count(int64(l.Review))})
	}
	for _, l := range s.Sources {
		if l.Worse() && len(p.Worse) < maxWrong {
			p.Worse = append(p.Worse, worseLine{l.Source, fmt.Sprint(l.Before.Percent(), " %"),
				fmt.Sprint(l.After.Percent(), " %"), count(int64(l.New))})
		}
	}
	for _, e := range s.Largest[:min(len(s.Largest), maxWrong)] {
		p.Largest = append(p.Largest, newWrong(e))
	}
	for _, j := range s.Weakest[:min(len(s.Weakest), maxWrong)] {
		line := newWrong(j.Entity)
		line.Weight, line.A, line.B = j.Weight.String(), j.A.String(), j.B.String()
		line.Command = command("locus", "entity", "why", line.Entity)
		p.Weakest = append(p.Weakest, line)
	}
	for _, v := range s.Shared[:min(len(s.Shared), maxWrong)] {
		filter := url.Values{"filter": {v.Attribute + ":" + v.Value}}
		if v.Kind != "" {
			filter.Set("kind", v.Kind)
		}
		p.Shared = append(p.Shared, sharedLine{
			Attribute: v.Attribute, Value: v.Value, Names: count(int64(len(v.Names))), Link: "/entities?" + filter.Encode(),
			Some: v.Names[:min(len(v.Names), 3)], Entities: count(int64(v.Entities)),
		})
	}
}

func newWrong(e *entity.Entity) wrongLine {
	return wrongLine{Entity: e.ID.String(), Name: nameOf(e.View), Records: count(int64(len(e.Members)))}
}
