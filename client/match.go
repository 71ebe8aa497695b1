// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Probe is a record to match that is not stored. All fields are optional.
type Probe struct {
	Source string `json:"source,omitempty"`
	// Key is the source's own key: the prediction is then about this record.
	Key  string `json:"key,omitempty"`
	Kind string `json:"kind,omitempty"` // the default kind if empty
	// ObservedAt is when the source observed this; zero means now.
	ObservedAt time.Time           `json:"observed_at,omitzero"`
	Attributes map[string][]string `json:"attributes,omitempty"`
}

// MatchOptions are the options of Match. Nil is the default.
type MatchOptions struct {
	// Top is the maximum number of entities per probe, 1 to 100. Defaults to 5.
	Top int `json:"top,omitempty"`
	// MinMatchWeight is the match weight in bits from which an entity is returned. The default 0 leaves out those that
	// are different.
	MinMatchWeight float64 `json:"min_match_weight,omitempty"`
	// Put adds what a put of each probe would do, Why the comparison to each entity.
	Put bool `json:"put,omitempty"`
	Why bool `json:"why,omitempty"`
	// Fuzzy adds entities whose name is that of the probe except for typing errors.
	Fuzzy bool `json:"fuzzy,omitempty"`
}

// Match is the result of one probe.
type Match struct {
	// Entities are those near the probe, the best first.
	Entities []MatchedEntity `json:"entities"`
	// Reason is no_blocking_key or only_stop_keys if nothing could be compared, otherwise "". Skipped are the kinds of
	// blocking keys that too many records have.
	Reason  string   `json:"reason"`
	Skipped []string `json:"skipped"`
	// Put is set with MatchOptions.Put, or PutError if a put would be refused.
	Put      *MatchPut `json:"put"`
	PutError *Error    `json:"put_error"`
	// Error is set if this probe was refused; all other fields are then empty.
	Error *Error `json:"error"`
}

// MatchedEntity is an entity near a probe.
type MatchedEntity struct {
	ID          string  `json:"id"`
	MatchWeight float64 `json:"match_weight"` // in bits
	Level       string  `json:"level"`        // same, possible or different
	Relation    string  `json:"relation"`     // part_of, has_part, co_located or ""
	// Record is the record of the entity that is the best match.
	Record struct {
		Source string `json:"source"`
		Key    string `json:"key"`
	} `json:"record"`
	Records int `json:"records"` // how many records the entity has
	// View holds the merged attributes, in JSON as in GET /v1/entities/{id}.
	View json.RawMessage `json:"view"`
	// Why is the comparison in JSON as in GET /v1/why-not, nil unless asked for.
	Why json.RawMessage `json:"why"`
}

// MatchPut is what a put of a probe would do.
type MatchPut struct {
	Outcome string   `json:"outcome"` // created, matched, updated, unchanged or stale
	Entity  string   `json:"entity"`  // "" if the put would create it
	Merges  []string `json:"merges"`  // entities that would be merged into it
	Splits  []string `json:"splits"`  // entities whose records would no longer be all in one
}

// Match compares 1 to 1000 records with the stored ones without storing them; package entities describes the result.
// Results are in the order of probes. It changes nothing, so it can be repeated after any error: an *Error if the
// server refused the request. It uses none of the queue of hits, and may be called after Close.
func (c *Client) Match(ctx context.Context, probes []Probe, opts *MatchOptions) ([]Match, error) {
	if opts == nil {
		opts = &MatchOptions{}
	}
	body, err := json.Marshal(struct {
		Probes []Probe `json:"probes"`
		*MatchOptions
	}{probes, opts})
	if err != nil {
		return nil, fmt.Errorf("client: encode the probes: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/match", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	c.authorize(r)
	r.Header.Set("Content-Type", "application/json")
	reply, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("client: match: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxMatches))
	if err = errors.Join(err, reply.Body.Close()); err != nil {
		return nil, fmt.Errorf("client: read the matches: %w", err)
	}
	if reply.StatusCode != http.StatusOK {
		e := &Error{Status: reply.StatusCode}
		if json.Unmarshal(text, e) != nil || e.Code == "" {
			e = &Error{Code: "status", Detail: fmt.Sprintf("the server answered %d %s", reply.StatusCode, http.StatusText(reply.StatusCode)), Status: reply.StatusCode}
		}
		return nil, e
	}
	var answer struct {
		Results []Match `json:"results"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Results) != len(probes) {
		return nil, errors.New("client: the answer is not that of a Locus server: check the URL")
	}
	return answer.Results, nil
}

// maxMatches limits an answer: a thousand probes with a hundred entities each.
const maxMatches = 512 << 20
