// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"slices"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/tokens"
)

// routes returns the table, in the order of the documentation.
func (s *Server) routes() []route {
	lists := []param{
		{"limit", "Maximum number of items, 1 to 1000; 100 by default. A page ends earlier at about 4 MiB, with a cursor", false},
		{"cursor", "Cursor that the previous page returned; valid for the same route and filters", false},
	}
	reading := []Code{CodeMalformed, CodeInvalid, CodeOverloaded, CodeUnavailable}
	finding := append([]Code{CodeNotFound, CodeErased}, reading...)
	following := append([]Code{CodeTrimmed}, finding...)
	fresh := []param{
		{"min_watermark", "Wait until the result includes this watermark, such as that of a write: g0-0:17,g0-1:4", false},
		{"latest", "true waits for everything committed before the request", false},
		{"partial", "true returns a result without unavailable cells, which it lists as missing", false},
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
		{"from", "Begin of the range: RFC 3339, or a date, which means the begin of that day in the zone. Rounded down to a step", true},
		{"to", "End of the range, exclusive, in the form of from", true},
		{"step", "minute, hour or day", true},
		{"zone", "Time zone of hours and days, such as Europe/Berlin; UTC by default", false},
	}
	return []route{
		{
			method: "POST", path: "/v1/records", class: writes, needs: access.All(access.Write).BySource().Narrowed(), handle: s.putRecords, body: PutRequest{}, answer: PutResponse{},
			summary: "Put 1 to 1000 records. The response has a result for each, in order, once they are durable and resolved",
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField,
				CodeTooLarge, CodeMediaType, CodeInvalid, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
			},
		},
		{
			method: "GET", path: "/v1/records", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.listRecords, answer: RecordList{}, failures: reading,
			summary: "List live records in the order of their puids",
			query: append([]param{
				{"source", "Only records of this source", false},
				{"kind", "Only records of this kind", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/records/{source}/{key...}", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.getRecord, answer: Record{}, failures: finding,
			summary: "Get a record by its external key, whose bytes are percent-encoded",
		},
		{
			method: "DELETE", path: "/v1/records/{source}/{key...}", class: writes, needs: access.Any(access.Write, access.Erase).BySource().Narrowed(), handle: s.deleteRecord, answer: Deleted{},
			failures: append([]Code{CodeCommitUnknown}, finding...),
			summary:  "Delete a record; records that only it connected are separated",
			query:    []param{{"erase", "true also removes the decisions about it; POST /v1/vacuum clears the files", false}},
		},
		{
			method: "POST", path: "/v1/records/delete", class: writes, needs: access.All(access.Write).BySource().Narrowed(), handle: s.deleteRecords, body: DeleteRequest{}, answer: DeleteResponse{}, failures: deciding,
			summary: "Delete 1 to 1000 records, each on condition of its version if that is given. The response has a result for each, in order, once they are durable",
		},
		{
			method: "GET", path: "/v1/sources", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.listSources, answer: SourceList{}, failures: reading,
			summary: "List the sources that have live records, with their numbers by kind; reads every record without its content",
		},
		{
			method: "GET", path: "/v1/sources/{source}", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.getSource, answer: Source{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "One source, as in the list",
			query:   []param{{"count", "false leaves out the numbers of records if the source has a stream: its state alone is quick", false}},
		},
		{
			method: "PUT", path: "/v1/sources/{source}", class: admin, needs: access.All(access.Define).BySource(), handle: s.putStream, body: StreamRequest{}, answer: Source{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: append([]Code{CodeNotFound}, changing...),
			summary: "Let the servers read a source from a stream. 201 if it is new or changed, 200 if it is the same already; the URL cannot be changed",
		},
		{
			method: "DELETE", path: "/v1/sources/{source}", class: admin, needs: access.All(access.Define).BySource(), handle: s.deleteStream, statuses: []int{http.StatusNoContent},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, reading...),
			summary:  "Forget the stream of a source, with its position and dead letters; the records stay",
		},
		{
			method: "POST", path: "/v1/sources/{source}/pause", class: admin, needs: access.All(access.Define).BySource(), handle: s.pauseStream, answer: Source{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, reading...),
			summary:  "Stop reading the stream of a source",
		},
		{
			method: "POST", path: "/v1/sources/{source}/resume", class: admin, needs: access.All(access.Define).BySource(), handle: s.resumeStream, body: ResumeRequest{}, answer: Source{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Go on reading the stream of a source where it stopped, or from its start",
		},
		{
			method: "GET", path: "/v1/sources/{source}/dead", class: reads, needs: access.All(access.Read), handle: s.deadLetters, answer: LetterList{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "The messages of a stream that cannot become records, at most 1000, with the reason of each",
		},
		{
			method: "POST", path: "/v1/sources/{source}/dead/retry", class: admin, needs: access.All(access.Define).BySource(), handle: s.retryLetters, body: LettersRequest{}, answer: Handled{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Read messages of dead letters again; returns before that is done",
		},
		{
			method: "POST", path: "/v1/sources/{source}/dead/drop", class: admin, needs: access.All(access.Define).BySource(), handle: s.dropLetters, body: LettersRequest{}, answer: Handled{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Forget dead letters",
		},
		{
			method: "GET", path: "/v1/entities", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.listEntities, answer: EntityList{}, failures: reading,
			summary: "Search entities, best first, or list them in the order of ids",
			query: append([]param{
				{"q", "Words that must all occur in a name, a category or a city; the last may be a prefix; at most 256 bytes", false},
				{"filter", "ATTRIBUTE:VALUE, normalised as the kind does; may be repeated, all must hold", false},
				{"has", "Attribute that must have a value; may be repeated", false},
				{"without", "Attribute that must have no value; may be repeated", false},
				{"kind", "Only entities of this kind", false},
				{"order", "best (by rank.points) or id; best by default if there is a search or a filter", false},
				{"typos", "Typing errors forgiven in each word of q: 0, 1, 2, or auto for one from 3 letters and two from 6; exact hits come first. By default auto if there are none, otherwise 0", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/entities/{id}", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.getEntity, answer: Entity{}, failures: finding,
			summary: "Get an entity. A former id returns the entity that it was merged into, with redirected_from",
		},
		{
			method: "GET", path: "/v1/entities/{id}/why", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.why, answer: Why{}, failures: finding,
			summary: "Why the records of an entity belong together",
		},
		{
			method: "GET", path: "/v1/entities/{id}/how", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.how, answer: How{}, failures: finding,
			summary: "How an entity came to be: the steps of clustering, and its changes in the logs",
		},
		{
			method: "GET", path: "/v1/entities/{id}/history", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.history, answer: History{}, failures: finding,
			summary: "The changes of an entity and its records that are still in the logs",
		},
		{
			method: "GET", path: "/v1/entities/{id}/relations", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.relations, answer: RelationList{}, failures: finding,
			summary: "The entities that contain an entity, are part of it, or share its location",
		},
		{
			method: "POST", path: "/v1/entities/{id}/unmerge", class: writes, needs: access.All(access.Decide).Narrowed(), handle: s.unmerge, body: UnmergeRequest{}, answer: DecideResponse{},
			failures: append([]Code{CodeNotFound, CodeErased}, deciding...),
			summary:  "Take records out of an entity: withdraw the decisions that hold them, and decide that they differ from every other member",
		},
		{
			method: "POST", path: "/v1/what-if", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.whatIf, body: WhatIfRequest{}, answer: Scenario{},
			failures: append([]Code{CodeNotFound, CodeErased}, deciding[:len(deciding)-2]...),
			summary:  "The entities under other records, decisions or match weights; changes nothing",
		},
		{
			method: "POST", path: "/v1/match", class: matches, needs: access.All(access.Read).Narrowed(), handle: s.match, body: MatchRequest{}, answer: MatchResponse{},
			failures: append([]Code{CodeNotFound}, deciding[:len(deciding)-2]...),
			summary:  "Match 1 to 1000 records without storing them: the candidates of each, and what a put would do",
			query:    []param{{"min_watermark", "Wait until the databases that this server reads contain this watermark, such as that of a write", false}},
		},
		{
			method: "POST", path: "/mcp", class: toolCalls, audit: audit.Read, needs: access.All(access.Read).Narrowed(), handle: s.agents, body: map[string]any{}, answer: map[string]any{},
			statuses: []int{http.StatusOK, http.StatusAccepted}, failures: []Code{CodeNotFound, CodeMalformed, CodeTooLarge, CodeMediaType, CodeInvalid, CodeOverloaded, CodeUnavailable},
			summary: "A message of the Model Context Protocol, by its streamable HTTP transport without sessions. 202 if the message takes no response. Each tool has the permissions of the caller",
			query: []param{
				{"agent", "Name of the agent in sources and authors, such as helpdesk; required with allow", false},
				{"allow", "Tools that store, which the caller must have the permission for: remember, decide, or both with a comma", false},
			},
		},
		{
			method: "GET", path: "/v1/review", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.review, answer: ReviewList{}, failures: reading,
			summary: "Pairs of records for people to decide about",
			query: []param{
				{"limit", "Maximum number of pairs, 1 to 100; 20 by default", false},
				{"order", "best, the default: possible matches, highest match weight first; teaches: also pairs within entities, what teaches most first; chance: all compared pairs, drawn by chance for /v1/quality; second: pairs that another person answered, for a second opinion", false},
				{"source", "Only pairs with a record of this source", false},
				{"kind", "Only pairs of this kind", false},
				{"attribute", "Only pairs that disagree in this attribute", false},
				{"bits", "Only pairs whose match weight has these whole bits", false},
				{"assigned", "all, the default; none: assigned to no person; mine: to the caller; open: mine or none; or the name of a person. With a filter a page may be short though others follow", false},
				lists[1],
			},
		},
		{
			method: "GET", path: "/v1/review/team", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.reviewTeam, answer: &decisions.Team{}, failures: reading,
			summary: "How many pairs each person answered, how often people agree, the pairs they disagree about, and bulk decisions",
		},
		{
			method: "POST", path: "/v1/review/assign", class: writes, needs: access.All(access.Decide).Narrowed(), price: priceSearch, handle: s.assignReview, body: AssignRequest{}, answer: AssignResponse{}, failures: deciding,
			summary: "Assign pairs of the review queue to a person for some days, or release them",
		},
		{
			method: "GET", path: "/v1/quality", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.quality, answer: &decisions.Quality{}, failures: reading,
			summary: "Precision and recall of the entities, estimated from decisions about pairs that were drawn by chance",
		},
		{
			method: "GET", path: "/v1/quality/profile", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.profile, answer: &decisions.Profile{}, failures: reading,
			summary: "What the records look like and what they became: filled attributes, shapes of values, duplicates within sources, sizes of entities, match weights, and what other thresholds would change. Of a sample of a large installation",
			query: []param{
				{"kind", "Only this kind", false},
				{"threshold", "One more match threshold, in bits, whose effect is computed", false},
			},
		},
		{
			method: "POST", path: "/v1/decisions", class: writes, needs: access.All(access.Decide).Narrowed(), handle: s.decide, body: DecideRequest{}, answer: DecideResponse{}, failures: deciding,
			summary: "Make or withdraw 1 to 1000 decisions. The response has a result for each, in order, once they are durable",
		},
		{
			method: "POST", path: "/v1/decisions/preview", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.previewDecisions, body: PreviewRequest{}, answer: &decisions.Effect{}, failures: deciding[:len(deciding)-2],
			summary: "Which pairs of the review queue are chosen, and what one verdict about all of them would do; changes nothing",
		},
		{
			method: "POST", path: "/v1/decisions/bulk", class: writes, needs: access.All(access.Decide).Narrowed(), price: priceSearch, handle: s.decideBulk, body: BulkRequest{}, answer: &BulkResponse{}, failures: append([]Code{CodeConflict}, deciding...),
			summary: "Make one decision about each chosen pair of the review queue, as one batch",
		},
		{
			method: "POST", path: "/v1/decisions/bulk/{batch}/undo", class: writes, needs: access.All(access.Decide).Narrowed(), handle: s.undoBulk, body: UndoRequest{}, answer: DecideResponse{}, failures: deciding,
			summary: "Withdraw the decisions of a batch that still stand",
		},
		{
			method: "GET", path: "/v1/decisions", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.listDecisions, answer: DecisionList{}, failures: finding,
			summary: "List decisions, in the order of their records' puids",
			query: append([]param{
				{"of", "Only decisions about a record, given as puid or SOURCE:KEY, or about the records of an entity, given as its id", false},
				{"withdrawn", "true includes withdrawn decisions", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/why-not", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.whyNot, answer: explain.Comparison{}, failures: finding,
			summary: "Why two records are in the same entity or in different ones",
			query: []param{
				{"a", "Entity id, puid or SOURCE:KEY", true},
				{"b", "Entity id, puid or SOURCE:KEY", true},
			},
		},
		{
			method: "GET", path: "/v1/find", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.find, answer: Entity{}, failures: finding,
			summary: "Find the entity of an address",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/route", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.route, answer: explain.Route{}, failures: reading,
			summary: "The cell of an address, and why it is there",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/status", class: reads, needs: access.Any(access.Read, access.Operate).Masked(), price: priceSearch, handle: s.status, answer: cells.Status{}, failures: reading,
			summary: "State of the installation and of each cell",
		},
		{
			method: "GET", path: "/v1/cells", class: reads, needs: access.All(access.Operate).Masked(), price: priceSearch, handle: s.cells, answer: CellList{}, failures: reading,
			summary: "List cells with their states, and the generations",
		},
		{
			method: "GET", path: "/v1/cells/{id}", class: reads, needs: access.All(access.Operate).Masked(), handle: s.cell, answer: CellDetail{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "One cell, such as g1-19, with its segment of the ring and its range of puids",
		},
		{
			method: "GET", path: "/v1/servers", class: reads, needs: access.All(access.Operate).Masked(), price: priceSearch, handle: s.servers, answer: ServerList{}, failures: reading,
			summary: "The database servers of the cells: versions, connections, clocks, standbys, and whether they archive their logs",
		},
		{
			method: "GET", path: "/v1/map", class: reads, needs: access.Any(access.Read, access.Operate).Narrowed(), handle: s.cellMap, answer: map[string]any{}, failures: reading,
			summary: "The newest cell map, as stored: with it a program computes the cell of any address",
		},
		{
			method: "GET", path: "/v1/map/history", class: reads, needs: access.All(access.Operate).Narrowed(), handle: s.mapHistory, answer: MapHistory{}, failures: reading,
			summary: "The stored versions of the cell map, oldest first",
		},
		{
			method: "POST", path: "/v1/cells/plan", class: admin, audit: audit.Read, needs: access.All(access.Operate), handle: s.planGrowth, body: GrowRequest{}, answer: cell.Plan{}, failures: changing,
			summary: "What a new generation of cells would change, or why it is impossible; changes nothing",
		},
		{
			method: "POST", path: "/v1/cells/grow", class: admin, needs: access.All(access.Operate), stream: s.grow, body: GrowRequest{}, answer: Changed{}, failures: changing,
			summary: "Add a generation of cells while reads and writes continue; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/vacuum", class: admin, needs: access.All(access.Erase), stream: s.vacuum, answer: Vacuumed{}, failures: changing,
			summary: "Remove the content of erased records from the database files, with a line for each cell; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/check", class: admin, needs: access.All(access.Operate), stream: s.check, body: CheckRequest{}, answer: Checked{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Compare all data with what follows from the records, while reads and writes continue: a line of type difference for each row that differs, then a summary; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/cells/compact", class: admin, needs: access.All(access.Operate), stream: s.compact, body: CompactRequest{}, answer: Changed{}, failures: changing,
			summary: "Copy the keys of older generations into the current one; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/cells/{id}/move", class: admin, needs: access.All(access.Operate), stream: s.move, body: MoveRequest{}, answer: cell.MoveProgress{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Move a cell to another database while reads and writes continue; can be interrupted and repeated at any point",
		},
		{
			method: "GET", path: "/v1/schema", class: reads, needs: access.All(access.Schema).Narrowed(), handle: s.schema, answer: Schema{}, failures: reading,
			query:   []param{{"kind", "Kind; by default the first of the installation", false}},
			summary: "The attributes of a kind and their types",
		},
		{
			method: "GET", path: "/v1/kinds", class: reads, needs: access.All(access.Schema).Narrowed(), handle: s.listKinds, answer: KindList{}, failures: reading,
			summary: "List kinds, and how they are resolved",
		},
		{
			method: "GET", path: "/v1/kinds/{kind}", class: reads, needs: access.All(access.Schema).Narrowed(), handle: s.getKind, answer: Kind{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "A kind with its schema",
		},
		{
			method: "PUT", path: "/v1/kinds/{kind}", class: admin, needs: access.All(access.Define), handle: s.putKind, body: map[string]any{}, yaml: true, answer: Kind{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changing,
			summary: "Create a kind. 201 if it is new, 200 if the same kind exists; a different kind of that name is refused: use a migration",
		},
		{
			method: "POST", path: "/v1/kinds/{kind}/diff", class: admin, audit: audit.Read, needs: access.All(access.Define), stream: s.diffKind, body: KindRequest{}, answer: kinds.Diff{},
			failures: append([]Code{CodeNotFound, CodeRange}, changing...),
			summary:  "What would merge, split and change with another schema or term-frequency table; changes nothing",
		},
		{
			method: "POST", path: "/v1/kinds/{kind}/migrate", class: admin, needs: access.All(access.Define), stream: s.switchKind, body: KindRequest{}, answer: Kind{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Resolve a kind by another schema or term-frequency table while reads and writes continue; can be interrupted and repeated at any point, and the servers finish it",
		},
		{
			method: "GET", path: "/v1/upgrade", class: reads, needs: access.All(access.Schema).Masked(), handle: s.getUpgrade, answer: Upgrade{}, failures: reading,
			summary: "Whether the entities were made by an older version of the matcher, and the progress of an upgrade",
		},
		{
			method: "POST", path: "/v1/upgrade", class: admin, needs: access.All(access.Define), stream: s.upgrade, body: UpgradeRequest{}, answer: Upgrade{},
			failures: append([]Code{CodeRange}, changing...),
			summary:  "Resolve all records by this server's matcher while reads continue; records that are put wait for the first part. Can be interrupted and repeated at any point, and the servers finish it",
		},
		{
			method: "GET", path: "/v1/term-frequencies", class: reads, needs: access.All(access.Schema).Narrowed(), handle: s.listTerms, answer: TermsList{}, failures: reading,
			summary: "List the stored term-frequency tables, by which names are weighted",
		},
		{
			method: "POST", path: "/v1/term-frequencies", class: admin, needs: access.All(access.Define), stream: s.buildTerms, body: TermsRequest{}, answer: resolve.Terms{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Count the names of a kind's records and store them as a term-frequency table, which takes effect with a migration",
		},
		{
			method: "GET", path: "/v1/rollups", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.listRollups, answer: RollupList{}, failures: reading,
			summary: "List rollups with their states",
		},
		{
			method: "GET", path: "/v1/rollups/{name}", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.getRollup, answer: Rollup{}, failures: finding,
			summary: "State of a rollup in each cell",
		},
		{
			method: "PUT", path: "/v1/rollups/{name}", class: writes, needs: access.All(access.Define), handle: s.putRollup, body: RollupRequest{}, yaml: true, answer: Rollup{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changing,
			summary: "Define a rollup; a different definition is built beside the serving one. 201 if it is new or different, 200 if it is unchanged",
		},
		{
			method: "DELETE", path: "/v1/rollups/{name}", class: writes, needs: access.All(access.Define), handle: s.deleteRollup, statuses: []int{http.StatusNoContent},
			failures: append([]Code{CodeCommitUnknown}, finding...), summary: "Drop a rollup",
		},
		{
			method: "POST", path: "/v1/rollups/{name}/rebuild", class: writes, needs: access.All(access.Define), handle: s.rebuildRollup, answer: Rollup{}, statuses: []int{http.StatusAccepted},
			failures: append([]Code{CodeCommitUnknown}, finding...),
			summary:  "Compute a rollup again beside the serving generation; returns once the build has started",
		},
		{
			method: "POST", path: "/v1/rollups/{name}/verify", class: admin, needs: access.All(access.Operate), stream: s.verifyRollup, answer: RollupVerified{}, failures: append([]Code{CodeConflict}, finding...),
			summary: "Compare a rollup with its recomputation while reads and writes continue: a line of type verified for each cell, then the sums",
		},
		{
			method: "GET", path: "/v1/rollups/{name}/groups", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, handle: s.rollupGroups, answer: RollupGroups{}, failures: following,
			summary: "List the groups of a rollup, or the largest, from one snapshot of each cell",
			query: slices.Concat([]param{
				{"limit", lists[0].doc, false},
				{"after", "The next of the previous page of the same rollup", false},
				{"top", "With by: number of groups with the largest totals, 1 to 1000. Values of min, max, top and distinct are left out", false},
				{"by", "With top: the measure to order by", false},
			}, fresh),
		},
		{
			method: "GET", path: "/v1/rollups/{name}/groups/{group...}", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.rollupGroup, answer: RollupOne{}, failures: following, query: fresh,
			summary: "One group: a path segment for each grouping attribute, percent-encoded, including slashes",
		},
		{
			method: "GET", path: "/v1/rollups/{name}/explain/{group...}", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.explainRollup, answer: RollupEffects{}, failures: following,
			summary: "The latest changes of a group",
			query:   []param{{"limit", "Maximum number for each cell, 1 to 1000; 100 by default", false}},
		},
		{
			method: "GET", path: "/v1/sinks", class: reads, needs: access.Any(access.Read, access.Operate).Narrowed(), handle: s.listSinks, answer: SinkList{}, failures: reading,
			summary: "List the targets that the servers deliver the states of all ids to",
		},
		{
			method: "GET", path: "/v1/sinks/{name}", class: reads, needs: access.Any(access.Read, access.Operate).Narrowed(), handle: s.getSink, answer: Sink{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "State of a sink",
		},
		{
			method: "PUT", path: "/v1/sinks/{name}", class: admin, needs: access.All(access.Define), handle: s.putSink, body: SinkRequest{}, answer: Sink{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changing,
			summary: "Let the servers deliver to a target. 201 if it is new or changed, 200 if it is the same already; the URL and the kind cannot be changed",
		},
		{
			method: "DELETE", path: "/v1/sinks/{name}", class: admin, needs: access.All(access.Define), handle: s.deleteSink, statuses: []int{http.StatusNoContent},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, reading...),
			summary:  "Forget a sink, with its position and dead letters; what the target has stays",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/pause", class: admin, needs: access.All(access.Define), handle: s.pauseSink, answer: Sink{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, reading...),
			summary:  "Stop delivering to a sink",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/resume", class: admin, needs: access.All(access.Define), handle: s.resumeSink, answer: Sink{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, reading...),
			summary:  "Go on delivering to a sink where it stopped",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/adopt", class: admin, needs: access.All(access.Define), handle: s.adoptSink, body: SinkAdoptRequest{}, answer: Sink{},
			failures: changing,
			summary:  "Take over the target of a sink from another installation, and fill it again",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/verify", class: admin, needs: access.All(access.Operate), stream: s.verifySink, body: SinkVerifyRequest{}, answer: SinkVerified{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Compare what a target has with what every id leads to, while both change: a line of type difference for each id that differs, then a summary",
		},
		{
			method: "GET", path: "/v1/sinks/{name}/dead", class: reads, needs: access.All(access.Read), handle: s.listSinkDead, answer: SinkLetterList{}, query: lists,
			failures: append([]Code{CodeNotFound}, reading...),
			summary:  "The events that a target has rejected, in the order of their ids, with the reason of each",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/dead/retry", class: admin, needs: access.All(access.Define), handle: s.retrySinkDead, body: SinkDeadRequest{}, answer: SinkDeadAnswer{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Read the ids of dead letters and deliver them again; returns before that is done",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/dead/drop", class: admin, needs: access.All(access.Define), handle: s.dropSinkDead, body: SinkDeadRequest{}, answer: SinkDeadAnswer{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Forget dead letters",
		},
		{
			method: "GET", path: "/v1/changes", class: reads, needs: access.All(access.Read).Masked(), handle: s.changes, events: s.followChanges, answer: ChangeList{},
			failures: append([]Code{CodeNotFound, CodeTrimmed}, reading...),
			summary:  "Read the change logs, in the order of each cell's log; with Accept: text/event-stream as changes happen",
			query: []param{
				{"cell", "Only these cells, such as g1-19 or g1-19,g1-20; by default all", false},
				{"after", "Start after this watermark, such as g0-0:17,g0-1:4, which next returned. By default a page starts at the beginning of the logs and a feed at their end", false},
				{"limit", lists[0].doc, false},
			},
		},
		{
			method: "GET", path: "/v1/tail", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.logEnds, answer: Tail{}, failures: reading,
			summary: "The watermark of the end of all logs",
		},
		{
			method: "GET", path: "/v1/ids", class: reads, needs: access.All(access.Read).Masked(), handle: s.listIDs, answer: IDList{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "List every id that a cell has allocated, in order, with its entity, its redirect or its tombstone; for mirrors",
			query: []param{
				{"cell", "Such as g1-19", true},
				{"after", "The next of the previous page", false},
				{"limit", lists[0].doc, false},
			},
		},
		{
			method: "POST", path: "/v1/ids", class: reads, needs: access.All(access.Read).Masked(), handle: s.lookIDs, body: IDRequest{}, answer: IDAnswer{},
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
				CodeInvalid, CodeOverloaded, CodeUnavailable,
			},
			summary: "The state of at most 200 ids and of birth ids, each with its position in the log of its cell; changes nothing",
		},
		{
			method: "GET", path: "/v1/export/{what}", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch, download: s.export,
			failures: append([]Code{CodeTrimmed, CodeDamaged}, reading...),
			summary:  "All records, entities, links or decisions as JSON lines or CSV. If it fails midway the response is cut off and not terminated",
			query: []param{
				{"format", "csv or jsonl; by default as the Accept header prefers, otherwise jsonl", false},
				{"kind", "Only this kind", false},
				{"source", "Only this source; of entities, those with a record of it", false},
				{"columns", "Only these columns, in this order, separated by commas; records also have entity, puid and version; decisions have at, entity_a and entity_b", false},
				{"since", "Only changes after this watermark of an earlier export, with a column op of upsert, redirect or delete", false},
			},
		},
		{
			method: "GET", path: "/v1/backup", class: admin, audit: audit.Admin, needs: access.All(access.Read, access.Operate), download: s.backup, media: mediaZstd, failures: []Code{CodeConflict, CodeDamaged, CodeOverloaded, CodeUnavailable},
			summary: "The files of a data directory for locus restore, as they are at one moment, while reads and writes continue. If it fails midway the response is cut off and not terminated",
		},
		{
			method: "GET", path: "/v1/backup/mark", class: reads, needs: access.All(access.Metrics).Narrowed(), handle: s.lastBackup, answer: BackupMark{}, failures: reading,
			summary: "When the last backup was made, as far as the installation knows",
		},
		{
			method: "POST", path: "/v1/backup/mark", class: admin, needs: access.All(access.Operate), handle: s.markBackup, body: BackupMarkRequest{}, answer: BackupMark{},
			failures: append([]Code{CodeRange}, changing...),
			summary:  "Note a backup that other tools have made, so that its age is known. An older one than the last changes nothing; the answer is the last",
		},
		{
			method: "GET", path: "/v1/dump", class: admin, audit: audit.Admin, needs: access.All(access.Read, access.Operate), download: s.dump, media: mediaZstd, failures: []Code{CodeConflict, CodeDamaged, CodeOverloaded, CodeUnavailable},
			summary: "The whole installation as a file for locus restore, read while reads and writes continue. The response begins when everything is read",
		},
		{
			method: "POST", path: "/v1/hits", class: hits, needs: access.All(access.Count).Narrowed(), handle: s.addHits, body: HitRequest{}, answer: HitResponse{}, headers: []param{
				{keyHeader, "The batch counts once, however often it is sent with this key: 1 to 128 visible ASCII characters. Remembered for at least 7 days; later repeats are refused as too_old", false},
				{producerHeader, "With Locus-Seq, instead of a key: the producer, 32 random hexadecimal digits", false},
				{seqHeader, "With Locus-Producer: the increasing number of the batch. Repeat a batch under its number, and send the next one after the response", false},
			},
			summary: "Count 1 to 1000 hits. The response has a result for each, in order, once they are durable. With a key, or a producer and a number, they count once however often they are sent",
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
				CodeInvalid, CodeKeyReused, CodeConflict, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
			},
		},
		{
			method: "GET", path: "/v1/series", class: reads, needs: access.All(access.Read).Masked(), handle: s.getSeries, answer: Series{}, csv: true,
			failures: append([]Code{CodeNotFound, CodeRange}, reading...),
			summary:  "A metric by minute, hour or day; all values of a metric are of one moment",
			query: append([]param{
				{"metric", "Name of a metric", false},
				{"prefix", "Instead of metric: all metrics with this prefix", false},
			}, ranging...),
		},
		{
			method: "POST", path: "/v1/series/query", class: reads, needs: access.All(access.Read).Masked(), price: priceSearch, handle: s.querySeries, body: SeriesRequest{}, answer: Series{}, csv: true,
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
				CodeInvalid, CodeRange, CodeNotFound, CodeOverloaded, CodeUnavailable,
			},
			summary: "GET /v1/series for a list of names; changes nothing",
		},
		{
			method: "GET", path: "/v1/series/explain", class: reads, needs: access.All(access.Read).Masked(), handle: s.explainHit, answer: counter.Explanation{},
			failures: append([]Code{CodeNotFound}, reading...),
			summary:  "The rows, and the fields in them, that a hit of a metric changes",
			query:    []param{{"metric", "Name of a metric", true}, {"at", "RFC 3339", true}},
		},
		{
			method: "GET", path: "/v1/metrics", class: reads, needs: access.All(access.Read).Masked(), price: priceSearch, handle: s.listMetrics, answer: MetricList{}, failures: reading,
			summary: "List metrics in the order of their names",
			query:   append([]param{{"prefix", "Only metrics with this prefix", false}}, lists...),
		},
		{
			method: "GET", path: "/v1/top", class: reads, needs: access.All(access.Read).Masked(), price: priceSearch, handle: s.top, answer: Top{}, failures: reading,
			summary: "The counters with the most hits of a day, exactly",
			query: []param{
				{"day", "Day in UTC, such as 2026-11-20", true},
				{"prefix", "Only metrics with this prefix", false},
				{"k", "Number of counters, 1 to 1000; 10 by default", false},
			},
		},
		{
			method: "GET", path: "/v1/tokens", class: reads, needs: access.All(access.Access), handle: s.listTokens, answer: TokenList{}, failures: reading,
			summary: "List API tokens, without their secrets",
		},
		{
			method: "POST", path: "/v1/tokens", class: writes, needs: access.All(access.Access), handle: s.createToken, body: TokenRequest{}, answer: TokenMade{},
			statuses: []int{http.StatusCreated}, failures: append([]Code{CodeConflict}, deciding...),
			summary: "Create a token, whose secret is in the response and stored nowhere. The first one is an administrator's and closes the API for requests without a token, for good",
		},
		{
			method: "POST", path: "/v1/tokens/{name}/rotate", class: writes, needs: access.All(access.Access), handle: s.rotateToken, body: RotateRequest{}, answer: TokenMade{},
			statuses: []int{http.StatusCreated}, failures: append([]Code{CodeNotFound}, deciding...),
			summary: "Give a token another secret; the older ones stay valid for the overlap",
		},
		{
			method: "DELETE", path: "/v1/tokens", class: writes, needs: access.All(access.Access), handle: s.revokeTokens, answer: TokensRevoked{},
			failures: append([]Code{CodeNotFound, CodeConflict, CodeCommitUnknown}, reading...),
			summary:  "Revoke every token and session, for an installation that was restored. Only the operator can, through the socket of the data directory or the databases",
		},
		{
			method: "DELETE", path: "/v1/tokens/{name}", class: writes, needs: access.All(access.Access), handle: s.revokeToken, answer: TokensRevoked{},
			failures: append([]Code{CodeNotFound, CodeConflict, CodeCommitUnknown}, reading...),
			summary:  "Revoke all tokens of a name; they end within a second in every process",
		},
		{
			method: "GET", path: "/v1/audit", class: reads, needs: access.All(access.Audit), price: priceSearch, handle: s.listAudit, answer: AuditList{}, failures: reading,
			summary: "List entries of the audit log, the newest first. A page may have fewer entries than the limit, with a cursor",
			query: append([]param{
				{"class", "Only entries of this class: access, admin, decision, write or read", false},
				{"principal", "Only entries of this principal: the name of a token, or local", false},
				{"record", "Only entries about this record, SOURCE:KEY", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/audit/export", class: admin, needs: access.All(access.Audit), download: s.exportAudit, media: mediaLines,
			failures: []Code{CodeOverloaded, CodeUnavailable},
			summary:  "The whole audit log, an entry a line, the oldest first; locus audit verify FILE verifies it",
		},
		{
			method: "POST", path: "/v1/audit/verify", class: admin, needs: access.All(access.Audit), handle: s.verifyAudit, body: VerifyAuditRequest{}, answer: audit.Report{},
			failures: changing,
			summary:  "Verify that the audit log is what was written: its chains, and that it contains heads that were kept elsewhere",
		},
		{
			method: "GET", path: "/v1/sessions", class: reads, needs: access.All(access.Access), handle: s.listSessions, answer: SessionList{}, failures: reading,
			summary: "List the sessions of people in the console that have not ended",
		},
		{
			method: "DELETE", path: "/v1/sessions/{id}", class: writes, needs: access.All(access.Access), handle: s.endSession, answer: tokens.Session{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, reading...),
			summary:  "End a session, within a second in every process",
		},
		{
			method: "GET", path: "/v1/blocks", class: reads, needs: access.All(access.Access), handle: s.listBlocks, answer: BlockList{}, failures: reading,
			summary: "List the principals that are blocked",
		},
		{
			method: "PUT", path: "/v1/blocks/{principal}", class: writes, needs: access.All(access.Access), handle: s.block, answer: tokens.Block{},
			failures: append([]Code{CodeConflict, CodeCommitUnknown}, reading...),
			summary:  "Block a principal, within a second in every process, whatever credentials it has: tokens, sessions, JWTs, certificates",
		},
		{
			method: "DELETE", path: "/v1/blocks/{principal}", class: writes, needs: access.All(access.Access), handle: s.unblock, answer: tokens.Block{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, reading...),
			summary:  "End the block of a principal",
		},
		{
			method: "POST", path: "/v1/login", class: writes, needs: access.Public(), handle: s.redeem, body: LoginRequest{}, answer: TokenMade{},
			statuses: []int{http.StatusCreated}, failures: append([]Code{CodeUnauthenticated, CodeRateLimited}, deciding...),
			summary: "Exchange the code of the login page, and the verifier of its challenge, for a token of 12 hours",
		},
		{
			method: "DELETE", path: "/v1/login", class: writes, needs: access.Anyone().Narrowed(), handle: s.quit, answer: LoggedOut{},
			failures: append([]Code{CodeCommitUnknown}, reading...),
			summary:  "End the token of the request, if a login made it",
		},
		{
			method: "GET", path: "/v1/whoami", class: reads, needs: access.Anyone().Narrowed(), handle: s.whoami, answer: Whoami{}, failures: []Code{CodeOverloaded, CodeUnavailable},
			summary: "The principal of the token, and its permissions",
		},
		{
			method: "GET", path: "/livez", class: health, needs: access.Public(), handle: s.livez, answer: Liveness{},
			summary: "200 while the process runs; reads no store",
		},
		{
			method: "GET", path: "/readyz", class: health, needs: access.Public(), handle: s.readyz, answer: Health{},
			summary: "200 if it can serve, otherwise 503 with the reason",
		},
		{
			method: "GET", path: "/version", class: health, needs: access.All(access.Schema).Narrowed(), handle: s.version, answer: Version{},
			summary: "Version of this server, and the commit it was built from",
		},
		{
			method: "GET", path: "/metrics", class: health, needs: access.All(access.Metrics).Masked(), handle: s.metrics,
			summary: "Metrics in the text format of Prometheus",
		},
		{
			method: "GET", path: "/openapi.json", class: health, needs: access.All(access.Schema).Narrowed(), handle: s.openapi,
			summary: "This document",
		},
	}
}
