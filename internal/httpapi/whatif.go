// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"strconv"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// WhatIfRequest is the body of POST /v1/what-if.
type WhatIfRequest struct {
	Of        string             `json:"of" doc:"Entity id, puid or SOURCE:KEY; all connected records are considered"`
	Delete    []string           `json:"delete,omitempty" doc:"Addresses of records assumed not to exist; an entity id stands for its anchor"`
	Decide    []DecisionInput    `json:"decide,omitempty" doc:"Decisions that would be made"`
	Weights   map[string]float64 `json:"weights,omitempty" doc:"Match weights of levels of agreement, by their names in explanations, such as \"phone: equal\""`
	Threshold float64            `json:"threshold,omitempty" doc:"Match weight from which two records would be a match"`
}

// Scenario holds the entities of a what-if scenario.
type Scenario struct {
	Before []ScenarioEntity `json:"before" doc:"Present entities that would change or disappear"`
	After  []ScenarioEntity `json:"after" doc:"Entities after the change"`
	TookMS float64          `json:"took_ms" doc:"Milliseconds that the server took"`
}

// ScenarioEntity is an entity, current or hypothetical.
type ScenarioEntity struct {
	ID      locality.ID  `json:"id"`
	Kind    string       `json:"kind"`
	Records []entity.Ref `json:"records" doc:"Records of the entity, oldest first; the first is the anchor"`
	View    View         `json:"view" doc:"Merged attributes in the order of the kind"`
	Hidden  []string     `json:"hidden,omitempty" doc:"Attributes that have a value, which this token may not see"`
}

func (s *Server) whatIf(c *call) (any, error) {
	q, err := decodeWhatIf(c.body)
	if err != nil {
		return nil, err
	}
	if err := s.maySuppose(c, &q); err != nil {
		return nil, err
	}
	found, err := s.svc.Explain().WhatIf(c, q)
	if err != nil {
		return nil, err
	}
	return Scenario{s.scenario(found.Before), s.scenario(found.After), milliseconds(found.Took)}, nil
}

func (s *Server) scenario(list []explain.ScenarioEntity) []ScenarioEntity {
	out := make([]ScenarioEntity, len(list))
	for i, e := range list {
		out[i] = ScenarioEntity{
			ID: e.ID, Kind: e.Kind, Records: e.Records,
			View: s.merged(e.Kind, e.View, func(m int) entity.Ref { return e.Records[m] }),
		}
	}
	return out
}

func decodeWhatIf(body []byte) (q explain.Scenario, err error) {
	fields, err := object(body, "of", "delete", "decide", "weights", "threshold")
	if err != nil {
		return q, err
	}
	if q.Of, err = textAt(fields["of"], "/of"); err != nil {
		return q, err
	}
	if v, given := fields["delete"]; given {
		if q.Delete, err = textsAt(v, "/delete", "addresses", explain.MaxScenario); err != nil {
			return q, err
		}
	}
	if v, given := fields["decide"]; given {
		if v.Kind() != strictjson.Array {
			return q, wrongKind("/decide", v, "an array of decisions")
		}
		for i, v := range v.Items() {
			if i == explain.MaxScenario {
				return q, fault(CodeTooLarge, "/decide", "more than %d decisions", explain.MaxScenario)
			}
			in := decodeDecision(v)
			if in.fault != nil {
				in.fault.Pointer = itemPointer("decide", i) + in.fault.Pointer
				return q, in.fault
			}
			q.Decide = append(q.Decide, in.Input)
		}
	}
	if v, given := fields["weights"]; given {
		if v.Kind() != strictjson.Object {
			return q, wrongKind("/weights", v, "an object of levels and their match weights")
		}
		q.Weights = map[string]match.Weight{}
		for name, v := range v.Members() {
			if len(q.Weights) == explain.MaxScenario {
				return q, fault(CodeTooLarge, "/weights", "more than %d levels", explain.MaxScenario)
			}
			if q.Weights[name], err = weightAt(v, "/weights/"+escapePointer(name)); err != nil {
				return q, err
			}
		}
	}
	if v, given := fields["threshold"]; given {
		if q.Threshold, err = weightAt(v, "/threshold"); err == nil && q.Threshold <= 0 {
			err = fault(CodeInvalid, "/threshold", "a threshold is above 0")
		}
	}
	return q, err
}

func weightAt(v strictjson.Value, pointer string) (match.Weight, error) {
	if v.Kind() != strictjson.Number {
		return 0, wrongKind(pointer, v, "a match weight")
	}
	bits, err := strconv.ParseFloat(v.Number(), 64)
	if err != nil || bits < -100 || bits > 100 {
		return 0, fault(CodeInvalid, pointer, "%.40s bits: want -100 to 100", v.Number())
	}
	var score match.Weight
	return score, score.UnmarshalJSON([]byte(v.Number()))
}

// textAt reads a required string.
func textAt(v strictjson.Value, pointer string) (string, error) {
	if v.Kind() != strictjson.String {
		if v.Kind() == strictjson.Missing {
			return "", fault(CodeInvalid, pointer, "%s is missing", pointer[1:])
		}
		return "", wrongKind(pointer, v, "a string")
	}
	return v.Text(), nil
}

func textsAt(v strictjson.Value, pointer, what string, most int) (list []string, err error) {
	if v.Kind() != strictjson.Array {
		return nil, wrongKind(pointer, v, fmt.Sprintf("an array of at most %d %s", most, what))
	}
	for i, v := range v.Items() {
		if i == most {
			return nil, fault(CodeTooLarge, pointer, "more than %d %s", most, what)
		}
		text, err := textAt(v, pointer+"/"+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
