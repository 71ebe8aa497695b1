// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sinks"
)

// SinkRequest is the body of PUT /v1/sinks/{name}.
type SinkRequest struct {
	To        string `json:"to" doc:"URL of the target without a password: https://host/path, postgres://user@host/database?table=name, mongodb://user@host/database?collection=name, kafka://broker/topic, nats://host/stream?subject=prefix or file:name"`
	Kind      string `json:"kind,omitempty" doc:"Deliver only the entities of this kind; by default all"`
	Feed      string `json:"feed,omitempty" enum:"states,changes" doc:"states: the state of every id; changes: every change of every log from now on, for all targets but MongoDB; states by default"`
	SecretEnv string `json:"secret_env,omitempty" doc:"Environment variable of the servers: the secret that signs webhooks, or the password or token of the target"`
	Hold      string `json:"hold,omitempty" doc:"How long the logs keep undelivered changes, such as 24h; 72h by default and at most"`
}

// SinkList are all sinks in the order of their names.
type SinkList struct {
	Sinks []Sink `json:"sinks"`
}

// Sink is the state of a sink.
type Sink struct {
	Name      string `json:"name"`
	To        string `json:"to" doc:"URL, without a password"`
	Kind      string `json:"kind,omitempty" doc:"Kind of the entities; missing for all"`
	Feed      string `json:"feed,omitempty" enum:"changes" doc:"changes for an audit trail; missing for states"`
	SecretEnv string `json:"secret_env,omitempty" doc:"Environment variable of the servers with the secret"`
	Hold      string `json:"hold" doc:"How long the logs keep undelivered changes"`
	State     string `json:"state" enum:"waiting,filling,following,failing,paused" doc:"waiting: no server delivers yet; filling: not all ids were delivered once; failing: the last attempt failed, and is repeated"`
	Reason    string `json:"reason,omitempty" doc:"Why it fails, or why it paused without a request"`
	Owner     string `json:"owner,omitempty" doc:"Process that delivers"`
	Filled    int64  `json:"filled" doc:"Ids that were read by the current or last fill"`
	Delivered int64  `json:"delivered" doc:"Events accepted since it was created"`
	Failed    int64  `json:"failed" doc:"Attempts that failed, and events that were rejected"`
	Dead      int    `json:"dead" doc:"Dead letters: events that the target has rejected"`
	// LagMS is nil if another process delivers.
	LagMS   *int64    `json:"lag_ms,omitempty" doc:"How long the oldest change has waited; missing if another server delivers"`
	SavedAt time.Time `json:"saved_at,omitzero" doc:"When the position was stored"`
}

// SinkAdoptRequest is the body of POST /v1/sinks/{name}/adopt.
type SinkAdoptRequest struct {
	Rev string `json:"rev,omitempty" doc:"Highest rev that the target has; only for targets that store no position: webhooks and NATS"`
}

// SinkDeadRequest is the body of the requests about dead letters.
type SinkDeadRequest struct {
	IDs []locality.ID `json:"ids,omitempty" doc:"Entity ids, at most 1000; by default all"`
}

// SinkDeadAnswer is the answer to a request about dead letters.
type SinkDeadAnswer struct {
	Letters int `json:"letters" doc:"Number of dead letters affected"`
}

// SinkLetterList is a page of dead letters.
type SinkLetterList struct {
	Letters []SinkLetter `json:"letters"`
	Cursor  string       `json:"cursor,omitempty" doc:"Cursor of the next page; missing on the last page only"`
}

// SinkLetter is an event that a target has rejected.
type SinkLetter struct {
	ID     locality.ID `json:"id"`
	Rev    string      `json:"rev" doc:"Of the event"`
	Op     sink.Op     `json:"op" enum:"upsert,redirect,delete"`
	Reason string      `json:"reason"`
	Time   time.Time   `json:"time" doc:"When it was rejected"`
}

func (s *Server) oneSink(of *sinks.Status) Sink {
	state, reason := "following", of.Reason
	switch {
	case of.Paused:
		state = "paused"
	case of.Trouble != "":
		state, reason = "failing", of.Trouble
	case of.Owner == "":
		state = "waiting"
	case !of.Position.Filled():
		state = "filling"
	}
	one := Sink{
		Name: of.Name, To: of.To, Kind: of.Kind, Feed: of.Feed, SecretEnv: of.SecretEnv, Hold: of.Hold.String(), State: state,
		Reason: printable(reason), Owner: printable(of.Owner),
		Delivered: of.Delivered, Failed: of.Failed, Dead: of.Letters, SavedAt: of.Saved,
	}
	for _, c := range of.Position.Cells {
		one.Filled += c.Count
	}
	if stats := s.svc.Sinks().Running()[of.Name]; stats.Running || stats.Lag > 0 {
		lag := stats.Lag.Milliseconds()
		one.LagMS = &lag
	}
	return one
}

