// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Decide makes decisions, and withdraws some, in their order: of two that contradict each other the later
// counts. They are durable when it returns, and entities are as they say, but for those that are Pending.
// Results are in the order of the list; one that was refused says so and harms no other. The error is about
// the list as a whole: nothing was decided.
func (s *Service) Decide(ctx context.Context, list []Decide) ([]DecideResult, error) {
	if err := s.changes(); err != nil {
		return nil, err
	}
	if len(list) > MaxBatch {
		return nil, &InvalidError{[]Problem{{"", "too_large", fmt.Sprintf("there are %d decisions, more than %d", len(list), MaxBatch)}}}
	}
	results := make([]DecideResult, len(list))
	var decisions []entity.Decision
	var at []int
	for i, d := range list {
		decision, err := s.decision(ctx, d, decisions)
		if err != nil {
			results[i].Err = err
			continue
		}
		decisions, at = append(decisions, decision), append(at, i)
	}
	if len(decisions) == 0 {
		return results, nil
	}
	made := s.resolver.Decide(ctx, decisions)
	s.follow.poke()
	var stand []entity.Decision
	for n, d := range made {
		r := &results[at[n]]
		if r.Err = wrap(d.Err); errors.Is(d.Err, resolve.ErrDecision) {
			r.Err = &InvalidError{[]Problem{{"", "invalid", d.Err.Error()}}}
		}
		r.Watermark = d.Marks
		stand = append(stand, d.Decision)
	}
	told, err := s.told(ctx, stand)
	if err != nil {
		s.opts.Logger.Warn("what was decided cannot be read again", "err", err)
		told = make([]Decided, len(stand))
		for n, d := range stand {
			told[n].Decision = d
		}
	}
	for n, d := range made {
		if r := &results[at[n]]; r.Err == nil {
			r.Decided = told[n]
			if r.Pending = d.Pending; d.Pending {
				r.Conflict = "" // nobody knows yet
			}
		}
	}
	return results, nil
}

// decision checks what is to be decided and finds the records; before are those that are decided before it.
func (s *Service) decision(ctx context.Context, d Decide, before []entity.Decision) (entity.Decision, error) {
	decision := entity.Decision{Verdict: d.Verdict, Attribute: d.Attribute, Value: d.Value, Author: d.Author, Reason: d.Reason, Withdrawn: d.Withdraw}
	if problems := d.check(); problems != nil {
		return decision, &InvalidError{problems}
	}
	a, err := s.decidedAt(ctx, d.A, d.Withdraw)
	if err != nil {
		return decision, pointAt("/a", err)
	}
	decision.A = a.PUID
	if decision.Pair() {
		b, err := s.decidedAt(ctx, d.B, d.Withdraw)
		if err != nil {
			return decision, pointAt("/b", err)
		}
		decision.B = b.PUID
		switch {
		case a.PUID == b.PUID:
			return decision, &InvalidError{[]Problem{{"/b", "invalid", fmt.Sprintf("%.300s and %.300s stand for one record, %v", d.A, d.B, a.Ref)}}}
		case a.Kind != b.Kind && !d.Withdraw:
			return decision, &InvalidError{[]Problem{{"/b", "invalid", fmt.Sprintf("%v is a %s and %v a %s: things of two kinds are two", a.Ref, a.Kind, b.Ref, b.Kind)}}}
		}
	}
	if d.Verdict == entity.VerdictValue && !d.Withdraw {
		if problems := s.checkValue(a.Kind, d.Attribute, d.Value); problems != nil {
			return decision, &InvalidError{problems}
		}
	}
	if !d.Withdraw {
		return decision, nil
	}
	stood, err := s.decisionsOf(ctx, []entity.PUID{a.PUID})
	if err != nil {
		return decision, err
	}
	stood = slices.Concat(stood, before)
	for _, was := range slices.Backward(stood) {
		if was.Pair() && was.B == decision.A {
			was = was.Mirror()
		}
		if was.Key() == decision.Key() {
			decision.Verdict, decision.Value = was.Verdict, was.Value
			return decision, nil
		}
	}
	return decision, &InvalidError{[]Problem{{"/withdraw", "not_decided", "nothing was decided about that"}}}
}

