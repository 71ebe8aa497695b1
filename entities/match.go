// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
)

// Limits of Match.
const (
	MaxProbes = 1000 // probes per call
	MaxTop    = 100  // candidates per probe
)

// Probe is a record to match that is not stored.
type Probe struct {
	// Ref is optional. With source and key, the prediction is about a put under that key, which may update a record;
	// without a key it is about a new record. The source decides which identifiers are compared.
	entity.Ref
	// Kind is the name of one of the installation's kinds; "" is the default kind.
	Kind string
	// Observed is when the source observed this; the zero time means now. It only matters to the prediction.
	Observed time.Time
	// Attributes are the attributes of a record. Required ones may be missing: a phone number alone can be matched.
	Attributes entity.Attributes
}

// MatchOptions are the options of Match. Nil is the default.
type MatchOptions struct {
	// Top is the maximum number of candidates per probe, 1 to 100. Defaults to 5.
	Top int
	// MinMatchWeight is the match weight from which an entity is a candidate, in hundredths of a bit. The default 0
	// leaves out entities that are different.
	MinMatchWeight match.Weight
	// Put adds the effect of putting each probe.
	Put bool
	// Why adds the comparison to each candidate.
	Why bool
	// Fuzzy adds entities whose name equals that of the probe except for typing errors (see TyposTwo), even if they
	// share no blocking key with it. They are compared like the others. The prediction of a put does not change.
	Fuzzy bool
}

// Level is how likely a candidate is the same thing as a probe.
type Level string

// The levels, the best first.
const (
	LevelSame      Level = "same"      // a match: its weight is at least the threshold of the kind
	LevelPossible  Level = "possible"  // a possible match, from 0 bits: a person should decide
	LevelDifferent Level = "different" // less than 0 bits, or two related things; see Candidate.Relation
)

// Reasons why a probe has no candidates that could be compared.
const (
	ReasonNoBlockingKey = "no_blocking_key" // its attributes make no blocking key, such as a city alone
	ReasonOnlyStopKeys  = "only_stop_keys"  // too many records have each of its blocking keys
)

// Found is the result of one probe.
type Found struct {
	// Candidates are the entities that share a blocking key with the probe, or with MatchOptions.Fuzzy a name, each
	// with its best pair: by level, then by descending match weight, then in the order of entities.
	Candidates []Candidate
	// Reason is set if there was nothing to compare with: one of the constants Reason....
	Reason string
	// Skipped are the kinds of blocking keys that too many records have, each once. Candidates that share only those
	// are missing, as they would be in a put.
	Skipped []match.KeyKind
	// Put is the effect that a put would have, nil unless requested. PutErr is set in its place if the put would be
	// rejected, such as for a missing required attribute; it is a *locus.InvalidError.
	Put    *Prediction
	PutErr error
	// Err is set if this probe was rejected or failed; all other fields are then zero. It is a *locus.InvalidError for
	// invalid input.
	Err error
}

// Candidate is an entity that may be the same thing as a probe.
type Candidate struct {
	Entity *entity.Entity
	// Record is the record of the entity that is the best match.
	Record      entity.Ref
	MatchWeight match.Weight
	Level       Level
	// Relation is the relation of the probe to the entity if they are related and not the same: part_of, has_part or
	// co_located; otherwise "".
	Relation string
	// Why is set with MatchOptions.Why. Its first side is the probe.
	Why *match.Explanation
}

// Prediction is the effect that a put of the probe would have.
type Prediction struct {
	// Outcome is created (a new entity), matched (added to an entity), updated, unchanged or stale.
	Outcome string
	// Entity is the entity that the record would be in. It is zero if the put would create it with a new id.
	Entity locality.ID
	// Merges are the entities that would be merged into Entity. Splits are the entities whose records would no longer
	// be all in one. Both are ordered.
	Merges, Splits []locality.ID
}

