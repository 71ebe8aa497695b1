// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/review"
)

// recordRoutes returns the routes of records.
func (s *Server) recordRoutes() []route {
	return []route{
		{
			method: "POST", path: "/v1/records", class: writes, needs: access.All(access.Write).BySource().Narrowed(),
			handle: s.putRecords, body: PutRequest{}, answer: PutResponse{},
			summary: "Put 1 to 1000 records. The response has a result for each, in order, once they are durable and resolved",
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField,
				CodeTooLarge, CodeMediaType, CodeInvalid, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
			},
		},
		{
			method: "GET", path: "/v1/records", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.listRecords, answer: RecordList{}, failures: readErrors,
			summary: "List live records in the order of their puids",
			query: append([]param{
				{"source", "Only records of this source", false},
				{"kind", "Only records of this kind", false},
			}, pageParams...),
		},
		{
			method: "GET", path: "/v1/records/{source}/{key...}", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.getRecord, answer: Record{}, failures: findErrors,
			summary: "Get a record by its external key, whose bytes are percent-encoded",
		},
		{
			method: "DELETE", path: "/v1/records/{source}/{key...}", class: writes,
			needs: access.Any(access.Write, access.Erase).BySource().Narrowed(), handle: s.deleteRecord, answer: Deleted{},
			failures: append([]Code{CodeCommitUnknown}, findErrors...),
			summary:  "Delete a record; records that only it connected are separated",
			query:    []param{{"erase", "true also removes the decisions about it; POST /v1/vacuum clears the files", false}},
		},
		{
			method: "POST", path: "/v1/records/delete", class: writes, needs: access.All(access.Write).BySource().Narrowed(),
			handle: s.deleteRecords, body: DeleteRequest{}, answer: DeleteResponse{}, failures: decideErrors,
			summary: "Delete 1 to 1000 records, each on condition of its version if that is given. The response has a result for each, in order, once they are durable",
		},
	}
}

// entityRoutes returns the routes of entities, and those that compare records without storing them.
func (s *Server) entityRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/entities", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch,
			handle: s.listEntities, answer: EntityList{}, failures: readErrors,
			summary: "Search entities, best first, or list them in the order of ids",
			query: append([]param{
				{"q", "Words that must all occur in a name, a category or a city; the last may be a prefix; at most 256 bytes",
					false},
				{"filter", "ATTRIBUTE:VALUE, normalised as the kind does; may be repeated, all must hold", false},
				{"has", "Attribute that must have a value; may be repeated", false},
				{"without", "Attribute that must have no value; may be repeated", false},
				{"kind", "Only entities of this kind", false},
				{"order", "best (by rank.points) or id; best by default if there is a search or a filter", false},
				{"typos", "Typing errors forgiven in each word of q: 0, 1, 2, or auto for one from 3 letters and two from 6; exact hits come first. By default auto if there are none, otherwise 0", false},
			}, pageParams...),
		},
		{
			method: "GET", path: "/v1/entities/{id}", class: reads, needs: access.All(access.Read).Narrowed(),
			handle: s.getEntity, answer: Entity{}, failures: findErrors,
			summary: "Get an entity. A former id returns the entity that it was merged into, with redirected_from",
		},
		{
			method: "GET", path: "/v1/entities/{id}/why", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.why,
			answer: Why{}, failures: findErrors,
			summary: "Why the records of an entity belong together",
		},
		{
			method: "GET", path: "/v1/entities/{id}/how", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.how,
			answer: How{}, failures: findErrors,
			summary: "How an entity came to be: the steps of clustering, and its changes in the logs",
		},
		{
			method: "GET", path: "/v1/entities/{id}/history", class: reads, needs: access.All(access.Read).Narrowed(),
			handle: s.history, answer: History{}, failures: findErrors,
			summary: "The changes of an entity and its records that are still in the logs",
		},
		{
			method: "GET", path: "/v1/entities/{id}/relations", class: reads, needs: access.All(access.Read).Narrowed(),
			handle: s.relations, answer: RelationList{}, failures: findErrors,
			summary: "The entities that contain an entity, are part of it, or share its location",
		},
		{
			method: "POST", path: "/v1/entities/{id}/unmerge", class: writes, needs: access.All(access.Decide).Narrowed(),
			handle: s.unmerge, body: UnmergeRequest{}, answer: DecideResponse{},
			failures: append([]Code{CodeNotFound, CodeErased}, decideErrors...),
			summary:  "Take records out of an entity: withdraw the decisions that join them to it, and decide that they differ from every other member",
		},
		{
			method: "POST", path: "/v1/what-if", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch,
			handle: s.whatIf, body: WhatIfRequest{}, answer: Scenario{},
			failures: append([]Code{CodeNotFound, CodeErased}, decideErrors[:len(decideErrors)-2]...),
			summary:  "The entities under other records, decisions or match weights; changes nothing",
		},
		{
			method: "POST", path: "/v1/match", class: matches, needs: access.All(access.Read).Narrowed(), handle: s.match,
			body: MatchRequest{}, answer: MatchResponse{},
			failures: append([]Code{CodeNotFound}, decideErrors[:len(decideErrors)-2]...),
			summary:  "Match 1 to 1000 records without storing them: the candidates of each, and what a put would do",
			query: []param{{"min_watermark",
				"Wait until the databases that this server reads include this watermark, such as that of a write", false}},
		},
		{
			method: "POST", path: "/mcp", class: toolCalls, audit: audit.Read, needs: access.All(access.Read).Narrowed(),
			handle: s.agents, body: map[string]any{}, answer: map[string]any{},
			statuses: []int{http.StatusOK, http.StatusAccepted}, failures: []Code{
				CodeNotFound, CodeMalformed, CodeTooLarge, CodeMediaType, CodeInvalid, CodeOverloaded, CodeUnavailable,
			},
			summary: "A message of the Model Context Protocol, by its streamable HTTP transport without sessions. 202 if the message takes no response. Each tool has the permissions of the caller",
			query: []param{
				{"agent", "Name of the agent in sources and authors, such as helpdesk; required with allow", false},
				{"allow", "Tools that store, which the caller must have the permission for: remember, decide, or both with a comma",
					false},
			},
		},
		{
			method: "GET", path: "/v1/why-not", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.whyNot,
			answer: explain.Comparison{}, failures: findErrors,
			summary: "Why two records are in the same entity or in different ones",
			query: []param{
				{"a", "Entity id, puid or SOURCE:KEY", true},
				{"b", "Entity id, puid or SOURCE:KEY", true},
			},
		},
	}
}

