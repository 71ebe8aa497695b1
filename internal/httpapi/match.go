// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// MatchRequest is the body of POST /v1/match.
type MatchRequest struct {
	Kind           string       `json:"kind,omitempty" doc:"Kind of probes without one of their own; by default the first of the installation"`
	Probes         []ProbeInput `json:"probes" minItems:"1" maxItems:"1000"`
	Top            int          `json:"top,omitempty" minimum:"1" maximum:"100" doc:"Maximum number of entities per probe; 5 by default"`
	MinMatchWeight match.Weight `json:"min_match_weight,omitempty" doc:"Lowest match weight of a candidate; 0 by default, below 0 also lists different things"`
	Put            bool         `json:"put,omitempty" doc:"Include what a put of each probe would do"`
	Why            bool         `json:"why,omitempty" doc:"Include the comparison with each candidate"`
	Fuzzy          bool         `json:"fuzzy,omitempty" doc:"Include entities whose name is that of the probe except for typing errors, also if they share no blocking key"`
}

// ProbeInput is a record to match that is not stored. All fields are optional.
type ProbeInput struct {
	Source     string     `json:"source,omitempty" doc:"Name of the source; it determines which identifiers are compared"`
	Key        string     `json:"key,omitempty" doc:"Key of the record in its source; then put is about that record"`
	Kind       string     `json:"kind,omitempty" doc:"Kind of the thing"`
	ObservedAt string     `json:"observed_at,omitempty" format:"date-time" doc:"When the source observed these values; now by default"`
	Attributes Attributes `json:"attributes,omitempty"`
}

// MatchResponse is the answer to POST /v1/match: a result for each probe, in order.
type MatchResponse struct {
	Results []MatchResult `json:"results"`
}

// MatchResult is the result of one probe. If Error is set, all other fields are empty.
type MatchResult struct {
	Entities []MatchEntity   `json:"entities" doc:"Entities that share a blocking key with the probe, or with fuzzy a name, the best first"`
	Reason   string          `json:"reason,omitempty" enum:"no_blocking_key,only_stop_keys" doc:"Why nothing was compared"`
	Skipped  []match.KeyKind `json:"skipped,omitempty" doc:"Kinds of blocking keys that too many records share; candidates that share only those are missing"`
	Put      *MatchPut       `json:"put,omitempty" doc:"What a put would do, if requested"`
	PutError *Fault          `json:"put_error,omitempty" doc:"Why a put would be refused, if put was requested"`
	Error    *Fault          `json:"error,omitempty"`
}

// MatchEntity is an entity near a probe, with its best pair.
type MatchEntity struct {
	ID          locality.ID        `json:"id"`
	Kind        string             `json:"kind"`
	MatchWeight match.Weight       `json:"match_weight" doc:"Match weight of the best pair"`
	Level       entities.Level     `json:"level" enum:"same,possible,different"`
	Relation    string             `json:"relation,omitempty" enum:"part_of,has_part,co_located" doc:"Relation of the probe to the entity, if they are related things"`
	Record      entity.Ref         `json:"record" doc:"Record of the entity in the best pair"`
	Records     int                `json:"records" doc:"Number of records of the entity"`
	View        View               `json:"view" doc:"Merged attributes in the order of the kind"`
	Hidden      []string           `json:"hidden,omitempty" doc:"Attributes that have a value, which this token may not see"`
	Why         *match.Explanation `json:"why,omitempty" doc:"The comparison, probe first, if requested"`
}

// MatchPut is the effect that a put of a probe would have.
type MatchPut struct {
	Outcome string        `json:"outcome" enum:"created,matched,updated,unchanged,stale"`
	Entity  locality.ID   `json:"entity,omitzero" doc:"Entity of the record after the put; missing if the put would create it"`
	Merges  []locality.ID `json:"merges,omitempty" doc:"Entities that would be merged into it"`
	Splits  []locality.ID `json:"splits,omitempty" doc:"Entities that would be split"`
}

