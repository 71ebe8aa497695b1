// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// Effect is the effect that decisions about the selected pairs would have. Nothing is written.
type Effect struct {
	Pairs []Pair `json:"pairs"`
	// Stamp names exactly these pairs, for DecideAll.
	Stamp string `json:"stamp" doc:"Identifies exactly these pairs; required for a bulk decision by a filter, which is refused if the pairs have changed"`
	// Merged is how many entities would be merged, Split how many would be split.
	Merged int `json:"merged" doc:"Entities that would be merged"`
	Split  int `json:"split" doc:"Entities that would be split"`
	// Largest is the largest entity that there would be, nil if none changes.
	Largest *EffectEntity `json:"largest,omitempty" doc:"Size of the largest resulting entity; missing if none changes"`
	// More reports that there are pairs further down in the queue that were not looked at.
	More bool `json:"more,omitempty" doc:"There are more pairs further down in the queue, which were not selected"`
}

// EffectEntity is an entity that there would be.
type EffectEntity struct {
	ID      locality.ID `json:"id"`
	Records int         `json:"records"`
	// Of are the current entities whose records it would have.
	Of []locality.ID `json:"of"`
}

// foreseen is how many pairs are looked at in one scenario.
const foreseen = 50

// Foresee returns what one verdict about all chosen pairs would do.
func (h *Handle) Foresee(ctx context.Context, s *Selection, verdict entity.Verdict) (*Effect, error) {
	if err := checkVerdict(verdict); err != nil {
		return nil, err
	}
	pairs, err := h.Choose(ctx, s)
	if err != nil {
		return nil, err
	}
	e := &Effect{Pairs: pairs, Stamp: stampOf(pairs), More: s.More}
	for _, group := range together(pairs) {
		if err := h.foresee(ctx, group, verdict, e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func checkVerdict(v entity.Verdict) error {
	if v == entity.VerdictSame || v == entity.VerdictDifferent {
		return nil
	}
	return problem.Invalid("/verdict", "invalid", "%.60q is not a verdict about pairs: want same or different", string(v))
}

// stampOf is a hash of the records of pairs.
func stampOf(pairs []Pair) string {
	lines := make([]string, len(pairs))
	for i, p := range pairs {
		lines[i] = fmt.Sprintf("%d %d\n", p.puids.A, p.puids.B)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:12])
}

// together divides pairs into groups that share no entity and are of one kind, small ones put together.
func together(pairs []Pair) (groups [][]Pair) {
	of := map[locality.ID]int{} // group of an entity
	var parts [][]Pair
	for _, p := range pairs {
		a, inA := of[p.EntityA]
		b, inB := of[p.EntityB]
		switch {
		case !inA && !inB:
			a = len(parts)
			parts = append(parts, nil)
		case !inA:
			a = b
		case inB && a != b:
			for _, moved := range parts[b] {
				of[moved.EntityA], of[moved.EntityB] = a, a
			}
			parts[a], parts[b] = append(parts[a], parts[b]...), nil
		}
		of[p.EntityA], of[p.EntityB] = a, a
		parts[a] = append(parts[a], p)
	}
	for _, part := range parts {
		last := len(groups) - 1
		switch {
		case len(part) == 0:
		case last >= 0 && groups[last][0].Kind == part[0].Kind && len(groups[last])+len(part) <= foreseen:
			groups[last] = append(groups[last], part...)
		default:
			groups = append(groups, part)
		}
	}
	return groups
}

// foresee adds the effect on a group. A group that has too many records for a scenario is divided, provided that its
// parts share no entity.
func (h *Handle) foresee(ctx context.Context, group []Pair, verdict entity.Verdict, e *Effect) error {
	about := resolve.Scenario{}
	for _, p := range group {
		about.Of = append(about.Of, p.puids.A, p.puids.B)
		about.Decisions = append(about.Decisions, entity.Decision{Verdict: verdict, A: p.puids.A, B: p.puids.B})
	}
	var before, after []*entity.Entity
	err := h.engine.Retry(ctx, func() (err error) {
		before, after, err = h.engine.Resolver.WhatIf(ctx, h.engine.Kind(group[0].Kind), about)
		return err
	})
	if errors.Is(err, resolve.ErrTooMany) {
		parts := apart(group)
		if len(parts) == 1 {
			return problem.Invalid("/pairs", "too_large", "more than %d records are connected with %v: leave its pairs out",
				resolve.MaxLinked, group[0].A)
		}
		for _, part := range parts {
			if err := h.foresee(ctx, part, verdict, e); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil {
		return engine.Wrap(err)
	}
	was := map[entity.PUID]locality.ID{}
	for _, b := range before {
		for _, p := range b.PUIDs() {
			was[p] = b.ID
		}
	}
	into := map[locality.ID]int{} // the number of entities that would have records of each current one
	for _, a := range after {
		var of []locality.ID
		for _, p := range a.PUIDs() {
			if id := was[p]; !id.IsZero() && !slices.Contains(of, id) {
				of = append(of, id)
			}
		}
		for _, id := range of {
			into[id]++
		}
		if len(of) > 1 {
			e.Merged += len(of)
		}
		if e.Largest == nil || len(a.Members) > e.Largest.Records {
			e.Largest = &EffectEntity{ID: a.ID, Records: len(a.Members), Of: of}
		}
	}
	for _, n := range into {
		if n > 1 {
			e.Split++
		}
	}
	return nil
}

// apart divides a group into parts that share no entity.
func apart(group []Pair) (parts [][]Pair) {
	for _, p := range group {
		joined := []Pair{p}
		parts = slices.DeleteFunc(parts, func(part []Pair) bool {
			shares := slices.ContainsFunc(part, func(q Pair) bool {
				return q.EntityA == p.EntityA || q.EntityA == p.EntityB || q.EntityB == p.EntityA || q.EntityB == p.EntityB
			})
			if shares {
				joined = append(joined, part...)
			}
			return shares
		})
		parts = append(parts, joined)
	}
	return parts
}

// ErrChanged means that other pairs are chosen now than when their effect was shown.
var ErrChanged = errors.New(
	"the selected pairs have changed since the preview: nothing was decided; request the preview again")

// DecideAll makes one decision about each chosen pair, all with the same batch, which it returns; Undo of package
// decisions withdraws them. A choice by a filter needs the stamp of the effect that was shown: if it chooses other
// pairs by now, the error is ErrChanged and nothing is decided.
func (h *Handle) DecideAll(ctx context.Context, s *Selection, stamp string, verdict entity.Verdict,
	by decisions.By) (batch string, results []decisions.Result, err error) {
	if err := checkVerdict(verdict); err != nil {
		return "", nil, err
	}
	pairs, err := h.Choose(ctx, s)
	switch {
	case err != nil:
		return "", nil, err
	case stamp == "" && len(s.Pairs) == 0:
		return "", nil, problem.Invalid("/stamp", "required", "a selection by a filter needs the stamp of its preview")
	case stamp != "" && stamp != stampOf(pairs):
		return "", nil, ErrChanged
	case len(pairs) == 0:
		return "", nil, problem.Invalid("/filter", "invalid", "it selects no pair of the review queue")
	}
	batch = strings.ToLower(rand.Text()[:12])
	list := make([]decisions.Input, len(pairs))
	for i, p := range pairs {
		list[i] = decisions.Input{Verdict: verdict, A: p.A.String(), B: p.B.String(), Author: by.Author, By: by.Principal,
			Reason: by.Reason, Batch: batch}
	}
	results, err = h.decisions.Decide(ctx, list)
	return batch, results, err
}
