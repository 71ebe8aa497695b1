// SPDX-License-Identifier: Apache-2.0

// Package entitytest is the conformance suite of entity.Store. A backend calls Run from its own test, with
// a function that opens a fresh cell:
//
//	open ──► Cell{Update, Reopen} ──► backend ─┐
//	                                           ├─ same calls, same answers
//	         rapid draws batches ───► model ───┘
//
// The named cases each cover one easy mistake. The model is a few maps; random histories run against both,
// and every result of the backend is compared with the model's.
package entitytest

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
)

// Cell is a fresh, empty cell under test.
type Cell = conformance.Cell[entity.Store]

// Run checks an implementation of entity.Store. open is called once per case and cleans up with t.Cleanup.
// Cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing
// case.
type tester = conformance.TB

var cases = conformance.Suite[Cell]{
	{Name: "EmptyArguments", Run: emptyArguments},
	{Name: "EmptyCell", Run: emptyCell},
	{Name: "RecordsComeBackWhole", Run: recordsComeBackWhole},
	{Name: "RecordsInTheOrderAsked", Run: recordsInTheOrderAsked},
	{Name: "LaterRecordOfABatchWins", Run: laterRecordOfABatchWins},
	{Name: "NewVersionReplaces", Run: newVersionReplaces},
	{Name: "HostileStrings", Run: hostileStrings},
	{Name: "WholeRangeOfPUIDs", Run: wholeRangeOfPUIDs},
	{Name: "AssignSetsTheAnchorOnly", Run: assignSetsTheAnchorOnly},
	{Name: "ListRecordsInPages", Run: listRecordsInPages},
	{Name: "ListRecordsOfASource", Run: listRecordsOfASource},
	{Name: "CountRecordsInPages", Run: countRecordsInPages},
	{Name: "BirthsAnswerForEver", Run: birthsAnswerForEver},
	{Name: "ListBirthsInPages", Run: listBirthsInPages},
	{Name: "EntitiesComeBackWhole", Run: entitiesComeBackWhole},
	{Name: "EntitiesReplaceAndDelete", Run: entitiesReplaceAndDelete},
	{Name: "ListEntitiesInPages", Run: listEntitiesInPages},
	{Name: "SearchWords", Run: searchWords},
	{Name: "SearchPrefixOfLastWordOnly", Run: searchPrefixOfLastWordOnly},
	{Name: "SearchInstead", Run: searchInstead},
	{Name: "SearchExcept", Run: searchExcept},
	{Name: "ListOccurrences", Run: listOccurrences},
	{Name: "ListUnfound", Run: listUnfound},
	{Name: "SearchTerms", Run: searchTerms},
	{Name: "SearchAllScripts", Run: searchAllScripts},
	{Name: "SearchInPages", Run: searchInPages},
	{Name: "SearchWithout", Run: searchWithout},
	{Name: "SearchBestFirst", Run: searchBestFirst},
	{Name: "SearchBestInPages", Run: searchBestInPages},
	{Name: "SearchBestOfMany", Run: searchBestOfMany},
	{Name: "SearchForgets", Run: searchForgets},
	{Name: "SearchHostileWords", Run: searchHostileWords},
	{Name: "DecisionsComeBackWhole", Run: decisionsComeBackWhole},
	{Name: "NewerDecisionStays", Run: newerDecisionStays},
	{Name: "ListDecisionsInPages", Run: listDecisionsInPages},
	{Name: "DecisionsAreDeleted", Run: decisionsAreDeleted},
	{Name: "CountsAddUp", Run: countsAddUp},
	{Name: "ThousandItems", Run: thousandItems},
	{Name: "SeesItsOwnWrites", Run: seesItsOwnWrites},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "SurvivesReopening", Run: survivesReopening},
	{Name: "CancelledContext", Run: cancelledContext},
	{Name: "AgreesWithModel", Run: agreesWithModel},
}

// read returns the result of fn, run in its own transaction.
func read[T any](t tester, c Cell, fn func(ctx context.Context, s entity.Store) (T, error)) T {
	t.Helper()
	return conformance.Ask(t, c.Update, fn)
}

// equal returns the difference between two results. A nil and an empty list are equal; nil and empty
// attributes are not, because nil attributes mark a tombstone.
func equal(got, want any) string {
	return conformance.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().Type() != reflect.TypeFor[entity.Attributes]()
	}, cmpopts.EquateEmpty()))
}

func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := equal(got, want); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
