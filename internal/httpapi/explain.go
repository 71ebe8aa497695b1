// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
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
