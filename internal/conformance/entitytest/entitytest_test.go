// SPDX-License-Identifier: Apache-2.0

package entitytest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/entitytest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// store is the model with at most one planted backend bug.
type store struct {
	entity.Store
	bug string
}

func (s store) Records(ctx context.Context, puids []entity.PUID) ([]*entity.Record, error) {
	switch s.bug {
	case "the context is not asked":
		ctx = context.Background()
	case "records in the order of the table":
		puids = slices.Sorted(slices.Values(puids))
	case "empty questions fail":
		if len(puids) == 0 {
			return nil, errors.New("no rows")
		}
	}
	records, err := s.Store.Records(ctx, puids)
	switch s.bug {
	case "absent ones are left out":
		return slices.DeleteFunc(records, func(r *entity.Record) bool { return r == nil }), err
	case "tombstones are hidden":
		for i, r := range records {
			if r != nil && r.Deleted() {
				records[i] = nil
			}
		}
	}
	return records, err
}

func (s store) PutRecords(ctx context.Context, records []*entity.Record) error {
	changed := make([]*entity.Record, len(records))
	for i, r := range records {
		c := *r
		switch {
		case s.bug == "seconds only":
			c.Observed = c.Observed.Truncate(time.Second)
		case s.bug == "no attributes are a tombstone" && len(c.Attributes) == 0:
			c.Attributes = nil
		case s.bug == "one normal form":
			c.Key = norm.NFC.String(c.Key)
		case s.bug == "numbers of 53 bits":
			c.Version = int64(float64(c.Version))
		}
		changed[i] = &c
	}
	switch s.bug {
	case "the first of a batch wins":
		slices.Reverse(changed)
	case "unsigned puids":
		changed = slices.DeleteFunc(changed, func(r *entity.Record) bool { return r.PUID < 0 })
	case "long batches are cut":
		changed = changed[:min(999, len(changed))]
	}
	return s.Store.PutRecords(ctx, changed)
}

func (s store) Assign(ctx context.Context, assignments []entity.Assignment) error {
	if s.bug == "unknown records stop an assignment" {
		for i, a := range assignments {
			if r, err := s.Store.Records(ctx, []entity.PUID{a.PUID}); err != nil || r[0] == nil {
				return s.Store.Assign(ctx, assignments[:i])
			}
		}
	}
	return s.Store.Assign(ctx, assignments)
}

func (s store) ListRecords(ctx context.Context, source string, after entity.PUID, limit int) ([]*entity.Record, error) {
	switch s.bug {
	case "after is included":
		after--
	case "all sources are listed":
		source = ""
	}
	return s.Store.ListRecords(ctx, source, after, limit)
}

func (s store) CountRecords(ctx context.Context, after entity.PUID, limit int) ([]entity.SourceCount, entity.PUID, error) {
	counts, next, err := s.Store.CountRecords(ctx, after, limit)
	switch s.bug {
	case "counts have no end":
		if len(counts) > 0 && next == 0 {
			next = after + entity.PUID(limit)
		}
	case "every record created its entity":
		for i := range counts {
			counts[i].Created = counts[i].Records
		}
	case "kinds are counted together":
		for i := len(counts) - 1; i > 0; i-- {
			if j := slices.IndexFunc(counts, func(c entity.SourceCount) bool { return c.Source == counts[i].Source }); j < i {
				counts[j].Records += counts[i].Records
				counts = slices.Delete(counts, i, i+1)
			}
		}
	}
	return counts, next, err
}

func (s store) PutBirths(ctx context.Context, births []entity.Birth) error {
	if s.bug == "births are written once" {
		there := func(b entity.Birth) bool {
			got, err := s.Store.Births(ctx, []locality.ID{b.ID})
			return err == nil && got[0] != nil
		}
		births = slices.DeleteFunc(slices.Clone(births), there)
	}
	return s.Store.PutBirths(ctx, births)
}

func (s store) PutEntities(ctx context.Context, entities []entity.Indexed) error {
	changed := slices.Clone(entities)
	for i := range changed {
		e := &changed[i]
		switch s.bug {
		case "signed stamps":
			c := *e.Entity
			c.Stamp &^= 1 << 63
			e.Entity = &c
		case "words are folded":
			e.Words = slices.Clone(e.Words)
			for k, n := range e.Words {
				e.Words[k] = strings.Map(func(r rune) rune {
					if r >= 0x300 && r < 0x370 {
						return -1
					}
					return r
				}, norm.NFD.String(n))
			}
		case "young scripts are separators":
			e.Words = slices.DeleteFunc(slices.Clone(e.Words), func(n string) bool {
				return strings.ContainsFunc(n, func(r rune) bool { return r > 0xffff })
			})
		case "terms are words":
			for _, term := range e.Terms {
				e.Words = append(slices.Clone(e.Words), fmt.Sprintf("%016x", term))
			}
		case "ranks are written once":
			if old, err := s.Store.Entities(ctx, []entity.PUID{e.Anchor()}); err == nil && old[0] != nil {
				c := *e.Entity
				c.Rank = old[0].Rank
				e.Entity = &c
			}
		case "old words are kept":
			old, err := s.Store.Search(ctx, entity.Query{Words: []string{"joes"}, After: e.Anchor() - 1, Limit: 1})
			if err == nil && len(old) == 1 && old[0].Anchor() == e.Anchor() {
				e.Words = append(slices.Clone(e.Words), "joes")
			}
		}
	}
	return s.Store.PutEntities(ctx, changed)
}

