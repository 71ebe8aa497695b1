// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// op is a resolve.Op as JSON. It has the same fields, so the compiler refuses the conversions below if resolve.Op gets
// another one: a field that is not sent would be lost on the way to the process that resolves.
type op struct {
	entity.Ref
	Kind       string                    `json:"kind,omitempty"`
	Delete     bool                      `json:"delete,omitempty"`
	IfVersion  int64                     `json:"if_version,omitempty"`
	Unless     func(*entity.Record) bool `json:"-"` // only its own process can check it
	Observed   time.Time                 `json:"observed,omitzero"`
	Later      bool                      `json:"later,omitempty"`
	Attributes entity.Attributes         `json:"attributes,omitempty"`
	Birth      locality.ID               `json:"birth,omitzero"`
	Version    int64                     `json:"version,omitempty"`
}

func encodeOps(ops []resolve.Op) ([]byte, error) {
	list := make([]op, len(ops))
	for i := range ops {
		if ops[i].Unless != nil {
			return nil, errors.New("an operation with a condition cannot be sent")
		}
		list[i] = op(ops[i])
	}
	return json.Marshal(list)
}

func decodeOps(body []byte) ([]resolve.Op, error) {
	var list []op
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	ops := make([]resolve.Op, len(list))
	for i := range list {
		ops[i] = resolve.Op(list[i])
	}
	return ops, nil
}

// results are the results of a call. All of them have the same marks.
type results struct {
	Results []result                  `json:"results"`
	Marks   map[cell.ID]changelog.Seq `json:"marks,omitempty"`
}

type result struct {
	PUID    entity.PUID     `json:"puid,omitempty"`
	Version int64           `json:"version,omitempty"`
	Entity  locality.ID     `json:"entity,omitzero"`
	Outcome resolve.Outcome `json:"outcome,omitempty"`
	Pending bool            `json:"pending,omitempty"`
	Err     *failure        `json:"error,omitempty"`
}

func encodeResults(list []resolve.Result) results {
	sent := results{Results: make([]result, len(list))}
	for i, r := range list {
		if r.Marks != nil {
			sent.Marks = r.Marks
		}
		sent.Results[i] = result{PUID: r.PUID, Version: r.Version, Entity: r.Entity, Outcome: r.Outcome, Pending: r.Pending,
			Err: failureOf(r.Err)}
	}
	return sent
}

func decodeResults(text []byte, n int) ([]resolve.Result, error) {
	var sent results
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, err
	}
	if len(sent.Results) != n {
		return nil, fmt.Errorf("%d results for %d operations", len(sent.Results), n)
	}
	list := make([]resolve.Result, n)
	for i, r := range sent.Results {
		list[i] = resolve.Result{PUID: r.PUID, Version: r.Version, Entity: r.Entity, Outcome: r.Outcome, Pending: r.Pending,
			Marks: sent.Marks}
		if r.Err != nil {
			list[i].Err = r.Err
		}
	}
	return list, nil
}

// failure is an error as it is sent: its text, and the errors of known that it wraps.
type failure struct {
	Text string   `json:"text"`
	Is   []string `json:"is,omitempty"`
}

// known are the errors that callers of a Queue compare with, by the names that are sent.
var known = map[string]error{
	"not_found": problem.ErrNotFound, "erased": problem.ErrErased, "invalid": problem.ErrInvalid,
	"conflict":    problem.ErrConflict,
	"unavailable": problem.ErrUnavailable, "overloaded": problem.ErrOverloaded, "closed": problem.ErrClosed,
	"commit_unknown":   problem.ErrCommitUnknown,
	"entity_not_found": entity.ErrNotFound, "entity_erased": entity.ErrErased, "version": entity.ErrVersion,
	"refused":          entity.ErrRefused,
	"cell_unavailable": cell.ErrUnavailable, "cell_commit_unknown": cell.ErrCommitUnknown, "damaged": cell.ErrDamaged,
	"no_room":   cell.ErrNoRoom,
	"stale_map": cell.ErrStaleMap, "outdated": resolve.ErrOutdated, "newer": resolve.ErrNewer,
	"upgrading": resolve.ErrUpgrading,
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for name, target := range known {
		if errors.Is(err, target) {
			f.Is = append(f.Is, name)
		}
	}
	return f
}

// Error returns the text of the error where it occurred.
func (f *failure) Error() string { return f.Text }

// Unwrap returns the known errors that the error wrapped where it occurred.
func (f *failure) Unwrap() []error {
	var wrapped []error
	for _, name := range f.Is {
		if err := known[name]; err != nil {
			wrapped = append(wrapped, err)
		}
	}
	return wrapped
}
