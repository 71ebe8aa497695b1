// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/sources"
)

// StreamRequest is the body of PUT /v1/sources/{source}.
type StreamRequest struct {
	From      string `json:"from" doc:"URL of the stream without a password: kafka://broker1:9092,broker2:9092/topic, nats://host:4222/stream or postgres://user@host/database?table=name"`
	Format    string `json:"format,omitempty" enum:"json,debezium" doc:"json by default: the message is the row"`
	Mapping   string `json:"mapping,omitempty" doc:"Mapping file as of an import, in YAML; without one the columns have the names of attributes, and key"`
	SecretEnv string `json:"secret_env,omitempty" doc:"Environment variable of the servers with the password or token of the stream"`
}

// ResumeRequest is the body of POST /v1/sources/{source}/resume.
type ResumeRequest struct {
	FromStart bool `json:"from_start,omitempty" doc:"Begin again with the oldest message that the stream has, which repeats harmlessly"`
}

// LettersRequest is the body of the requests about dead letters.
type LettersRequest struct {
	At []string `json:"at,omitempty" doc:"PARTITION:OFFSET of each; by default all"`
}

// Stream is the state of a stream that the servers read.
type Stream struct {
	From      string        `json:"from" doc:"URL, without a password"`
	Format    source.Format `json:"format" enum:"json,debezium"`
	Mapping   string        `json:"mapping,omitempty" doc:"Mapping file, in YAML"`
	SecretEnv string        `json:"secret_env,omitempty" doc:"Environment variable of the servers with the password"`
	State     string        `json:"state" enum:"running,waiting,failing,paused" doc:"waiting: no server reads it yet; failing: the server that answers cannot read it"`
	Reason    string        `json:"reason,omitempty" doc:"Why it fails, or why it paused without a request"`
	Owner     string        `json:"owner,omitempty" doc:"Process that reads it"`
	// Position is a decimal string, as all numbers of 64 bits that a program may compare.
	Position map[int32]string `json:"position" doc:"Next offset by partition"`
	Messages int64            `json:"messages" doc:"Messages read since it was created, including repeats after a restart"`
	Records  int64            `json:"records" doc:"Records put for them"`
	Deleted  int64            `json:"deleted" doc:"Records deleted for them"`
	Dead     int              `json:"dead" doc:"Dead letters: messages that cannot become records"`
	Lag      int64            `json:"lag" doc:"Messages that were waiting when it was saved"`
	SavedAt  time.Time        `json:"saved_at,omitzero" doc:"When the position was stored"`
}

// LetterList is the answer to GET /v1/sources/{source}/dead.
type LetterList struct {
	Letters []Letter `json:"letters"`
}

// Letter is a message that cannot become a record.
type Letter struct {
	At      string    `json:"at" doc:"PARTITION:OFFSET of the message, which stays in the stream"`
	Key     string    `json:"key,omitempty" doc:"Beginning of the key of the message"`
	Reason  string    `json:"reason"`
	Time    time.Time `json:"time" doc:"When it was refused"`
	Waiting bool      `json:"waiting,omitempty" doc:"It will be tried again"`
}

// Handled is the answer to a request about dead letters.
type Handled struct {
	Letters int `json:"letters" doc:"Number of dead letters that it is about"`
}

func (s *Server) streamOf(of *sources.Status) *Stream {
	state, reason := "waiting", of.Reason
	running := s.svc.Sources().Running()[of.Name]
	switch {
	case of.Paused:
		state = "paused"
	case running.Trouble != "":
		state, reason = "failing", running.Trouble
	case running.Running || of.Owner != "":
		state = "running"
	}
	stream := &Stream{
		From: of.From, Format: of.Format, Mapping: of.Mapping, SecretEnv: of.SecretEnv, State: state,
		Reason: printable(reason), Owner: printable(of.Owner),
		Position: map[int32]string{}, Messages: of.Messages, Records: of.Records, Deleted: of.Deleted, Dead: of.Dead,
		Lag: of.Lag, SavedAt: of.Saved,
	}
	for p, next := range of.Position.Next {
		stream.Position[p] = strconv.FormatInt(next, 10)
	}
	return stream
}

