// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// Matching are the options of Match.
type Matching struct {
	// Top is the maximum number of entities per probe, Least the minimum weight of their pairs.
	Top   int
	Least match.Weight
	// Explain adds the match weights to each pair.
	Explain bool
}

// Probe is a record to match that is not stored. Its source and key may be empty; the key without a source
// may not be set, and Delete is ignored.
type Probe struct {
	Op
	// Put asks what a put of the record would do. Without a source and key the record is treated as new.
	Put bool
	// Also are additional records to compare with. They do not change what a put would do.
	Also []entity.PUID
}

// Near is an entity near a probe, with its best pair.
type Near struct {
	Entity *entity.Entity
	// Record is the record of the entity that the probe resembles most.
	Record  *entity.Record
	Outcome match.Outcome
	Weight  match.Weight
	Vector  match.Vector
	// Explanation is set with Matching.Explain; its first side is the probe.
	Explanation match.Explanation
}

// Prediction is the effect that a put of a probe would have.
type Prediction struct {
	Outcome Outcome
	// Entity is the entity that the record would be in. It is zero if the put would create it with a new id.
	Entity locality.ID
	// Merges are the entities whose ids would redirect to Entity afterwards. Splits are the entities whose records
	// would no longer be together, for example after a correction or because a blocking key becomes a stop key. Both
	// are ordered.
	Merges, Splits []locality.ID
}

// Probed is the result of a probe.
type Probed struct {
	// Matcher is the matcher of the probe's kind, with the name counts of this comparison.
	Matcher *match.Matcher
	// Near are the entities that share a blocking key with the probe, and those of Probe.Also, the best first: by
	// outcome (same, possible, others), then by weight, then by the puid of the anchor.
	Near []Near
	// Keys is the number of blocking keys of the probe, without the one that only finds identical records. Skipped
	// lists the kinds of those that are stop keys, each kind once, in order.
	Keys    int
	Skipped []match.KeyKind
	// OnlyStopKeys reports whether the probe has blocking keys and all of them are stop keys.
	OnlyStopKeys bool
	// Put is set if Probe.Put is.
	Put *Prediction
	// Err is set, for example to ErrUnavailable, if the probe could not be matched. The other fields are then zero.
	Err error
}

// unborn is the birth id of a hypothetical record: later than all others.
var unborn = func() (id locality.ID) {
	for i := range id {
		id[i] = 0xff
	}
	return id
}()

// matchAttempts is how often Match starts again because the rules have changed.
const matchAttempts = 3

// Match compares probes with the stored records and predicts what putting each of them would do. Probes do
// not see each other. It runs the rounds of a put on a batch of one record that writes nothing, so the two
// cannot differ; the reads of all probes are combined, one transaction per cell and step. Match takes no lock
// and needs no lease: it may see a write of another caller that is half done, and records that are pending or
// of a kind being switched are compared as they are stored. Results are in the order of probes. An error
// concerns all of them, such as a cell.ErrStaleMap, after which the call can be repeated.
func (r *Resolver) Match(ctx context.Context, probes []Probe, opts Matching) ([]Probed, error) {
	for attempt := 0; ; attempt++ {
		if err := r.Upgraded(ctx); err != nil {
			return nil, err
		}
		version := r.Rules().Version
		results, err := r.match(ctx, probes, opts)
		if err == nil && r.Rules().Version == version || attempt == matchAttempts {
			return results, err
		}
		if errors.Is(err, errOldRules) {
			err = r.Reload(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *Resolver) match(ctx context.Context, probes []Probe, opts Matching) ([]Probed, error) {
	results, targets := make([]Probed, len(probes)), make([]target, len(probes))
	r.aim(ctx, probes, targets, results)
	p := r.newPeek()
	all := make([]*hypothesis, 0, len(probes))
	for i := range probes {
		if results[i].Err != nil {
			continue
		}
		h := &hypothesis{
			batch: newBatch(r, []Op{probes[i].Op}, []int{0}, make([]Result, 1)), Probe: &probes[i],
			target: targets[i], result: &results[i],
		}
		h.peek = p
		all = append(all, h)
	}
	each := func(step func(*hypothesis) error) {
		steps := make([]func(), 0, len(all))
		for _, h := range all {
			steps = append(steps, func() {
				if err := step(h); err != nil {
					*h.result = Probed{Err: err}
				}
			})
		}
		p.run(ctx, steps)
		all = slices.DeleteFunc(all, func(h *hypothesis) bool { return h.result.Err != nil })
	}
	p.foreseeCandidates(ctx, all)
	each(func(h *hypothesis) error { return h.meet(ctx, opts) })
	p.foreseeEntities(ctx, all)
	each(func(h *hypothesis) error { return h.tell(ctx, opts) })
	for i := range results {
		if err := results[i].Err; err != nil && (outdated(err) || ctx.Err() != nil) {
			return nil, err
		}
	}
	return results, nil
}

// aim finds the cell of each probe, and the puid of its key if it has one.
func (r *Resolver) aim(ctx context.Context, probes []Probe, targets []target, results []Probed) {
	m := r.opts.Cells.Map()
	var keys []cell.Key
	var at []int
	for i := range probes {
		ref := probes[i].Ref
		targets[i].key = m.KeyOf(ref.Source, ref.Key)
		targets[i].cell = m.Home(targets[i].key.Position())
		if ref.Key != "" {
			keys, at = append(keys, targets[i].key), append(at, i)
		}
	}
	if len(keys) == 0 {
		return
	}
	b := batch{Resolver: r}
	for n, found := range b.lookup(ctx, keys) {
		i := at[n]
		if results[i].Err = found.Err; found.PUID != cell.Nothing {
			targets[i].cell, targets[i].puid = found.Cell, entity.PUID(found.PUID)
		}
	}
}