func (s *Server) listSinks(c *call) (any, error) {
	all, err := s.svc.Sinks().List(c)
	if err != nil {
		return nil, err
	}
	list := SinkList{Sinks: make([]Sink, 0, len(all))}
	for i := range all {
		list.Sinks = append(list.Sinks, s.oneSink(&all[i]))
	}
	return list, nil
}

// namedSink does something with the sink of the path, and returns its state.
func (s *Server) namedSink(c *call, do func(context.Context, string) (*sinks.Status, error)) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	of, err := do(c, name)
	if err != nil {
		return nil, err
	}
	return s.oneSink(of), nil
}

func (s *Server) getSink(c *call) (any, error)    { return s.namedSink(c, s.svc.Sinks().Get) }
func (s *Server) pauseSink(c *call) (any, error)  { return s.namedSink(c, s.svc.Sinks().Pause) }
func (s *Server) resumeSink(c *call) (any, error) { return s.namedSink(c, s.svc.Sinks().Resume) }

func (s *Server) adoptSink(c *call) (any, error) {
	var rev int64
	if len(c.body) > 0 {
		body, err := object(c.body, "rev")
		if err != nil {
			return nil, err
		}
		if v, given := body["rev"]; given {
			if v.Kind() != strictjson.String {
				return nil, wrongKind("/rev", v, "a string")
			}
			if rev, err = strconv.ParseInt(v.Text(), 10, 64); err != nil || rev <= 0 {
				return nil, fault(CodeInvalid, "/rev", "%.40q is not a rev such as 1125899906842625", v.Text())
			}
		}
	}
	return s.namedSink(c, func(ctx context.Context, name string) (*sinks.Status, error) {
		return s.svc.Sinks().Adopt(ctx, name, rev)
	})
}

func (s *Server) putSink(c *call) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	body, err := object(c.body, "to", "kind", "feed", "secret_env", "hold")
	if err != nil {
		return nil, err
	}
	d, hold := sinks.Definition{Name: name}, ""
	for field, to := range map[string]*string{"to": &d.To, "kind": &d.Kind, "feed": &d.Feed, "secret_env": &d.SecretEnv, "hold": &hold} {
		if v, given := body[field]; given {
			if v.Kind() != strictjson.String {
				return nil, wrongKind("/"+field, v, "a string")
			}
			*to = v.Text()
		}
	}
	if d.Feed == "states" {
		d.Feed = ""
	}
	if hold != "" {
		if d.Hold, err = time.ParseDuration(hold); err != nil || d.Hold <= 0 {
			return nil, fault(CodeInvalid, "/hold", "%.40q is not a duration such as 24h", hold)
		}
	}
	return s.namedSink(c, func(ctx context.Context, _ string) (*sinks.Status, error) {
		of, changed, err := s.svc.Sinks().Create(ctx, d)
		if changed {
			c.status = http.StatusCreated
		}
		return of, err
	})
}

func (s *Server) deleteSink(c *call) (any, error) {
	name, err := c.path("name")
	if err == nil {
		err = s.svc.Sinks().Delete(c, name)
	}
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, nil
}

func (s *Server) listSinkDead(c *call) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	after, err := s.unseal(c, "cursor")
	if err != nil {
		return nil, err
	}
	letters, err := s.svc.Sinks().Dead(c, name)
	if err != nil {
		return nil, err
	}
	list := SinkLetterList{Letters: []SinkLetter{}}
	for _, l := range letters {
		if string(l.ID[:]) <= string(after) {
			continue
		}
		if len(list.Letters) == limit {
			last := list.Letters[limit-1].ID
			list.Cursor = s.seal(c, last[:])
			break
		}
		list.Letters = append(list.Letters, SinkLetter{l.ID, strconv.FormatInt(l.Rev, 10), l.Op, printable(l.Reason), l.Time})
	}
	return list, nil
}

func (s *Server) retrySinkDead(c *call) (any, error) { return s.sinkDead(c, s.svc.Sinks().Retry) }
func (s *Server) dropSinkDead(c *call) (any, error)  { return s.sinkDead(c, s.svc.Sinks().Drop) }

// sinkDead does something with dead letters.
func (s *Server) sinkDead(c *call, do func(context.Context, string, ...locality.ID) (int, error)) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	var ids []locality.ID
	if len(c.body) > 0 {
		body, err := object(c.body, "ids")
		if err != nil {
			return nil, err
		}
		if v, given := body["ids"]; given {
			texts, err := textsAt(v, "/ids", "ids", 1000)
			if err != nil {
				return nil, err
			}
			if len(texts) == 0 {
				return nil, fault(CodeInvalid, "/ids", "ids is empty: leave it out for all")
			}
			for i, text := range texts {
				id, err := locality.Parse(text)
				if err != nil {
					return nil, fault(CodeInvalid, itemPointer("ids", i), "%.60q is not an id", text)
				}
				ids = append(ids, id)
			}
		}
	}
	n, err := do(c, name, ids...)
	if err != nil {
		return nil, err
	}
	return SinkDeadAnswer{n}, nil
}
