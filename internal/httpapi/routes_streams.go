// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/internal/access"
)

// sourceRoutes returns the routes of sources and of the streams that feed them.
func (s *Server) sourceRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/sources", class: reads, needs: access.All(access.Read).Narrowed(), price: priceSearch,
			handle: s.listSources, answer: SourceList{}, failures: readErrors,
			summary: "List the sources that have live records, with their numbers by kind; reads every record without its content",
		},
		{
			method: "GET", path: "/v1/sources/{source}", class: reads, needs: access.All(access.Read).Narrowed(),
			price: priceSearch, handle: s.getSource, answer: Source{}, failures: append([]Code{CodeNotFound}, readErrors...),
			summary: "One source, as in the list",
			query:   []param{{"count", "false leaves out the numbers of records if the source has a stream: its state alone is quick", false}},
		},
		{
			method: "PUT", path: "/v1/sources/{source}", class: admin, needs: access.All(access.Define).BySource(),
			handle: s.putStream, body: StreamRequest{}, answer: Source{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: append([]Code{CodeNotFound}, changeErrors...),
			summary: "Read a source from a stream. 201 if it is new or changed, 200 if it is the same; the URL cannot be changed",
		},
		{
			method: "PUT", path: "/v1/sources/{source}/import", class: writes, needs: access.All(access.Write).BySource(),
			handle: s.putImport, body: ImportReport{}, statuses: []int{http.StatusNoContent}, failures: changeErrors,
			summary: "Report an import into a source when it has ended: the list of sources shows the last one",
		},
		{
			method: "DELETE", path: "/v1/sources/{source}", class: admin, needs: access.All(access.Define).BySource(),
			handle: s.deleteStream, statuses: []int{http.StatusNoContent},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, readErrors...),
			summary:  "Drop the stream of a source with its position and dead letters; the records stay",
		},
		{
			method: "POST", path: "/v1/sources/{source}/pause", class: admin, needs: access.All(access.Define).BySource(),
			handle: s.pauseStream, answer: Source{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, readErrors...),
			summary:  "Stop reading the stream of a source",
		},
		{
			method: "POST", path: "/v1/sources/{source}/resume", class: admin, needs: access.All(access.Define).BySource(),
			handle: s.resumeStream, body: ResumeRequest{}, answer: Source{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Resume the stream of a source where it stopped, or from its start",
		},
		{
			method: "GET", path: "/v1/sources/{source}/dead", class: reads, needs: access.All(access.Read),
			handle: s.deadLetters, answer: LetterList{}, failures: append([]Code{CodeNotFound}, readErrors...),
			summary: "The messages of a stream that cannot become records, at most 1000, with the reason of each",
		},
		{
			method: "POST", path: "/v1/sources/{source}/dead/retry", class: admin, needs: access.All(access.Define).BySource(),
			handle: s.retryLetters, body: LettersRequest{}, answer: Handled{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Read messages of dead letters again; returns before that is done",
		},
		{
			method: "POST", path: "/v1/sources/{source}/dead/drop", class: admin, needs: access.All(access.Define).BySource(),
			handle: s.dropLetters, body: LettersRequest{}, answer: Handled{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Drop dead letters",
		},
	}
}

// changeRoutes returns the routes of the change log.
func (s *Server) changeRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/changes", class: reads, needs: access.All(access.Read).Masked(), handle: s.changes, events: s.followChanges, answer: ChangeList{},
			failures: append([]Code{CodeNotFound, CodeTrimmed}, readErrors...),
			summary:  "Read the change logs, in the order of each cell's log; with Accept: text/event-stream as changes happen",
			query: []param{
				{"cell", "Only these cells, such as g1-19 or g1-19,g1-20; by default all", false},
				{"after", "Start after this watermark, such as g0-0:17,g0-1:4, which next returned. By default a page starts at the beginning of the logs and a feed at their end", false},
				{"limit", pageParams[0].doc, false},
			},
		},
		{
			method: "GET", path: "/v1/tail", class: reads, needs: access.All(access.Read).Narrowed(), handle: s.logEnds,
			answer: Tail{}, failures: readErrors,
			summary: "The watermark of the end of all logs",
		},
	}
}
