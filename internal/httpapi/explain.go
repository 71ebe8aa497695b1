// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/match"
)

// Why explains why the records of an entity are together.
type Why struct {
	Entity    Entity         `json:"entity"`
	Threshold match.Weight   `json:"threshold" doc:"Match weight from which two records are a match"`
	Records   []Record       `json:"records" doc:"Records of the entity, oldest first"`
	Joins     []explain.Join `json:"joins" doc:"Comparisons that connect the records, strongest first"`
}

// How describes how an entity was formed.
type How struct {
	Entity    Entity           `json:"entity"`
	Threshold match.Weight     `json:"threshold" doc:"Match weight from which two records are a match"`
	Component int              `json:"component" doc:"Number of records clustered together with those of the entity"`
	Cut       match.Weight     `json:"cut" doc:"Match weight required to connect them: the threshold, or more for large clusters"`
	Steps     []explain.Step   `json:"steps" doc:"Steps that made the entity, in order, and the last step with each group of records that was refused"`
	Events    []changes.Change `json:"events" doc:"Latest changes of the entity and its records, oldest first"`
	Since     time.Time        `json:"since,omitzero" doc:"Time since which no event is missing; absent if that is the beginning"`
	TookMS    float64          `json:"took_ms" doc:"Milliseconds that the server took"`
}

// History lists the changes of an entity that are still in the logs.
type History struct {
	Entity Entity           `json:"entity"`
	Events []changes.Change `json:"events" doc:"Puts of its records and changes of their former entities, oldest first"`
	Since  time.Time        `json:"since,omitzero" doc:"Time since which no event is missing; absent if that is the beginning"`
}

// RelationList lists the relations of an entity.
type RelationList struct {
	Relations []entities.Relation `json:"relations" doc:"Best first, at most 16, each other entity once"`
}

func (s *Server) why(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	why, err := s.svc.Explain().Why(c, id)
	if err != nil {
		return nil, err
	}
	e := &entities.Entity{Entity: why.Entity, Requested: why.Requested}
	answer := Why{Entity: s.found(c, e), Threshold: why.Threshold, Records: make([]Record, 0, len(why.Records)),
		Joins: why.Joins}
	for _, r := range why.Records {
		answer.Records = append(answer.Records, record(r, why.Entity.ID))
	}
	if answer.Joins == nil {
		answer.Joins = []explain.Join{}
	}
	return answer, nil
}

func (s *Server) whyNot(c *call) (any, error) {
	if err := s.seen(c, c.query["a"], c.query["b"]); err != nil {
		return nil, err
	}
	return s.svc.Explain().WhyNot(c, c.query["a"], c.query["b"])
}

// route returns the route of an address. Data that the principal may not see counts as not found.
func (s *Server) route(c *call) (any, error) {
	found, err := s.svc.Explain().Route(c, c.query["address"])
	if err == nil && found.Found && s.seen(c, c.query["address"]) != nil {
		found.Found, found.Record, found.Entity = false, nil, nil
	}
	return found, err
}

func (s *Server) status(c *call) (any, error) { return s.svc.Cells().Status(c) }

func (s *Server) how(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	h, err := s.svc.Explain().How(c, id)
	if err != nil {
		return nil, err
	}
	return How{
		Entity: s.found(c, &entities.Entity{Entity: h.Entity, Requested: h.Requested}), Threshold: h.Threshold,
		Component: h.Component,
		Cut:       h.Cut, Steps: h.Steps, Events: h.Events, Since: h.Since, TookMS: milliseconds(h.Took),
	}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (s *Server) history(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	h, err := s.svc.Explain().History(c, id)
	if err != nil {
		return nil, err
	}
	return History{Entity: s.found(c, &entities.Entity{Entity: h.Entity, Requested: id}), Events: h.Events,
		Since: h.Since}, nil
}

func (s *Server) relations(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	if err := s.seen(c, id.String()); err != nil {
		return nil, err
	}
	list, err := s.svc.Entities().Relations(c, id)
	if err != nil {
		return nil, err
	}
	return RelationList{list}, nil
}
