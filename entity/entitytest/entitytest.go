// SPDX-License-Identifier: Apache-2.0

// Package entitytest is the conformance suite of entity.Store. Whoever implements it calls Run
// from a test of its own, with a function that opens a fresh cell:
//
//	open ──► Cell{Update, Reopen} ──► backend ─┐
//	                                           ├─ same calls, same answers
//	         rapid draws batches ───► model ───┘
//
// The named cases pin what is easy to get wrong, one thing each; the model is a few maps that can
// be read in one sitting, and what the backend answers to a random history is compared with it.
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

// Update runs fn in one transaction of the cell, which commits if fn returns nil and leaves
// nothing behind if fn returns an error, which Update then returns, as errors.Is sees it.
type Update func(ctx context.Context, fn func(entity.Store) error) error

// Cell is a fresh, empty cell under test.
type Cell struct {
	Update Update
	// Reopen ends all use of the cell's database and begins it anew, as a restart does. A backend
	// that cannot leaves it nil, and the cases that need it are skipped with that reason.
	Reopen func() error
}

// Run checks an implementation of entity.Store. open is called once for each case, and cleans up
// by t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	cases.Run(t, open)
}

// tester is what a case needs of testing.T, so that the suite's own test can watch a case fail.
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
	{Name: "BirthsAnswerForEver", Run: birthsAnswerForEver},
	{Name: "ListBirthsInPages", Run: listBirthsInPages},
	{Name: "EntitiesComeBackWhole", Run: entitiesComeBackWhole},
	{Name: "EntitiesReplaceAndDelete", Run: entitiesReplaceAndDelete},
	{Name: "ListEntitiesInPages", Run: listEntitiesInPages},
	{Name: "SearchWords", Run: searchWords},
	{Name: "SearchPrefixOfLastWordOnly", Run: searchPrefixOfLastWordOnly},
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

// read answers with what fn reads in a transaction of its own.
func read[T any](t tester, c Cell, fn func(ctx context.Context, s entity.Store) (T, error)) T {
	t.Helper()
	return conformance.Ask(t, c.Update, fn)
}

// equal says what differs between two answers. No list and an empty one are the same; no attributes
// and none in them are not, for the former make a tombstone.
func equal(got, want any) string {
	return cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().Type() != reflect.TypeFor[entity.Attributes]()
	}, cmpopts.EquateEmpty()))
}

// same fails unless both are the same.
func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := equal(got, want); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
