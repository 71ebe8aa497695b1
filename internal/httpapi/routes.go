// SPDX-License-Identifier: Apache-2.0

package httpapi

import "slices"

// routes returns the table of routes. Documentation, permissions, audit entries and metrics of a route are derived from
// its entry.
func (s *Server) routes() []route {
	return slices.Concat(
		s.recordRoutes(), s.entityRoutes(), s.decisionRoutes(), s.sourceRoutes(), s.sinkRoutes(), s.changeRoutes(),
		s.kindRoutes(), s.rollupRoutes(), s.counterRoutes(),
		s.cellRoutes(), s.copyRoutes(), s.accessRoutes(), s.healthRoutes(),
	)
}

// Parameters and errors that many routes share.
var (
	pageParams = []param{
		{"limit", "Maximum number of items, 1 to 1000; 100 by default. A page ends earlier at about 4 MiB, with a cursor",
			false},
		{"cursor", "Cursor that the previous page returned; valid for the same route and filters", false},
	}
	readErrors   = []Code{CodeMalformed, CodeInvalid, CodeOverloaded, CodeUnavailable}
	findErrors   = append([]Code{CodeNotFound, CodeErased}, readErrors...)
	followErrors = append([]Code{CodeTrimmed}, findErrors...)
	freshParams  = []param{
		{"min_watermark", "Wait until the result includes this watermark, such as that of a write: g0-0:17,g0-1:4", false},
		{"latest", "true waits for everything committed before the request", false},
		{"partial", "true returns a result without unavailable cells, which it lists as missing", false},
	}
	changeErrors = []Code{
		CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge,
		CodeMediaType,
		CodeInvalid, CodeConflict, CodeLeaseLost, CodeOverloaded, CodeUnavailable, CodeStaleMap,
		CodeCommitUnknown, CodeNoRoom,
	}
	decideErrors = []Code{
		CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge,
		CodeMediaType,
		CodeInvalid, CodeOverloaded, CodeUnavailable, CodeCommitUnknown, CodeNoRoom,
	}
	rangeParams = []param{
		{"from", "Begin of the range: RFC 3339, or a date, which means the begin of that day in the zone. Rounded down to a step", true},
		{"to", "End of the range, exclusive, in the form of from", true},
		{"step", "minute, hour or day", true},
		{"zone", "Time zone of hours and days, such as Europe/Berlin; UTC by default", false},
	}
)