// decidedAt reads the record of an address. What was decided about one that was deleted can be withdrawn.
func (s *Service) decidedAt(ctx context.Context, address string, deleted bool) (*entity.Record, error) {
	rec, err := s.recordAt(ctx, address)
	if !deleted || !errors.Is(err, entity.ErrErased) {
		return rec, err
	}
	puid, parsed := entity.ParsePUID(address)
	if ref, noRef := ParseRef(address); parsed != nil && noRef == nil {
		puids, lookedUp := s.keys.Lookup(ctx, []cell.Key{s.Map().KeyOf(ref.Source, ref.Key)})
		if lookedUp != nil {
			return nil, lookedUp
		}
		puid = entity.PUID(puids[0])
	}
	if puid == 0 {
		return nil, err
	}
	return &entity.Record{PUID: puid}, nil
}

// check holds that a decision has the parts that its verdict takes, and readable texts.
func (d *Decide) check() (problems []Problem) {
	note := func(pointer, code, format string, args ...any) {
		problems = append(problems, Problem{pointer, code, fmt.Sprintf(format, args...)})
	}
	pair, value := false, false
	switch d.Verdict {
	case entity.VerdictSame, entity.VerdictDifferent:
		pair = true
	case entity.VerdictValue:
		value = true
	case entity.VerdictAnchor:
	default:
		note("/verdict", "invalid", "%.60q is no verdict: there are same, different, anchor and value", string(d.Verdict))
		return problems
	}
	switch {
	case d.A == "":
		note("/a", "required", "the record that it is about is missing")
	case pair && d.B == "":
		note("/b", "required", "verdict %s is about two records: the other one is missing", d.Verdict)
	case !pair && d.B != "":
		note("/b", "invalid", "verdict %s is about one record", d.Verdict)
	}
	switch {
	case value && d.Attribute == "":
		note("/attribute", "required", "the attribute is missing")
	case value && d.Value == "" && !d.Withdraw:
		note("/value", "required", "the value is missing")
	case !value && d.Attribute+d.Value != "":
		note("/attribute", "invalid", "verdict %s is about no attribute", d.Verdict)
	}
	for _, text := range []struct {
		pointer, text string
		most          int
	}{{"/author", d.Author, MaxAuthor}, {"/reason", d.Reason, MaxReason}} {
		switch {
		case len(text.text) > text.most:
			note(text.pointer, "too_large", "%d bytes, at most %d are taken", len(text.text), text.most)
		case !utf8.ValidString(text.text):
			note(text.pointer, "invalid_utf8", "it is not valid UTF-8")
		case strings.ContainsFunc(text.text, unicode.IsControl):
			note(text.pointer, "invalid", "it holds a control character")
		}
	}
	return problems
}

// checkValue holds that a kind has the attribute and takes the value, as of a record.
func (s *Service) checkValue(kind, attribute, value string) (problems []Problem) {
	for _, p := range s.Schema(kind).Check(match.Attributes{attribute: {value}}) {
		switch {
		case p.Attribute != attribute:
		case p.Code == match.CodeUnknown:
			problems = append(problems, Problem{"/attribute", p.Code, p.Message})
		default:
			problems = append(problems, Problem{"/value", p.Code, p.Message})
		}
	}
	if problems == nil && s.kind(kind).Matcher.NormaliseValue(attribute, value) == "" {
		problems = []Problem{{"/value", "invalid", fmt.Sprintf("%.60q says nothing", value)}}
	}
	return problems
}

// Merge says that two entities are one thing: a must-link between their anchors. Unmerge takes it back.
func (s *Service) Merge(ctx context.Context, a, b string, by By) (*DecideResult, error) {
	x, err := s.Find(ctx, a)
	if err != nil {
		return nil, pointAt("/a", err)
	}
	y, err := s.Find(ctx, b)
	if err != nil {
		return nil, pointAt("/b", err)
	}
	if x.ID == y.ID {
		return nil, &InvalidError{[]Problem{{"/b", "invalid", fmt.Sprintf("%.300s and %.300s are one entity, %v", a, b, x.ID)}}}
	}
	results, err := s.Decide(ctx, []Decide{{Verdict: entity.VerdictSame, A: x.ID.String(), B: y.ID.String(), Author: by.Author, Reason: by.Reason}})
	if err != nil {
		return nil, err
	}
	return &results[0], results[0].Err
}

