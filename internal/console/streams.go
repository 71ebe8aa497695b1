// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"time"
)

// Streams is the content of the page of sinks and streams in at one moment.
type Streams struct {
	Time time.Time
	Out  []Stream // the sinks
	In   []Stream // the sources that the servers read from a stream
}

// Stream is the state of a sink or of a stream in.
type Stream struct {
	Name   string
	URL    string // of the target, or of the stream
	State  string // as the JSON route has it
	Reason string // why it is paused though no person paused it, or why it fails; may be empty
	Owner  string // process that runs it, "" if none does
	Kind   string // delivered by a sink; "" for all
	// Waits is how long the oldest change of a sink has waited, nil if another process runs the sink. Behind is how
	// many messages of a stream were waiting.
	Waits  *time.Duration
	Behind int64
	// Done counts accepted events, or messages that were read. Failed counts failed attempts of a sink, Put and Deleted
	// the records of a stream in.
	Done, Failed, Put, Deleted int64
	Dead                       int
	Saved                      time.Time // when the position was stored; zero before
}

// Streams writes the page.
func (c *Console) Streams(w io.Writer, s Streams) error {
	p := streamsPage{As: stamp(s.Time), Version: c.version}
	for i := range s.Out {
		p.Out = append(p.Out, newSinkCard(&s.Out[i]))
	}
	for i := range s.In {
		p.In = append(p.In, newSourceCard(&s.In[i]))
	}
	return c.render(w, "streams", "", p)
}

type streamsPage struct {
	As      stamp
	Version string
	Out, In []streamCard
}

// Page identifies the structure of the page: which of its lists it has.
func (p streamsPage) Page() string {
	page := p.Version
	if len(p.Out) > 0 {
		page += "/out"
	}
	if len(p.In) > 0 {
		page += "/in"
	}
	return page
}

// streamCard is the state of a sink or of a stream in.
type streamCard struct {
	Name, URL, State, Class, Reason, Owner string
	Facts                                  []fact
	Saved                                  stamp
	Dead                                   string // the command that lists dead letters, "" if there are none
	Show                                   string // the equivalent command
}

// streamClasses are the colours of states, the same as for rollups.
var streamClasses = map[string]string{"following": "following", "running": "following", "filling": "filling",
	"failing": "failed"}

func newStreamCard(s *Stream) streamCard {
	return streamCard{Name: s.Name, URL: s.URL, State: s.State, Class: streamClasses[s.State], Reason: s.Reason,
		Owner: s.Owner, Saved: stamp(s.Saved)}
}

func newSinkCard(s *Stream) streamCard {
	c, lag, of := newStreamCard(s), "–", "all kinds"
	if s.Waits != nil {
		lag = behind(*s.Waits)
	} else if s.State == "following" || s.State == "filling" {
		lag = "known to the process that delivers"
	}
	if s.Kind != "" {
		of = s.Kind
	}
	c.Facts = []fact{{"Lag", lag}, {"Delivered", count(s.Done)}, {"Failed attempts", count(s.Failed)},
		{"Dead letters", count(int64(s.Dead))}, {"Entities of", of}}
	if s.Dead > 0 {
		c.Dead = command("locus", "sink", "dead", "list", s.Name)
	}
	c.Show = command("locus", "sink", "show", s.Name)
	return c
}

func newSourceCard(s *Stream) streamCard {
	c := newStreamCard(s)
	c.Facts = []fact{
		{"Lag", counted(s.Behind, "message")},
		{"Read", count(s.Done)}, {"Records put", count(s.Put)}, {"Deleted", count(s.Deleted)},
		{"Refused", count(int64(s.Dead))},
	}
	if s.Dead > 0 {
		c.Dead = command("locus", "source", "dead", "list", s.Name)
	}
	c.Show = command("locus", "source", "show", s.Name)
	return c
}
