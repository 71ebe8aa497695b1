// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"testing"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/locality"
)

// Where a put and the candidates disagree, or no put is possible, an agent must not choose alone.
func TestAdvise_AsksWhereThePutDisagrees(t *testing.T) {
	t.Parallel()
	near := func(levels ...entities.Level) (list []httpapi.MatchEntity) {
		for i, level := range levels {
			list = append(list, httpapi.MatchEntity{ID: locality.ID{byte(i + 1)}, Level: level})
		}
		return list
	}
	created, refused := &httpapi.MatchPut{Outcome: "created"}, &httpapi.Fault{Code: httpapi.CodeInvalid}
	for name, tc := range map[string]struct {
		in   httpapi.MatchResult
		want string
		id   byte
	}{
		"the same, yet kept apart": {httpapi.MatchResult{Entities: near("same"), Put: created}, "ask kept_apart", 0},
		"incomplete, one is the same": {httpapi.MatchResult{Entities: near("possible", "same"), PutError: refused},
			"use matches", 2},
		"incomplete, two are the same": {httpapi.MatchResult{Entities: near("same", "same"), PutError: refused},
			"ask kept_apart", 0},
		"incomplete, one is possible": {httpapi.MatchResult{Entities: near("possible"), PutError: refused},
			"ask possible_match", 0},
		"too common to compare": {httpapi.MatchResult{Reason: "only_stop_keys", Put: created},
			"ask only_stop_keys", 0},
		"another thing at the same spot": {httpapi.MatchResult{Entities: near("different"), Put: created}, "create new", 0},
	} {
		got := advise(&tc.in)
		if got.Advice+" "+got.Reason != tc.want || (got.ID != nil) != (tc.id > 0) || got.ID != nil && got.ID[0] != tc.id {
			t.Errorf("%s: %s %s %v", name, got.Advice, got.Reason, got.ID)
		}
		if (got.Missing != nil) != (tc.in.PutError != nil) {
			t.Errorf("%s: what is missing: %+v", name, got.Missing)
		}
	}
}