// Unmerge says that records are not of the entity that they are in: each of them and every member that is
// not named are two things, whatever was decided before. So after a Merge it restores both ids.
func (s *Service) Unmerge(ctx context.Context, address string, records []string, by By) ([]DecideResult, error) {
	e, err := s.Find(ctx, address)
	if err != nil {
		return nil, pointAt("/id", err)
	}
	if len(records) == 0 || len(records) > MaxUnmerged {
		return nil, &InvalidError{[]Problem{{"/records", "invalid", fmt.Sprintf("want 1 to %d records", MaxUnmerged)}}}
	}
	var named []entity.PUID
	for i, address := range records {
		pointer := fmt.Sprintf("/records/%d", i)
		rec, err := s.recordAt(ctx, address)
		if err != nil {
			return nil, pointAt(pointer, err)
		}
		if !slices.Contains(members(e.Entity), rec.PUID) {
			return nil, &InvalidError{[]Problem{{pointer, "invalid", fmt.Sprintf("%v is not in entity %v", rec.Ref, e.ID)}}}
		}
		named = append(named, rec.PUID)
	}
	var list []Decide
	for _, out := range e.Members {
		for _, in := range e.Members {
			if slices.Contains(named, out.PUID) && !slices.Contains(named, in.PUID) {
				list = append(list, Decide{Verdict: entity.VerdictDifferent, A: out.PUID.String(), B: in.PUID.String(), Author: by.Author, Reason: by.Reason})
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil, &InvalidError{[]Problem{{"/records", "invalid", fmt.Sprintf("these are all records of entity %v: name those that are not of it", e.ID)}}}
	case len(list) > MaxBatch:
		return nil, &InvalidError{[]Problem{{"/records", "too_large", fmt.Sprintf("that makes %d pairs, more than %d: name fewer records", len(list), MaxBatch)}}}
	}
	return s.Decide(ctx, list)
}

// told adds to decisions what people know records by, where these are now, and what speaks against.
func (s *Service) told(ctx context.Context, decisions []entity.Decision) ([]Decided, error) {
	var puids []entity.PUID
	for _, d := range decisions {
		if puids = append(puids, d.A); d.Pair() {
			puids = append(puids, d.B)
		}
	}
	slices.Sort(puids)
	puids = slices.Compact(puids)
	found, err := s.records(ctx, puids)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(rec *entity.Record) bool { return rec == nil || rec.Deleted() })
	of, err := s.withEntities(ctx, found)
	if err != nil {
		return nil, err
	}
	at := map[entity.PUID]*Record{}
	for _, rec := range of {
		at[rec.PUID] = rec
	}
	told := make([]Decided, len(decisions))
	for i, d := range decisions {
		told[i].Decision = d
		if a := at[d.A]; a != nil {
			told[i].RefA, told[i].EntityA = a.Ref, a.Entity
		}
		if b := at[d.B]; b != nil && d.Pair() {
			told[i].RefB, told[i].EntityB = b.Ref, b.Entity
		}
		told[i].Conflict = conflict(&told[i], at[d.A])
	}
	return told, nil
}

// conflict says what newer decisions have made of one that stands, "" if it is so.
func conflict(d *Decided, a *Record) string {
	if d.Withdrawn || a == nil || d.Pair() && d.EntityB == (locality.ID{}) {
		return ""
	}
	switch one := d.EntityA == d.EntityB; {
	case d.Verdict == entity.VerdictSame && !one:
		return "newer decisions keep the two apart"
	case d.Verdict == entity.VerdictDifferent && one:
		return "newer decisions hold the two together"
	case d.Verdict == entity.VerdictAnchor && d.EntityA != a.Birth:
		return "a newer decision gives the entity another anchor"
	}
	return ""
}
