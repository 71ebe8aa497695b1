// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"slices"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/resolve"
)

// kindRoutes returns the routes of kinds.
func (s *Server) kindRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/schema", class: reads, needs: access.All(access.Schema).Narrowed(), handle: s.schema,
			answer: Schema{}, failures: readErrors,
			query:   []param{{"kind", "Kind; by default the first of the installation", false}},
			summary: "The attributes of a kind and their types",
		},
		{
			method: "GET", path: "/v1/kinds", class: reads, needs: access.All(access.Schema).Narrowed(), handle: s.listKinds,
			answer: KindList{}, failures: readErrors,
			summary: "List kinds, and how they are resolved",
		},
		{
			method: "GET", path: "/v1/kinds/{kind}", class: reads, needs: access.All(access.Schema).Narrowed(),
			handle: s.getKind, answer: Kind{}, failures: append([]Code{CodeNotFound}, readErrors...),
			summary: "A kind with its schema",
		},
		{
			method: "PUT", path: "/v1/kinds/{kind}", class: admin, needs: access.All(access.Define), handle: s.putKind,
			body: map[string]any{}, yaml: true, answer: Kind{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changeErrors,
			summary: "Create a kind. 201 if it is new, 200 if the same kind exists; a different kind of that name is refused: use a migration",
		},
		{
			method: "POST", path: "/v1/kinds/{kind}/diff", class: admin, audit: audit.Read, needs: access.All(access.Define),
			stream: s.diffKind, body: KindRequest{}, answer: kinds.Diff{},
			failures: append([]Code{CodeNotFound, CodeRange}, changeErrors...),
			summary:  "What would merge, split and change with another schema or term-frequency table; changes nothing",
		},
		{
			method: "POST", path: "/v1/kinds/{kind}/migrate", class: admin, needs: access.All(access.Define),
			stream: s.switchKind, body: KindRequest{}, answer: Kind{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Resolve a kind by another schema or term-frequency table while reads and writes continue; can be interrupted and repeated at any point, and the servers finish it",
		},
		{
			method: "GET", path: "/v1/upgrade", class: reads, needs: access.All(access.Schema).Masked(), handle: s.getUpgrade,
			answer: Upgrade{}, failures: readErrors,
			summary: "Whether the entities were made by an older version of the matcher, and the progress of an upgrade",
		},
		{
			method: "POST", path: "/v1/upgrade", class: admin, needs: access.All(access.Define), stream: s.upgrade,
			body: UpgradeRequest{}, answer: Upgrade{},
			failures: append([]Code{CodeRange}, changeErrors...),
			summary:  "Resolve all records by this server's matcher while reads continue; records that are put wait for the first part. Can be interrupted and repeated at any point, and the servers finish it",
		},
		{
			method: "GET", path: "/v1/term-frequencies", class: reads, needs: access.All(access.Schema).Narrowed(),
			handle: s.listTerms, answer: TermsList{}, failures: readErrors,
			summary: "List the stored term-frequency tables, by which names are weighted",
		},
		{
			method: "POST", path: "/v1/term-frequencies", class: admin, needs: access.All(access.Define), stream: s.buildTerms,
			body: TermsRequest{}, answer: resolve.Terms{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Count the names of a kind's records and store them as a term-frequency table, which takes effect with a migration",
		},
	}
}

// rollupRoutes returns the routes of rollups.
func (s *Server) rollupRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/rollups", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.listRollups,
			answer: RollupList{}, failures: readErrors,
			summary: "List rollups with their states",
		},
		{
			method: "GET", path: "/v1/rollups/{name}", class: reads, needs: access.All(access.Read).Narrowed(),
			handle: s.getRollup, answer: Rollup{}, failures: findErrors,
			summary: "State of a rollup in each cell",
		},
		{
			method: "PUT", path: "/v1/rollups/{name}", class: writes, needs: access.All(access.Define), handle: s.putRollup,
			body: RollupRequest{}, yaml: true, answer: Rollup{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changeErrors,
			summary: "Define a rollup; a different definition is built beside the serving one. 201 if it is new or different, 200 if it is unchanged",
		},
		{
			method: "DELETE", path: "/v1/rollups/{name}", class: writes, needs: access.All(access.Define),
			handle: s.deleteRollup, statuses: []int{http.StatusNoContent},
			failures: append([]Code{CodeCommitUnknown}, findErrors...), summary: "Drop a rollup",
		},
		{
			method: "POST", path: "/v1/rollups/{name}/rebuild", class: writes, needs: access.All(access.Define),
			handle: s.rebuildRollup, answer: Rollup{}, statuses: []int{http.StatusAccepted},
			failures: append([]Code{CodeCommitUnknown}, findErrors...),
			summary:  "Compute a rollup again beside the serving generation; returns once the build has started",
		},
		{
			method: "POST", path: "/v1/rollups/{name}/verify", class: admin, needs: access.All(access.Operate),
			stream: s.verifyRollup, answer: RollupVerified{}, failures: append([]Code{CodeConflict}, findErrors...),
			summary: "Compare a rollup with its recomputation while reads and writes continue: a line of type verified for each cell, then the sums",
		},
		{
			method: "GET", path: "/v1/rollups/{name}/groups", class: reads, needs: access.All(access.Read).Narrowed(),
			price: priceSearch, handle: s.rollupGroups, answer: RollupGroups{}, failures: followErrors,
			summary: "List the groups of a rollup, or the largest, from one snapshot of each cell",
			query: slices.Concat([]param{
				{"limit", pageParams[0].doc, false},
				{"after", "The next of the previous page of the same rollup", false},
				{"top", "With by: number of groups with the largest totals, 1 to 1000. Values of min, max, top and distinct are left out", false},
				{"by", "With top: the measure to order by", false},
			}, freshParams),
		},
		{
			method: "GET", path: "/v1/rollups/{name}/groups/{group...}", class: reads, needs: access.All(access.Read).Narrowed(),
			handle: s.rollupGroup, answer: RollupOne{}, failures: followErrors, query: freshParams,
			summary: "One group: a path segment for each grouping attribute, percent-encoded, including slashes",
		},
		{
			method: "GET", path: "/v1/rollups/{name}/explain/{group...}", class: reads,
			needs: access.All(access.Read).Narrowed(), handle: s.explainRollup, answer: RollupEffects{}, failures: followErrors,
			summary: "The latest changes of a group",
			query:   []param{{"limit", "Maximum number for each cell, 1 to 1000; 100 by default", false}},
		},
	}
}