func (s *Server) oneStream(of *sources.Status) Source {
	return Source{Source: of.Name, Kinds: []SourceKind{}, Stream: s.streamOf(of)}
}

func (s *Server) putStream(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	body, err := object(c.body, "from", "format", "mapping", "secret_env")
	if err != nil {
		return nil, err
	}
	d := sources.Definition{Name: name}
	format := ""
	for field, to := range map[string]*string{"from": &d.From, "format": &format, "mapping": &d.Mapping, "secret_env": &d.SecretEnv} {
		if v, given := body[field]; given {
			if v.Kind() != strictjson.String {
				return nil, wrongKind("/"+field, v, "a string")
			}
			*to = v.Text()
		}
	}
	d.Format = source.Format(format)
	of, changed, err := s.svc.Sources().Create(c, d)
	if err != nil {
		return nil, err
	}
	if changed {
		c.status = http.StatusCreated
	}
	return s.oneStream(of), nil
}

func (s *Server) deleteStream(c *call) (any, error) {
	name, err := c.path("source")
	if err == nil {
		err = s.svc.Sources().Delete(c, name)
	}
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, nil
}

func (s *Server) pauseStream(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	of, err := s.svc.Sources().Pause(c, name)
	if err != nil {
		return nil, err
	}
	return s.oneStream(of), nil
}

func (s *Server) resumeStream(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	fromStart := false
	if len(c.body) > 0 {
		body, err := object(c.body, "from_start")
		if err != nil {
			return nil, err
		}
		if v, given := body["from_start"]; given {
			if v.Kind() != strictjson.Bool {
				return nil, wrongKind("/from_start", v, "true or false")
			}
			fromStart = string(v.Raw()) == "true"
		}
	}
	of, err := s.svc.Sources().Resume(c, name, fromStart)
	if err != nil {
		return nil, err
	}
	return s.oneStream(of), nil
}

func (s *Server) deadLetters(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	letters, err := s.svc.Sources().Dead(c, name)
	if err != nil {
		return nil, err
	}
	list := LetterList{Letters: make([]Letter, 0, len(letters))}
	for _, l := range letters {
		list.Letters = append(list.Letters,
			Letter{At: l.At.String(), Key: printable(l.Key), Reason: printable(l.Reason), Time: l.Time, Waiting: l.Again})
	}
	return list, nil
}

func (s *Server) retryLetters(c *call) (any, error) {
	name, at, err := c.letters()
	if err != nil {
		return nil, err
	}
	n, err := s.svc.Sources().Retry(c, name, at...)
	if err != nil {
		return nil, err
	}
	return Handled{n}, nil
}

func (s *Server) dropLetters(c *call) (any, error) {
	name, at, err := c.letters()
	if err != nil {
		return nil, err
	}
	n, err := s.svc.Sources().Drop(c, name, at...)
	if err != nil {
		return nil, err
	}
	return Handled{n}, nil
}

// letters reads the path and the body of a request about dead letters.
func (c *call) letters() (name string, at []source.At, err error) {
	if name, err = c.path("source"); err != nil || len(c.body) == 0 {
		return name, nil, err
	}
	body, err := object(c.body, "at")
	if err != nil {
		return name, nil, err
	}
	v, given := body["at"]
	if !given {
		return name, nil, nil
	}
	texts, err := textsAt(v, "/at", "places", source.MaxDead)
	if err != nil {
		return name, nil, err
	}
	if len(texts) == 0 {
		return name, nil, fault(CodeInvalid, "/at", "at is empty: omit it for all")
	}
	for i, text := range texts {
		one, err := source.ParseAt(text)
		if err != nil {
			return name, nil, fault(CodeInvalid, itemPointer("at", i), "%v", err)
		}
		at = append(at, one)
	}
	return name, at, nil
}