// pricePerBody is how many bytes of a body cost one more place in the lane of matches: about a hundred probes.
const pricePerBody = 32 << 10

func (s *Server) match(c *call) (any, error) {
	items, opts, err := decodeMatch(c.body)
	if err != nil {
		return nil, err
	}
	least, err := c.query.watermark("min_watermark")
	if err != nil {
		return nil, err
	}
	if err := s.svc.Changes().Await(c, least); err != nil {
		return nil, err
	}
	probes := make([]entities.Probe, 0, len(items))
	for i := range items {
		p := &items[i].put
		if items[i].fault != nil {
			continue
		}
		probe := entities.Probe{Ref: p.Ref, Kind: p.Kind, Observed: p.Observed, Attributes: p.Attributes}
		if f := s.mayTry(c, &probe, opts.Put); f != nil {
			f.Pointer = itemPointer("probes", i) + f.Pointer
			items[i].note(f)
			continue
		}
		probes = append(probes, probe)
	}
	var found []entities.Found
	if len(probes) > 0 {
		if found, err = s.svc.Entities().Match(c, probes, &opts); err != nil {
			return nil, err
		}
	}
	answer := MatchResponse{Results: make([]MatchResult, len(items))}
	for i := range items {
		r := &answer.Results[i]
		r.Entities = []MatchEntity{}
		if r.Error = items[i].fault; r.Error != nil {
			continue
		}
		s.matched(r, &found[0], itemPointer("probes", i))
		found = found[1:]
	}
	return answer, nil
}

func (s *Server) matched(r *MatchResult, f *entities.Found, pointer string) {
	if f.Err != nil {
		r.Error = toFault(f.Err, pointer)
		return
	}
	r.Reason, r.Skipped = f.Reason, f.Skipped
	if f.PutErr != nil {
		r.PutError = toFault(f.PutErr, pointer)
	}
	if f.Put != nil {
		r.Put = &MatchPut{f.Put.Outcome, f.Put.Entity, f.Put.Merges, f.Put.Splits}
	}
	for _, c := range f.Candidates {
		e := c.Entity
		r.Entities = append(r.Entities, MatchEntity{
			ID: e.ID, Kind: e.Kind, MatchWeight: c.MatchWeight, Level: c.Level, Relation: c.Relation, Record: c.Record,
			Records: len(e.Members), Why: c.Why,
			View: s.merged(e.Kind, e.View, func(m int) entity.Ref { return e.Members[m].Ref }),
		})
	}
}

func decodeMatch(body []byte) (items []item, opts entities.MatchOptions, err error) {
	fields, err := object(body, "kind", "probes", "top", "min_match_weight", "put", "why", "fuzzy")
	if err != nil {
		return nil, opts, err
	}
	kind := ""
	if v, given := fields["kind"]; given {
		if kind, err = textAt(v, "/kind"); err != nil {
			return nil, opts, err
		}
	}
	if _, given := fields["top"]; given {
		if opts.Top, err = number(fields, "top", entities.MaxTop); err != nil {
			return nil, opts, err
		}
	}
	if v, given := fields["min_match_weight"]; given {
		if opts.MinMatchWeight, err = weightAt(v, "/min_match_weight"); err != nil {
			return nil, opts, err
		}
	}
	for name, to := range map[string]*bool{"put": &opts.Put, "why": &opts.Why, "fuzzy": &opts.Fuzzy} {
		if v, given := fields[name]; given {
			if v.Kind() != strictjson.Bool {
				return nil, opts, wrongKind("/"+name, v, "true or false")
			}
			*to = string(v.Raw()) == "true"
		}
	}
	items, err = decodeItems(fields["probes"], "probes", entities.MaxProbes, func(v strictjson.Value) item {
		it := decodeRecord(v)
		if it.put.Kind == "" {
			it.put.Kind = kind
		}
		return it
	})
	return items, opts, err
}
