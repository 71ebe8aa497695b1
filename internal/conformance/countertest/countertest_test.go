// SPDX-License-Identifier: Apache-2.0

package countertest_test

import (
	"context"
	"testing"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest"
	"github.com/locus-db/locus/internal/longtest"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

func open(_ *testing.T, bug string) countertest.Cell {
	o := &others{}
	c := countertest.Memory(func(s counter.Store) counter.Store { return &shelf{Store: s, bug: bug, others: o} }, bug)
	if bug == "a View has no snapshot" {
		c.View = func(context.Context, func(counter.Store) error) error { return context.DeadlineExceeded }
	}
	return c
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	countertest.Run(t, func(t *testing.T) countertest.Cell { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case meant for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	countertest.Cases.FindsEveryBug(t, open, conformance.Bugs{
		ByCase: map[string]string{
			"empty batches fail":                       "EmptyCell",
			"names fold":                               "MetricsComeBackWhole",
			"names of 199 bytes":                       "MetricsComeBackWhole",
			"ids of 32 bits":                           "MetricsComeBackWhole",
			"kinds are forgotten":                      "MetricsComeBackWhole",
			"counts are guessed":                       "MetricsComeBackWhole",
			"missing metrics are left out":             "MetricsInTheOrderAsked",
			"metrics in the order of ids":              "MetricsInTheOrderAsked",
			"a metric is found once":                   "MetricsInTheOrderAsked",
			"names change":                             "NameAndKindStay",
			"kinds change":                             "NameAndKindStay",
			"the first day stays":                      "NameAndKindStay",
			"the last day is kept":                     "NameAndKindStay",
			"names in the order of people":             "MetricsInOrder",
			"limits of metrics are not kept":           "MetricsInOrder",
			"after is ignored":                         "MetricsInOrder",
			"after is included":                        "MetricsInOrder",
			"prefixes are ignored":                     "MetricsInOrder",
			"prefixes are patterns":                    "MetricsInOrder",
			"prefixes end at the last character":       "MetricsInOrder",
			"minutes are forgotten":                    "TalliesAdd",
			"hours are forgotten":                      "TalliesAdd",
			"quarters are forgotten":                   "TalliesAdd",
			"totals are forgotten":                     "TalliesAdd",
			"all days are made":                        "TalliesAdd",
			"a bucket is written once":                 "TalliesAdd",
			"numbers of 53 bits":                       "TalliesAdd",
			"long batches are cut":                     "TalliesOfManyMetrics",
			"sums stop at the highest":                 "TalliesOverflow",
			"overflow is any error":                    "TalliesOverflow",
			"the highest before the prefix":            "TheHighest",
			"ties in any order":                        "TheHighest",
			"the day before counts":                    "TheHighest",
			"compacted days do not count":              "TheHighest",
			"open days do not count":                   "TheHighest",
			"zeros are ranked":                         "TheHighest",
			"long answers are cut":                     "TheHighestAmongMany",
			"nothing is negative":                      "SpansComeBackWhole",
			"numbers are floats":                       "SpansComeBackWhole",
			"buckets are written once":                 "SpansComeBackWhole",
			"gauges are one table":                     "SpansComeBackWhole",
			"missing buckets are zeros":                "SpansInTheOrderAsked",
			"missing buckets are left out":             "SpansInTheOrderAsked",
			"buckets in the order of keys":             "SpansInTheOrderAsked",
			"long batches of keys are cut":             "SpansInTheOrderAsked",
			"preparing empties":                        "PreparingChangesNothing",
			"preparing tells all":                      "PreparingChangesNothing",
			"deleting twice fails":                     "DeletedSpans",
			"deleting takes metrics":                   "DeletedSpans",
			"below is included":                        "FirstBuckets",
			"limits of buckets are not kept":           "FirstBuckets",
			"buckets in the order of text":             "FirstBuckets",
			"compacted days are text":                  "ClosedDaysComeBackWhole",
			"bodies of 4 KiB":                          "ClosedDaysComeBackWhole",
			"compacted days are written once":          "ClosedDaysComeBackWhole",
			"details stay":                             "ClosedDaysComeBackWhole",
			"missing days are left out":                "ClosedDaysComeBackWhole",
			"from is left out":                         "DetailedDays",
			"the last day is included":                 "DetailedDays",
			"limits of days are not kept":              "DetailedDays",
			"days without detail are not listed":       "DetailedDays",
			"days of any detail":                       "DetailedDays",
			"the dedup horizon falls":                  "FloorRises",
			"floors of 53 bits":                        "FloorRises",
			"keys fold":                                "BatchesComeBackWhole",
			"keys of 127 bytes":                        "BatchesComeBackWhole",
			"blanks are cut":                           "BatchesComeBackWhole",
			"prints of 8 bytes":                        "BatchesComeBackWhole",
			"results are text":                         "BatchesComeBackWhole",
			"results are forgotten":                    "BatchesComeBackWhole",
			"times are not negative":                   "BatchesComeBackWhole",
			"batches are written once":                 "BatchesComeBackWhole",
			"batches in the order of keys":             "BatchesComeBackWhole",
			"what is not remembered is left out":       "ProducersComeBackWhole",
			"numbers of 63 bits":                       "ProducersComeBackWhole",
			"producers end at zero":                    "ProducersComeBackWhole",
			"dropping includes the time":               "DropBatches",
			"dropping ignores the limit":               "DropBatches",
			"dropping tells the limit":                 "DropBatches",
			"producers stay":                           "DropProducers",
			"writes are seen later":                    "SeesItsOwnWrites",
			"rollback keeps rows":                      "RollbackLeavesNothing",
			"error is swallowed":                       "RollbackLeavesNothing",
			"nothing is kept":                          "SurvivesReopening",
			"a View has no snapshot":                   "EmptyCell",
			"the context is not asked":                 "CancelledContext",
			"days are made twice":                      "TalliesTogether",
			"readers of buckets do not wait":           "NobodyElseChangesSpans",
			"readers of the first buckets do not wait": "NobodyElseChangesFirstSpans",
			"raising does not wait":                    "RaisingWaits",
			"readers of producers do not wait":         "NobodyElseIsAnsweredAboutProducers",
			"readers of batches do not wait":           "NobodyElseIsAnsweredAboutBatches",
		},
		ByModel: []string{
			"quarters are forgotten", "totals are forgotten", "all days are made", "missing buckets are zeros",
			"preparing empties", "below is included",
			"limits of buckets are not kept", "compacted days do not count", "ties in any order", "from is left out",
			"prefixes are ignored",
			"the last day is kept", "dropping includes the time", "rollback keeps rows", "error is swallowed",
			"deleting twice fails",
		},
		Tries: 3,
	})
}