// decisionRoutes returns the routes of the review queue, of decisions and of quality.
func (s *Server) decisionRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/review", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch,
			handle: s.review, answer: ReviewList{}, failures: readErrors,
			summary: "Pairs of records for people to decide about",
			query: []param{
				{"limit", "Maximum number of pairs, 1 to 100; 20 by default", false},
				{"order", "best, the default: possible matches, highest match weight first; teaches: also pairs within entities, the most informative first; chance: all compared pairs in random order, for /v1/quality; second: pairs that another person answered, for a second opinion", false},
				{"source", "Only pairs with a record of this source", false},
				{"kind", "Only pairs of this kind", false},
				{"attribute", "Only pairs that disagree in this attribute", false},
				{"bits", "Only pairs whose match weight has these whole bits", false},
				{"assigned", "all, the default; none: assigned to no person; mine: to the caller; open: mine or none; or the name of a person. With a filter a page may be short though others follow", false},
				pageParams[1],
			},
		},
		{
			method: "GET", path: "/v1/review/team", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch,
			handle: s.reviewTeam, answer: &review.Team{}, failures: readErrors,
			summary: "How many pairs each person answered, how often people agree, the pairs they disagree about, and bulk decisions",
		},
		{
			method: "POST", path: "/v1/review/assign", class: writes, needs: access.All(access.Decide).Narrowed(),
			price: priceSearch, handle: s.assignReview, body: AssignRequest{}, answer: AssignResponse{}, failures: decideErrors,
			summary: "Assign pairs of the review queue to a person for some days, or release them",
		},
		{
			method: "GET", path: "/v1/quality", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch,
			handle: s.quality, answer: &quality.Estimate{}, failures: readErrors,
			summary: "Precision and recall of the entities, estimated from decisions about randomly drawn pairs",
		},
		{
			method: "GET", path: "/v1/quality/profile", class: reads, needs: access.All(access.Read).Narrowed(),
			price: priceSearch, handle: s.profile, answer: &quality.Profile{}, failures: readErrors,
			summary: "Profile of the records and entities: filled attributes, shapes of values, duplicates within sources, sizes of entities, match weights, and the effect of other thresholds. Computed from a sample in a large installation",
			query: []param{
				{"kind", "Only this kind", false},
				{"threshold", "One more match threshold, in bits, whose effect is computed", false},
			},
		},
		{
			method: "POST", path: "/v1/decisions", class: writes, needs: access.All(access.Decide).Narrowed(), handle: s.decide,
			body: DecideRequest{}, answer: DecideResponse{}, failures: decideErrors,
			summary: "Make or withdraw 1 to 1000 decisions. The response has a result for each, in order, once they are durable",
		},
		{
			method: "POST", path: "/v1/decisions/preview", class: reads, needs: access.All(access.Read).Narrowed(),
			price: priceSearch, handle: s.previewDecisions, body: PreviewRequest{}, answer: &review.Effect{},
			failures: decideErrors[:len(decideErrors)-2],
			summary:  "Which pairs of the review queue are selected, and the effect of one verdict about all of them; changes nothing",
		},
		{
			method: "POST", path: "/v1/decisions/bulk", class: writes, needs: access.All(access.Decide).Narrowed(),
			price: priceSearch, handle: s.decideBulk, body: BulkRequest{}, answer: &BulkResponse{},
			failures: append([]Code{CodeConflict}, decideErrors...),
			summary:  "Make one decision about each selected pair of the review queue, as one batch",
		},
		{
			method: "POST", path: "/v1/decisions/bulk/{batch}/undo", class: writes, needs: access.All(access.Decide).Narrowed(),
			handle: s.undoBulk, body: UndoRequest{}, answer: DecideResponse{}, failures: decideErrors,
			summary: "Withdraw the decisions of a batch that are still in force",
		},
		{
			method: "GET", path: "/v1/decisions", class: reads, needs: access.All(access.Read).Narrowed(),
			handle: s.listDecisions, answer: DecisionList{}, failures: findErrors,
			summary: "List decisions, in the order of their records' puids",
			query: append([]param{
				{"of", "Only decisions about a record, given as puid or SOURCE:KEY, or about the records of an entity, given as its id", false},
				{"withdrawn", "true includes withdrawn decisions", false},
			}, pageParams...),
		},
	}
}