// counterRoutes returns the routes of counters.
func (s *Server) counterRoutes() []route {
	return []route{
		{
			method: "POST", path: "/v1/hits", class: hits, needs: access.All(access.Count).Narrowed(), handle: s.addHits, body: HitRequest{}, answer: HitResponse{}, headers: []param{
				{keyHeader, "The batch counts once, however often it is sent with this key: 1 to 128 visible ASCII characters. Remembered for at least 7 days; later repeats are refused as too_old", false},
				{producerHeader, "With Locus-Seq, instead of a key: the producer, 32 random hexadecimal digits", false},
				{seqHeader, "With Locus-Producer: the increasing number of the batch. Repeat a batch under its number, and send the next one after the response", false},
			},
			summary: "Count 1 to 1000 hits. The response has a result for each, in order, once they are durable. With a key, or a producer and a number, they count once however often they are sent",
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge,
				CodeMediaType,
				CodeInvalid, CodeKeyReused, CodeConflict, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
			},
		},
		{
			method: "GET", path: "/v1/series", class: reads, needs: access.All(access.Read).Masked(), handle: s.getSeries,
			answer: Series{}, csv: true,
			failures: append([]Code{CodeNotFound, CodeRange}, readErrors...),
			summary:  "A metric by minute, hour or day; all values of a metric are of one moment",
			query: append([]param{
				{"metric", "Name of a metric", false},
				{"prefix", "Instead of metric: all metrics with this prefix", false},
			}, rangeParams...),
		},
		{
			method: "POST", path: "/v1/series/query", class: reads, needs: access.All(access.Read).Masked(), price: priceSearch,
			handle: s.querySeries, body: SeriesRequest{}, answer: Series{}, csv: true,
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge,
				CodeMediaType,
				CodeInvalid, CodeRange, CodeNotFound, CodeOverloaded, CodeUnavailable,
			},
			summary: "GET /v1/series for a list of names; changes nothing",
		},
		{
			method: "GET", path: "/v1/series/explain", class: reads, needs: access.All(access.Read).Masked(),
			handle: s.explainHit, answer: counter.Explanation{},
			failures: append([]Code{CodeNotFound}, readErrors...),
			summary:  "The rows, and the fields in them, that a hit of a metric changes",
			query:    []param{{"metric", "Name of a metric", true}, {"at", "RFC 3339", true}},
		},
		{
			method: "GET", path: "/v1/metrics", class: reads, needs: access.All(access.Read).Masked(), price: priceSearch,
			handle: s.listMetrics, answer: MetricList{}, failures: readErrors,
			summary: "List metrics in the order of their names",
			query:   append([]param{{"prefix", "Only metrics with this prefix", false}}, pageParams...),
		},
		{
			method: "GET", path: "/v1/top", class: reads, needs: access.All(access.Read).Masked(), price: priceSearch,
			handle: s.top, answer: Top{}, failures: readErrors,
			summary: "The counters with the most hits of a day, exactly",
			query: []param{
				{"day", "Day in UTC, such as 2026-11-20", true},
				{"prefix", "Only metrics with this prefix", false},
				{"k", "Number of counters, 1 to 1000; 10 by default", false},
			},
		},
	}
}
