// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/access"
)

// Headers of a batch of hits that counts only once.
const (
	keyHeader      = "Idempotency-Key"
	producerHeader = "Locus-Producer"
	seqHeader      = "Locus-Seq"
	replayedHeader = "Idempotent-Replayed"
)

// HitRequest is the body of POST /v1/hits.
type HitRequest struct {
	Hits []HitInput `json:"hits" minItems:"1" maxItems:"1000"`
}

// HitInput is a hit as sent. A hit with a value is the reading of a gauge.
type HitInput struct {
	Metric string `json:"metric" doc:"Name of the metric, 1 to 200 bytes"`
	At     string `json:"at,omitempty" format:"date-time" doc:"Time of the hit, at most 7 days ago; now by default, but required in a batch with a key or a producer"`
	N      *int64 `json:"n,omitempty" minimum:"1" maximum:"1000000" doc:"Increment of a counter; 1 by default"`
	Value  *int64 `json:"value,omitempty" minimum:"-1000000000000000" maximum:"1000000000000000" doc:"Reading of a gauge, instead of n"`
}

// HitResponse is the answer to POST /v1/hits: a result for each hit, in order.
type HitResponse struct {
	Results []HitResult `json:"results"`
}

// HitResult is the result of one hit.
type HitResult struct {
	Metric  string     `json:"metric"`
	Outcome HitOutcome `json:"outcome,omitempty" enum:"counted"`
	Error   *Fault     `json:"error,omitempty"`
}

// HitOutcome is the outcome of a hit.
type HitOutcome string

// Counted means that the hit is durable. It is also the outcome of a replayed batch.
const Counted HitOutcome = "counted"

func (s *Server) addHits(c *call) (any, error) {
	b, err := c.once()
	if err != nil {
		return nil, err
	}
	items, err := decodeHits(c.body)
	if err != nil {
		return nil, err
	}
	if err := s.budget(access.From(c), hitsAdded, len(items)); err != nil {
		return nil, err
	}
	for i := range items {
		if items[i].fault == nil {
			b.Hits = append(b.Hits, items[i].hit)
		}
	}
	var became counter.Answer
	c.concerns("hits=%d", len(b.Hits))
	if len(b.Hits) > 0 {
		if became, err = s.svc.Counters().Add(c, b); err != nil {
			return nil, err
		}
		if err := ofAll(became.Results); err != nil {
			return nil, err
		}
	}
	if became.Replayed {
		c.w.Header().Set(replayedHeader, "true")
	}
	answer, counts := HitResponse{Results: make([]HitResult, 0, len(items))}, map[string]int64{}
	for i := range items {
		it := &items[i]
		result := HitResult{Metric: string(it.hit.Metric), Outcome: Counted}
		if it.fault == nil {
			if failed := became.Results[0]; failed != nil {
				it.fault = it.faultOf(failed, i)
			}
			became.Results = became.Results[1:]
		}
		switch {
		case it.fault != nil:
			result = HitResult{Metric: printable(cut(result.Metric, counter.MaxMetric)), Error: it.fault}
			counts["refused"]++
		case became.Replayed:
			counts["replayed"] += it.hit.Count()
		default:
			counts["counted"] += it.hit.Count()
		}
		answer.Results = append(answer.Results, result)
	}
	for outcome, n := range counts {
		s.opts.Metrics.Hits(outcome, n)
	}
	return answer, nil
}

// ofAll returns the error of the batch as a whole: set if all hits, except invalid ones, failed because the key or the
// sequence number belongs to another batch.
func ofAll(results []error) (whole error) {
	for _, err := range results {
		switch {
		case errors.As(err, new(*counter.InvalidError)):
		case errors.Is(err, counter.ErrKeyReused), errors.Is(err, counter.ErrSequence):
			whole = err
		default:
			return nil
		}
	}
	return whole
}

// once reads the headers that make a batch count only once.
func (c *call) once() (b counter.Batch, err error) {
	key, keyed, err := c.oneHeader(keyHeader)
	if err != nil {
		return b, err
	}
	producer, produced, err := c.oneHeader(producerHeader)
	if err != nil {
		return b, err
	}
	seq, numbered, err := c.oneHeader(seqHeader)
	if err != nil {
		return b, err
	}
	switch {
	case keyed && (produced || numbered):
		return b, fault(CodeInvalid, "", "a batch has the header %s, or %s and %s, not both", keyHeader,
			producerHeader, seqHeader)
	case produced != numbered:
		return b, fault(CodeInvalid, "", "the headers %s and %s go together: send both or none", producerHeader, seqHeader)
	case keyed:
		if !IsKey(key, counter.MaxKey) {
			return b, fault(CodeInvalid, "", "the header %s: want 1 to %d visible ASCII characters", keyHeader, counter.MaxKey)
		}
		b.Key = counter.Key(key)
	case produced:
		raw, wrong := hex.DecodeString(producer)
		if wrong != nil || len(raw) != len(b.Producer) || counter.Producer(raw) == (counter.Producer{}) {
			return b, fault(CodeInvalid, "", "the header %s is %.60q: want 32 hexadecimal digits, not all 0",
				producerHeader, producer)
		}
		b.Producer = counter.Producer(raw)
		if b.Seq, err = strconv.ParseUint(seq, 10, 63); err != nil || b.Seq == 0 || strconv.FormatUint(b.Seq, 10) != seq {
			return b, fault(CodeInvalid, "", "the header %s is %.40q: want a whole number from 1 to 2^63 - 1", seqHeader, seq)
		}
	}
	return b, nil
}

// oneHeader reads a header that may occur once.
func (c *call) oneHeader(name string) (value string, given bool, err error) {
	switch values := c.r.Header[name]; len(values) {
	case 0:
		return "", false, nil
	case 1:
		return values[0], true, nil
	default:
		return "", true, fault(CodeMalformed, "", "the header %s is given %d times", name, len(values))
	}
}

// IsKey reports whether a key consists of 1 to most visible ASCII characters.
func IsKey(key string, most int) bool {
	if key == "" || len(key) > most {
		return false
	}
	for _, b := range []byte(key) {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}

// faultOf returns the fault of a rejected hit.
func (it *hitItem) faultOf(err error, i int) *Fault {
	at := itemPointer("hits", i)
	f := toFault(err, at)
	if it.hit.Kind == counter.Gauge && f.Pointer == at+"/n" {
		f.Pointer = at + "/value"
	}
	return f
}