// Match returns the entities near each of 1 to 1000 probes, and with MatchOptions.Put what a put of the probe would do.
// Nothing is written, and probes do not see each other. Results are in the order of probes; a rejected one has Err set
// and does not affect the others. A returned error concerns the whole call.
//
// It runs the code of a put on the stored records, so the two cannot differ: records that are pending are compared as
// they are, and a write that is under way may be seen in part. Any process can call it, also a read-only one.
func (h *Handle) Match(ctx context.Context, probes []Probe, opts *MatchOptions) ([]Found, error) {
	o, err := opts.withDefaults(len(probes))
	if err != nil {
		return nil, err
	}
	found := make([]Found, len(probes))
	asked := make([]resolve.Probe, 0, len(probes))
	at := make([]int, 0, len(probes))
	now := h.engine.Now()
	for i := range probes {
		p, err := h.probe(ctx, &probes[i], now, &found[i])
		if err != nil {
			found[i] = Found{Err: err}
			continue
		}
		p.Put = o.Put && found[i].PutErr == nil
		if !o.Put {
			found[i].PutErr = nil
		}
		asked, at = append(asked, p), append(at, i)
	}
	if len(asked) == 0 {
		return found, nil
	}
	if o.Fuzzy {
		if err := h.addSimilar(ctx, asked); err != nil {
			return nil, engine.Wrap(fmt.Errorf("match: %w", err))
		}
	}
	var matched []resolve.Probed
	if err := h.engine.Retry(ctx, func() (err error) {
		matched, err = h.engine.Resolver.Match(ctx, asked,
			resolve.Matching{Top: o.Top, Least: o.MinMatchWeight, Explain: o.Why})
		return err
	}); err != nil {
		return nil, engine.Wrap(fmt.Errorf("match: %w", err))
	}
	for n := range matched {
		f := &found[at[n]]
		if err := matched[n].Err; err != nil {
			*f = Found{Err: engine.Wrap(fmt.Errorf("match: %w", err))}
			continue
		}
		f.fill(&matched[n], asked[n].Ref)
	}
	return found, nil
}

func (o *MatchOptions) withDefaults(probes int) (MatchOptions, error) {
	var opts MatchOptions
	if o != nil {
		opts = *o
	}
	if opts.Top == 0 {
		opts.Top = 5
	}
	switch {
	case probes < 1 || probes > MaxProbes:
		return opts, problem.Invalid("/probes", "invalid", "there are %d probes: want 1 to %d", probes, MaxProbes)
	case opts.Top < 1 || opts.Top > MaxTop:
		return opts, problem.Invalid("/top", "invalid", "a probe has 1 to %d candidates, not %d", MaxTop, opts.Top)
	}
	return opts, nil
}

// probe checks a probe as a put checks a record. If only a put would reject it, PutErr is set.
func (h *Handle) probe(ctx context.Context, p *Probe, now time.Time, f *Found) (out resolve.Probe, err error) {
	kind := h.engine.Schema(p.Kind)
	if kind == nil && !h.engine.Alone() && h.engine.EnsureKind(ctx, p.Kind) == nil {
		kind = h.engine.Schema(p.Kind)
	}
	if kind == nil {
		return out, h.engine.UnknownKind(p.Kind)
	}
	ref := p.Ref
	switch {
	case ref == entity.Ref{}:
		ref = entity.Ref{Source: "probe", Key: "probe"} // valid, and not used
	case ref.Key == "":
		ref.Key = "probe"
	}
	input := records.Input{Ref: ref, Kind: p.Kind, Observed: p.Observed, Attributes: p.Attributes}
	missing := func(p problem.Problem) bool { return p.Code == match.CodeRequired }
	problems := records.Check(kind, now, input)
	if wrong := slices.DeleteFunc(slices.Clone(problems), missing); len(wrong) > 0 {
		return out, &problem.InvalidError{Problems: wrong}
	}
	if len(problems) > 0 {
		f.PutErr = &problem.InvalidError{Problems: problems}
	}
	out.Op = resolve.Op{Ref: p.Ref, Kind: kind.Kind, Observed: p.Observed.UTC().Truncate(time.Millisecond),
		Attributes: records.Sent(p.Attributes)}
	return out, nil
}

// fill converts the result of a probe.
func (f *Found) fill(m *resolve.Probed, ref entity.Ref) {
	f.Skipped = m.Skipped
	switch {
	case m.Keys == 0 && len(m.Near) == 0:
		f.Reason = ReasonNoBlockingKey
	case m.OnlyStopKeys && len(m.Near) == 0:
		f.Reason = ReasonOnlyStopKeys
	}
	if m.Put != nil {
		f.Put = &Prediction{Outcome: string(m.Put.Outcome), Entity: m.Put.Entity, Merges: m.Put.Merges, Splits: m.Put.Splits}
	}
	f.Candidates = make([]Candidate, len(m.Near))
	for i, n := range m.Near {
		c := Candidate{Entity: n.Entity, Record: n.Record.Ref, MatchWeight: n.Weight, Level: LevelDifferent}
		switch {
		case n.Outcome == match.Same:
			c.Level = LevelSame
		case n.Outcome == match.Possible:
			c.Level = LevelPossible
		case n.Outcome.Relation():
			c.Relation = RelationOf(m.Matcher, n.Vector, ref, n.Record.Ref)
		}
		if n.Explanation.Lines != nil {
			c.Why = &n.Explanation
		}
		f.Candidates[i] = c
	}
}
