// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/resolve"
)

// routes returns the table, in the order of the documentation.
func (s *Server) routes() []route {
	lists := []param{
		{"limit", "How many to answer with at most, 1 to 1000; 100 if left out. A page of about 4 MiB ends earlier, with a cursor", false},
		{"cursor", "Where the page before ended, as it said; belongs to the same route and filters", false},
	}
	reading := []Code{CodeMalformed, CodeInvalid, CodeOverloaded, CodeUnavailable}
	finding := append([]Code{CodeNotFound, CodeErased}, reading...)
	following := append([]Code{CodeTrimmed}, finding...)
	fresh := []param{
		{"min_watermark", "Waits until the answer contains this watermark, such as that of a write: g0-0:17,g0-1:4", false},
		{"latest", "true waits for everything that was committed when the question came", false},
		{"partial", "true answers though some cells cannot be asked, and names them as missing", false},
	}
	changing := []Code{
		CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
		CodeInvalid, CodeConflict, CodeLeaseLost, CodeOverloaded, CodeUnavailable, CodeStaleMap, CodeCommitUnknown, CodeNoRoom,
	}
	deciding := []Code{
		CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
		CodeInvalid, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
	}
	ranging := []param{
		{"from", "Begin of the range: RFC 3339, or a date, which is when that day begins in the zone. It is moved to the begin of its step", true},
		{"to", "End of the range, as from: steps that begin there or later are left out", true},
		{"step", "minute, hour or day", true},
		{"zone", "Such as Europe/Berlin: where hours and days begin. UTC if left out", false},
	}
	return []route{
		{
			method: "POST", path: "/v1/records", class: writes, handle: s.putRecords, body: PutRequest{}, answer: PutResponse{},
			summary: "Put 1 to 1000 records; durable and resolved when answered, with a result for each in order",
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField,
				CodeTooLarge, CodeMediaType, CodeInvalid, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
			},
		},
		{
			method: "GET", path: "/v1/records", class: reads, handle: s.listRecords, answer: RecordList{}, failures: reading,
			summary: "List live records in the order of their puids",
			query: append([]param{
				{"source", "Only the records of this source", false},
				{"kind", "Only the records of this kind", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/records/{source}/{key...}", class: reads, handle: s.getRecord, answer: Record{}, failures: finding,
			summary: "Get a record by its external key, whose bytes are percent-encoded",
		},
		{
			method: "DELETE", path: "/v1/records/{source}/{key...}", class: writes, handle: s.deleteRecord, answer: Deleted{},
			failures: append([]Code{CodeCommitUnknown}, finding...),
			summary:  "Delete a record; what it alone held together is separated",
			query:    []param{{"erase", "true removes also what people have decided about it; POST /v1/vacuum clears the files", false}},
		},
		{
			method: "GET", path: "/v1/entities", class: reads, price: priceSearch, handle: s.listEntities, answer: EntityList{}, failures: reading,
			summary: "Search entities, the best first; all of them in the order of ids if nothing is asked for",
			query: append([]param{
				{"q", "Words that must all be in a name, a category or a city, the last one as a beginning too; at most 256 bytes", false},
				{"filter", "ATTRIBUTE:VALUE, compared as the kind normalises it; may be given several times, all must hold", false},
				{"has", "An attribute that must have a value; may be given several times", false},
				{"without", "An attribute that must have no value; may be given several times", false},
				{"kind", "Only entities of this kind", false},
				{"order", "best, the order of rank.points, or id; without it best if anything is asked for", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/entities/{id}", class: reads, handle: s.getEntity, answer: Entity{}, failures: finding,
			summary: "Get an entity; a former id leads to the entity that it was merged into, and the answer says so",
		},
		{
			method: "GET", path: "/v1/entities/{id}/why", class: reads, handle: s.why, answer: Why{}, failures: finding,
			summary: "Why the records of an entity belong together",
		},
		{
			method: "GET", path: "/v1/entities/{id}/how", class: reads, handle: s.how, answer: How{}, failures: finding,
			summary: "How an entity came to be: the steps of clustering, and what the logs still hold",
		},
		{
			method: "GET", path: "/v1/entities/{id}/history", class: reads, handle: s.history, answer: History{}, failures: finding,
			summary: "What the logs still hold of an entity and its records",
		},
		{
			method: "GET", path: "/v1/entities/{id}/relations", class: reads, handle: s.relations, answer: RelationList{}, failures: finding,
			summary: "What an entity is a part of, what is a part of it, and what is at one spot with it",
		},
		{
			method: "POST", path: "/v1/entities/{id}/unmerge", class: writes, handle: s.unmerge, body: UnmergeRequest{}, answer: DecideResponse{},
			failures: append([]Code{CodeNotFound, CodeErased}, deciding...),
			summary:  "Take records out of an entity: what was decided to hold them is withdrawn, and they are different from every other member",
		},
		{
			method: "POST", path: "/v1/what-if", class: reads, price: priceSearch, handle: s.whatIf, body: WhatIfRequest{}, answer: Scenario{},
			failures: append([]Code{CodeNotFound, CodeErased}, deciding[:len(deciding)-2]...),
			summary:  "What entities would be if records were deleted, decisions made, or bits others; changes nothing",
		},
		{
			method: "POST", path: "/v1/match", class: matches, handle: s.match, body: MatchRequest{}, answer: MatchResponse{},
			failures: deciding[:len(deciding)-2],
			summary:  "Match 1 to 1000 records without storing them: the entities near each, and what a put would do; changes nothing",
		},
		{
			method: "GET", path: "/v1/review", class: reads, price: priceSearch, handle: s.review, answer: ReviewList{}, failures: reading,
			summary: "Pairs of records that a person should decide about, the best first",
			query:   []param{{"limit", "How many to answer with at most, 1 to 100; 20 if left out", false}, lists[1]},
		},
		{
			method: "POST", path: "/v1/decisions", class: writes, handle: s.decide, body: DecideRequest{}, answer: DecideResponse{}, failures: deciding,
			summary: "Make or withdraw 1 to 1000 decisions; durable when answered, with a result for each in order",
		},
		{
			method: "GET", path: "/v1/decisions", class: reads, handle: s.listDecisions, answer: DecisionList{}, failures: finding,
			summary: "What people decided, in the order of their records' puids",
			query: append([]param{
				{"of", "Only those about a record, given as puid or SOURCE:KEY, or about any record of an entity, given as its id", false},
				{"withdrawn", "true takes in those that were withdrawn", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/why-not", class: reads, handle: s.whyNot, answer: explain.Comparison{}, failures: finding,
			summary: "Why two records are in one entity or in two",
			query: []param{
				{"a", "Entity id, puid or SOURCE:KEY", true},
				{"b", "Entity id, puid or SOURCE:KEY", true},
			},
		},
		{
			method: "GET", path: "/v1/find", class: reads, handle: s.find, answer: Entity{}, failures: finding,
			summary: "Find the entity behind an address",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/route", class: reads, handle: s.route, answer: explain.Route{}, failures: reading,
			summary: "Where an address lives, and why",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/status", class: reads, price: priceSearch, handle: s.status, answer: cells.Status{}, failures: reading,
			summary: "The state of the installation and of each cell",
		},
		{
			method: "GET", path: "/v1/cells", class: reads, price: priceSearch, handle: s.cells, answer: CellList{}, failures: reading,
			summary: "All cells with their states, and the generations that they belong to",
		},
		{
			method: "GET", path: "/v1/cells/{id}", class: reads, handle: s.cell, answer: CellDetail{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "One cell, such as g1-19, with its piece of the ring and its range of puids",
		},
		{
			method: "GET", path: "/v1/map", class: reads, handle: s.cellMap, answer: map[string]any{}, failures: reading,
			summary: "The newest cell map, as it is stored: arithmetic leads from any address to its cell",
		},
		{
			method: "GET", path: "/v1/map/history", class: reads, handle: s.mapHistory, answer: MapHistory{}, failures: reading,
			summary: "The versions of the cell map that are kept, the oldest first",
		},
		{
			method: "POST", path: "/v1/cells/plan", class: admin, handle: s.planGrowth, body: GrowRequest{}, answer: cell.Plan{}, failures: changing,
			summary: "What a new generation of cells would mean, or why there cannot be such a one; changes nothing",
		},
		{
			method: "POST", path: "/v1/cells/grow", class: admin, stream: s.grow, body: GrowRequest{}, answer: Changed{}, failures: changing,
			summary: "Add a generation of cells, during reads and writes; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/vacuum", class: admin, stream: s.vacuum, answer: Vacuumed{}, failures: changing,
			summary: "Remove what erased records said from the files of every cell; a line for each cell; may be stopped and asked for again",
		},
		{
			method: "POST", path: "/v1/check", class: admin, stream: s.check, body: CheckRequest{}, answer: Checked{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Compare everything that the cells hold with what it should be, while everything goes on: a line of type difference for each row that differs, then how many; may be stopped and asked for again",
		},
		{
			method: "POST", path: "/v1/cells/compact", class: admin, stream: s.compact, body: CompactRequest{}, answer: Changed{}, failures: changing,
			summary: "Copy the keys of old generations into the current one; may be stopped and asked for again anywhere",
		},
		{
			method: "POST", path: "/v1/cells/{id}/move", class: admin, stream: s.move, body: MoveRequest{}, answer: cell.MoveProgress{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Move a cell to another database, during reads and writes; can be interrupted and repeated at any point",
		},
		{
			method: "GET", path: "/v1/schema", class: reads, handle: s.schema, answer: Schema{}, failures: reading,
			query:   []param{{"kind", "The kind; the first of the installation if left out", false}},
			summary: "The kind of things: its attributes and their types",
		},
		{
			method: "GET", path: "/v1/kinds", class: reads, handle: s.listKinds, answer: KindList{}, failures: reading,
			summary: "All kinds of things, and how they are resolved",
		},
		{
			method: "GET", path: "/v1/kinds/{kind}", class: reads, handle: s.getKind, answer: Kind{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "A kind of things with its schema",
		},
		{
			method: "PUT", path: "/v1/kinds/{kind}", class: admin, handle: s.putKind, body: map[string]any{}, yaml: true, answer: Kind{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changing,
			summary: "Create a kind of things. 201 if it is new, 200 if it is the same already; another one of that name is refused, since a migration changes it",
		},
		{
			method: "POST", path: "/v1/kinds/{kind}/diff", class: admin, stream: s.diffKind, body: KindRequest{}, answer: kinds.Diff{},
			failures: append([]Code{CodeNotFound, CodeRange}, changing...),
			summary:  "What would merge, split and change if a kind were resolved by another schema or term-frequency table; changes nothing",
		},
		{
			method: "POST", path: "/v1/kinds/{kind}/migrate", class: admin, stream: s.switchKind, body: KindRequest{}, answer: Kind{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Resolve a kind by another schema or term-frequency table, during reads and writes; can be interrupted and repeated at any point, and is also finished by the servers",
		},
		{
			method: "GET", path: "/v1/term-frequencies", class: reads, handle: s.listTerms, answer: TermsList{}, failures: reading,
			summary: "The term-frequency tables that are kept: statistics that names are weighed with",
		},
		{
			method: "POST", path: "/v1/term-frequencies", class: admin, stream: s.buildTerms, body: TermsRequest{}, answer: resolve.Terms{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Count the records of a kind and keep what is found as a term-frequency table; nothing is resolved by it before a migration",
		},
		{
			method: "GET", path: "/v1/rollups", class: reads, handle: s.listRollups, answer: RollupList{}, failures: reading,
			summary: "All live aggregates with how they stand",
		},
		{
			method: "GET", path: "/v1/rollups/{name}", class: reads, handle: s.getRollup, answer: Rollup{}, failures: finding,
			summary: "How a live aggregate stands, in each cell",
		},
		{
			method: "PUT", path: "/v1/rollups/{name}", class: writes, handle: s.putRollup, body: RollupRequest{}, yaml: true, answer: Rollup{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changing,
			summary: "Define a live aggregate; another definition is built beside the one that serves. 201 if it is new or another one, 200 if that is the definition already",
		},
		{
			method: "DELETE", path: "/v1/rollups/{name}", class: writes, handle: s.deleteRollup, statuses: []int{http.StatusNoContent},
			failures: append([]Code{CodeCommitUnknown}, finding...), summary: "Drop a live aggregate",
		},
		{
			method: "POST", path: "/v1/rollups/{name}/rebuild", class: writes, handle: s.rebuildRollup, answer: Rollup{}, statuses: []int{http.StatusAccepted},
			failures: append([]Code{CodeCommitUnknown}, finding...),
			summary:  "Count a live aggregate anew, beside the generation that serves; answers once that is under way",
		},
		{
			method: "POST", path: "/v1/rollups/{name}/verify", class: admin, stream: s.verifyRollup, answer: RollupVerified{}, failures: append([]Code{CodeConflict}, finding...),
			summary: "Compare a live aggregate with its recomputation, while everything goes on: a line of type verified for each cell, then the sums",
		},
		{
			method: "GET", path: "/v1/rollups/{name}/groups", class: reads, price: priceSearch, handle: s.rollupGroups, answer: RollupGroups{}, failures: following,
			summary: "Groups in their order, or the largest ones, in one snapshot of each cell",
			query: slices.Concat([]param{
				{"limit", lists[0].doc, false},
				{"after", "Where the page before ended, as its next said; belongs to the same live aggregate", false},
				{"top", "With by: the groups whose total of a measure is largest, so many, 1 to 1000. Values of min, max, top and distinct are not in such an answer", false},
				{"by", "With top: the measure", false},
			}, fresh),
		},
		{
			method: "GET", path: "/v1/rollups/{name}/groups/{group...}", class: reads, handle: s.rollupGroup, answer: RollupOne{}, failures: following, query: fresh,
			summary: "One group: a segment of the path for each attribute that makes the groups, percent-encoded, slashes too",
		},
		{
			method: "GET", path: "/v1/rollups/{name}/explain/{group...}", class: reads, handle: s.explainRollup, answer: RollupEffects{}, failures: following,
			summary: "The latest changes that touched a group",
			query:   []param{{"limit", "How many of each cell at most, 1 to 1000; 100 if left out", false}},
		},
		{
			method: "GET", path: "/v1/changes", class: reads, handle: s.changes, events: s.followChanges, answer: ChangeList{},
			failures: append([]Code{CodeNotFound, CodeTrimmed}, reading...),
			summary:  "What has changed in the cells, in the order of each cell's log; with Accept: text/event-stream as it happens",
			query: []param{
				{"cell", "Only these, such as g1-19 or g1-19,g1-20; all if left out", false},
				{"after", "A watermark, such as g0-0:17,g0-1:4, as next says: leaves out what lies up to it. Left out, a page begins at the beginning of the logs, a feed at their end", false},
				{"limit", lists[0].doc, false},
			},
		},
		{
			method: "GET", path: "/v1/tail", class: reads, handle: s.logEnds, answer: Tail{}, failures: reading,
			summary: "Where the logs of all cells end now, as a watermark",
		},
		{
			method: "GET", path: "/v1/ids", class: reads, handle: s.listIDs, answer: IDList{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "What the ids of a cell lead to, in their order: every id that was given out, with its entity, where it redirects to, or that it was deleted. For a mirror",
			query: []param{
				{"cell", "Such as g1-19", true},
				{"after", "Where the page before ended, as its next said", false},
				{"limit", lists[0].doc, false},
			},
		},
		{
			method: "POST", path: "/v1/ids", class: reads, handle: s.lookIDs, body: IDRequest{}, answer: IDAnswer{},
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
				CodeInvalid, CodeOverloaded, CodeUnavailable,
			},
			summary: "What at most 200 ids lead to, and those that records were born with, each with the place in its cell's log that this is true at; changes nothing",
		},
		{
			method: "GET", path: "/v1/export/{what}", class: reads, price: priceSearch, download: s.export,
			failures: append([]Code{CodeTrimmed, CodeDamaged}, reading...),
			summary:  "All records, entities, links or decisions, row by row, as JSON lines or CSV. An answer that cannot be finished is cut off, never ended",
			query: []param{
				{"format", "csv or jsonl; without it, what the header Accept prefers of text/csv and application/jsonl, which is what it is without either", false},
				{"kind", "Only this kind", false},
				{"source", "Only this source; of entities, those with a record of it", false},
				{"columns", "Only these, in this order, separated by commas; records also have entity, puid and version, decisions at, entity_a and entity_b", false},
				{"since", "A watermark, such as that of an earlier export: only what has changed after it, with a column op of upsert, redirect or delete", false},
			},
		},
		{
			method: "POST", path: "/v1/hits", class: hits, handle: s.addHits, body: HitRequest{}, answer: HitResponse{}, headers: []param{
				{keyHeader, "Makes the batch count once, however often it is sent: 1 to 128 visible ASCII characters. Remembered for 7 days at least; later repeats are refused as too_old", false},
				{producerHeader, "With Locus-Seq, in the place of a key: who sends, 32 hexadecimal digits drawn at random", false},
				{seqHeader, "With Locus-Producer: the number of the batch, which rises. A batch is repeated under its number, and the next one is sent when it was answered", false},
			},
			summary: "Count 1 to 1000 hits; durable when answered, with a result for each in order. With a key, or a producer and a number, they count once however often they are sent",
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
				CodeInvalid, CodeKeyReused, CodeConflict, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
			},
		},
		{
			method: "GET", path: "/v1/series", class: reads, handle: s.getSeries, answer: Series{}, csv: true,
			failures: append([]Code{CodeNotFound, CodeRange}, reading...),
			summary:  "What was counted, by minute, hour or day; all of a metric is of one moment",
			query: append([]param{
				{"metric", "The name of a metric", false},
				{"prefix", "In the place of metric: all whose names begin so", false},
			}, ranging...),
		},
		{
			method: "POST", path: "/v1/series/query", class: reads, price: priceSearch, handle: s.querySeries, body: SeriesRequest{}, answer: Series{}, csv: true,
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
				CodeInvalid, CodeRange, CodeNotFound, CodeOverloaded, CodeUnavailable,
			},
			summary: "GET /v1/series for a list of names; changes nothing",
		},
		{
			method: "GET", path: "/v1/series/explain", class: reads, handle: s.explainHit, answer: counter.Explanation{},
			failures: append([]Code{CodeNotFound}, reading...),
			summary:  "What a hit of a metric at a time touches: rows and places in them",
			query:    []param{{"metric", "The name of a metric", true}, {"at", "RFC 3339", true}},
		},
		{
			method: "GET", path: "/v1/metrics", class: reads, price: priceSearch, handle: s.listMetrics, answer: MetricList{}, failures: reading,
			summary: "List metrics in the order of their names",
			query:   append([]param{{"prefix", "Only those whose names begin so", false}}, lists...),
		},
		{
			method: "GET", path: "/v1/top", class: reads, price: priceSearch, handle: s.top, answer: Top{}, failures: reading,
			summary: "The counters that were hit most on a day, exactly",
			query: []param{
				{"day", "Such as 2026-11-20, in UTC", true},
				{"prefix", "Only those whose names begin so", false},
				{"k", "How many, 1 to 1000; 10 if left out", false},
			},
		},
		{
			method: "GET", path: "/livez", class: health, handle: s.livez, answer: Liveness{},
			summary: "200 while the process runs; asks no store",
		},
		{
			method: "GET", path: "/readyz", class: health, handle: s.readyz, answer: Health{},
			summary: "200 when it can serve, 503 with the reason when not",
		},
		{
			method: "GET", path: "/version", class: health, handle: s.version, answer: Version{},
			summary: "Version and commit",
		},
		{
			method: "GET", path: "/metrics", class: health, handle: s.metrics,
			summary: "Metrics in the text format of Prometheus",
		},
		{
			method: "GET", path: "/openapi.json", class: health, handle: s.openapi,
			summary: "This document",
		},
	}
}
