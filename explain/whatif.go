// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Scenario is a hypothetical change. Nothing is written. All fields apply together.
type Scenario struct {
	// Of is the address of a record or an entity; the scenario covers everything connected with it.
	Of string `json:"of"`
	// Delete are the addresses of records to leave out.
	Delete []string `json:"delete,omitempty"`
	// Decide are decisions to add.
	Decide []decisions.Input `json:"decide,omitempty"`
	// Weights are match weights to change, by "field: level" as explanations name them.
	Weights map[string]match.Weight `json:"weights,omitempty"`
	// Threshold is the match threshold in bits; 0 keeps the current one.
	Threshold match.Weight `json:"threshold,omitempty"`
}

// ScenarioResult is the effect of a scenario.
type ScenarioResult struct {
	Before []ScenarioEntity `json:"before"` // current entities that would change or disappear
	After  []ScenarioEntity `json:"after"`  // entities that would replace them
	Took   time.Duration    `json:"took_ns"`
}

// ScenarioEntity is an entity, current or hypothetical.
type ScenarioEntity struct {
	ID      locality.ID  `json:"id"`
	Kind    string       `json:"kind"`
	Records []entity.Ref `json:"records"`
	View    entity.View  `json:"view"`
}

// Limits of a scenario.
const (
	MaxScenario = 100 // deletions, decisions and weights together
	maxWeight   = 100 * 100
)

// WhatIf returns the entities that a scenario would produce, computed from the stored data by the code that resolves.
// Nothing is written. A blocking key carried by more than resolve.MaxBlockSize records stays a stop key even if the
// scenario deletes some of them.
func (h *Handle) WhatIf(ctx context.Context, q Scenario) (*ScenarioResult, error) {
	begin := time.Now()
	if err := q.check(); err != nil {
		return nil, err
	}
	rec, err := h.entities.Record(ctx, q.Of)
	if err != nil {
		return nil, problem.At("/of", err)
	}
	if _, err := h.engine.Kind(rec.Kind).Matcher.With(q.Weights, q.Threshold); err != nil {
		return nil, problem.Invalid("/weights", "unknown_field", "%s", err.Error())
	}
	about := resolve.Scenario{Of: []entity.PUID{rec.PUID}, Weights: q.Weights, Threshold: q.Threshold}
	for i, address := range q.Delete {
		gone, err := h.entities.Record(ctx, address)
		if err != nil {
			return nil, problem.At(fmt.Sprintf("/delete/%d", i), err)
		}
		about.Without = append(about.Without, gone.PUID)
	}
	for i, d := range q.Decide {
		prepared, err := h.decisions.Prepare(ctx, d, about.Decisions)
		if err != nil {
			return nil, problem.Within(fmt.Sprintf("/decide/%d", i), err)
		}
		about.Decisions = append(about.Decisions, prepared...)
	}
	var before, after []*entity.Entity
	err = h.engine.Retry(ctx, func() (err error) {
		before, after, err = h.engine.Resolver.WhatIf(ctx, h.engine.Kind(rec.Kind), about)
		return err
	})
	if errors.Is(err, resolve.ErrTooMany) {
		return nil, problem.Invalid("/of", "too_large", "more than %d records are connected with it", resolve.MaxLinked)
	}
	if err != nil {
		return nil, fmt.Errorf("what if: %w", err)
	}
	return &ScenarioResult{Before: scenario(before), After: scenario(after), Took: time.Since(begin)}, nil
}

// check rejects a scenario that changes nothing or exceeds the limits.
func (q *Scenario) check() error {
	var problems []problem.Problem
	switch n := len(q.Delete) + len(q.Decide) + len(q.Weights); {
	case n > MaxScenario:
		problems = append(problems, problem.New("", "too_large",
			fmt.Sprintf("the scenario has %d parts, more than %d", n, MaxScenario)))
	case n == 0 && q.Threshold == 0:
		problems = append(problems, problem.New("", "invalid",
			"the scenario is empty: give delete, decide, weights or a threshold"))
	}
	if q.Threshold < 0 || q.Threshold > maxWeight {
		problems = append(problems, problem.New("/threshold", "invalid", "a threshold is above 0 and at most 100"))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Weights)) {
		if w := q.Weights[name]; w < -maxWeight || w > maxWeight {
			problems = append(problems, problem.New("/weights", "invalid",
				fmt.Sprintf("the match weight of %.80q has to be from -100 to 100", name)))
		}
	}
	if problems != nil {
		return &problem.InvalidError{Problems: problems}
	}
	return nil
}

func scenario(entities []*entity.Entity) []ScenarioEntity {
	list := make([]ScenarioEntity, len(entities))
	for i, e := range entities {
		list[i] = ScenarioEntity{ID: e.ID, Kind: e.Kind, View: e.View}
		for _, m := range e.Members {
			list[i].Records = append(list[i].Records, m.Ref)
		}
	}
	return list
}
