// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/access"
)

// cellRoutes returns the routes of cells and ids.
func (s *Server) cellRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/find", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.find,
			answer: Entity{}, failures: findErrors,
			summary: "Find the entity of an address",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/route", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.route,
			answer: explain.Route{}, failures: readErrors,
			summary: "The cell of an address, and why it is there",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/status", class: reads, needs: access.Any(access.Read, access.Operate).Masked(),
			price: priceSearch, handle: s.status, answer: cells.Status{}, failures: readErrors,
			summary: "State of the installation and of each cell",
		},
		{
			method: "GET", path: "/v1/cells", class: reads, needs: access.All(access.Operate).Masked(), price: priceSearch,
			handle: s.cells, answer: CellList{}, failures: readErrors,
			summary: "List cells with their states, and the generations",
		},
		{
			method: "GET", path: "/v1/cells/{id}", class: reads, needs: access.All(access.Operate).Masked(), handle: s.cell,
			answer: CellDetail{}, failures: append([]Code{CodeNotFound}, readErrors...),
			summary: "One cell, such as g1-19, with its segment of the ring and its range of puids",
		},
		{
			method: "GET", path: "/v1/servers", class: reads, needs: access.All(access.Operate).Masked(), price: priceSearch,
			handle: s.servers, answer: ServerList{}, failures: readErrors,
			summary: "The database servers of the cells: versions, connections, clocks, standbys, and whether they archive their logs",
		},
		{
			method: "GET", path: "/v1/map", class: reads, needs: access.Any(access.Read, access.Operate).Narrowed(),
			handle: s.cellMap, answer: map[string]any{}, failures: readErrors,
			summary: "The newest cell map, as stored: with it a program computes the cell of any address",
		},
		{
			method: "GET", path: "/v1/map/history", class: reads, needs: access.All(access.Operate).Narrowed(),
			handle: s.mapHistory, answer: MapHistory{}, failures: readErrors,
			summary: "The stored versions of the cell map, oldest first",
		},
		{
			method: "POST", path: "/v1/cells/plan", class: admin, audit: audit.Read, needs: access.All(access.Operate),
			handle: s.planGrowth, body: GrowRequest{}, answer: cell.Plan{}, failures: changeErrors,
			summary: "What a new generation of cells would change, or why it is impossible; changes nothing",
		},
		{
			method: "POST", path: "/v1/cells/grow", class: admin, needs: access.All(access.Operate), stream: s.grow,
			body: GrowRequest{}, answer: Changed{}, failures: changeErrors,
			summary: "Add a generation of cells while reads and writes continue; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/vacuum", class: admin, needs: access.All(access.Erase), stream: s.vacuum,
			answer: Vacuumed{}, failures: changeErrors,
			summary: "Remove the content of erased records from the database files, with a line for each cell; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/check", class: admin, needs: access.All(access.Operate), stream: s.check,
			body: CheckRequest{}, answer: Checked{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Compare all data with its recomputation from the records, while reads and writes continue: a line of type difference for each row that differs, then a summary; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/cells/compact", class: admin, needs: access.All(access.Operate), stream: s.compact,
			body: CompactRequest{}, answer: Changed{}, failures: changeErrors,
			summary: "Copy the keys of older generations into the current one; can be interrupted and repeated at any point",
		},
		{
			method: "POST", path: "/v1/cells/{id}/move", class: admin, needs: access.All(access.Operate), stream: s.move, body: MoveRequest{}, answer: cell.MoveProgress{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Move a cell to another database while reads and writes continue; can be interrupted and repeated at any point",
		},
		{
			method: "GET", path: "/v1/ids", class: reads, needs: access.All(access.Read).Masked(), handle: s.listIDs,
			answer: IDList{}, failures: append([]Code{CodeNotFound}, readErrors...),
			summary: "List every id that a cell has allocated, in order, with its entity, its redirect or its tombstone; for mirrors",
			query: []param{
				{"cell", "Such as g1-19", true},
				{"after", "The next of the previous page", false},
				{"limit", pageParams[0].doc, false},
			},
		},
		{
			method: "POST", path: "/v1/ids", class: reads, needs: access.All(access.Read).Masked(), handle: s.lookIDs,
			body: IDRequest{}, answer: IDAnswer{},
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge,
				CodeMediaType,
				CodeInvalid, CodeOverloaded, CodeUnavailable,
			},
			summary: "The state of at most 200 ids and of birth ids, each with its position in the log of its cell; changes nothing",
		},
	}
}

// copyRoutes returns the routes of exports, backups and dumps.
func (s *Server) copyRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/export/{what}", class: reads, needs: access.All(access.Read).Narrowed(),
			price: priceSearch, download: s.export,
			failures: append([]Code{CodeTrimmed, CodeDamaged}, readErrors...),
			summary:  "All records, entities, links or decisions as JSON lines or CSV. If it fails midway the response is cut off and not terminated",
			query: []param{
				{"format", "csv or jsonl; by default as the Accept header prefers, otherwise jsonl", false},
				{"kind", "Only this kind", false},
				{"source", "Only this source; of entities, those with a record of it", false},
				{"columns", "Only these columns, in this order, separated by commas; records also have entity, puid and version; decisions have at, entity_a and entity_b", false},
				{"since", "Only changes after this watermark of an earlier export, with a column op of upsert, redirect or delete",
					false},
			},
		},
		{
			method: "GET", path: "/v1/backup", class: admin, audit: audit.Admin, needs: access.All(access.Read, access.Operate),
			download: s.backup, media: mediaZstd, failures: []Code{CodeConflict, CodeDamaged, CodeOverloaded, CodeUnavailable},
			summary: "The files of a data directory for locus restore, as they are at one moment, while reads and writes continue. If it fails midway the response is cut off and not terminated",
		},
		{
			method: "GET", path: "/v1/backup/mark", class: reads, needs: access.All(access.Metrics).Narrowed(),
			handle: s.lastBackup, answer: BackupMark{}, failures: readErrors,
			summary: "When the last backup was made, as far as the installation knows",
		},
		{
			method: "POST", path: "/v1/backup/mark", class: admin, needs: access.All(access.Operate), handle: s.markBackup,
			body: BackupMarkRequest{}, answer: BackupMark{},
			failures: append([]Code{CodeRange}, changeErrors...),
			summary:  "Note a backup made by other tools, so that its age is known; one older than the last changes nothing. Returns the last backup. With a name and no time, on PostgreSQL: create a restore point on every server while writes are stopped, and return them",
		},
		{
			method: "GET", path: "/v1/dump", class: admin, audit: audit.Admin, needs: access.All(access.Read, access.Operate),
			download: s.dump, media: mediaZstd, failures: []Code{CodeConflict, CodeDamaged, CodeOverloaded, CodeUnavailable},
			summary: "The whole installation as a file for locus restore, read while reads and writes continue. The response begins when everything is read",
		},
	}
}

// healthRoutes returns the routes of probes, metrics and the API document.
func (s *Server) healthRoutes() []route {
	return []route{
		{
			method: "GET", path: "/livez", class: health, needs: access.Public(), handle: s.livez, answer: Liveness{},
			summary: "200 while the process runs; reads no store",
		},
		{
			method: "GET", path: "/readyz", class: health, needs: access.Public(), handle: s.readyz, answer: Health{},
			summary: "200 if it can serve, otherwise 503 with the reason",
		},
		{
			method: "GET", path: "/version", class: health, needs: access.All(access.Schema).Narrowed(), handle: s.version,
			answer:  Version{},
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