func (s store) DeleteEntities(ctx context.Context, anchors []entity.PUID) error {
	if s.bug == "only the first is deleted" && len(anchors) > 1 {
		anchors = anchors[:1]
	}
	return s.Store.DeleteEntities(ctx, anchors)
}

func (s store) Occurrences(ctx context.Context, after entity.Occurrence, limit int) ([]entity.Occurrence, error) {
	all, err := s.Store.Occurrences(ctx, after, limit)
	switch s.bug {
	case "numbers are no words":
		all = slices.DeleteFunc(all, func(o entity.Occurrence) bool { return o.Word == "94110" })
	case "a page of words begins with the last one":
		if after.Word != "" {
			all = append([]entity.Occurrence{after}, all...)
		}
	case "a word occurs once":
		all = slices.CompactFunc(all, func(a, b entity.Occurrence) bool { return a.Word == b.Word || a.Anchor == b.Anchor })
	}
	return all, err
}

func (s store) Unfound(ctx context.Context, entities []entity.Indexed) ([]entity.PUID, error) {
	asked := slices.Clone(entities)
	for i, e := range asked {
		switch {
		case s.bug == "only words are searched":
			asked[i].Terms = nil
		case s.bug == "the first word is enough" && len(e.Words) > 0:
			asked[i].Words = e.Words[:1]
		}
	}
	return s.Store.Unfound(ctx, asked)
}

func (s store) Search(ctx context.Context, q entity.Query) ([]*entity.Entity, error) {
	switch s.bug {
	case "the last word matches whole only":
		q.Words = append(slices.Clone(q.Words), slices.Clone(q.Words)...)
		if n := len(q.Words); n > 0 {
			q.Words = append(q.Words, q.Words[0])
		}
	case "any word will do":
		if len(q.Words) > 1 {
			q.Words = q.Words[:1]
		}
	case "quotes are operators":
		if len(q.Words) > 0 && strings.ContainsAny(q.Words[len(q.Words)-1], `"*'`) {
			return nil, errors.New("syntax error")
		}
	}
	switch s.bug {
	case "ranks are not asked":
		q.Best = false
	case "nothing is left out":
		q.Without = nil
	case "no word takes the place of another":
		q.Instead = nil
	case "other words are prefixes too":
		if n := len(q.Instead); n > 0 && len(q.Instead[n-1]) == 1 {
			q.Words, q.Instead = q.Instead[n-1], nil
		}
	case "results of the other query stay":
		q.Except = nil
	case "a rank is put in order as far as it is read":
		if q.Best && q.Limit > 25 {
			q.Limit = 25
		}
	case "all ranks begin behind the anchor":
		if q.Best {
			found, err := s.Store.Search(ctx, q)
			return slices.DeleteFunc(found, func(e *entity.Entity) bool { return e.Anchor() <= q.After }), err
		}
	}
	found, err := s.Store.Search(ctx, q)
	if s.bug == "best first" {
		slices.Reverse(found)
	}
	return found, err
}

func (s store) ListBirths(ctx context.Context, after locality.ID, limit int) ([]entity.Birth, error) {
	births, err := s.Store.ListBirths(ctx, after, limit)
	if s.bug == "births of records that are gone are left out" {
		births = slices.DeleteFunc(births, func(b entity.Birth) bool { return b.PUID == 0 })
	}
	return births, err
}

