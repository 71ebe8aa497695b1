// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"github.com/locus-db/locus/records"
)

// SourceList is the answer to GET /v1/sources.
type SourceList struct {
	Sources []Source `json:"sources"`
}

// Source is a source with live records.
type Source struct {
	Source  string       `json:"source"`
	Records int64        `json:"records" doc:"Number of live records"`
	Newest  time.Time    `json:"newest" doc:"Newest observed_at of a live record"`
	Kinds   []SourceKind `json:"kinds" doc:"The same by kind, in the order of their names"`
}

// SourceKind counts the records of one kind.
type SourceKind struct {
	Kind    string    `json:"kind"`
	Records int64     `json:"records"`
	Newest  time.Time `json:"newest"`
}

func source(s *records.Source) Source {
	of := Source{Source: s.Name, Records: s.Records, Newest: s.Newest}
	for _, k := range s.Kinds {
		of.Kinds = append(of.Kinds, SourceKind{k.Kind, k.Records, k.Newest})
	}
	return of
}

func (s *Server) listSources(c *call) (any, error) {
	all, err := s.svc.Records().Sources(c)
	if err != nil {
		return nil, err
	}
	list := SourceList{Sources: make([]Source, 0, len(all))}
	for i := range all {
		list.Sources = append(list.Sources, source(&all[i]))
	}
	return list, nil
}

func (s *Server) getSource(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	of, err := s.svc.Records().Source(c, name)
	if err != nil {
		return nil, err
	}
	return source(of), nil
}
