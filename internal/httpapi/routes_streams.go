// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/internal/access"
)

// streamRoutes returns the routes of streams: sources, sinks and changes.
func (s *Server) streamRoutes() []route {
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
		{
			method: "GET", path: "/v1/sinks", class: reads, needs: access.Any(access.Read, access.Operate).Narrowed(),
			handle: s.listSinks, answer: SinkList{}, failures: readErrors,
			summary: "List sinks: the targets to which the servers deliver the states of all ids",
		},
		{
			method: "GET", path: "/v1/sinks/{name}", class: reads, needs: access.Any(access.Read, access.Operate).Narrowed(),
			handle: s.getSink, answer: Sink{}, failures: append([]Code{CodeNotFound}, readErrors...),
			summary: "State of a sink",
		},
		{
			method: "PUT", path: "/v1/sinks/{name}", class: admin, needs: access.All(access.Define), handle: s.putSink,
			body: SinkRequest{}, answer: Sink{},
			statuses: []int{http.StatusOK, http.StatusCreated}, failures: changeErrors,
			summary: "Create a sink: the servers deliver to its target. 201 if it is new or changed, 200 if it is the same; the URL and the kind cannot be changed",
		},
		{
			method: "DELETE", path: "/v1/sinks/{name}", class: admin, needs: access.All(access.Define), handle: s.deleteSink,
			statuses: []int{http.StatusNoContent},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, readErrors...),
			summary:  "Delete a sink with its position and dead letters; the content of the target stays",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/pause", class: admin, needs: access.All(access.Define), handle: s.pauseSink,
			answer:   Sink{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, readErrors...),
			summary:  "Stop delivering to a sink",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/resume", class: admin, needs: access.All(access.Define),
			handle: s.resumeSink, answer: Sink{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, readErrors...),
			summary:  "Resume a sink where it stopped",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/adopt", class: admin, needs: access.All(access.Define), handle: s.adoptSink,
			body: SinkAdoptRequest{}, answer: Sink{},
			failures: changeErrors,
			summary:  "Take over the target of a sink from another installation, and deliver all ids again",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/verify", class: admin, needs: access.All(access.Operate),
			stream: s.verifySink, body: SinkVerifyRequest{}, answer: SinkVerified{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Compare a target with the state of every id, while both change: a line of type difference for each id that differs, then a summary",
		},
		{
			method: "GET", path: "/v1/sinks/{name}/dead", class: reads, needs: access.All(access.Read), handle: s.listSinkDead, answer: SinkLetterList{}, query: pageParams,
			failures: append([]Code{CodeNotFound}, readErrors...),
			summary:  "The events that a target has rejected, in the order of their ids, with the reason of each",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/dead/retry", class: admin, needs: access.All(access.Define),
			handle: s.retrySinkDead, body: SinkDeadRequest{}, answer: SinkDeadAnswer{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Read the ids of dead letters and deliver them again; returns before that is done",
		},
		{
			method: "POST", path: "/v1/sinks/{name}/dead/drop", class: admin, needs: access.All(access.Define),
			handle: s.dropSinkDead, body: SinkDeadRequest{}, answer: SinkDeadAnswer{},
			failures: append([]Code{CodeNotFound}, changeErrors...),
			summary:  "Drop dead letters",
		},
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