func (s store) PutDecisions(ctx context.Context, decisions []entity.Decision) error {
	decisions = slices.Clone(decisions)
	for i := range decisions {
		d := &decisions[i]
		switch s.bug {
		case "reasons are not kept":
			d.Reason = ""
		case "what is withdrawn is as if it had never been":
			d.Withdrawn = false
		case "the last decision stays":
			old, err := s.Store.Decisions(ctx, []entity.PUID{d.A})
			for _, o := range old {
				if o.Topic() == d.Topic() && !d.At.After(o.At) {
					d.At = o.At.Add(time.Millisecond)
				}
			}
			if err != nil {
				return err
			}
		case "the first of one millisecond stays":
			old, err := s.Store.Decisions(ctx, []entity.PUID{d.A})
			for _, o := range old {
				if o.Topic() == d.Topic() && d.At.Equal(o.At) {
					*d = o
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return s.Store.PutDecisions(ctx, decisions)
}

func (s store) ListDecisions(ctx context.Context, after entity.DecisionKey, limit int) ([]entity.Decision, error) {
	if s.bug == "decisions are listed record by record" {
		after.Topic = ""
	}
	return s.Store.ListDecisions(ctx, after, limit)
}

func (s store) DeleteDecisions(ctx context.Context, puids []entity.PUID) error {
	if s.bug == "decisions of one record are deleted" && len(puids) > 1 {
		puids = puids[:1]
	}
	return s.Store.DeleteDecisions(ctx, puids)
}

func (s store) AddCounts(ctx context.Context, delta entity.Counts) error {
	if s.bug == "counts never fall" {
		delta.Records = max(delta.Records, 0)
	}
	return s.Store.AddCounts(ctx, delta)
}

func open(_ *testing.T, bug string) entitytest.Cell {
	return entitytest.Memory(func(s entity.Store) entity.Store { return store{s, bug} }, bug)
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	entitytest.Run(t, func(t *testing.T) entitytest.Cell { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; each must be found by the case that covers it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	entitytest.Cases.FindsEveryBug(t, open, conformance.Bugs{
		ByCase: map[string]string{
			"the context is not asked":                     "CancelledContext",
			"records in the order of the table":            "RecordsInTheOrderAsked",
			"empty questions fail":                         "EmptyArguments",
			"absent ones are left out":                     "EmptyCell",
			"tombstones are hidden":                        "RecordsComeBackWhole",
			"seconds only":                                 "RecordsComeBackWhole",
			"no attributes are a tombstone":                "RecordsComeBackWhole",
			"numbers of 53 bits":                           "RecordsComeBackWhole",
			"one normal form":                              "HostileStrings",
			"the first of a batch wins":                    "LaterRecordOfABatchWins",
			"unsigned puids":                               "WholeRangeOfPUIDs",
			"long batches are cut":                         "ThousandItems",
			"unknown records stop an assignment":           "AssignSetsTheAnchorOnly",
			"after is included":                            "ListRecordsInPages",
			"all sources are listed":                       "ListRecordsOfASource",
			"counts have no end":                           "CountRecordsInPages",
			"kinds are counted together":                   "CountRecordsInPages",
			"every record created its entity":              "CountRecordsInPages",
			"births are written once":                      "BirthsAnswerForEver",
			"births of records that are gone are left out": "ListBirthsInPages",
			"signed stamps":                                "EntitiesComeBackWhole",
			"only the first is deleted":                    "EntitiesReplaceAndDelete",
			"words are folded":                             "SearchAllScripts",
			"young scripts are separators":                 "SearchAllScripts",
			"terms are words":                              "SearchTerms",
			"old words are kept":                           "SearchForgets",
			"the last word matches whole only":             "SearchPrefixOfLastWordOnly",
			"any word will do":                             "SearchWords",
			"quotes are operators":                         "SearchHostileWords",
			"best first":                                   "SearchInPages",
			"ranks are not asked":                          "SearchBestFirst",
			"ranks are written once":                       "SearchBestFirst",
			"all ranks begin behind the anchor":            "SearchBestInPages",
			"a rank is put in order as far as it is read":  "SearchBestOfMany",
			"nothing is left out":                          "SearchWithout",
			"no word takes the place of another":           "SearchInstead",
			"other words are prefixes too":                 "SearchInstead",
			"results of the other query stay":              "SearchExcept",
			"numbers are no words":                         "ListOccurrences",
			"a page of words begins with the last one":     "ListOccurrences",
			"a word occurs once":                           "ListOccurrences",
			"only words are searched":                      "ListUnfound",
			"the first word is enough":                     "ListUnfound",
			"counts never fall":                            "CountsAddUp",
			"rollback keeps rows":                          "RollbackLeavesNothing",
			"error is swallowed":                           "RollbackLeavesNothing",
			"nothing is kept":                              "SurvivesReopening",
			"reasons are not kept":                         "DecisionsComeBackWhole",
			"what is withdrawn is as if it had never been": "DecisionsComeBackWhole",
			"the last decision stays":                      "NewerDecisionStays",
			"the first of one millisecond stays":           "NewerDecisionStays",
			"decisions are listed record by record":        "ListDecisionsInPages",
			"decisions of one record are deleted":          "DecisionsAreDeleted",
		},
		ByModel: []string{
			"records in the order of the table", "tombstones are hidden", "seconds only", "one normal form",
			"the first of a batch wins", "all sources are listed", "births are written once",
			"only the first is deleted", "any word will do", "best first", "ranks are not asked", "nothing is left out",
			"counts never fall", "rollback keeps rows",
			"error is swallowed", "reasons are not kept", "the last decision stays", "decisions of one record are deleted",
		},
		Tries: 100,
	})
}
