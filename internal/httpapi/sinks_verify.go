// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/sink"
)

// SinkVerifyRequest is the body of POST /v1/sinks/{name}/verify.
type SinkVerifyRequest struct {
	Repair bool `json:"repair,omitempty" doc:"Deliver the ids that differ again, and compare them once more"`
}

// SinkCompared is a line of progress of POST /v1/sinks/{name}/verify.
type SinkCompared struct {
	Compared int64 `json:"compared" doc:"Number of ids compared so far"`
}

// SinkVerified is the last line of POST /v1/sinks/{name}/verify.
type SinkVerified struct {
	Compared  int64 `json:"compared" doc:"Number of ids compared"`
	Missing   int   `json:"missing" doc:"Number of ids that the target does not have"`
	Surplus   int   `json:"surplus" doc:"Number of ids that only the target has"`
	Different int   `json:"different" doc:"Number of ids with other content in the target"`
	Repaired  int   `json:"repaired" doc:"Number of those that were repaired by delivering them again"`
	Settling  int64 `json:"settling,omitempty" doc:"Number of ids left out, because their records are being resolved"`
	Late      bool  `json:"late,omitempty" doc:"The sink did not catch up: reported differences may still be delivered"`
}

func (s *Server) verifySink(c *call, progress func(any)) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	repair := false
	if len(c.body) > 0 {
		body, err := object(c.body, "repair")
		if err != nil {
			return nil, err
		}
		if v, given := body["repair"]; given {
			if v.Kind() != strictjson.Bool {
				return nil, wrongKind("/repair", v, "true or false")
			}
			repair = string(v.Raw()) == "true"
		}
	}
	v, err := s.svc.Sinks().Verify(c, name, repair, func(n int64) { progress(SinkCompared{n}) })
	if err != nil {
		return nil, err
	}
	all := SinkVerified{Compared: v.Compared, Settling: v.Settling, Late: v.Late}
	for _, d := range v.Found {
		switch d.What {
		case sink.Missing:
			all.Missing++
		case sink.Surplus:
			all.Surplus++
		case sink.Different:
			all.Different++
		}
		if d.Repaired {
			all.Repaired++
		}
		progress(d)
	}
	return all, nil
}
