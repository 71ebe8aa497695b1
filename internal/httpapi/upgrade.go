// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/kinds"
)

// Upgrade is the state of an installation against the matcher of the server.
type Upgrade struct {
	Matcher string        `json:"matcher" doc:"Version of the matcher that the entities are made by, or are being upgraded to"`
	Program string        `json:"program" doc:"Version of the matcher of this server"`
	Needed  bool          `json:"needed" doc:"Whether the entities were made by an older version: nothing is written before an upgrade"`
	Running *Upgrading    `json:"running,omitempty" doc:"Unfinished upgrade"`
	Kinds   []*kinds.Diff `json:"kinds,omitempty" doc:"What would merge, split and change; only in the answer of a dry run"`
}

// Upgrading is the progress of an upgrade.
type Upgrading struct {
	From  string `json:"from" doc:"Former version of the matcher"`
	Since string `json:"since" doc:"RFC 3339"`
	Step  string `json:"step" enum:"fence,post,drop,resolve" doc:"In this order; records that are put wait before resolve"`
	Done  int    `json:"done" doc:"Number of records that the step is done with, of postings in drop"`
	Cells int    `json:"cells" doc:"Number of cells that the step is done with"`
}

// UpgradeRequest is the body of POST /v1/upgrade.
type UpgradeRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"true returns what would merge, split and change, and changes nothing"`
}

func (s *Server) upgradeState() Upgrade {
	u := s.svc.Kinds().State()
	state := Upgrade{Matcher: u.Matcher, Program: u.Program, Needed: u.Needed}
	if c := u.Running; c != nil {
		state.Running = &Upgrading{
			From: c.From, Since: c.Since.UTC().Format("2006-01-02T15:04:05.000Z"), Step: string(c.Step), Done: c.Records(),
			Cells: c.Done(),
		}
	}
	return state
}

func (s *Server) getUpgrade(*call) (any, error) { return s.upgradeState(), nil }

func (s *Server) upgrade(c *call, progress func(any)) (any, error) {
	body, err := object(c.body, "dry_run")
	if err != nil {
		return nil, err
	}
	dry := false
	if v, given := body["dry_run"]; given {
		if v.Kind() != strictjson.Bool {
			return nil, wrongKind("/dry_run", v, "true or false")
		}
		dry = string(v.Raw()) == "true"
	}
	tell := func(p kinds.Progress) { progress(p) }
	if dry {
		plan, err := s.svc.Kinds().PlanUpgrade(c, tell)
		state := s.upgradeState()
		state.Kinds = plan
		return state, err
	}
	err = s.svc.Kinds().Upgrade(c, tell)
	return s.upgradeState(), err
}
