// SPDX-License-Identifier: Apache-2.0

package perdocumenttest_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/perdocumenttest"
	"github.com/locus-db/locus/internal/perdocument"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// open opens the database in memory with at most one bug, either of this package or of shelf.
func open(_ *testing.T, bug string) perdocumenttest.Cell {
	c := perdocumenttest.Memory(bug)
	seen := func(run func(context.Context, func(perdocument.Store) error) error) func(context.Context, func(perdocument.Store) error) error {
		return func(ctx context.Context, fn func(perdocument.Store) error) error {
			return run(ctx, func(s perdocument.Store) error { return fn(&shelf{s, bug}) })
		}
	}
	c.Update, c.View = seen(c.Update), seen(c.View)
	return c
}

// shelf is a store with at most one bug in the records of days.
type shelf struct {
	perdocument.Store
	bug string
}

func (s *shelf) name(b perdocument.DayBatch) perdocument.DayBatch {
	switch s.bug {
	case "days remember alike":
		b.Day = counter.NewBucketKey(b.Day.Unit(), 1)
	case "a metric remembers":
		b.Day = counter.NewBucketKey(0, b.Day.ID())
	case "a producer is a key":
		if b.Key == "" {
			b.Key, b.Producer = counter.Key(b.Producer[:1]), counter.Producer{}
		}
	}
	return b
}

func (s *shelf) DayBatches(ctx context.Context, of []perdocument.DayBatch) ([]counter.DedupRecord, error) {
	of = slices.Clone(of)
	for i := range of {
		of[i] = s.name(of[i])
	}
	if s.bug == "day batches in the order of days" {
		slices.SortStableFunc(of, func(a, b perdocument.DayBatch) int { return cmp.Compare(a.Day, b.Day) })
	}
	all, err := s.Store.DayBatches(ctx, of)
	if s.bug == "what days do not remember is left out" {
		all = slices.DeleteFunc(all, func(r counter.DedupRecord) bool { return r.Print == [16]byte{} })
	}
	return all, err
}

func (s *shelf) PutDayBatches(ctx context.Context, of []perdocument.DayMemory) error {
	of = slices.Clone(of)
	for i := range of {
		of[i].DayBatch = s.name(of[i].DayBatch)
		switch s.bug {
		case "results are forgotten by days":
			of[i].Results = nil
		case "days know numbers of 63 bits":
			of[i].Seq &= 1<<63 - 1
		}
	}
	return s.Store.PutDayBatches(ctx, of)
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	perdocumenttest.Run(t, func(t *testing.T) perdocumenttest.Cell { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case meant for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	perdocumenttest.Cases.FindsEveryBug(t, open, conformance.Bugs{ByCase: map[string]string{
		"who opens does not compare":               "TalliesOfADayTogether",
		"nothing is compared":                      "NobodyElseChangesADay",
		"tallies are not compared":                 "WhatWasReadIsCompared",
		"who packs does not compare":               "NobodyElsePacksADay",
		"tallies conflict":                         "TalliesDoNotConflict",
		"a conflict starts again":                  "OthersAreWritten",
		"a conflict names all days":                "OthersAreWritten",
		"a conflict is no error":                   "OthersAreWritten",
		"of a conflict the tallies are written":    "OthersAreWritten",
		"the dedup horizon is not looked at again": "AFloorThatRose",
		"days remember alike":                      "DaysRememberBatches",
		"a metric remembers":                       "DaysRememberBatches",
		"a producer is a key":                      "DaysRememberBatches",
		"day batches in the order of days":         "DaysRememberBatches",
		"what days do not remember is left out":    "DaysRememberBatches",
		"results are forgotten by days":            "DaysRememberBatches",
		"days know numbers of 63 bits":             "DaysRememberBatches",
		"memories are not compared":                "DaysCountOnce",
		"days never forget":                        "ADayForgetsWhatIsSummarised",
		"days forget at once":                      "ADayForgetsWhatIsSummarised",
		"days forget what is summarised in part":   "ADayForgetsWhatIsSummarised",
		"any number covers":                        "ADayForgetsWhatIsSummarised",
		"any time covers":                          "ADayForgetsWhatIsSummarised",
		"summaries are not compared":               "NobodyElseChangesASummary",
	}})
}
