// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/locality"
)

// Limits of the survey on the first page: its cost does not depend on the size of the installation.
const (
	surveyEntities = 500            // entities that are read, of the highest rank
	surveyLargest  = 250            // others that are read, the largest of a sample of records
	surveyJoins    = 20             // how many of them, the largest, have their joins compared
	surveyMembers  = 40             // records of an entity whose joins are compared: the pairs grow with the square
	surveyChanges  = locus.MaxLimit // of the logs of all cells
)

// homePage shows new data, work for people and possible problems. People who may not see all of the installation are
// redirected to the list of entities.
func (p *site) homePage(c *call, body *bytes.Buffer) error {
	if access.From(c).Restriction.Narrow() {
		http.Redirect(c.w, c.r, "/entities", http.StatusSeeOther)
		return nil
	}
	status, err := p.recentStatus(c)
	if err != nil {
		return err
	}
	shown := console.Home{Time: time.Now(), Status: status}
	shown.Own, _ = recently(c, p.looks, "own", p.own) // on error the page shows it as unknown, as below
	if queue, err := p.queue(c, nil, 0); err == nil {
		shown.Review, shown.ReviewMore = len(queue.Pairs), queue.Next != ""
	}
	shown.Survey, _ = recently(c, p.looks, "survey", p.survey)
	return p.shown(c.r).Home(body, shown)
}

// survey looks at a sample of the entities and at the latest changes.
func (p *site) survey(ctx context.Context) (*console.Survey, error) {
	s := &console.Survey{At: time.Now()}
	sample, _, err := p.svc.Entities().Search(ctx, entities.Query{Order: entities.OrderBest, Limit: surveyEntities})
	if err != nil {
		return nil, err
	}
	// An entity of many records may have a low rank: one source, few attributes.
	largest, err := p.svc.Entities().Largest(ctx, surveyLargest)
	if err != nil {
		return nil, err
	}
	ranked := map[locality.ID]bool{}
	for _, e := range sample {
		ranked[e.ID] = true
	}
	for _, e := range largest {
		if !ranked[e.ID] {
			sample = append(sample, e)
		}
	}
	s.Entities = len(sample)
	s.Shared = console.SharedValues(sample, p.svc.Kinds().Schema)
	for _, e := range sample {
		if len(e.Members) > 1 {
			s.Largest = append(s.Largest, e)
		}
	}
	slices.SortStableFunc(s.Largest, func(a, b *entity.Entity) int { return cmp.Compare(len(b.Members), len(a.Members)) })
	if s.Weakest, err = p.weakest(ctx, s.Largest); err != nil {
		return nil, err
	}
	return s, p.lately(ctx, s)
}

// weakest returns the weakest joins of the largest entities that are not too large. Joins that a person decided are not
// weak, and an entity that changes while it is read is left out.
func (p *site) weakest(ctx context.Context, largest []*entity.Entity) (weak []console.WeakJoin, err error) {
	looked := 0
	for _, e := range largest {
		if len(e.Members) > surveyMembers {
			continue
		}
		if looked++; looked > surveyJoins {
			break
		}
		why, err := p.svc.Explain().Why(ctx, e.ID)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		for _, j := range slices.Backward(why.Joins) { // the strongest come first
			if j.Decided == nil {
				weak = append(weak, console.WeakJoin{Entity: why.Entity, A: j.A, B: j.B, Weight: j.Explanation.Weight})
				break
			}
		}
	}
	slices.SortStableFunc(weak, func(a, b console.WeakJoin) int { return cmp.Compare(a.Weight, b.Weight) })
	return weak, nil
}

// lately reads the ends of the logs.
func (p *site) lately(ctx context.Context, s *console.Survey) error {
	latest, err := p.latestChanges(ctx)
	if err != nil {
		return err
	}
	if s.Changes = len(latest); s.Changes > 0 {
		s.Since = latest[0].Time
	}
	var puids []entity.PUID
	for _, c := range latest {
		if c.Kind == changelog.Put && len(c.After) > 0 && !slices.Contains(puids, c.After[0].PUID) {
			puids = append(puids, c.After[0].PUID)
		}
	}
	stored, err := p.svc.Records().ByPUID(ctx, puids)
	if err != nil {
		return err
	}
	queue, err := p.queue(ctx, nil, 0)
	if err != nil {
		return err
	}
	s.Sources = console.SourcesLately(latest, stored, queue.Pairs)
	return nil
}

// latestChanges returns the latest changes of all cells, as many of each, the oldest first. Of a log that was trimmed
// within them it reads fewer.
func (p *site) latestChanges(ctx context.Context) ([]changes.Change, error) {
	tail, err := p.svc.Changes().Tail(ctx, nil)
	if err != nil || len(tail) == 0 {
		return nil, err
	}
	for back := max(1, surveyChanges/len(tail)); ; back /= 4 {
		after := changelog.Watermark{}
		cells := make([]cell.ID, 0, len(tail))
		for id, last := range tail {
			after[id] = max(0, last-changelog.Seq(back))
			cells = append(cells, id)
		}
		latest, _, err := p.svc.Changes().Read(ctx, changes.Query{Cells: cells, After: after, Limit: surveyChanges})
		if err == nil || back == 0 || !errors.Is(err, changelog.ErrTrimmed) {
			return latest, err
		}
	}
}
