// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"io"
	"strconv"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
)

// Quality is the content of the quality page, about one kind.
type Quality struct {
	Kind  string
	Kinds []string // the kinds that the viewer may choose from
	// Asked is the requested threshold as typed, and Problem the fault in it.
	Asked, Problem string
	// Profile and Estimate have this kind at most.
	Profile  *quality.Profile
	Estimate *quality.Estimate
}

// Quality writes the quality page.
func (c *Console) Quality(w io.Writer, q Quality) error {
	p := qualityPage{Quality: q, Sample: sampled(q.Profile.Records, q.Profile.Whole, q.Kind)}
	args := []string{"--kind", q.Kind}
	if q.Problem == "" && q.Asked != "" {
		args = append(args, "--threshold", q.Asked)
	}
	of := func(table string) string { return command(append([]string{"locus", "quality", table}, args...)...) }
	p.Commands = qualityCommands{"locus quality", of("attributes"), of("formats"), of("sources"), of("sizes"),
		of("weights"), of("thresholds")}
	for _, k := range q.Profile.Kinds {
		p.Found = true
		p.fills(&k)
		p.formats(&k)
		p.sources(&k)
		p.sizes(&k)
		p.Weights = newHistogram(&k)
		p.thresholds(&k)
	}
	for _, k := range q.Estimate.Kinds {
		if k.Pairs > 0 {
			p.Estimates = []estimated{
				{"Precision", "share of the pairs within entities that are the same thing", k.Precision.Value, k.Precision.Low,
					k.Precision.High},
				{"Recall", "share of the pairs that are the same thing that are within one entity", k.Recall.Value, k.Recall.Low,
					k.Recall.High},
			}
			p.Answered = fmt.Sprintf("%s, %s by people; %s of randomly drawn pairs", counted(int64(k.Pairs), "compared pair"),
				count(int64(k.Decided))+" decided", count(int64(k.Drawn)))
			p.Undrawn = k.Drawn == 0
		}
	}
	return c.render(w, "quality", "", p)
}

// sampled names the records that counts are about.
func sampled(records int, whole bool, kind string) string {
	if whole {
		return "All " + counted(int64(records), "record") + " of kind " + isolate(kind) + "; the counts are exact"
	}
	return "A sample of " + counted(int64(records),
		"record") + " of kind " + isolate(kind) + "; the counts are those of the sample"
}

type qualityPage struct {
	Quality
	Found     bool
	Sample    string
	Columns   []string // the sources of Fills
	Fills     []fillLine
	More      int // sources without a column
	Formats   []format
	Sources   []sourceQuality
	Sizes     []sizeQuality
	Weights   *histogram
	Effects   []effect
	Threshold string
	Estimates []estimated
	Answered  string
	Undrawn   bool
	Commands  qualityCommands
}

type qualityCommands struct{ Estimate, Attributes, Formats, Sources, Sizes, Weights, Thresholds string }

// estimated is a share with its interval.
type estimated struct {
	Name, Means      string
	Value, Low, High float64
}

// Shown formats the share, Between the interval.
func (e estimated) Shown() string   { return strconv.FormatFloat(e.Value, 'f', 3, 64) }
func (e estimated) Between() string { return fmt.Sprintf("%.3f to %.3f", e.Low, e.High) }

// fillLine is an attribute: how many records of all and of each source have a value.
type fillLine struct {
	Name, Type string
	All        fillRate
	Sources    []fillRate
}

// fillRate is a share with a bar.
type fillRate struct {
	Text    string
	Bar     int // of 100
	Against bool
}

func newFillRate(filled, of int) fillRate {
	if of == 0 {
		return fillRate{Text: "–"}
	}
	return fillRate{Text: percent(float64(filled), float64(of)), Bar: 100 * filled / of, Against: 2*filled < of}
}

func (p *qualityPage) fills(k *quality.KindProfile) {
	for _, s := range k.Sources {
		p.Columns = append(p.Columns, s.Source)
	}
	p.More = k.MoreSources
	for _, a := range k.Attributes {
		f := fillLine{Name: a.Name, Type: a.Type, All: newFillRate(a.Filled, k.Records)}
		for i, n := range a.Sources {
			f.Sources = append(f.Sources, newFillRate(n, k.Sources[i].Records))
		}
		p.Fills = append(p.Fills, f)
	}
}

// format is an attribute with the shapes of its values.
type format struct {
	Name       string
	Usual, Odd []shape
	OddCount   string
}

type shape struct{ Shape, Share, Example, Link string }

func (p *qualityPage) formats(k *quality.KindProfile) {
	for _, a := range k.Attributes {
		if a.Values == 0 {
			continue
		}
		shapes := func(all []quality.Shape) (list []shape) {
			for _, s := range all {
				list = append(list, shape{s.Shape, percent(float64(s.Values), float64(a.Values)), s.Example,
					Search{Name: s.Record.String()}.address("")})
			}
			return list
		}
		f := format{Name: a.Name, Usual: shapes(a.Shapes), Odd: shapes(a.Odd)}
		if a.OddValues > 0 {
			f.OddCount = counted(int64(a.OddValues), "value")
		}
		p.Formats = append(p.Formats, f)
	}
}

// sourceQuality is a source with its duplicates.
type sourceQuality struct {
	Source, Records, Duplicates string
	Share                       fillRate
	Example                     string // an entity with several of its records
}

func (p *qualityPage) sources(k *quality.KindProfile) {
	for _, s := range k.Sources {
		of := sourceQuality{Source: s.Source, Records: count(int64(s.Members)), Duplicates: count(int64(s.Duplicates)),
			Share: newFillRate(s.Duplicates, s.Members)}
		of.Share.Against = s.Duplicates > 0
		if s.Example != (locality.ID{}) {
			of.Example = s.Example.String()
		}
		p.Sources = append(p.Sources, of)
	}
}

type sizeQuality struct {
	Records  string
	Entities fillRate
	Number   string
}

func (p *qualityPage) sizes(k *quality.KindProfile) {
	for _, s := range k.Sizes {
		p.Sizes = append(p.Sizes, sizeQuality{counted(int64(s.Records), "record"), newFillRate(s.Entities, k.Entities),
			count(int64(s.Entities))})
		p.Sizes[len(p.Sizes)-1].Entities.Against = false
	}
}

// effect is the effect of another threshold.
type effect struct {
	Threshold, By                 string
	Asked                         bool
	Merged, Split, Moved, Becomes string
}

func (p *qualityPage) thresholds(k *quality.KindProfile) {
	p.Threshold = k.Threshold.String()
	for _, e := range k.Thresholds {
		asked, err := strconv.ParseFloat(p.Asked, 64)
		p.Effects = append(p.Effects, effect{
			Threshold: e.Threshold.String(), By: (e.Threshold - k.Threshold).String(), Asked: err == nil &&
				match.Weight(asked*100+.5) == e.Threshold,
			Merged: count(int64(e.Merged)), Split: count(int64(e.Split)), Moved: count(int64(e.Moved)),
			Becomes: count(int64(e.Before)) + " → " + count(int64(e.Entities)),
		})
	}
}
