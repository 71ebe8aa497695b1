// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/internal/access"
)

// sinkRoutes returns the routes of sinks.
func (s *Server) sinkRoutes() []route {
	return []route{
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
	}
}
