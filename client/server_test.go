// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/counter"
)

// server counts hits like a Locus server, and loses the replies that fate selects. It is called without a network.
type server struct {
	mu       sync.Mutex
	counts   map[string]int64
	last     map[string]uint64 // number of each producer's last batch
	counted  map[string]bool   // hits of that batch, by producer, number and index
	requests int
	hits     []int // of each request that arrived
	took     time.Duration
	fate     func(request int) string
	refuse   func(metric string) string
}

func newServer() *server {
	return &server{counts: map[string]int64{}, last: map[string]uint64{}, counted: map[string]bool{},
		took: time.Millisecond}
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.requests++
	fate := ""
	if s.fate != nil {
		fate = s.fate(s.requests)
	}
	s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	select {
	case <-time.After(s.took):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	switch fate {
	case "no connection":
		return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
	case "lost before":
		return nil, io.ErrUnexpectedEOF
	case "overloaded", "draining":
		return answer(503, `{"code":"`+fate+`","detail":"no","outcome":"not_applied"}`), nil
	case "proxy":
		return answer(502, "<html>"), nil
	case "redirect":
		return answer(307, ""), nil
	case "full":
		return answer(200, `{"results":[{"metric":"","error":{"code":"no_room","detail":"the disk is full","outcome":"not_applied"}}]}`), nil
	}
	text := s.count(r.Header.Get("Locus-Producer"), r.Header.Get("Locus-Seq"), body)
	switch fate {
	case "lost after":
		return nil, io.ErrUnexpectedEOF
	case "commit_unknown":
		return answer(503, `{"code":"commit_unknown","detail":"?","outcome":"unknown"}`), nil
	case "cut":
		text = text[:len(text)/2]
	}
	return answer(200, text), nil
}

func answer(status int, text string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
}

func (s *server) count(producer, number string, body []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var batch struct {
		Hits []struct {
			Metric string
			At     time.Time
			N      int64
			Value  int64
		}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	seq, err := strconv.ParseUint(number, 10, 64)
	if err := errors.Join(err, d.Decode(&batch)); err != nil || len(body) > 1<<20 || len(batch.Hits) > counter.MaxBatch || len(producer) != 32 || seq < s.last[producer] {
		panic(fmt.Sprint(err, len(body), len(batch.Hits), producer, seq))
	}
	s.last[producer] = seq
	s.hits = append(s.hits, len(batch.Hits))
	var results []string
	for i, h := range batch.Hits {
		place := fmt.Sprint(producer, seq, i)
		refused := ""
		if s.refuse != nil && !s.counted[place] {
			refused = s.refuse(h.Metric)
		}
		if refused != "" {
			results = append(results, `{"metric":"","error":{"code":"`+refused+`","detail":"no","pointer":"/hits","outcome":"not_applied"}}`)
			continue
		}
		if !s.counted[place] {
			s.counted[place] = true
			s.counts[h.Metric] += h.N + h.Value
		}
		results = append(results, `{"metric":"","outcome":"counted"}`)
	}
	return `{"results":[` + strings.Join(results, ",") + `]}`
}
