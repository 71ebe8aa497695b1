// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
)

// dataPage shows the sources as the latest changes, the kinds and the streams know them, and the way in for files.
func (p *site) dataPage(c *call, body *bytes.Buffer) error {
	shown := console.Data{Time: time.Now(), Refused: -1, MayImport: access.From(c).May(access.Write) &&
		!access.From(c).Restriction.Narrow()}
	of := map[string]*console.SourceState{}
	source := func(name string) *console.SourceState {
		if of[name] == nil {
			of[name] = &console.SourceState{Name: name}
		}
		return of[name]
	}
	for _, k := range p.svc.Kinds().Schemas() {
		shown.Kinds = append(shown.Kinds, k.Kind)
		for name := range k.Sources {
			s := source(name)
			s.Trust = append(s.Trust, k.Kind+" "+strconv.FormatFloat(k.Trust(name), 'g', 4, 64))
		}
	}
	survey, err := recently(c, p.looks, "survey", p.survey)
	if err != nil {
		return err
	}
	shown.Changes, shown.Since = survey.Changes, survey.Since
	for _, lately := range survey.Sources {
		source(lately.Source).SourceLately = lately
	}
	states, err := recently(c, p.looks, "streams", p.streamStates)
	streams, err := narrowed(p.Server, c, states, err)
	if err != nil {
		return err
	}
	for i := range streams.In {
		source(streams.In[i].Name).Stream = &streams.In[i]
	}
	if access.From(c).Restriction.Kinds == nil {
		imports, err := p.svc.Sources().Imports(c)
		if err != nil {
			return err
		}
		for name, i := range imports {
			source(name).Import = &console.SourceImport{At: i.At, File: i.File, Rows: i.Rows,
				Refused: i.Refused(), Stopped: i.Stopped != ""}
		}
	}
	if own, err := recently(c, p.looks, "own", p.own); err == nil {
		if refused, known := console.Total(own, locus.OwnMetrics+"refused"); known {
			shown.Refused = refused
		}
	}
	for _, s := range of {
		slices.Sort(s.Trust)
		shown.Sources = append(shown.Sources, *s)
	}
	slices.SortFunc(shown.Sources, func(a, b console.SourceState) int {
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.Name, b.Name))
	})
	return p.shown(c.r).Data(body, shown)
}
